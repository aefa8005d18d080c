package gen_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func FuzzCounts(f *testing.F) {
	for _, seed := range []string{`{"queued":3,"failed":"4"}`, `{"queued":-1}`, `{"queued":null}`, `{"":1e2}`, `null`, `[]`, `"IN_PROGRESS"`, `{"a":1,"a":2,"A":3}`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var counts, again gen.Counts
		if err := counts.UnmarshalJSON(data); err != nil {
			require.Less(t, len(err.Error()), 500)
		}
		for _, n := range counts {
			require.GreaterOrEqual(t, int(n), 0, "a count is never negative")
		}
		wire, err := json.Marshal(counts)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(wire, &again))
		require.Len(t, again, len(counts))
		for status, n := range counts {
			require.Equal(t, n, again[status])
		}
	})
}
