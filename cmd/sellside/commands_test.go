package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// lose loses the response to the next call of an operation, which is applied.
func (s *shop) lose(operation gen.OperationID) {
	s.t.Helper()
	require.NoError(s.t, s.market.Fail(sandbox.Fault{
		Operation: string(operation), Kind: sandbox.FaultStatus, Status: http.StatusGatewayTimeout, Applied: true,
	}))
}

// drives run every command that uses the service in ways that together use all its operations.
var drives = map[string]func(s *shop){
	"sell": func(s *shop) {
		s.lose(gen.OpCreateListingsBatch)
		s.run("sell", stockFile(s.t, "DZ5485-612,10.5,162,USD,2"), "--settle", "1s")
	},
	"plan":  func(s *shop) { s.planInventory("plan") },
	"apply": func(s *shop) { s.planInventory("apply", "--yes") },
	"sync":  func(s *shop) { s.planInventory("sync") },

	"listings ls": func(s *shop) { s.run("listings", "ls") },
	"listings get": func(s *shop) {
		id := s.offer(1, sandbox.Listing{Amount: "162"})[0]
		s.run("listings", "get", id)
		s.run("listings", "get", id, "--operations")
		s.run("listings", "get", id, "--operation", "98e2e748-8000-45bf-a624-5531d6a68318")
	},
	"listings create": func(s *shop) {
		s.run("listings", "create", variant(0), "162", "--currency", "USD")
		s.lose(gen.OpCreateListing)
		s.run("listings", "create", variant(0), "162", "--currency", "USD")
	},
	"listings reprice": func(s *shop) {
		ids := s.offer(2, sandbox.Listing{Amount: "162"})
		s.lose(gen.OpUpdateListing)
		s.run("listings", "reprice", "158", ids[0])
		s.run("listings", "reprice", "157", ids[0])
		s.run("listings", "reprice", "156", ids[0], ids[1])
	},
	"listings activate": func(s *shop) {
		ids := s.offer(2, sandbox.Listing{Amount: "162", Status: "INACTIVE"})
		s.lose(gen.OpActivateListing)
		s.run("listings", "activate", ids[0], ids[1])
	},
	"listings deactivate": func(s *shop) {
		ids := s.offer(2, sandbox.Listing{Amount: "162"})
		s.lose(gen.OpDeactivateListing)
		s.run("listings", "deactivate", ids[0], ids[1])
	},
	"listings delete": func(s *shop) {
		ids := s.offer(4, sandbox.Listing{Amount: "162"})
		s.lose(gen.OpDeleteListing)
		s.run("listings", "delete", ids[0], "--yes")
		s.run("listings", "delete", ids[1], "--yes")
		s.run("listings", "delete", ids[2], ids[3], "--yes")
	},
	"orders ls": func(s *shop) {
		s.run("orders", "ls")
		s.run("orders", "ls", "--history")
	},
	"orders get": func(s *shop) { s.run("orders", "get", s.sale(sandbox.Listing{Amount: "162"}, gen.OrderStatusCreated)) },
	"orders watch": func(s *shop) {
		sold := s.sale(sandbox.Listing{Amount: "162"}, gen.OrderStatusCreated)
		ctx, stop := context.WithCancel(s.t.Context())
		out, stderr := watch("ENDED"), watch("watching")
		done := make(chan int)
		go func() {
			done <- run(ctx, []string{"orders", "watch", "--interval", "10ms"}, strings.NewReader(""), out, stderr, s.env.get)
		}()
		<-stderr.seen
		require.NoError(s.t, s.market.MoveOrder(s.t.Context(), sold, "CANCELED"))
		<-out.seen
		stop()
		<-done
	},
	"orders labels": func(s *shop) {
		s.sale(sandbox.Listing{Amount: "162", InventoryType: "DIRECT"}, gen.OrderStatusCreated)
		s.run("orders", "labels", "--dir", s.t.TempDir())
	},
	"orders payouts": func(s *shop) { s.run("orders", "payouts") },
	"batches get":    func(s *shop) { s.readBatches("get", "--items") },
	"batches wait":   func(s *shop) { s.readBatches("wait") },
	"market": func(s *shop) {
		s.offer(1, sandbox.Listing{Amount: "162"})
		s.run("market", "DZ5485-612")
		s.run("market", "DZ5485-612", "--size", "10.5")
	},
	"products search": func(s *shop) { s.run("products", "search", "chicago") },
	"products get": func(s *shop) {
		product := sandbox.Catalog()[0]
		s.run("products", "get", product.ID)
		s.run("products", "get", product.ID, "--variant", product.Variants[0].ID)
		s.run("products", "get", "--gtin", "190763748957")
	},
	"products ingest":    func(s *shop) { s.run("products", "ingest", proposalFile(s.t, proposal)) },
	"products ingestion": func(s *shop) { s.run("products", "ingestion", "98e2e748-8000-45bf-a624-5531d6a68318") },
	"doctor":             func(s *shop) { s.run("doctor") },
	"whoami":             func(s *shop) { s.run("whoami") },
}

// planInventory runs a command for inventories that together need everything: items by style id and
// by GTIN, a rule, creates, updates of which one fails and one has no response, and a delete.
func (s *shop) planInventory(args ...string) {
	s.t.Helper()
	s.env["XDG_STATE_HOME"] = s.t.TempDir()
	const header = "sku,style_id,size,gtin,price,rule,floor,currency,quantity"
	inventory := func(price string, rows ...string) {
		rows = append([]string{header, "A,DZ5485-612,10.5,," + price + ",,,USD,1", "C,DZ5485-612,11,,,lowest-1,50,USD,1"}, rows...)
		s.run(append(args, stockFile(s.t, rows...), "--settle", "100ms")...)
	}
	inventory("162", "B,,,190763748957,162,,,USD,1")
	if args[0] == "plan" {
		return
	}
	require.NoError(s.t, s.market.FailWork(s.t.Context(), sandbox.Failure{Operation: "UPDATE"}))
	inventory("163", "B,,,190763748957,162,,,USD,1")
	s.lose(gen.OpUpdateListingsBatch)
	inventory("164", "B,,,190763748957,162,,,USD,0")
}

// readBatches runs a command for a batch of each kind.
func (s *shop) readBatches(command string, flags ...string) {
	s.t.Helper()
	ids := s.offer(2, sandbox.Listing{Amount: "162"})
	created, err := s.c.Batches.Create(s.t.Context(), []gen.CreateItem{{VariantID: variant(0), Amount: "162", Quantity: 1}})
	require.NoError(s.t, err)
	updated, err := s.c.Batches.Update(s.t.Context(), []gen.UpdateItem{{ListingID: ids[0], Amount: "150", CurrencyCode: "USD"}})
	require.NoError(s.t, err)
	deleted, err := s.c.Batches.Delete(s.t.Context(), ids[1:])
	require.NoError(s.t, err)
	s.market.ClearFaults()
	for _, id := range []string{created.ID(), updated.ID(), deleted.ID()} {
		s.run(append([]string{"batches", command, id}, flags...)...)
	}
}

// commandsOf returns the commands below root that have no other commands below them, by their names.
func commandsOf(root *cobra.Command) map[string]*cobra.Command {
	found := map[string]*cobra.Command{}
	for _, cmd := range root.Commands() {
		if len(cmd.Commands()) == 0 {
			found[strings.TrimPrefix(cmd.CommandPath(), "sellside ")] = cmd
		}
		maps.Copy(found, commandsOf(cmd))
	}
	return found
}

// operationsOf returns the operations that a command says it uses.
func operationsOf(cmd *cobra.Command) []string { return strings.Fields(cmd.Annotations[operationsKey]) }

func TestCommands_UseTheOperationsThatTheyName(t *testing.T) {
	commands := commandsOf(newRoot(settings{}.get))
	for name, cmd := range commands {
		_, isDriven := drives[name]
		assert.Equal(t, len(operationsOf(cmd)) > 0, isDriven, "%s has to be driven", name)
	}
	for name, drive := range drives {
		t.Run(name, func(t *testing.T) { compareOperations(t, commands[name], name, drive, still) })
		t.Run(name+" with quirks", func(t *testing.T) {
			compareOperations(t, commands[name], name, drive, still, func(o *sandbox.Options) { o.Quirks = true })
		})
	}
}

// compareOperations compares the operations that a command uses with those that it names.
func compareOperations(t *testing.T, cmd *cobra.Command, name string, drive func(*shop), change ...func(*sandbox.Options)) {
	t.Helper()
	s := newShop(t, change...)
	drive(s)
	var used []string
	for operation := range s.market.Counters() {
		// The test makes the batches that it reads.
		isOfTest := strings.HasPrefix(name, "batches ") && strings.HasSuffix(operation, "ListingsBatch") && !strings.HasPrefix(operation, "Get")
		if !isOfTest {
			used = append(used, operation)
		}
	}
	assert.ElementsMatch(t, operationsOf(cmd), used, s.transcript.String())
	assert.NotContains(t, s.transcript.String(), "exit code 2")
	assert.NotContains(t, s.transcript.String(), "UNKNOWN")
}

// TestCommands_CoverTheAPI writes the table of operations and commands.
func TestCommands_CoverTheAPI(t *testing.T) {
	by := map[string][]string{}
	commands := commandsOf(newRoot(settings{}.get))
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		for _, operation := range operationsOf(commands[name]) {
			by[operation] = append(by[operation], "`"+name+"`")
		}
	}
	var text strings.Builder
	text.WriteString("# Commands\n\nWhich commands of `sellside` use each operation of the service. The table is written by a test,\n" +
		"which also runs every command and compares its requests.\n\n| operation | request | commands |\n|---|---|---|\n")
	for _, op := range gen.Operations() {
		assert.NotEmpty(t, by[string(op.ID)], "no command uses %s", op.ID)
		fmt.Fprintf(&text, "| %s | %s %s | %s |\n", op.ID, op.Method, op.Route, strings.Join(by[string(op.ID)], ", "))
		delete(by, string(op.ID))
	}
	assert.Empty(t, by, "the service has no such operation")
	compare(t, filepath.Join("..", "..", "docs", "commands.md"), text.String())
}

func TestDoctor_ReportsAtAPrompt(t *testing.T) {
	s := newShop(t)
	s.run("doctor")
	s.env["SELLSIDE_API_KEY"] = "another"
	s.run("doctor")
	delete(s.env, "SELLSIDE_TOKEN")
	s.run("doctor")
	got := s.run("doctor", "--json")
	assert.Equal(t, exitFailed, got.code)
	s.golden("doctor")
}

func TestMan_WritesAPageForEveryCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	got := sellside(t.Context(), nil, "man", dir)
	require.Equal(t, 0, got.code, got.errors)
	for name := range commandsOf(newRoot(settings{}.get)) {
		text, err := os.ReadFile(filepath.Join(dir, "sellside-"+strings.ReplaceAll(name, " ", "-")+".1"))
		require.NoError(t, err)
		assert.Contains(t, string(text), ".SH SYNOPSIS", name)
	}
}

func TestCompletions_SendNoRequest(t *testing.T) {
	s := newShop(t, still)
	s.env["XDG_CACHE_HOME"] = t.TempDir()
	ids := s.offer(2, sandbox.Listing{Amount: "162"})
	s.run("listings", "ls")
	sold := s.sale(sandbox.Listing{Amount: "162"}, gen.OrderStatusCreated)
	s.run("orders", "ls")
	before := s.market.Counters()
	for _, row := range []struct {
		args []string
		want []string
		why  string
	}{
		{[]string{"listings", "ls", "--status", ""}, []string{"ACTIVE", "INACTIVE"}, "statuses of the spec"},
		{[]string{"listings", "ls", "--status", "ACTIVE,"}, []string{"ACTIVE,INACTIVE"}, "a second one"},
		{[]string{"listings", "reprice", "150", ids[0], "--currency", ""}, []string{"EUR", "USD"}, "currencies"},
		{[]string{"orders", "payouts", "--status", ""}, []string{"COMPLETED", "RETURNED"}, "statuses of ended orders"},
		{[]string{"listings", "get", ""}, ids, "ids of listings"},
		{[]string{"listings", "reprice", "150", ids[0], ""}, ids[1:], "the other ids"},
		{[]string{"orders", "get", ""}, []string{sold}, "order numbers"},
		{[]string{"market", ""}, []string{"DZ5485-612"}, "style ids"},
		{[]string{"products", "ingestion", "--status", "In"}, []string{"In Review"}, "a status with a space"},
		{[]string{"batches", "wait", "--kind", ""}, []string{"create", "update", "delete"}, "kinds of batches"},
	} {
		got := sellside(t.Context(), s.env, append([]string{"__complete"}, row.args...)...)
		require.Equal(t, 0, got.code, got.errors)
		lines := strings.Split(got.out, "\n")
		for _, want := range row.want {
			assert.Contains(t, lines, want, row.why)
		}
		assert.Contains(t, got.out, ":36\n", "no files, in this order")
	}
	assert.NotContains(t, sellside(t.Context(), s.env, "__complete", "listings", "reprice", "150", ids[0], "").out, ids[0])
	assert.NotContains(t, sellside(t.Context(), s.env, "__complete", "orders", "payouts", "--status", "").out, "SHIPPED")
	assert.Equal(t, before, s.market.Counters(), "no request")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		assert.Contains(t, sellside(t.Context(), nil, "completion", shell).out, "sellside", shell)
	}
}
