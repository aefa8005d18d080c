package state

// States of batches and their items; both end in Completed.
const (
	Queued     = "QUEUED"
	InProgress = "IN_PROGRESS"
	Failed     = "FAILED" // items only; of operations, too
)

// Batch is the machine of batches.
var Batch = &Machine{
	name: "batch",
	states: []State{
		{Name: Queued, Means: "None of its items has been begun."},
		{Name: InProgress, Means: "Some of its items have been begun, and some are not done."},
		{Name: Completed, Means: "All of its items are done, those that failed included; completedAt is set.", Ended: true},
	},
	transitions: []Transition{
		{Queued, "START", InProgress, "The first item is begun.", true},
		{InProgress, "FINISH", Completed, "The last item is done.", true},
	},
}

// Item is the machine of the items of a batch.
var Item = &Machine{
	name: "item",
	states: []State{
		{Name: Queued, Means: "It waits for its turn."},
		{Name: InProgress, Means: "It is being worked."},
		{Name: Completed, Means: "It has done what it asks for, and has a result.", Ended: true},
		{Name: Failed, Means: "It has done nothing, and has an error that says why.", Ended: true},
	},
	transitions: []Transition{
		{Queued, "START", InProgress, "Its turn has come.", true},
		{InProgress, "FINISH", Completed, "What it asks for is done, in the same moment.", true},
		{InProgress, "FAIL", Failed, "What it asks for is not possible, or no longer.", true},
	},
}
