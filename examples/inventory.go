// Package examples holds what the tutorials and `sellside demo` work on.
package examples

import _ "embed"

// Inventory is inventory.csv as committed: the stock of a shop, for the catalog of the sandbox. Some of its
// rows are wrong on purpose, and some are right and still fail at the service.
//
//go:embed inventory.csv
var Inventory string
