package store

import "time"

// Order is one row of orders.
type Order struct {
	Seq            int64
	Number         string
	Account        int64
	Status         string
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
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

const orderColumns = `seq, number, account, status, listing_id, ask_id, product_id, variant_id, amount, currency,
	inventory_type, ship_by, carrier, tracking_number, created_at, updated_at`

func (o *Order) columns() []any {
	return []any{
		&o.Seq, &o.Number, &o.Account, &o.Status, &o.ListingID, &o.AskID, &o.ProductID, &o.VariantID, &o.Amount, &o.Currency,
		&o.InventoryType,
		timeColumn{&o.ShipBy},
		&o.Carrier, &o.TrackingNumber,
		timeColumn{&o.CreatedAt},
		timeColumn{&o.UpdatedAt},
	}
}

// InsertOrder adds an order. Seq is not looked at.
func (t *Tx) InsertOrder(o Order) error {
	err := t.exec(`INSERT INTO orders (number, account, status, listing_id, ask_id, product_id, variant_id, amount, currency,
		inventory_type, ship_by, carrier, tracking_number, created_at, updated_at) VALUES (`+marks(15)+`)`,
		o.Number, o.Account, o.Status, o.ListingID, o.AskID, o.ProductID, o.VariantID, o.Amount, o.Currency,
		o.InventoryType, at(o.ShipBy), o.Carrier, o.TrackingNumber, at(o.CreatedAt), at(o.UpdatedAt))
	return err
}

// Order reads one order of an account, or returns ErrNotFound.
func (t *Tx) Order(account int64, number string) (Order, error) {
	var o Order
	err := t.get(`SELECT `+orderColumns+` FROM orders WHERE number = ? AND account = ?`, []any{number, account}, o.columns())
	return o, err
}

// OrderFilter selects orders of an account; other members that are empty select
// all, but for Statuses.
type OrderFilter struct {
	Account        int64
	Statuses       []string
	ProductID      string
	VariantID      string
	InventoryTypes []string
	ShipmentIDs    []string  // display ids of inbound shipments
	From           time.Time // inclusive
	Until          time.Time // exclusive
	ByShipBy       bool      // the most urgent first, instead of the newest
}

// Orders reads a page of orders and counts all matches.
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
	w.inShipments(f.ShipmentIDs)
	w.between("created_at", f.From, f.Until)
	if err := t.get(`SELECT count(*) FROM orders`+w.String(), w.args, []any{&count}); err != nil {
		return nil, 0, err
	}
	order := ` ORDER BY seq DESC`
	if f.ByShipBy {
		order = ` ORDER BY ship_by, seq`
	}
	page, err = list(t, (*Order).columns, `SELECT `+orderColumns+` FROM orders`+w.String()+order+` LIMIT ? OFFSET ?`,
		append(w.args, limit, offset)...)
	return page, count, err
}
