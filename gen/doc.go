// Package gen is the service's OpenAPI document in Go: its models, its low-level client, its table
// of operations, and the decoders of its responses. Files named .gen.go are generated from
// api/openapi.yaml, with the Go hints of api/overlay.yaml, and are never edited. The other files are
// types that the generator cannot express (exact amounts and figures, lenient whole numbers and
// times), methods of the statuses, and the decoder and encoder that the generated code calls.
//
// Most programs use the types of this package through package client, which adds credentials,
// retries, paging and waiting. [Client] here sends one request and returns the response unread.
// [Calls] are the typed calls that package client makes: calls.tmpl generates them, beside the
// operations table of operations.tmpl.
//
// Status types are open: they have constants for the values seen so far, Valid reports whether a
// value is one of them, and any other value that the service sends is kept unchanged.
package gen

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen -config oapi-codegen.yaml ../api/openapi.yaml
//go:generate go run ../internal/cmd/jsongen -spec ../api/openapi.yaml -models openapi.gen.go -code json.gen.go -tests json_gen_test.go
