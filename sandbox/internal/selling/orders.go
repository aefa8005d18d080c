package selling

// orders moves orders on that are due.
func (c *change) orders() (int, error) { return 0, nil }
