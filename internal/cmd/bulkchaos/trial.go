package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// trial is one seed: a world, a broken network and a worker.
type trial struct {
	run
	world   *world
	network *network
	worker  *worker
	random  *rand.Rand

	killed, stopped, edits int
	notes                  int
	requests, writes       []time.Duration // From the start after a kill to the first request and batch.
}

func newTrial(ctx context.Context, r run, binary string, seed uint64, dir string) (*trial, error) {
	t := &trial{run: r, random: rand.New(rand.NewPCG(seed, 2))}
	var err error
	if t.world, err = newWorld(ctx, seed, r.rows, dir); err != nil {
		return nil, err
	}
	if t.network, err = newNetwork(t.world.market, seed); err != nil {
		return nil, errors.Join(err, t.world.market.Close())
	}
	t.worker = newWorker(binary, dir, t.world, t.network.URL()+sandbox.BasePath, r.rows)
	return t, nil
}

func (t *trial) close() error { return errors.Join(t.network.Close(), t.world.market.Close()) }

// editOneIn is the part of the inventory that changes at a time.
const editOneIn = 8

// maxFailures is how many processes in a row may end without having submitted a batch.
const maxFailures = 20

// chaos runs processes until all kills and stops have happened.
func (t *trial) chaos(ctx context.Context) error {
	events := slices.Concat(slices.Repeat([]bool{true}, t.kills), slices.Repeat([]bool{false}, t.stops)) // true is a kill
	t.random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	outside, stop := t.outside(ctx)
	wasKilled, failures := false, 0
	for len(events) > 0 {
		name, flags := "sync", []string(nil)
		if t.random.IntN(2) == 0 {
			name, flags = "apply", []string{"--yes"}
		}
		if t.random.IntN(3) == 0 {
			flags = append(flags, "--reread")
		}
		happened, err := t.process(ctx, outside, wasKilled, events[0], name, flags...)
		if err != nil {
			return errors.Join(err, stop())
		}
		wasKilled = happened && events[0]
		if happened {
			events, failures = events[1:], 0
		} else if failures++; failures == maxFailures {
			return errors.Join(fmt.Errorf("%d processes in a row ended before anything could happen to them", failures), stop())
		}
		if !wasKilled || t.random.IntN(3) == 0 { // otherwise the next process continues
			if err := t.world.edit(ctx, editOneIn); err != nil {
				return errors.Join(err, stop())
			}
			t.edits++
		}
	}
	return stop()
}

// process runs a process, kills or stops it at some moment, and reports whether that happened before
// it ended. It returns after the end of the process.
func (t *trial) process(
	ctx context.Context, outside func(), wasKilled, isKill bool, name string, flags ...string,
) (happened bool, err error) {
	reached := drawMoment(t.random, t.rows).watch(t.network, outside)
	p, err := t.worker.start(ctx, name, flags...)
	if err != nil {
		return false, err
	}
	select {
	case <-reached:
		if isKill {
			err = p.kill()
			t.killed++
		} else if err = p.stop(ctx); err == nil {
			t.stopped++
		}
		happened = err == nil
	case <-p.ended:
	}
	if err != nil {
		return false, errors.Join(err, p.kill())
	}
	<-p.ended // ctx kills it
	if wasKilled {
		request, write := t.network.firsts()
		if !request.IsZero() {
			t.requests = append(t.requests, request.Sub(p.started))
		}
		if !write.IsZero() {
			t.writes = append(t.writes, write.Sub(p.started))
		}
	}
	return happened, ctx.Err()
}

// outside lets things happen from outside, one in three requests of the worker. It returns a function
// to be called for each request, and one that ends it.
func (t *trial) outside(ctx context.Context) (tick func(), stop func() error) {
	ticks, ended := make(chan struct{}, 100), make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for requests := 1; ; requests++ {
			select {
			case <-ctx.Done():
				ended <- nil
				return
			case <-ticks:
			}
			if requests%3 != 0 {
				continue
			}
			if err := t.world.happen(ctx); err != nil && ctx.Err() == nil {
				ended <- fmt.Errorf("what happens outside: %w", err)
				return
			}
		}
	}()
	tick = func() {
		select {
		case ticks <- struct{}{}:
		default: // it is busy
		}
	}
	return tick, func() error {
		cancel()
		return <-ended
	}
}

// maxRounds is how many syncs may have something to do once the faults have ended.
const maxRounds = 6

// converge ends the faults, settles the conflicts of canceled orders, and syncs until nothing is planned, with all listings read again and
// then without. It returns how many syncs that took.
func (t *trial) converge(ctx context.Context) (rounds int, err error) {
	t.network.heal()
	t.network.begin(nil)
	if err := t.world.count(ctx); err != nil {
		return 0, err
	}
	for rounds = 1; rounds <= maxRounds; rounds++ {
		p, err := t.worker.sync(ctx, "--reread")
		switch {
		case ctx.Err() != nil:
			return rounds, errors.Join(context.Cause(ctx), err)
		case !p.isEmpty():
			t.print("sync %d: %s", rounds, p)
			if err != nil {
				t.print("%s", err)
			}
			continue
		case err != nil:
			return rounds, err
		}
		again, err := t.worker.sync(ctx)
		if err == nil && !again.isEmpty() {
			err = fmt.Errorf("sync again plans something: %s", again)
		}
		return rounds, err
	}
	return rounds, fmt.Errorf("%d syncs in a row plan something", maxRounds)
}

// median returns the middle one of durations, 0 if there is none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2].Round(time.Millisecond)
}
