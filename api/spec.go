// Package api holds the OpenAPI document that the code is generated from and checked against.
package api

import _ "embed"

// Spec is api/openapi.yaml as committed. Tests, clienttest and the sandbox read these bytes, so
// that they cannot differ from the document. Package client does not import this package.
//
//go:embed openapi.yaml
var Spec []byte
