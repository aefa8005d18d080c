package sell

// nobody marks an input that no echo belongs to.
const nobody = -1

// match finds for every input the index of the echo that is its own, or nobody. Results come in no promised
// order and without an id of ours, so they are told apart by the input that they repeat; equal inputs are
// interchangeable. As many are paired as possible, and those that are repeated exactly before the others.
func match(inputs, echoes []terms) []int {
	m := &matching{inputs: inputs, echoes: echoes, owner: make([]int, len(inputs))}
	same := map[terms][]int{}
	var all, open, rest []int
	for i, input := range inputs {
		m.owner[i] = nobody
		same[input] = append(same[input], i)
		all = append(all, i)
	}
	for e, echo := range echoes {
		if free := same[echo]; len(free) > 0 {
			m.owner[free[0]] = e
			same[echo] = free[1:]
			continue
		}
		rest = append(rest, e)
	}
	for i, owner := range m.owner {
		if owner == nobody {
			open = append(open, i)
		}
	}
	for _, e := range rest {
		if !m.place(e, open, map[int]bool{}) {
			m.place(e, all, map[int]bool{}) // one that is repeated exactly may have to give way
		}
	}
	return m.owner
}

// matching is a bipartite matching, grown along augmenting paths.
type matching struct {
	inputs, echoes []terms
	owner          []int
}

// place gives an echo one of the inputs that it fits: a free one, or one whose echo can move to another.
func (m *matching) place(echo int, inputs []int, asked map[int]bool) bool {
	var taken []int
	for _, i := range inputs {
		switch {
		case asked[i] || !m.inputs[i].fits(m.echoes[echo]):
		case m.owner[i] == nobody:
			m.owner[i] = echo
			return true
		default:
			taken = append(taken, i)
		}
	}
	for _, i := range taken {
		if asked[i] {
			continue
		}
		asked[i] = true
		if m.place(m.owner[i], inputs, asked) {
			m.owner[i] = echo
			return true
		}
	}
	return false
}
