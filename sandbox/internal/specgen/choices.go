package specgen

// Plain always makes the plainest choice, which makes valid requests that say no
// more than they have to.
type Plain struct{}

// IntN returns 0.
func (Plain) IntN(int) int { return 0 }

// Bytes makes choices as a fuzzer's input says, and plain ones once it is used
// up.
type Bytes struct {
	left []byte
}

// NewBytes returns the choices of an input, which must not change afterwards.
func NewBytes(input []byte) *Bytes { return &Bytes{input} }

// More reports whether there is input left.
func (b *Bytes) More() bool { return len(b.left) > 0 }

// IntN takes as many bytes as it needs to reach every number below n.
func (b *Bytes) IntN(n int) int {
	v := 0
	for reach := 1; reach < n && len(b.left) > 0; reach <<= 8 {
		v = v<<8 | int(b.left[0])
		b.left = b.left[1:]
	}
	return v % max(n, 1)
}
