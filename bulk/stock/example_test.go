package stock_test

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
)

// Reading a file twice reports every problem before any row is used.
func ExampleReader() {
	file := strings.NewReader("Seller SKU;UPC;Ask;Currency;Qty\nA-1;036000291452;162,50;USD;2\nA-2;4006381333931;99;USD;one\n")
	problems := 0
	for _, err := range stock.NewReader(file, stock.Options{}).Rows() {
		if err != nil {
			fmt.Println(err)
			problems++
		}
	}
	if problems > 0 {
		return
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		fmt.Println(err)
	}
	// Output:
	// line 2, column 18: Ask "162,50" has a comma: write no separators, and a point before the cents, as in 1250.00
	// line 3, column 26: Qty "one" is not a whole number: write 0 or more
}

// The columns of the file, and those that the package does not know, are kept.
func ExampleWriter() {
	file := strings.NewReader("sku,upc,shelf,rule,floor,currency,qty\nA-1,036000291452,=12,Lowest - 5 %,150,usd,2\n")
	reader := stock.NewReader(file, stock.Options{})
	var rows []stock.Row
	for row, err := range reader.Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		row.Quantity--
		rows = append(rows, row)
	}
	writer, err := stock.NewWriter(os.Stdout, reader.Layout())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range rows {
		if err := writer.Write(row); err != nil {
			fmt.Println(err)
		}
	}
	if err := writer.Flush(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// sku,upc,shelf,rule,floor,currency,qty
	// A-1,036000291452,"'=12",lowest-5%,150,USD,1
}

func ExampleParseRule() {
	price, err := stock.ParseRule("Lowest - 1.50")
	fmt.Println(price.Kind, price.Less, price.Rule(), err)
	// Output: below-lowest 1.50 lowest-1.50 <nil>
}
