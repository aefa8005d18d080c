package store

import "time"

// Statuses of proposed products; they end in Accepted or Rejected.
const (
	InReview = "In Review"
	Accepted = "Completed"
	Rejected = "Rejected"
)

// Proposal is one row of proposals: a product that an account proposed for the catalog.
type Proposal struct {
	Seq         int64
	IngestionID string // of all that were proposed together
	Account     int64
	Status      string
	DueAt       time.Time // zero once it is reviewed
	ProductID   string    // the id the product has if it is accepted
	Input       string    // JSON, as it was sent
	Reason      string    // why it was rejected; empty if it was not
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

const proposalColumns = `seq, ingestion_id, account, status, due_at, product_id, input, reason,
	created_at, updated_at`

func (p *Proposal) columns() []any {
	return []any{
		&p.Seq, &p.IngestionID, &p.Account, &p.Status,
		timeColumn{&p.DueAt},
		&p.ProductID, &p.Input,
		textColumn{&p.Reason},
		timeColumn{&p.CreatedAt},
		timeColumn{&p.UpdatedAt},
	}
}

// InsertProposal inserts a proposal to be reviewed. Seq is ignored.
func (t *Tx) InsertProposal(p Proposal) error {
	return t.exec(`INSERT INTO proposals (ingestion_id, account, status, due_at, product_id, input,
		created_at, updated_at) VALUES (`+placeholders(8)+`)`,
		p.IngestionID, p.Account, p.Status, at(p.DueAt), p.ProductID, p.Input,
		at(p.CreatedAt), at(p.UpdatedAt))
}

// Ingestion reads the proposals that an account sent together, in their order, or returns
// ErrNotFound.
func (t *Tx) Ingestion(account int64, id string) ([]Proposal, error) {
	all, err := list(t, (*Proposal).columns, `SELECT `+proposalColumns+` FROM proposals
		WHERE ingestion_id = ? AND account = ? ORDER BY seq`, id, account)
	if err == nil && len(all) == 0 {
		return nil, ErrNotFound
	}
	return all, err
}

// AcceptedProposals reads the accepted proposals of all accounts.
func (t *Tx) AcceptedProposals() ([]Proposal, error) {
	return list(t, (*Proposal).columns, `SELECT `+proposalColumns+` FROM proposals
		WHERE status = ? ORDER BY seq`, Accepted)
}

// DueProposals reads proposals whose review is due to end, in the order they were made.
func (t *Tx) DueProposals(now time.Time, limit int) ([]Proposal, error) {
	return list(t, (*Proposal).columns, `SELECT `+proposalColumns+` FROM proposals
		WHERE due_at <= ? ORDER BY due_at, seq LIMIT ?`, at(now), limit)
}

// FinishProposal accepts a proposal in review, or rejects it if there is a reason.
func (t *Tx) FinishProposal(seq int64, reason string, now time.Time) error {
	status := Accepted
	if reason != "" {
		status = Rejected
	}
	return t.exec(`UPDATE proposals SET status = ?, reason = ?, due_at = NULL, updated_at = ?
		WHERE seq = ? AND status = ?`, status, opt(reason), at(now), seq, InReview)
}
