//go:build tools

// Package tools pins the code generator, so that go generate runs the version
// that go.mod names and nothing has to be installed first.
package tools

import _ "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen"
