package sandbox

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// document is one of the papers of a shipment. Its id is that of the shipment
// and a suffix, which is assumed: the service shows an id of one kind only.
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

// orderNumber is the form of the numbers that orders have, whatever their
// inventory type.
var orderNumber = regexp.MustCompile(`^(\d{9}-\d{9}|0\d-[0-9A-Z]{10})$`)

// shipment shows where a parcel is. The addresses of its papers are there as
// soon as it may be shipped, the one to follow it by once it is.
func shipment(ctx context.Context, o store.Order) *wire.Shipment {
	w := &wire.Shipment{ShipByDate: timeText(o.ShipBy), CarrierCode: &o.Carrier, TrackingNumber: &o.TrackingNumber}
	if selling.MayShip(o) {
		w.ShippingLabelURL = new(label.address(ctx, o))
		w.ShippingDocumentURL = new(packingSlip.address(ctx, o))
	}
	if !o.ShippedAt.IsZero() {
		w.TrackingURL = new("https://carrier.example/track/" + url.PathEscape(o.TrackingNumber))
	}
	return w
}

// GetShippingDocuments answers for Direct orders. Others have none to require,
// and are answered with an empty object, which is assumed; their label stands
// in the shipment. An order that is held back has a message instead of papers.
// What has not the form of an order number is refused, which is assumed of the
// one operation that declares a 400 for it.
func (s *server) GetShippingDocuments(ctx context.Context, r wire.GetShippingDocumentsRequestObject) (wire.GetShippingDocumentsResponseObject, error) {
	if !orderNumber.MatchString(r.OrderNumber) {
		return nil, badRequest("path parameter %q: %.80q is not an order number, such as 323314425-323214184 or 06-9XUDDWG8F1", "orderNumber", r.OrderNumber)
	}
	o, err := s.findOrder(ctx, r.OrderNumber)
	if err != nil {
		return nil, err
	}
	var answer wire.GetShippingDocuments200JSONResponse
	switch {
	case o.InventoryType != selling.Direct:
	case !selling.MayShip(o):
		answer.ShippingDocuments = &wire.ShippingDocuments{
			Message:                     new("Do not ship: the order is " + o.Status + "."),
			AdditionalDocumentsRequired: new(false), ThermalLabelOnly: new(false),
		}
	default:
		answer.ShippingDocuments = &wire.ShippingDocuments{
			RequiredDocuments:           &wire.DocumentLinks{"packing-slip": packingSlip.address(ctx, o)},
			Message:                     new("Put the packing slip into the parcel and the label on it."),
			AdditionalDocumentsRequired: new(false), ThermalLabelOnly: new(false),
			SellerShippingInstructions: &wire.ShippingInstructions{
				NormalLabel:  &wire.DocumentLinks{"en": label.address(ctx, o)},
				ThermalLabel: &wire.DocumentLinks{"en": thermalLabel.address(ctx, o)},
			},
		}
	}
	return answer, nil
}

// GetShippingDocument prints a paper of any order that may be shipped.
func (s *server) GetShippingDocument(ctx context.Context, r wire.GetShippingDocumentRequestObject) (wire.GetShippingDocumentResponseObject, error) {
	o, err := s.findOrder(ctx, r.OrderNumber)
	if err != nil {
		return nil, err
	}
	for _, d := range []document{label, thermalLabel, packingSlip} {
		if selling.MayShip(o) && r.ShippingID == o.ShippingID+d.suffix {
			paper := writePDF(d.width, d.height, s.print(d, o))
			return wire.GetShippingDocument200ApplicationPdfResponse{
				Body: bytes.NewReader(paper), ContentLength: int64(len(paper)),
			}, nil
		}
	}
	return nil, notFound("shipping document of order "+o.Number, r.ShippingID)
}

// print writes the lines of a paper.
func (s *server) print(d document, o store.Order) []string {
	lines := []string{d.title, "", "Order: " + o.Number}
	if v, ok := s.catalog.Variant(o.VariantID); ok {
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

// address is where a paper can be read, on the host that was asked.
func (d document) address(ctx context.Context, o store.Order) string {
	return originOf(ctx) + BasePath + "/selling/orders/" + o.Number + "/shipping-document/" + o.ShippingID + d.suffix
}

type originKey struct{}

// withOrigin keeps the scheme and host of a request for the addresses in its
// answer.
func withOrigin(next wire.StrictHandlerFunc, _ string) wire.StrictHandlerFunc {
	return func(ctx context.Context, w http.ResponseWriter, r *http.Request, request any) (any, error) {
		if r.Host == "" { // HTTP/1.0 need not say; addresses are relative then
			return next(ctx, w, r, request)
		}
		origin := url.URL{Scheme: "http", Host: r.Host}
		if r.TLS != nil {
			origin.Scheme = "https"
		}
		return next(context.WithValue(ctx, originKey{}, origin.String()), w, r, request)
	}
}

// originOf returns scheme and host of the present request, such as
// http://127.0.0.1:8080, and nothing when they are not known.
func originOf(ctx context.Context) string {
	origin, _ := ctx.Value(originKey{}).(string)
	return origin
}
