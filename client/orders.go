package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Orders reads sales. An order is active from the sale until the payout, and part of the history
// after.
type Orders struct{ c *Client }

// ActiveOrderFilter filters a list of active orders. Zero fields filter nothing.
type ActiveOrderFilter struct {
	Status             gen.OrderStatus // One of the statuses of active orders.
	ProductID          string
	VariantID          string
	Sort               gen.OrderSort // By time of sale by default.
	InventoryTypes     []gen.InventoryType
	ShipmentDisplayIDs []string
	PageNumber         int // The page to start from, 1 or more; 1 by default.
	PageSize           int // 1 to 100; 100 by default.
}

func (p ActiveOrderFilter) params() (*gen.ListActiveOrdersParams, error) {
	const op = gen.OpListActiveOrders
	out := &gen.ListActiveOrdersParams{
		PageNumber: set(int32(p.PageNumber)), PageSize: new(int32(cmp.Or(p.PageSize, 100))),
		OrderStatus: set(p.Status), SortOrder: set(p.Sort),
		ProductID: set(p.ProductID), VariantID: set(p.VariantID),
	}
	return out, joinErrors(
		checkPage(op, p.PageNumber, p.PageSize, 100),
		join(op, "InventoryTypes", p.InventoryTypes, &out.InventoryTypes),
		join(op, "ShipmentDisplayIDs", p.ShipmentDisplayIDs, &out.InitiatedShipmentDisplayIDs),
	)
}

// ListActive yields the active orders that match, with GET /selling/orders/active. Pages work as in
// [Listings.List]. Errors: those of [Orders.ListActivePage], and [ErrPagingStuck].
func (s *Orders) ListActive(ctx context.Context, filter ActiveOrderFilter) iter.Seq2[gen.Order, error] {
	return numbered(gen.OpListActiveOrders, filter.PageNumber, orderNumber,
		func(number int) (page[gen.Order], error) {
			filter.PageNumber = number
			return orderPage(s.ListActivePage(ctx, filter))
		})
}

// ListActivePage reads one page of active orders with GET /selling/orders/active. Active orders
// often have no payout yet. Errors: [ArgumentError], [ErrBadRequest], [ErrUnauthorized].
func (s *Orders) ListActivePage(ctx context.Context, filter ActiveOrderFilter) (*gen.OrderPage, error) {
	params, err := filter.params()
	return do1[gen.OrderPage](ctx, s.c, gen.OpListActiveOrders, s.c.raw.ListActiveOrders, params, err)
}

// OrderHistoryFilter filters a list of ended orders. Zero fields filter nothing.
type OrderHistoryFilter struct {
	Status             gen.OrderStatus // AUTHFAILED, DIDNOTSHIP, CANCELED, COMPLETED or RETURNED.
	From, To           time.Time       // First and last day of creation, inclusive; only their UTC day counts.
	ProductID          string
	VariantID          string
	InventoryTypes     []gen.InventoryType
	ShipmentDisplayIDs []string
	PageNumber         int // The page to start from, 1 or more; 1 by default.
	PageSize           int // 1 to 100; 100 by default.
}

func (p OrderHistoryFilter) params() (*gen.ListOrderHistoryParams, error) {
	const op = gen.OpListOrderHistory
	out := &gen.ListOrderHistoryParams{
		PageNumber: set(int32(p.PageNumber)), PageSize: new(int32(cmp.Or(p.PageSize, 100))),
		FromDate: day(p.From), ToDate: day(p.To),
		OrderStatus: set(p.Status), ProductID: set(p.ProductID), VariantID: set(p.VariantID),
	}
	return out, joinErrors(
		checkPage(op, p.PageNumber, p.PageSize, 100),
		join(op, "InventoryTypes", p.InventoryTypes, &out.InventoryTypes),
		join(op, "ShipmentDisplayIDs", p.ShipmentDisplayIDs, &out.InitiatedShipmentDisplayIDs),
	)
}

// ListHistory yields the ended orders that match, with GET /selling/orders/history. Pages work as
// in [Listings.List]. Errors: those of [Orders.ListHistoryPage], and [ErrPagingStuck].
func (s *Orders) ListHistory(ctx context.Context, filter OrderHistoryFilter) iter.Seq2[gen.Order, error] {
	return numbered(gen.OpListOrderHistory, filter.PageNumber, orderNumber,
		func(number int) (page[gen.Order], error) {
			filter.PageNumber = number
			return orderPage(s.ListHistoryPage(ctx, filter))
		})
}

// ListHistoryPage reads one page of ended orders with GET /selling/orders/history. Errors:
// [ArgumentError], [ErrBadRequest], [ErrUnauthorized].
func (s *Orders) ListHistoryPage(ctx context.Context, filter OrderHistoryFilter) (*gen.OrderPage, error) {
	params, err := filter.params()
	return do1[gen.OrderPage](ctx, s.c, gen.OpListOrderHistory, s.c.raw.ListOrderHistory, params, err)
}

func orderNumber(o *gen.Order) string { return o.OrderNumber }

func orderPage(p *gen.OrderPage, err error) (page[gen.Order], error) {
	if err != nil {
		return page[gen.Order]{}, err
	}
	return page[gen.Order]{entries: p.Orders, more: p.HasNextPage}, nil
}

// Get reads one order with its shipment and payout, with GET /selling/orders/{orderNumber}. Errors:
// [ErrNotFound], [ErrUnauthorized].
func (s *Orders) Get(ctx context.Context, orderNumber string) (*gen.Order, error) {
	return do1[gen.Order](ctx, s.c, gen.OpGetOrder, s.c.raw.GetOrder, orderNumber)
}

// ListShippingDocuments reads the addresses of the documents of a Direct order, with GET
// /selling/orders/{orderNumber}/shipping-document. Errors: [ErrBadRequest], [ErrNotFound],
// [ErrUnauthorized].
func (s *Orders) ListShippingDocuments(
	ctx context.Context, orderNumber string,
) (*gen.ShippingDocumentsResponse, error) {
	const op = gen.OpGetShippingDocuments
	return do1[gen.ShippingDocumentsResponse](ctx, s.c, op, s.c.raw.GetShippingDocuments, orderNumber)
}

// Document is a document that is read from the connection. The caller closes it.
type Document struct {
	io.ReadCloser
	ContentType string // Of the response, usually application/pdf.
	Size        int64  // In bytes; -1 if unknown.
}

// DownloadShippingDocument opens one shipping document with GET
// /selling/orders/{orderNumber}/shipping-document/{shippingId} and returns when its first bytes
// have arrived. The attempt timeout covers only the headers; ctx covers the whole document. Read
// fails if the document is incomplete, or if no byte arrives for 30 s. Errors: [ErrNotFound],
// [ErrUnauthorized], [DecodeError] if the response is not a PDF, such as a gateway's error page.
func (s *Orders) DownloadShippingDocument(ctx context.Context, orderNumber, shippingID string) (*Document, error) {
	call := newCall(gen.OpGetShippingDocument, orderNumber, shippingID)
	resp, err := s.c.roundTrip(ctx, call, func(ctx context.Context) (*http.Response, error) {
		return s.c.raw.GetShippingDocument(ctx, orderNumber, shippingID)
	})
	if err != nil {
		return nil, err
	}
	content, head, ok := peekPDF(resp.Body)
	if !ok {
		_ = resp.Body.Close()
		return nil, s.c.newDecodeError(call, resp.StatusCode, head, errors.New("the body is not a PDF"))
	}
	body := struct {
		io.Reader
		io.Closer
	}{content, resp.Body}
	return &Document{ReadCloser: body, ContentType: resp.Header.Get("Content-Type"), Size: resp.ContentLength}, nil
}

// pdfHead is the number of bytes at the start of a file in which PDF readers accept the PDF header.
const pdfHead = 1024

// peekPDF reports whether a document may be a PDF. If it is not, head is the part that was read. If
// the first byte is that of a PDF, peekPDF does not wait for more. An error before the first byte
// is an error of content.
func peekPDF(body io.Reader) (content io.Reader, head []byte, ok bool) {
	buffered := bufio.NewReaderSize(body, pdfHead)
	first, err := buffered.Peek(1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return failedReader{err}, nil, true
	case err == nil && first[0] == '%':
		return buffered, nil, true
	}
	head, _ = buffered.Peek(pdfHead)
	return buffered, head, bytes.Contains(head, []byte("%PDF-"))
}

// failedReader returns an error from every Read.
type failedReader struct{ err error }

// Read implements [io.Reader].
func (r failedReader) Read([]byte) (int, error) { return 0, r.err }
