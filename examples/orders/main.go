// Command orders watches the orders of an account and saves the labels of its sales, until it is
// interrupted. It continues where it was when it is started again in the same directory. Its service
// and credentials are those of client.FromEnv.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

func main() {
	dir := flag.String("dir", ".", "directory of the labels")
	every := flag.Duration("every", time.Minute, "pause between two rounds of requests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := client.FromEnv(client.WithUserAgent("orders/1.0"))
	if err != nil {
		log.Fatal(err)
	}
	if err := watch(ctx, c, *dir, *every); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

func watch(ctx context.Context, c *client.Client, dir string, every time.Duration) error {
	path := filepath.Join(dir, "orders.mark")
	mark, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for change, err := range c.Orders.Watch(ctx, client.OrderWatch{Every: every, Labels: true, Mark: mark}) {
		if client.IsTransient(err) {
			log.Print(err) // the next round follows
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println(change.Kind, change.Order.OrderNumber, change.Order.Status)
		if change.LabelReady {
			if err := save(ctx, c, dir, &change.Order); err != nil {
				return err
			}
		}
		// Replace the file as a whole: a program that is killed leaves the old mark or the new one.
		if err := os.WriteFile(path+".new", change.Mark(), 0o600); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return nil
}

// save writes the documents of an order to files.
func save(ctx context.Context, c *client.Client, dir string, order *gen.Order) error {
	labels, err := c.Orders.DownloadLabels(ctx, order)
	for i, l := range labels {
		if l.Document == nil {
			log.Printf("order %s: the label is not on the service: %s", order.OrderNumber, l.URL)
			continue
		}
		name := filepath.Join(dir, fmt.Sprintf("%s-%d.pdf", filepath.Base(order.OrderNumber), i+1))
		err = errors.Join(err, write(name, l.Document))
	}
	return err
}

func write(name string, document *client.Document) error {
	data, err := io.ReadAll(document)
	if err := errors.Join(err, document.Close()); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}
