// Package examples has the files of the tutorials and of sellside demo.
package examples

import _ "embed"

// Inventory is inventory.csv: the stock of a shop, for the catalog of the sandbox. Some of its rows
// are invalid on purpose, and some are valid and refused by the service.
//
//go:embed inventory.csv
var Inventory string
