// Package api holds the OpenAPI document that everything else is generated from or checked against.
package api

import _ "embed"

// Spec is api/openapi.yaml as committed. Tests, clienttest and the sandbox read these bytes, so that none
// of them can drift from the document; client does not import this package.
//
//go:embed openapi.yaml
var Spec []byte
