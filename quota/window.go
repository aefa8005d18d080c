package quota

// Window names a window of a [Quota], after the field that sets its limit.
type Window string

// The windows of a quota.
const (
	RequestsPerSecond Window = "requests per second"
	RequestsPerDay    Window = "requests per day"
	ItemsPerWindow    Window = "items per window"
	ItemsPerDay       Window = "items per day"
)
