package clienttest_test

import (
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func ExampleExpectation_Respond() {
	t := &printer{}
	srv := clienttest.New(t, clienttest.InProcess())

	srv.Expect(gen.OpGetProduct).Respond(200, `{"title":"Jordan 1 Retro High OG"}`)
	srv.Expect(gen.OpGetProduct).Respond(204, nil)
	// Output:
	// clienttest: GetProduct: answer 200 breaks the contract: response body doesn't match schema #/components/schemas/Product: /productId: property "productId" is missing
	// clienttest: GetProduct: answer 204 breaks the contract: status 204 is not declared; use Raw to answer it all the same
}
