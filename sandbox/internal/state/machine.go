// Package state has the state machines of the marketplace: the states of batches, items, listings,
// operations and orders, and the events that lead from one to another. Its tables are the only
// place that defines them: validation, filters, database triggers and docs/states.md are derived
// from them.
//
// The names of the states are public. Transitions are not published: they are assumed, except for
// those whose sentence repeats a published rule.
package state

import "slices"

//go:generate go run ./statedoc ../../../docs/states.md

// State is one state of a machine.
type State struct {
	Name string
	// Means is a sentence about what is in this state.
	Means string
	// Ended marks a state that only such states can follow.
	Ended bool
}

// Transition is one row of a machine's table. An event may lead from one state to several; its
// details decide.
type Transition struct {
	From, Event, To string
	// Means is a sentence about what happens.
	Means string
	// Automatic marks a transition that the worker makes when it falls due.
	Automatic bool
}

// Machine is a table of states and transitions. It is immutable and safe for concurrent use.
type Machine struct {
	name        string
	states      []State
	transitions []Transition
}

// Name returns the name of what has these states, in one word.
func (m *Machine) Name() string { return m.name }

// States returns all states, the initial one first.
func (m *Machine) States() []State { return slices.Clone(m.states) }

// Transitions returns all rows.
func (m *Machine) Transitions() []Transition { return slices.Clone(m.transitions) }

// Names returns the names of the states that have ended, or of the others.
func (m *Machine) Names(ended bool) []string {
	var names []string
	for _, s := range m.states {
		if s.Ended == ended {
			names = append(names, s.Name)
		}
	}
	return names
}

// Has reports whether there is a state of a name.
func (m *Machine) Has(name string) bool {
	return slices.ContainsFunc(m.states, func(s State) bool { return s.Name == name })
}

// Ended reports whether a state has ended.
func (m *Machine) Ended(name string) bool {
	return slices.ContainsFunc(m.states, func(s State) bool { return s.Name == name && s.Ended })
}

// Events returns what can happen in a state, in the order of the table.
func (m *Machine) Events(from string) []string {
	return m.distinct(from, func(t Transition) string { return t.Event })
}

// Targets returns the states that can follow one, in the order of the table.
func (m *Machine) Targets(from string) []string {
	return m.distinct(from, func(t Transition) string { return t.To })
}

func (m *Machine) distinct(from string, what func(Transition) string) []string {
	var all []string
	for _, t := range m.transitions {
		if t.From == from && !slices.Contains(all, what(t)) {
			all = append(all, what(t))
		}
	}
	return all
}

// Allows reports whether an event can happen in a state.
func (m *Machine) Allows(from, event string) bool {
	return slices.Contains(m.Events(from), event)
}

// Leads reports whether an event can lead from one state to another.
func (m *Machine) Leads(from, event, to string) bool {
	return slices.ContainsFunc(m.transitions, func(t Transition) bool {
		return t.From == from && t.Event == event && t.To == to
	})
}

// Toward returns the transition from one state to another, and false if there is none.
func (m *Machine) Toward(from, to string) (Transition, bool) {
	return m.find(func(t Transition) bool { return t.From == from && t.To == to })
}

// Automatic returns the automatic transition from a state, and false if there is none.
func (m *Machine) Automatic(from string) (Transition, bool) {
	return m.find(func(t Transition) bool { return t.From == from && t.Automatic })
}

// Path returns a sequence of transitions from one state to another, with as few as possible that
// are not automatic. It is empty if they are the same state, or if there is none.
func (m *Machine) Path(from, to string) []Transition {
	const manual = 100 // cost of a transition that is not automatic, in automatic ones
	paths, costs := map[string][]Transition{}, map[string]int{from: 0}
	for changed := true; changed; {
		changed = false
		for _, t := range m.transitions {
			cost, reached := costs[t.From]
			if cost++; !t.Automatic {
				cost += manual
			}
			if known, ok := costs[t.To]; reached && (!ok || cost < known) {
				costs[t.To], paths[t.To], changed = cost, append(slices.Clone(paths[t.From]), t), true
			}
		}
	}
	return paths[to]
}

func (m *Machine) find(match func(Transition) bool) (Transition, bool) {
	i := slices.IndexFunc(m.transitions, match)
	if i < 0 {
		return Transition{}, false
	}
	return m.transitions[i], true
}

// Machines returns all machines.
func Machines() []*Machine {
	return []*Machine{Batch, Item, Listing, Operation, Order}
}
