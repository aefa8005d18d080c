// Package gen is the service's OpenAPI document in Go: its models, its low-level client and its table of
// operations. Everything in openapi.gen.go is generated from api/openapi.yaml (with the Go hints of
// api/overlay.yaml) and is never edited; the other files are the few wire types that the generator has no
// word for: exact amounts and figures, lenient whole numbers and times, and what can be said about statuses.
//
// Most programs use the types of this package through package client, which adds credentials, retries,
// paging and waiting. [Client] here sends one request and returns the raw answer.
//
// Status types are open: they have constants for the values seen so far, Valid tells whether a value is one
// of them, and any other value that the service sends is kept as it is.
package gen

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen -config oapi-codegen.yaml ../api/openapi.yaml
