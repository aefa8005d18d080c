package selling

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Every id is made of the seed and a number that the database returns once. The same calls in the
// same order give the same ids, and a restart on the same file repeats none. Each kind of id has
// its own sequence, and the worker has another one than requests have, so that the ids of a request
// do not depend on how far the worker is.

// nextNumber returns the next number for a kind of id: an odd one for the worker and an even one
// for requests, so that no two are equal.
func (c *change) nextNumber(kind string) (int64, error) {
	if c.worker {
		n, err := c.tx.NextNumber(kind + ", worker")
		return 2*n + 1, err
	}
	n, err := c.tx.NextNumber(kind)
	return 2 * n, err
}

// newUUID returns the id of a listing, operation, batch or item. Its first half grows with the
// number, so that inserts write at the end of an index of ids; its second half is a hash.
func (c *change) newUUID(kind string) (string, error) {
	n, err := c.nextNumber(kind)
	if err != nil {
		return "", err
	}
	hash := c.hash(kind, n)
	id := uuid.UUID(hash[:16])
	binary.BigEndian.PutUint16(id[:], uint16(c.Seed*0x9e3779b97f4a7c15>>48)) // zeros would look like a mistake
	binary.BigEndian.PutUint32(id[2:], uint32(n))
	id[6] = id[6]&0x0f | 0x80 // version 8: custom
	id[8] = id[8]&0x3f | 0x80
	return id.String(), nil
}

// newAskID returns 20 digits, more than fit into 64 bits. The last ten are the number, so that it
// is unique.
func (c *change) newAskID() (string, error) {
	n, err := c.nextNumber("ask")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("2%09d%010d", c.digits("ask", n), n), nil
}

// newOrderNumber returns an order number in the form of its inventory type: 323314425-323214184,
// 06-9XUDDWG8F1 for direct sales, or 02-L0QT6MRVSG for flex sales.
func (c *change) newOrderNumber(inventoryType string) (string, error) {
	n, err := c.nextNumber("order")
	if err != nil {
		return "", err
	}
	first := c.digits("order", n)
	if prefix, ok := map[string]string{Direct: "06", Flex: "02"}[inventoryType]; ok {
		unique := strings.ToUpper(strconv.FormatInt(36*36*36*36*36*36+n, 36)) // seven characters
		return fmt.Sprintf("%s-%s%03d", prefix, unique, first%1000), nil
	}
	return fmt.Sprintf("%09d-%09d", 300_000_000+first%100_000_000, 300_000_000+n), nil
}

// newShippingID returns eight letters and digits. All but the last three are the number, so that it
// is unique.
func (c *change) newShippingID() (string, error) {
	n, err := c.nextNumber("shipping")
	if err != nil {
		return "", err
	}
	unique := strconv.FormatInt(36*36*36*36+n, 36)
	noise := strconv.FormatUint(36*36*36+c.digits("shipping", n)%(36*36*36), 36)
	return strings.ToUpper(fmt.Sprint(unique, noise[1:])), nil
}

// digits returns a pseudorandom number of nine digits at most.
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
