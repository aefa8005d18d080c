package store

import "time"

// Listing is one row of listings.
type Listing struct {
	Seq           int64 // grows with every listing
	ID            string
	Account       int64
	Status        string
	ProductID     string
	VariantID     string
	Amount        int64 // smallest units of Currency
	Currency      string
	InventoryType string
	ExpiresAt     time.Time
	BatchID       string // empty when no batch made it
	ItemID        string
	Ask           Ask
	Order         OrderSummary
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Ask is what a listing has on the market; its ID is empty when there is none.
type Ask struct {
	ID        string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// OrderSummary is what a listing shows of its order; its Number is empty when
// it was not sold.
type OrderSummary struct {
	Number    string
	Status    string
	CreatedAt time.Time
}

const listingColumns = `l.seq, l.id, l.account, l.status, l.product_id, l.variant_id, l.amount, l.currency, l.inventory_type,
	l.expires_at, l.batch_id, l.item_id, l.ask_id, l.ask_created_at, l.ask_updated_at, l.created_at, l.updated_at,
	o.number, o.status, o.created_at`

const listingTables = ` FROM listings l LEFT JOIN orders o ON o.listing_id = l.id`

func (l *Listing) columns() []any {
	return []any{
		&l.Seq, &l.ID, &l.Account, &l.Status, &l.ProductID, &l.VariantID, &l.Amount, &l.Currency, &l.InventoryType,
		timeColumn{&l.ExpiresAt},
		textColumn{&l.BatchID},
		textColumn{&l.ItemID},
		textColumn{&l.Ask.ID},
		timeColumn{&l.Ask.CreatedAt},
		timeColumn{&l.Ask.UpdatedAt},
		timeColumn{&l.CreatedAt},
		timeColumn{&l.UpdatedAt},
		textColumn{&l.Order.Number},
		textColumn{&l.Order.Status},
		timeColumn{&l.Order.CreatedAt},
	}
}

// InsertListing adds a listing. Seq and Order are not looked at.
func (t *Tx) InsertListing(l Listing) error {
	err := t.exec(`INSERT INTO listings (id, account, status, product_id, variant_id, amount, currency, inventory_type,
		expires_at, batch_id, item_id, ask_id, ask_created_at, ask_updated_at, created_at, updated_at)
		VALUES (`+marks(16)+`)`,
		l.ID, l.Account, l.Status, l.ProductID, l.VariantID, l.Amount, l.Currency, l.InventoryType, at(l.ExpiresAt),
		opt(l.BatchID), opt(l.ItemID), opt(l.Ask.ID), at(l.Ask.CreatedAt), at(l.Ask.UpdatedAt), at(l.CreatedAt), at(l.UpdatedAt))
	return err
}

// SaveListing writes what can change of a listing.
func (t *Tx) SaveListing(l Listing) error {
	err := t.exec(`UPDATE listings SET status = ?, amount = ?, currency = ?, expires_at = ?, ask_id = ?,
		ask_created_at = ?, ask_updated_at = ?, updated_at = ? WHERE id = ?`,
		l.Status, l.Amount, l.Currency, at(l.ExpiresAt), opt(l.Ask.ID),
		at(l.Ask.CreatedAt), at(l.Ask.UpdatedAt), at(l.UpdatedAt), l.ID)
	return err
}

// Listing reads one listing of an account, or returns ErrNotFound.
func (t *Tx) Listing(account int64, id string) (Listing, error) {
	l, err := t.AnyListing(id)
	if err == nil && l.Account != account {
		return Listing{}, ErrNotFound
	}
	return l, err
}

// AnyListing reads one listing of whatever account, or returns ErrNotFound. It
// is not for requests of sellers.
func (t *Tx) AnyListing(id string) (Listing, error) {
	var l Listing
	err := t.get(`SELECT `+listingColumns+listingTables+` WHERE l.id = ?`, []any{id}, l.columns())
	return l, err
}

// ListingFilter selects listings of an account; other members that are empty
// select all.
type ListingFilter struct {
	Account        int64
	ProductIDs     []string
	VariantIDs     []string
	BatchIDs       []string
	Statuses       []string
	InventoryTypes []string
	ShipmentIDs    []string  // display ids of inbound shipments
	From           time.Time // inclusive
	Until          time.Time // exclusive
	Unexpired      time.Time // hides what expired by then unsold; zero hides nothing
}

// Listings reads a page of listings, the newest first, and counts all matches.
func (t *Tx) Listings(f ListingFilter, limit, offset int) (page []Listing, count int, err error) {
	var w where
	w.and("l.account = ?", f.Account)
	w.in("l.product_id", f.ProductIDs)
	w.in("l.variant_id", f.VariantIDs)
	w.in("l.batch_id", f.BatchIDs)
	w.in("l.status", f.Statuses)
	w.in("l.inventory_type", f.InventoryTypes)
	w.inShipments(f.ShipmentIDs)
	w.between("l.created_at", f.From, f.Until)
	if !f.Unexpired.IsZero() {
		w.and("(l.expires_at > ? OR l.status IN ('MATCHED', 'COMPLETED'))", at(f.Unexpired))
	}
	if err := t.get(`SELECT count(*) FROM listings l`+w.String(), w.args, []any{&count}); err != nil {
		return nil, 0, err
	}
	page, err = list(t, (*Listing).columns, `SELECT `+listingColumns+listingTables+w.String()+
		` ORDER BY l.seq DESC LIMIT ? OFFSET ?`, append(w.args, limit, offset)...)
	return page, count, err
}

// ExpiredListings reads listings whose ask should have ended by now.
func (t *Tx) ExpiredListings(now time.Time, limit int) ([]Listing, error) {
	return list(t, (*Listing).columns, `SELECT `+listingColumns+listingTables+
		` WHERE l.status = 'ACTIVE' AND l.expires_at <= ? ORDER BY l.expires_at LIMIT ?`, at(now), limit)
}

// LowestAsk returns the lowest amount that active listings of a variant ask for
// in a currency, and 0 when there are none.
func (t *Tx) LowestAsk(variantID, currency string, now time.Time) (int64, error) {
	var amount int64
	err := t.get(`SELECT coalesce(min(amount), 0) FROM listings
		WHERE status = 'ACTIVE' AND variant_id = ? AND currency = ? AND expires_at > ?`,
		[]any{variantID, currency, at(now)}, []any{&amount})
	return amount, err
}
