package sandboxtest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// printer replaces the *testing.T of a test function.
type printer struct {
	testing.TB
	cleanups []func()
}

func (p *printer) Helper()                           {}
func (p *printer) Cleanup(f func())                  { p.cleanups = append(p.cleanups, f) }
func (p *printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (p *printer) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (p *printer) end() {
	for _, f := range slices.Backward(p.cleanups) {
		f()
	}
}

// The service is busy at the first call of the program under test.
func ExampleNew() {
	t := &printer{}

	market := sandboxtest.New(t)
	seller := market.Client()
	busy := sandbox.Fault{Operation: "SearchProducts", Kind: sandbox.FaultStatus, Status: http.StatusServiceUnavailable}
	if err := market.Fail(busy); err != nil {
		t.Fatalf("%v", err)
	}

	page, err := seller.Catalog.SearchPage(context.Background(), client.ProductQuery{Query: "DZ5485-612"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	fmt.Println(page.Products[0].Brand)
	fmt.Println(market.Counters()["SearchProducts"])

	t.end() // not needed in a test
	// Output:
	// Jordan
	// map[200:1 503:1]
}
