package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Quirks rewrites the responses of operations into what those of a live service look like, which is
// not what the document says. A program that compares values must not notice. It spares ids and
// arrays, and all members that a seller has to know: of amounts, statuses and counts it changes the
// form only.
//
// Which responses have which quirk depends on their number only.
type Quirks struct {
	// Base is the path prefix of the operations.
	Base string
	// Forms writes amounts with four decimal places, figures and counts as strings, null for members
	// that only inform, or nothing at all for what is null, an empty array for an empty object,
	// errors in other shapes and languages, and members and values that the document does not have.
	Forms bool
	// VagueOrigin writes null for the batch of a listing, and no zone in createdAt.
	VagueOrigin bool

	responses atomic.Uint64
}

// Handler returns a handler that rewrites the JSON responses of another one.
func (q *Quirks) Handler(next http.Handler) http.Handler {
	if !q.Forms && !q.VagueOrigin {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, q.Base+"/") {
			next.ServeHTTP(w, r)
			return
		}
		held := &heldJSON{ResponseWriter: w, quirks: q}
		next.ServeHTTP(held, r)
		held.release()
	})
}

// write writes a JSON response with quirks, or unchanged if it is no JSON, as a fault may make it.
func (q *Quirks) write(w http.ResponseWriter, status int, body []byte) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err == nil {
		body = q.rewrite(w.Header(), status, value)
	}
	if w.Header().Get("Content-Length") != "" {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // it fails only if the client is gone
}

// rewrite returns the body of a response with quirks.
func (q *Quirks) rewrite(header http.Header, status int, value any) []byte {
	r := rewriter{
		random: rand.New(rand.NewPCG(1, q.responses.Add(1))),
		forms:  q.Forms, vagueOrigin: q.VagueOrigin,
	}
	object, isObject := value.(map[string]any)
	switch {
	case !isObject || status < http.StatusBadRequest:
		value = r.value("", value)
	case q.Forms && status >= http.StatusBadGateway:
		header.Set("Content-Type", "text/html; charset=utf-8")
		return []byte("<html><head><title>" + http.StatusText(status) + "</title></head></html>\n")
	case q.Forms && object["message"] != nil:
		value = r.failure(header, status, object)
	}
	body, _ := json.Marshal(value) // it was decoded from JSON
	return append(body, '\n')
}

// heldJSON holds a JSON response back until it is complete or flushed, and passes others on.
type heldJSON struct {
	http.ResponseWriter
	quirks *Quirks
	status int // of the response that is held back; 0 if there is none
	passed bool
	body   bytes.Buffer
}

// WriteHeader implements [http.ResponseWriter].
func (h *heldJSON) WriteHeader(status int) {
	switch {
	case h.status != 0 || h.passed:
	case strings.HasPrefix(h.Header().Get("Content-Type"), "application/json"):
		h.status = status
	default:
		h.passed = true
		h.ResponseWriter.WriteHeader(status)
	}
}

// Write implements [http.ResponseWriter].
func (h *heldJSON) Write(p []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	if h.passed {
		return h.ResponseWriter.Write(p)
	}
	return h.body.Write(p)
}

// release writes what is held back.
func (h *heldJSON) release() {
	if h.status != 0 {
		h.quirks.write(h.ResponseWriter, h.status, h.body.Bytes())
		h.status, h.passed = 0, true
	}
}

// FlushError implements what [http.ResponseController.Flush] calls.
func (h *heldJSON) FlushError() error {
	h.release()
	return http.NewResponseController(h.ResponseWriter).Flush()
}

// Unwrap lets [http.ResponseController] reach the connection.
func (h *heldJSON) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// amounts are the members with decimal text.
var amounts = map[string]bool{
	"amount": true, "lowestAskAmount": true, "highestBidAmount": true, "sellFasterAmount": true,
	"earnMoreAmount": true, "flexLowestAskAmount": true, "lowestAsk": true, "sellFaster": true, "earnMore": true,
}

// figures are the members of a payout that are numbers. The amount of an adjustment is one, too.
var figures = map[string]bool{
	"totalPayout": true, "salePrice": true, "totalAdjustments": true, "percentage": true, "amount": true,
}

// informing are the members without which a seller can do all the same. Who initiated an operation is
// not among them: it tells the operation of a seller from others.
var informing = map[string]bool{
	"productName": true, "variantName": true, "brand": true, "season": true, "gender": true, "colorway": true,
	"color": true, "condition": true, "askCreatedAt": true, "askUpdatedAt": true, "orderCreatedAt": true,
	"operationCreatedAt": true, "operationUpdatedAt": true,
	"sellFasterAmount": true, "earnMoreAmount": true, "flexLowestAskAmount": true,
}

// openObjects are the objects whose members have any name.
var openObjects = map[string]bool{
	"itemStatuses": true, "requiredDocuments": true, "normalLabel": true, "thermalLabel": true,
}

// mistakes are the errors of items and operations, localized and without a code.
var mistakes = []string{
	"Diese Änderung war leider nicht möglich.",
	"Cette opération n'a pas pu être effectuée.",
	"この出品は処理できませんでした。",
}

// rewriter rewrites one response.
type rewriter struct {
	random             *rand.Rand
	forms, vagueOrigin bool
}

// oneIn reports true once in n times.
func (r *rewriter) oneIn(n int) bool { return r.random.IntN(n) == 0 }

func (r *rewriter) value(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		return r.object(name, v)
	case []any:
		for i := range v {
			v[i] = r.value(name, v[i])
		}
	case json.Number:
		if r.forms && figures[name] {
			return v.String()
		}
	case string:
		if r.forms && amounts[name] && r.oneIn(2) {
			return fourPlaces(v)
		}
	}
	return v
}

func (r *rewriter) object(name string, members map[string]any) any {
	if r.vagueOrigin {
		if _, isListing := members["listingId"]; isListing && members["batch"] != nil {
			members["batch"] = nil
		}
		if at, ok := members["createdAt"].(string); ok {
			members["createdAt"] = strings.TrimSuffix(at, "Z")
		}
	}
	if !r.forms {
		for key, v := range members {
			members[key] = r.value(key, v)
		}
		return members
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		v := r.value(key, members[key])
		if n, ok := v.(json.Number); ok && name == "itemStatuses" {
			v = n.String()
		}
		if informing[key] && r.oneIn(3) {
			v = nil
		}
		members[key] = v
		if v == nil && key != "nextCursor" && r.oneIn(2) {
			delete(members, key)
		}
	}
	r.unknownValues(members)
	if name == "additions" && !slices.ContainsFunc(slices.Collect(maps.Values(members)), func(v any) bool { return v != nil }) {
		return []any{}
	}
	if !openObjects[name] && r.oneIn(4) {
		members["rolloutGroup"] = map[string]any{"name": "b", "weights": []int{1, 2}}
	}
	return members
}

// unknownValues writes values that the document does not list.
func (r *rewriter) unknownValues(members map[string]any) {
	if members["condition"] != nil && r.oneIn(3) {
		members["condition"] = "AS_TRADED"
	}
	if _, isBatch := members["totalItems"]; isBatch && members["status"] == "IN_PROGRESS" && r.oneIn(2) {
		members["status"] = "PROCESSING"
	}
	_, isItem := members["listingInput"]
	_, isOperation := members["operationId"]
	if text, failed := members["error"].(string); failed && text != "" && (isItem || isOperation) {
		members["error"] = mistakes[r.random.IntN(len(mistakes))]
	}
}

// failure returns an error body in one of the shapes of a live service.
func (r *rewriter) failure(header http.Header, status int, body map[string]any) map[string]any {
	message := body["message"]
	switch r.random.IntN(6) {
	case 0:
		return map[string]any{"errorMessage": message}
	case 1:
		return map[string]any{"error": message}
	case 2:
		return map[string]any{"errors": []any{map[string]any{"message": message}}}
	case 3:
		return map[string]any{"statusCode": http.StatusTeapot, "message": message}
	case 4:
		header.Set("Content-Type", "application/problem+json")
		return map[string]any{"title": http.StatusText(status), "detail": message, "status": status}
	default:
		return body
	}
}

// fourPlaces writes decimal text with four decimal places: 76.0000.
func fourPlaces(amount string) string {
	whole, fraction, _ := strings.Cut(amount, ".")
	if len(fraction) > 4 || strings.Trim(whole+fraction, "0123456789") != "" || whole == "" {
		return amount
	}
	return whole + "." + (fraction + "0000")[:4]
}
