package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/recent"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

func newProducts(getenv func(string) string) *cobra.Command {
	return newGroup("products", "Search the catalog, and propose products for it", "Search the catalog, and propose products for it.",
		newProductsSearch(getenv), newProductsGet(getenv), newProductsIngest(getenv), newProductsIngestion(getenv))
}

func newProductsSearch(getenv func(string) string) *cobra.Command {
	s := newService(getenv)
	p := &paging{}
	run := func(ctx context.Context, args []string) error {
		if err := p.check(); err != nil {
			return err
		}
		query := client.ProductQuery{Query: strings.Join(args, " "), PageNumber: p.page, PageSize: p.pageSize}
		return printAll(s, productColumns(), s.sdk.Catalog.Search(ctx, query), p.limit, "products", func(p gen.Product) {
			s.recent.Add(recent.Product, p.ProductID)
			s.recent.Add(recent.Style, p.StyleID)
		})
	}
	cmd := s.command(&cobra.Command{
		Use:   "search WORDS...",
		Short: "Search the catalog",
		Long: `Search the catalog for words, a style id or a GTIN. The search is fuzzy: it also finds
products that are only similar.

One request is sent for each 50 products.`,
		Example: "  sellside products search DZ5485-612 --limit 1",
		Args:    atLeast(1, "sellside products search WORDS..."),
	}, run, gen.OpSearchProducts)
	p.addPaging(cmd)
	cmd.Flags().Lookup("limit").Usage = "products to print (default 20)"
	p.limit = 20
	return cmd
}

func productColumns() []table.Column[gen.Product] {
	type product = gen.Product
	return []table.Column[product]{
		{Name: "product_id", Value: func(p product) string { return p.ProductID }},
		{Name: "style_id", Value: func(p product) string { return p.StyleID }},
		{Name: "title", Wrap: true, Value: func(p product) string { return p.Title }},
		{Name: "brand", CSV: true, Value: func(p product) string { return p.Brand }},
		{Name: "type", CSV: true, Value: func(p product) string { return p.ProductType }},
		{Name: "colorway", CSV: true, Value: func(p product) string { return p.ProductAttributes.Colorway }},
		{Name: "gender", CSV: true, Value: func(p product) string { return p.ProductAttributes.Gender }},
		{Name: "release_date", CSV: true, Value: func(p product) string { return p.ProductAttributes.ReleaseDate }},
		{Name: "retail_price", CSV: true, Value: func(p product) string { return p.ProductAttributes.RetailPrice.String() }},
		{Name: "url_key", CSV: true, Value: func(p product) string { return p.URLKey }},
	}
}

// productsGet is one call of products get.
type productsGet struct {
	*service
	variant, gtin string
}

func newProductsGet(getenv func(string) string) *cobra.Command {
	p := &productsGet{service: newService(getenv)}
	cmd := p.command(&cobra.Command{
		Use:   "get PRODUCT_ID",
		Short: "Show a product and its sizes",
		Long: `Show a product and the ids of its sizes, which sellside listings create needs. With
--variant, show one of its sizes; with --gtin and no id, the size that has a UPC, EAN or
ITF-14 number.`,
		Example:           "  sellside products get --gtin 0195866137516",
		Args:              between(0, 1, "sellside products get PRODUCT_ID"),
		ValidArgsFunction: p.recentArgs(recent.Product, 0, 1),
	}, p.run, gen.OpGetProduct, gen.OpListVariants, gen.OpGetVariant, gen.OpGetVariantByGTIN)
	cmd.Flags().StringVar(&p.variant, "variant", "", "id of a size of the product")
	cmd.Flags().StringVar(&p.gtin, "gtin", "", "number of a size, instead of PRODUCT_ID")
	p.recentFlag(cmd, "variant", recent.Variant)
	return cmd
}

// productSizes is a product with its sizes.
type productSizes struct {
	gen.Product
	Variants []gen.Variant `json:"variants"`
}

func (p *productsGet) run(ctx context.Context, args []string) error {
	switch {
	case (p.gtin == "") != (len(args) == 1) || p.gtin != "" && p.variant != "":
		return invalidf("name one product: use PRODUCT_ID, with --variant for one size, or --gtin")
	case p.gtin != "":
		return p.print(p.sdk.Catalog.GetVariantByGTIN(ctx, p.gtin))
	case p.variant != "":
		return p.print(p.sdk.Catalog.GetVariant(ctx, args[0], p.variant))
	}
	product, err := p.sdk.Catalog.GetProduct(ctx, args[0])
	if err != nil {
		return err
	}
	variants, err := p.sdk.Catalog.ListVariants(ctx, args[0])
	if err != nil {
		return err
	}
	p.recent.Add(recent.Product, product.ProductID)
	p.recent.Add(recent.Style, product.StyleID)
	for _, v := range variants {
		p.recent.Add(recent.Variant, v.VariantID)
	}
	switch p.out.Format {
	case table.JSON:
		return printOne(p.service, nil, productSizes{*product, variants})
	case table.Text:
		columns := productColumns()
		for i := range columns {
			columns[i].CSV = false
		}
		if err := printOne(p.service, columns, *product); err != nil {
			return err
		}
		fmt.Fprintln(p.out.W)
	}
	return printAll(p.service, variantColumns(), sequence(variants), 0, "sizes", nil)
}

// print prints one size.
func (p *productsGet) print(v *gen.Variant, err error) error {
	if err != nil {
		return err
	}
	p.recent.Add(recent.Product, v.ProductID)
	p.recent.Add(recent.Variant, v.VariantID)
	columns := variantColumns()
	for i := range columns {
		columns[i].CSV = false
	}
	return printOne(p.service, columns, *v)
}

func variantColumns() []table.Column[gen.Variant] {
	type variant = gen.Variant
	return []table.Column[variant]{
		{Name: "size", Value: func(v variant) string { return v.VariantValue }},
		{Name: "variant_id", Value: func(v variant) string { return v.VariantID }},
		{Name: "gtins", Wrap: true, Value: func(v variant) string {
			numbers := make([]string, len(v.GTINs))
			for i, g := range v.GTINs {
				numbers[i] = g.Identifier
			}
			return strings.Join(numbers, " ")
		}},
		{Name: "name", CSV: true, Value: func(v variant) string { return v.VariantName }},
		{Name: "product_id", CSV: true, Value: func(v variant) string { return v.ProductID }},
	}
}

func newProductsIngest(getenv func(string) string) *cobra.Command {
	s := newService(getenv)
	run := func(ctx context.Context, args []string) error {
		products, err := s.proposals(args[0])
		if err != nil {
			return err
		}
		ingestion, err := s.sdk.Catalog.Ingest(ctx, products)
		if err != nil && ingestion == nil {
			if errors.Is(err, client.ErrOutcomeUnknown) {
				return fmt.Errorf("the products may have been proposed, and no operation shows whether they were: "+
					"ask the service before you propose them again: %w", err)
			}
			return err
		}
		s.recent.Add(recent.Ingestion, ingestion.IngestionID)
		return printOne(s, []table.Column[gen.Ingestion]{
			{Name: "ingestion_id", Value: func(i gen.Ingestion) string { return i.IngestionID }},
		}, *ingestion)
	}
	return s.writes(s.command(&cobra.Command{
		Use:   "ingest PRODUCTS.json",
		Short: "Propose products for the catalog",
		Long: `Propose products for the catalog, and print the id of their review, which sellside products
ingestion shows. The service grants access to this operation on request.

The file is an array of JSON objects with the members category, productTitle, brand,
productImages, variants (the sizes, as texts), retailPrice, releaseDate and
countryOfOrigin, and others by category. - reads standard input.`,
		Example: "  sellside products ingest products.json --dry-run",
		Args:    exactly(1, "sellside products ingest PRODUCTS.json"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return []cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}, run, gen.OpIngestProducts))
}

// maxProposals bounds a file of proposed products in bytes.
const maxProposals = 64 << 20

// read returns the content of a file of the user.
func read(what, name string, stdin io.Reader) ([]byte, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, invalidf("read %s: %w", what, err)
		}
		defer f.Close()
		stdin = f
	}
	content, err := io.ReadAll(io.LimitReader(stdin, maxProposals+1))
	if err != nil {
		return nil, invalidf("read %s: %w", what, err)
	}
	if len(content) > maxProposals {
		return nil, invalidf("read %s: more than %d MiB: split the file", what, maxProposals>>20)
	}
	return content, nil
}

// proposals reads the products that are proposed. A misspelt member is an error, as in the service.
func (s *service) proposals(name string) ([]gen.IngestionProduct, error) {
	content, err := read("products", name, s.stdin)
	if err != nil {
		return nil, err
	}
	var products []gen.IngestionProduct
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&products); err != nil {
		return nil, invalidf("read products (%s): %w", name, err)
	}
	if decoder.More() {
		return nil, invalidf("read products (%s): more than one value: use one array", name)
	}
	return products, nil
}

func newProductsIngestion(getenv func(string) string) *cobra.Command {
	s := newService(getenv)
	var status string
	run := func(ctx context.Context, args []string) error {
		items, err := s.sdk.Catalog.GetIngestion(ctx, args[0], optional(s, "status", values.IngestionStatuses(), status))
		if err != nil {
			return err
		}
		s.recent.Add(recent.Ingestion, args[0])
		return printAll(s, ingestionColumns(), sequence(items), 0, "products", nil)
	}
	cmd := s.command(&cobra.Command{
		Use:               "ingestion INGESTION_ID",
		Short:             "Show the review of proposed products",
		Example:           "  sellside products ingestion 3f1f5d0e-0f6e-4d53-9a35-0a7f3d4a8a11 --status Rejected",
		Args:              exactly(1, "sellside products ingestion INGESTION_ID"),
		ValidArgsFunction: s.recentArgs(recent.Ingestion, 0, 1),
	}, run, gen.OpGetIngestion)
	cmd.Flags().StringVar(&status, "status", "", "products in this status")
	completeFlag(cmd, "status", values.IngestionStatuses())
	return cmd
}

func ingestionColumns() []table.Column[gen.IngestionItem] {
	type item = gen.IngestionItem
	return []table.Column[item]{
		{Name: "title", Wrap: true, Value: func(i item) string { return i.Input.ProductTitle }},
		{Name: "status", Value: func(i item) string { return string(i.Status) }},
		{Name: "variant_id", Value: func(i item) string { return i.Result.VariantID }},
		{Name: "reason", Wrap: true, Value: func(i item) string { return i.RejectionDetails.Reason }},
		{Name: "brand", CSV: true, Value: func(i item) string { return i.Input.Brand }},
		{Name: "style_code", CSV: true, Value: func(i item) string { return i.Input.StyleCode }},
		{Name: "partner_product_id", CSV: true, Value: func(i item) string { return i.PartnerProductID }},
		{Name: "created_at", CSV: true, Value: func(i item) string { return stamp(i.CreatedAt) }},
		{Name: "updated_at", CSV: true, Value: func(i item) string { return stamp(i.UpdatedAt) }},
	}
}
