package token

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long OnRotate may take.
const (
	saveTimeout = 30 * time.Second // until its ctx ends
	closeGrace  = 10 * time.Second // until its ctx ends once the source is closed
	returnTime  = time.Second      // until it has returned, after its ctx ended
)

var errSaving = errors.New("OnRotate did not return although its context has ended")

// rotate keeps the refresh token, if it is another one, and hands over one that OnRotate has not taken yet.
func (s *RefreshSource) rotate(refreshToken string) error {
	if refreshToken != "" && refreshToken != s.config().RefreshToken {
		s.config().RefreshToken = refreshToken
		s.setUnsaved(s.config().OnRotate != nil)
	}
	if !s.unsaved {
		return nil
	}
	if err := s.save(); err != nil {
		return fmt.Errorf("save the rotated refresh token, which is kept in memory: %w", err)
	}
	s.setUnsaved(false)
	return nil
}

func (s *RefreshSource) setUnsaved(unsaved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsaved = unsaved
}

// save calls OnRotate and waits for it, but not longer than it may take: callers wait for the flight, and so does
// Close. A call that is still running then is looked at again by the next flight.
func (s *RefreshSource) save() error {
	if s.saving != nil {
		select {
		case err := <-s.saving:
			s.saving = nil
			if err == nil {
				return nil
			}
		default:
			return errSaving
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result, refreshToken := make(chan error, 1), s.config().RefreshToken
	go func() { result <- s.config().OnRotate(ctx, refreshToken) }()

	ends := time.Now().Add(saveTimeout)
	limit := time.NewTimer(saveTimeout)
	defer limit.Stop()
	for closing := s.closing; ; {
		select {
		case err := <-result:
			return err
		case <-closing:
			closing = nil
			limit.Reset(min(closeGrace, time.Until(ends)))
		case <-limit.C:
			if ctx.Err() != nil {
				s.saving = result
				return errSaving
			}
			closing = nil
			cancel()
			limit.Reset(returnTime)
		}
	}
}
