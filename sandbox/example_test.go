package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func Example() {
	s, err := sandbox.New(sandbox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	srv := httptest.NewServer(s)
	defer srv.Close()

	product := sandbox.Catalog()[0]
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet,
		srv.URL+sandbox.BasePath+"/catalog/products/"+product.ID+"/variants/"+product.Variants[0].ID+"/market-data?currencyCode=EUR", nil)
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("x-api-key", s.APIKey())
	req.Header.Set("Authorization", "Bearer "+s.Token())
	resp, err := srv.Client().Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		log.Fatal(err)
	}
	fmt.Println(product.StyleID, product.Variants[0].Size, resp.Status)
	// Output: DZ5485-612 3.5 200 OK
}
