package selling

// reviews ends reviews of ingested products that are due.
func (c *change) reviews() (int, error) { return 0, nil }
