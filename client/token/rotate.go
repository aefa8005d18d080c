package token

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The time that OnRotate has.
const (
	saveTimeout = 30 * time.Second // until its ctx ends
	closeGrace  = 10 * time.Second // from Close until its ctx ends
	returnGrace = time.Second      // from the end of its ctx until it must have returned
)

var errSaveTimeout = errors.New("OnRotate did not return after its context ended")

// rotate stores a refresh token that differs from the current one, and saves any token that
// OnRotate has not saved yet. Only the running refresh calls it.
func (s *RefreshSource) rotate(refreshToken string) error {
	if refreshToken != "" && refreshToken != s.config().RefreshToken {
		s.config().RefreshToken = refreshToken
		s.setUnsaved(s.config().OnRotate != nil)
	}
	if !s.unsaved {
		return nil
	}
	if err := s.save(); err != nil {
		return fmt.Errorf("save the rotated refresh token (still in memory): %w", err)
	}
	s.setUnsaved(false)
	return nil
}

func (s *RefreshSource) setUnsaved(unsaved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsaved = unsaved
}

// save calls OnRotate and waits for it for a limited time, because callers and Close wait for save.
// If the call is still running then, the next refresh checks its result.
func (s *RefreshSource) save() error {
	if s.lateSave != nil {
		select {
		case err := <-s.lateSave:
			s.lateSave = nil
			if err == nil {
				return nil
			}
		default:
			return errSaveTimeout
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result, refreshToken := make(chan error, 1), s.config().RefreshToken
	go func() { result <- s.config().OnRotate(ctx, refreshToken) }()

	deadline := time.Now().Add(saveTimeout)
	timer := time.NewTimer(saveTimeout)
	defer timer.Stop()
	for closing := s.closing; ; {
		select {
		case err := <-result:
			return err
		case <-closing:
			closing = nil
			timer.Reset(min(closeGrace, time.Until(deadline)))
		case <-timer.C:
			if ctx.Err() != nil {
				s.lateSave = result
				return errSaveTimeout
			}
			closing = nil
			cancel()
			timer.Reset(returnGrace)
		}
	}
}
