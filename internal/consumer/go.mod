module github.com/sellside-sdk/sellside-go/internal/consumer

go 1.26.0

require github.com/sellside-sdk/sellside-go v0.0.0

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/go-faster/errors v0.8.0 // indirect
	github.com/go-faster/jx v1.2.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/govalues/decimal v0.1.36 // indirect
	github.com/oapi-codegen/runtime v1.8.0 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/sellside-sdk/sellside-go => ../..
