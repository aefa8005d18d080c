// Package rival is the client that oapi-codegen generates from api/openapi.yaml by default, without
// the overlay, the options and the templates of package gen.
package rival

//go:generate go tool oapi-codegen -config oapi-codegen.yaml ../../api/openapi.yaml
