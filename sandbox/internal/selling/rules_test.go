package selling

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// possible writes every operation in every state down once more, so that a
// changed rule is a decision and no accident.
var possible = map[string]map[string]bool{
	//                inactive, active; nothing is possible once a listing is sold or gone
	store.Create:     {store.Inactive: true},
	store.Update:     {store.Inactive: true, store.Active: true},
	store.Activate:   {store.Inactive: true},
	store.Deactivate: {store.Active: true},
	store.Delete:     {store.Inactive: true, store.Active: true},
}

func TestEveryOperationInEveryState(t *testing.T) {
	for operation, in := range possible {
		for _, state := range []string{store.Inactive, store.Active, store.Deleted, store.Canceled, store.Matched, store.Completed} {
			err := allow(operation, store.Listing{ID: "l", Status: state})
			if in[state] {
				assert.NoError(t, err, "%s while %s", operation, state)
				continue
			}
			assert.ErrorIs(t, err, ErrRefused, "%s while %s", operation, state)
			assert.Regexp(t, `^listing l cannot be \w+: it is \w+`, err.Error(), "%s while %s", operation, state)
		}
	}
}
