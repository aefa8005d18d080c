package decide

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckDeletes(t *testing.T) {
	for _, tc := range []struct {
		deletes, listings int
		allowed           *int
		want              *DeletesError
		why               string
	}{
		{0, 0, nil, nil, "nothing"},
		{10, 10, nil, nil, "all of a small account"},
		{11, 20, nil, &DeletesError{11, 20, 10}, "more than 10, and more than 10 percent"},
		{100, 1000, nil, nil, "10 percent are not more than 10 percent"},
		{101, 1000, nil, &DeletesError{101, 1000, 100}, "one more"},
		{101, 1009, nil, &DeletesError{101, 1009, 100}, "fractions of a listing do not count"},
		{500, 1000, new(500), nil, "the count that is allowed"},
		{501, 1000, new(500), &DeletesError{501, 1000, 500}, "nothing deletes more"},
		{6, 1000, new(5), &DeletesError{6, 1000, 5}, "even if it would be free without a count"},
		{1, 1000, new(0), &DeletesError{1, 1000, 0}, "none are allowed"},
	} {
		err := CheckDeletes(tc.deletes, tc.listings, tc.allowed)
		if tc.want == nil {
			assert.NoError(t, err, tc.why)
			continue
		}
		got := new(DeletesError)
		require.ErrorAs(t, err, &got, tc.why)
		assert.Equal(t, tc.want, got, tc.why)
	}
}
