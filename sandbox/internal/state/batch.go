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
		{Name: Queued, Means: "No item was started."},
		{Name: InProgress, Means: "Some items were started, and some are not done."},
		{Name: Completed, Means: "All items are done, whether they failed or not; completedAt is set.", Ended: true},
	},
	transitions: []Transition{
		{Queued, "START", InProgress, "The first item is started.", true},
		{InProgress, "FINISH", Completed, "The last item is done.", true},
	},
}

// Item is the machine of the items of a batch.
var Item = &Machine{
	name: "item",
	states: []State{
		{Name: Queued, Means: "It was accepted."},
		{Name: InProgress, Means: "It was started."},
		{Name: Completed, Means: "It made its change, and has a result.", Ended: true},
		{Name: Failed, Means: "It changed nothing, and has an error.", Ended: true},
	},
	transitions: []Transition{
		{Queued, "START", InProgress, "It falls due.", true},
		{InProgress, "FINISH", Completed, "Its change is made, in the same transaction.", true},
		{InProgress, "FAIL", Failed, "Its change is not possible, or no longer possible.", true},
	},
}
