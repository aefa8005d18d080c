package selling

// Wake lets Run look for work again, as it has to when the clock was moved.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // it will look anyway
	}
}
