package store

import "time"

// Order is one row of orders.
type Order struct {
	Seq            int64
	Number         string
	Account        int64
	Status         string
	DueAt          time.Time // when it moves by itself; zero if it does not
	ListingID      string
	AskID          string
	ProductID      string
	VariantID      string
	Amount         int64 // smallest units of Currency
	Currency       string
	InventoryType  string
	ShipBy         time.Time
	Carrier        string
	TrackingNumber string
	ShippingID     string
	InboundID      string    // display id of the inbound shipment; empty except for direct orders
	ShippedAt      time.Time // zero before it is shipped
	Authentication string    // empty before the check
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

const orderColumns = `seq, number, account, status, due_at, listing_id, ask_id, product_id, variant_id,
	amount, currency, inventory_type, ship_by, carrier, tracking_number, shipping_id, inbound_id,
	shipped_at, authentication, created_at, updated_at`

func (o *Order) columns() []any {
	return []any{
		&o.Seq, &o.Number, &o.Account, &o.Status,
		timeColumn{&o.DueAt},
		&o.ListingID, &o.AskID, &o.ProductID, &o.VariantID, &o.Amount, &o.Currency, &o.InventoryType,
		timeColumn{&o.ShipBy},
		&o.Carrier, &o.TrackingNumber, &o.ShippingID,
		textColumn{&o.InboundID},
		timeColumn{&o.ShippedAt},
		textColumn{&o.Authentication},
		timeColumn{&o.CreatedAt},
		timeColumn{&o.UpdatedAt},
	}
}

// InsertOrder inserts an order. Seq is ignored.
func (t *Tx) InsertOrder(o Order) error {
	return t.exec(`INSERT INTO orders (number, account, status, due_at, listing_id, ask_id, product_id,
		variant_id, amount, currency, inventory_type, ship_by, carrier, tracking_number, shipping_id,
		inbound_id, created_at, updated_at)
		VALUES (`+placeholders(18)+`)`,
		o.Number, o.Account, o.Status, at(o.DueAt), o.ListingID, o.AskID, o.ProductID,
		o.VariantID, o.Amount, o.Currency, o.InventoryType, at(o.ShipBy), o.Carrier, o.TrackingNumber,
		o.ShippingID, opt(o.InboundID), at(o.CreatedAt), at(o.UpdatedAt))
}

// SaveOrder writes the columns of an order that can change.
func (t *Tx) SaveOrder(o Order) error {
	return t.exec(`UPDATE orders SET status = ?, due_at = ?, shipped_at = ?, authentication = ?,
		updated_at = ? WHERE number = ?`,
		o.Status, at(o.DueAt), at(o.ShippedAt), opt(o.Authentication), at(o.UpdatedAt), o.Number)
}

// Order reads one order of an account, or returns ErrNotFound.
func (t *Tx) Order(account int64, number string) (Order, error) {
	o, err := t.AnyOrder(number)
	if err == nil && o.Account != account {
		return Order{}, ErrNotFound
	}
	return o, err
}

// AnyOrder reads one order of any account, or returns ErrNotFound. It is not for requests of
// sellers.
func (t *Tx) AnyOrder(number string) (Order, error) {
	var o Order
	err := t.get(`SELECT `+orderColumns+` FROM orders WHERE number = ?`, []any{number}, o.columns())
	return o, err
}

// DueOrders reads orders that are due to move, the longest overdue first.
func (t *Tx) DueOrders(now time.Time, limit int) ([]Order, error) {
	return list(t, (*Order).columns, `SELECT `+orderColumns+` FROM orders
		WHERE due_at <= ? ORDER BY due_at, seq LIMIT ?`, at(now), limit)
}

// OrderFilter selects orders of an account in one of Statuses; other members that are empty select
// all.
type OrderFilter struct {
	Account        int64
	Statuses       []string
	ProductID      string
	VariantID      string
	InventoryTypes []string
	ShipmentIDs    []string  // display ids of inbound shipments
	From           time.Time // inclusive
	Until          time.Time // exclusive
	ByShipBy       bool      // the most urgent first instead of the newest
}

// Orders reads a page of orders and counts all matches. It reads only the orders of the page from
// the table, unless the filter has a product or a variant.
func (t *Tx) Orders(f OrderFilter, limit, offset int) (page []Order, count int, err error) {
	var w where
	w.and("account = ?", f.Account)
	w.in("status", f.Statuses)
	if f.ProductID != "" {
		w.and("product_id = ?", f.ProductID)
	}
	if f.VariantID != "" {
		w.and("variant_id = ?", f.VariantID)
	}
	w.in("inventory_type", f.InventoryTypes)
	w.in("inbound_id", f.ShipmentIDs)
	w.between("created_at", f.From, f.Until)
	index := `orders_by_state`
	if len(f.ShipmentIDs) > 0 {
		index = `orders_by_shipment`
	}
	found := ` FROM orders INDEXED BY ` + index + w.String()
	if err := t.get(`SELECT count(*)`+found, w.args, []any{&count}); err != nil {
		return nil, 0, err
	}
	order := ` ORDER BY seq DESC`
	if f.ByShipBy {
		order = ` ORDER BY ship_by, seq`
	}
	page, err = list(t, (*Order).columns, `SELECT `+orderColumns+` FROM orders
		WHERE seq IN (SELECT seq`+found+order+` LIMIT ? OFFSET ?)`+order, append(w.args, limit, offset)...)
	return page, count, err
}
