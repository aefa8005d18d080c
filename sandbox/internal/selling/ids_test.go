package selling

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

func TestIDs_HaveTheFormOfTheServiceAndAreUnique(t *testing.T) {
	db, err := store.Open(t.Context(), "")
	require.NoError(t, err)
	defer db.Close()
	seen := map[string]bool{}
	require.NoError(t, db.Update(t.Context(), func(tx *store.Tx) error {
		c := &change{Service: New(Config{}), tx: tx}
		for i := range 1000 {
			c.worker = i%2 == 1
			id, err := c.newUUID("listing")
			require.NoError(t, err)
			require.NoError(t, uuid.Validate(id))
			ask, err := c.newAskID()
			require.NoError(t, err)
			require.Regexp(t, `^2\d{19}$`, ask, "too long for 64 bits")
			standard, err := c.newOrderNumber("STANDARD")
			require.NoError(t, err)
			require.Regexp(t, `^3\d{8}-3\d{8}$`, standard)
			direct, err := c.newOrderNumber("DIRECT")
			require.NoError(t, err)
			require.Regexp(t, `^06-[0-9A-Z]{10}$`, direct)
			for _, one := range []string{id, ask, standard, direct} {
				require.False(t, seen[one], "%s is repeated", one)
				seen[one] = true
			}
		}
		return nil
	}))
	assert.Len(t, seen, 4000)
}
