package state

// States of operations; they end in Succeeded or Failed.
const (
	Pending   = "PENDING"
	Succeeded = "SUCCEEDED"
)

// Operation is the machine of operations on a listing.
var Operation = &Machine{
	name: "operation",
	states: []State{
		{Name: Pending, Means: "It was asked for when it was possible, and is still to be done."},
		{Name: Succeeded, Means: "Its changes are those of the listing.", Ended: true},
		{Name: Failed, Means: "It has changed nothing, and has an error that says why.", Ended: true},
	},
	transitions: []Transition{
		{Pending, "SUCCEED", Succeeded, "The listing is changed, in the same moment.", true},
		{Pending, "FAIL", Failed, "It has become impossible since it was asked for: the listing was sold, say.", true},
	},
}
