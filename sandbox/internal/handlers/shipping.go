package handlers

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// document is a document of a shipment. Its id is the id of the shipment and a suffix, which is
// assumed: the service shows ids of one kind only.
type document struct {
	title         string
	suffix        string
	width, height int // in points, 72 to the inch
}

var (
	label        = document{"Shipping label", "", 595, 842}
	thermalLabel = document{"Thermal shipping label", "-T", 288, 432}
	packingSlip  = document{"Packing slip", "-P", 595, 842}
)

// orderNumber is the form of the order numbers of all inventory types.
var orderNumber = regexp.MustCompile(`^(\d{9}-\d{9}|0\d-[0-9A-Z]{10})$`)

// shipment returns the model of a shipment. It has the URLs of documents if the order may be
// shipped, and the URL to track it once it is.
func shipment(ctx context.Context, o store.Order) *wire.Shipment {
	w := &wire.Shipment{
		ShipByDate: timeText(o.ShipBy), CarrierCode: &o.Carrier, TrackingNumber: &o.TrackingNumber,
	}
	if selling.MayShip(o) {
		w.ShippingLabelURL = new(label.url(ctx, o))
		w.ShippingDocumentURL = new(packingSlip.url(ctx, o))
	}
	if !o.ShippedAt.IsZero() {
		w.TrackingURL = new("https://carrier.example/track/" + url.PathEscape(o.TrackingNumber))
	}
	return w
}

// GetShippingDocuments responds with the documents of Direct orders. The response for other orders
// is null; their label is in the shipment. An order that must not be shipped has a
// message instead of documents. A malformed order number is refused, since this operation declares
// a 400. All of that is assumed.
func (h *Handlers) GetShippingDocuments(
	ctx context.Context, r wire.GetShippingDocumentsRequestObject,
) (wire.GetShippingDocumentsResponseObject, error) {
	if !orderNumber.MatchString(r.OrderNumber) {
		return nil, wire.Invalidf(
			"path parameter %q: must be an order number, such as 323314425-323214184 or 06-9XUDDWG8F1 (%.80q)",
			"orderNumber", r.OrderNumber)
	}
	o, err := h.findOrder(ctx, r.OrderNumber)
	if err != nil {
		return nil, err
	}
	var response wire.GetShippingDocuments200JSONResponse
	switch {
	case o.InventoryType != selling.Direct:
	case !selling.MayShip(o):
		response.ShippingDocuments = &wire.ShippingDocuments{
			Message:                     new("Do not ship: the order is " + o.Status + "."),
			AdditionalDocumentsRequired: new(false),
		}
	default:
		response.ShippingDocuments = &wire.ShippingDocuments{
			RequiredDocuments:           &wire.DocumentLinks{"packing-slip": packingSlip.url(ctx, o)},
			Message:                     new("Put the packing slip into the parcel and the label on it."),
			AdditionalDocumentsRequired: new(false), ThermalLabelOnly: new(thermalLabel.url(ctx, o)),
			SellerShippingInstructions: &wire.ShippingInstructions{
				NormalLabel:  &wire.DocumentLinks{"en": label.url(ctx, o)},
				ThermalLabel: &wire.DocumentLinks{"en": thermalLabel.url(ctx, o)},
			},
		}
	}
	return response, nil
}

// GetShippingDocument responds with a document of any order that may be shipped.
func (h *Handlers) GetShippingDocument(
	ctx context.Context, r wire.GetShippingDocumentRequestObject,
) (wire.GetShippingDocumentResponseObject, error) {
	o, err := h.findOrder(ctx, r.OrderNumber)
	if err != nil {
		return nil, err
	}
	for _, d := range []document{label, thermalLabel, packingSlip} {
		if selling.MayShip(o) && r.ShippingID == o.ShippingID+d.suffix {
			pdf := writePDF(d.width, d.height, h.lines(d, o))
			return wire.GetShippingDocument200ApplicationPdfResponse{
				Body: bytes.NewReader(pdf), ContentLength: int64(len(pdf)),
			}, nil
		}
	}
	return nil, wire.Invalidf("shipping document of order %s (%.80q): not found", o.Number, r.ShippingID)
}

// lines returns the text of a document.
func (h *Handlers) lines(d document, o store.Order) []string {
	lines := []string{d.title, "", "Order: " + o.Number}
	if v, ok := h.catalog.Variant(o.VariantID); ok {
		lines = append(lines, "Item: "+v.Product.Title, "Style: "+v.Product.StyleID, "Size: "+v.Size)
	}
	lines = append(lines,
		"Variant: "+o.VariantID,
		"Ship by: "+o.ShipBy.Format(time.RFC1123),
		"Carrier: "+o.Carrier,
		"Tracking number: "+o.TrackingNumber)
	if o.InboundID != "" {
		lines = append(lines, "Shipment: "+o.InboundID)
	}
	return lines
}

// url returns the URL of a document, on the host of the request.
func (d document) url(ctx context.Context, o store.Order) string {
	return baseURLOf(ctx) + "/selling/orders/" + o.Number + "/shipping-document/" + o.ShippingID + d.suffix
}

// writePDF writes one page of text as PDF 1.4, in a font that every reader has. Width and height
// are in points. Long lines are cut by the page, and characters outside of Latin-1 become question
// marks.
func writePDF(width, height int, lines []string) []byte {
	const size, leading, margin = 11, 16, 24
	var text strings.Builder
	fmt.Fprintf(&text, "BT\n/F1 %d Tf\n%d TL\n%d %d Td\n", size, leading, margin, height-margin-size)
	for _, line := range lines {
		fmt.Fprintf(&text, "(%s) Tj\nT*\n", escapePDF(line))
	}
	text.WriteString("ET")

	var b bytes.Buffer
	// The comment has bytes above 127, which marks the file as binary.
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	var offsets []int
	for i, object := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] "+
			"/Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>", width, height),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String()),
	} {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := b.Len()
	// An entry has 20 bytes, with an end of two. Object 0 is the head of the free objects.
	fmt.Fprintf(&b, "xref\n0 %d\n%010d %05d f \n", len(offsets)+1, 0, 65535)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d %05d n \n", offset, 0)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return b.Bytes()
}

// escapePDF escapes a text for a string in parentheses.
func escapePDF(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '(' || r == ')' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		case r >= 0xa0 && r <= 0xff:
			fmt.Fprintf(&b, `\%03o`, r)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
