package selling

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Every id is made of the seed and a number that the database gives out once:
// the same calls after each other give the same ids, and a restart on the same
// file cannot repeat one. Each kind of id has numbers of its own, and the worker
// has others than the callers have: what a call is given does not depend on how
// far the worker has got.

// nextNumber returns the next number of a kind of id: an odd one for the worker
// and an even one for everybody else, so that no two are the same.
func (c *change) nextNumber(kind string) (int64, error) {
	if c.worker {
		n, err := c.tx.NextNumber(kind + ", worker")
		return 2*n + 1, err
	}
	n, err := c.tx.NextNumber(kind)
	return 2 * n, err
}

// newUUID returns the id of a listing, operation, batch or item. Its first half
// grows with the number, so that an index of ids is written at its end and not
// all over; its second half is a hash.
func (c *change) newUUID(kind string) (string, error) {
	n, err := c.nextNumber(kind)
	if err != nil {
		return "", err
	}
	hash := c.hash(kind, n)
	id := uuid.UUID(hash[:16])
	binary.BigEndian.PutUint16(id[:], uint16(c.Seed*0x9e3779b97f4a7c15>>48)) // not zeros, which look like a mistake
	binary.BigEndian.PutUint32(id[2:], uint32(n))
	id[6] = id[6]&0x0f | 0x80 // version 8: made in a way of our own
	id[8] = id[8]&0x3f | 0x80
	return id.String(), nil
}

// newAskID returns 20 digits, more than fit a 64-bit integer. The last ten are
// the number, so that it is unique.
func (c *change) newAskID() (string, error) {
	n, err := c.nextNumber("ask")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("2%09d%010d", c.digits("ask", n), n), nil
}

// newOrderNumber returns an order number in the form of its inventory type:
// 323314425-323214184, or 06-9XUDDWG8F1 for direct sales.
func (c *change) newOrderNumber(inventoryType string) (string, error) {
	n, err := c.nextNumber("order")
	if err != nil {
		return "", err
	}
	first := c.digits("order", n)
	if inventoryType == "DIRECT" {
		unique := strings.ToUpper(strconv.FormatInt(36*36*36*36*36*36+n, 36)) // seven letters and digits
		return fmt.Sprintf("06-%s%03d", unique, first%1000), nil
	}
	return fmt.Sprintf("%09d-%09d", 300_000_000+first%100_000_000, 300_000_000+n), nil
}

// digits returns a number of at most nine digits that looks random.
func (c *change) digits(kind string, n int64) uint64 {
	hash := c.hash(kind, n)
	return binary.BigEndian.Uint64(hash[:]) % 1_000_000_000
}

func (c *change) hash(kind string, n int64) [sha256.Size]byte {
	key := make([]byte, 0, 32)
	key = binary.BigEndian.AppendUint64(key, c.Seed)
	key = binary.BigEndian.AppendUint64(key, uint64(n))
	return sha256.Sum256(append(key, kind...))
}
