package sandbox_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/specgen"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

const coverageHead = `# What the tests of the sandbox exercise

Generated from what the tests were answered: ` + "`go test ./sandbox -update`" + ` writes it, and ` + "`go test ./sandbox`" + `
fails if it is out of date, if no test is answered a status that api/openapi.yaml declares, or if no test has seen a
row of [states.md](states.md) happen. Every answer counted here was held against the document. Each line names the
tests that are most about it, three at most; what the fuzz and soak tests were answered is left out.

"Undeclared" are the statuses that an operation answers with its ` + "`default`" + ` response.
`

// page writes everything down, with the names of tests: the answers of every
// operation, tag by tag, and the changes of state, machine by machine.
func (c *coverage) page(spec *specgen.Spec, names func(tests map[string]bool) string) string {
	var b strings.Builder
	b.WriteString(coverageHead)
	for _, tag := range []string{"Listings", "Batches", "Orders", "Catalog"} {
		fmt.Fprintf(&b, "\n## %s\n\n| Operation | Status | Tests |\n|---|---|---|\n", tag)
		for _, op := range spec.Operations() {
			if op.Tag == tag {
				c.writeOperation(&b, op, names)
			}
		}
	}
	c.writeChanges(&b, names)
	return b.String()
}

func (c *coverage) writeOperation(b *strings.Builder, op specgen.Operation, names func(map[string]bool) string) {
	statuses := slices.Clone(op.Statuses)
	for at := range c.answers {
		if at.operation == op.ID && !slices.Contains(statuses, at.status) {
			statuses = append(statuses, at.status)
		}
	}
	slices.Sort(statuses)
	for i, status := range statuses {
		name, kind := "", fmt.Sprint(status)
		if i == 0 {
			name = op.ID
		}
		if !slices.Contains(op.Statuses, status) {
			kind += ", undeclared"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, kind, cmp.Or(names(c.answers[cell{op.ID, status}]), "none"))
	}
}

func (c *coverage) writeChanges(b *strings.Builder, names func(map[string]bool) string) {
	b.WriteString("\n## Changes of state\n\nSeen in one answer and the next.\n")
	for _, m := range state.Machines() {
		fmt.Fprintf(b, "\n### %s\n\n| From | Event | To | Tests |\n|---|---|---|---|\n", m.Name())
		for _, row := range m.Transitions() {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", row.From, row.Event, row.To, names(c.sawRow(m, row)))
		}
	}
}
