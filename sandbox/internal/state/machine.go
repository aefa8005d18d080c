// Package state holds the state machines of the marketplace: which states a
// batch, an item, a listing, an operation and an order have, and which event
// leads from which to which. The tables are the one place where that is said;
// what is possible, refused, filtered by and drawn follows from them.
//
// Neither the documentation of the service nor a live one shows transitions.
// The names of the states are public; what leads from one to another is assumed
// where the sentence of a transition does not repeat a published rule.
package state

import "slices"

//go:generate go run ./statedoc ../../../docs/states.md

// State is one state of a machine.
type State struct {
	Name string
	// Means is a sentence about whoever is in this state.
	Means string
	// Ended says that it is over: only states that have ended follow.
	Ended bool
}

// Transition is one row of a machine's table. An event may lead from one state
// to several, for its details decide.
type Transition struct {
	From, Event, To string
	// Means is a sentence about what happens.
	Means string
	// Alone says that it happens by itself after a while.
	Alone bool
}

// Machine is a table of states and transitions. It does not change and is safe
// for concurrent use.
type Machine struct {
	name        string
	states      []State
	transitions []Transition
}

// Name returns what the machine is about, in one word.
func (m *Machine) Name() string { return m.name }

// States returns all states, the first of which is where everything begins.
func (m *Machine) States() []State { return slices.Clone(m.states) }

// Transitions returns the table.
func (m *Machine) Transitions() []Transition { return slices.Clone(m.transitions) }

// Names returns the names of the states that have ended, or of those that have
// not.
func (m *Machine) Names(ended bool) []string {
	var names []string
	for _, s := range m.states {
		if s.Ended == ended {
			names = append(names, s.Name)
		}
	}
	return names
}

// Has reports whether there is a state of that name.
func (m *Machine) Has(name string) bool {
	return slices.ContainsFunc(m.states, func(s State) bool { return s.Name == name })
}

// Ended reports whether a state is one that has ended.
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

// Toward returns the transition from one state to another, and false if there
// is none.
func (m *Machine) Toward(from, to string) (Transition, bool) {
	return m.find(func(t Transition) bool { return t.From == from && t.To == to })
}

// Alone returns the transition that happens in a state by itself, and false if
// there is none.
func (m *Machine) Alone(from string) (Transition, bool) {
	return m.find(func(t Transition) bool { return t.From == from && t.Alone })
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
