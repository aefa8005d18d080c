package sandbox

import (
	"context"
	"net/http"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// unserved answers 501 to the operations that the sandbox does not serve yet.
// It is the only list of them.
type unserved struct{}

func (unserved) GetShippingDocuments(context.Context, wire.GetShippingDocumentsRequestObject) (wire.GetShippingDocumentsResponseObject, error) {
	return nil, notServed("GetShippingDocuments")
}

func (unserved) GetShippingDocument(context.Context, wire.GetShippingDocumentRequestObject) (wire.GetShippingDocumentResponseObject, error) {
	return nil, notServed("GetShippingDocument")
}

func (unserved) GetVariantByGTIN(context.Context, wire.GetVariantByGTINRequestObject) (wire.GetVariantByGTINResponseObject, error) {
	return nil, notServed("GetVariantByGTIN")
}

func (unserved) IngestProducts(context.Context, wire.IngestProductsRequestObject) (wire.IngestProductsResponseObject, error) {
	return nil, notServed("IngestProducts")
}

func (unserved) GetIngestion(context.Context, wire.GetIngestionRequestObject) (wire.GetIngestionResponseObject, error) {
	return nil, notServed("GetIngestion")
}

func notServed(operation string) error {
	return &statusError{http.StatusNotImplemented, operation + " is not served by the sandbox yet"}
}
