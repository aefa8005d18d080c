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
	"net/url"
	"slices"
	"strings"
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
	return s.c.calls(err).ListActiveOrders(ctx, params)
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
	return s.c.calls(err).ListOrderHistory(ctx, params)
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
	return s.c.calls().GetOrder(ctx, orderNumber)
}

// ListShippingDocuments reads the addresses of the documents of a Direct order, with GET
// /selling/orders/{orderNumber}/shipping-document. Errors: [ErrBadRequest], [ErrNotFound],
// [ErrUnauthorized].
func (s *Orders) ListShippingDocuments(
	ctx context.Context, orderNumber string,
) (*gen.ShippingDocumentsResponse, error) {
	return s.c.calls().GetShippingDocuments(ctx, orderNumber)
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
//
// A shipping id has no field: it is the last segment of the path of the URLs in the order's
// Shipment and in [Orders.ListShippingDocuments], which is assumed. [Orders.DownloadLabels] reads
// it there.
func (s *Orders) DownloadShippingDocument(ctx context.Context, orderNumber, shippingID string) (*Document, error) {
	call, ids := s.c.newCall(), []string{orderNumber, shippingID}
	op, _ := gen.LookupOperation(gen.OpGetShippingDocument)
	resp, err := call.roundTrip(ctx, op, ids, func(server string) (*http.Request, error) {
		return gen.NewGetShippingDocumentRequest(server, orderNumber, shippingID)
	})
	if err != nil {
		return nil, err
	}
	content, head, ok := peekPDF(resp.Body)
	if !ok {
		_ = resp.Body.Close()
		return nil, call.newDecodeError(resp.StatusCode, head, errors.New("the body is not a PDF"))
	}
	body := struct {
		io.Reader
		io.Closer
	}{content, resp.Body}
	return &Document{ReadCloser: body, ContentType: resp.Header.Get("Content-Type"), Size: resp.ContentLength}, nil
}

// Label is a document of a shipment.
type Label struct {
	URL        string // As the order has it.
	ShippingID string // "" if the URL is not one of [Orders.DownloadShippingDocument].

	// Document is nil if the URL is not one of [Orders.DownloadShippingDocument]. The caller
	// decides whether to request it, without the credentials of the service.
	Document *Document
}

// DownloadLabels opens the shipping label and the shipping document of an order from
// [Orders.Get], each with [Orders.DownloadShippingDocument] (GET
// /selling/orders/{orderNumber}/shipping-document/{shippingId}). The caller closes the Document of
// each label. Of the two URLs in the order's Shipment only the shipping id is used: the last
// segment of a path that ends in {orderNumber}/shipping-document/{shippingId}, on the host of the
// base URL, without a query. A URL of another host or form is returned as it is, and is never
// requested. Equal URLs are one label; an order that must not be shipped yet has none. The
// documents of Direct orders are in [Orders.ListShippingDocuments].
//
// Errors: [ArgumentError] for an order without a Shipment, as in lists; those of
// [Orders.DownloadShippingDocument], and then no document stays open.
func (s *Orders) DownloadLabels(ctx context.Context, order *gen.Order) ([]Label, error) {
	const op = gen.OpGetShippingDocument
	if order == nil || order.Shipment == nil {
		return nil, invalid(op, "order", "has no shipment: read the order with Get")
	}
	var labels []Label
	for _, address := range []string{order.Shipment.ShippingLabelURL, order.Shipment.ShippingDocumentURL} {
		isSame := func(l Label) bool { return l.URL == address }
		if address == "" || slices.ContainsFunc(labels, isSame) {
			continue
		}
		l := Label{URL: address, ShippingID: s.shippingID(order.OrderNumber, address)}
		if l.ShippingID != "" {
			var err error
			if l.Document, err = s.DownloadShippingDocument(ctx, order.OrderNumber, l.ShippingID); err != nil {
				closeLabels(labels)
				return nil, err
			}
		}
		labels = append(labels, l)
	}
	return labels, nil
}

func closeLabels(labels []Label) {
	for _, l := range labels {
		if l.Document != nil {
			_ = l.Document.Close()
		}
	}
}

// shippingID returns the shipping id in the URL of a document of an order, or "" if the URL is of
// another host or form.
func (s *Orders) shippingID(orderNumber, address string) string {
	u, err := url.Parse(address)
	if err != nil || !sameOrigin(u, s.c.baseURL) || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	segments := strings.Split(u.EscapedPath(), "/")
	for i := range segments {
		if segments[i], err = url.PathUnescape(segments[i]); err != nil {
			return ""
		}
	}
	n := len(segments)
	if n < 4 || segments[n-2] != "shipping-document" || segments[n-3] != orderNumber {
		return ""
	}
	id := segments[n-1]
	if checkID(gen.OpGetShippingDocument, "shippingId", id) != nil || strings.Contains(id, "/") {
		return ""
	}
	return id
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
