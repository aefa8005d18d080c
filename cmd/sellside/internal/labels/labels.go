// Package labels saves the shipping documents of orders as files, each order once.
package labels

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Status is what became of the documents of an order.
type Status string

// The statuses.
const (
	Saved     Status = "SAVED"
	Present   Status = "PRESENT"   // An earlier run has saved them.
	None      Status = "NONE"      // The service has none yet.
	Elsewhere Status = "ELSEWHERE" // They have URLs of another host, which are not requested.
	Failed    Status = "FAILED"
)

// Result is what became of the documents of an order.
type Result struct {
	OrderNumber string   `json:"orderNumber"`
	Status      Status   `json:"status"`
	Files       []string `json:"files,omitempty"`
	URLs        []string `json:"urls,omitempty"` // Of documents that are elsewhere.
	Error       string   `json:"error,omitempty"`
}

// Saver saves documents in a directory.
//
// The documents of an order are ORDER.pdf, ORDER.2.pdf and so on. ORDER.pdf is made last, so that
// the documents of an order are complete if it exists. A file is complete or does not exist, and no
// file is overwritten, even if two runs save into one directory.
type Saver struct {
	Orders *client.Orders
	Dir    string // Exists.
}

// Save saves the documents of an order. An error of one order is part of its result, unless nothing
// can be done for other orders either.
func (s Saver) Save(ctx context.Context, order gen.Order) (Result, error) {
	result := Result{OrderNumber: order.OrderNumber, Status: Failed}
	if !isFileName(order.OrderNumber) {
		result.Error = "the order number cannot be the name of a file: open the label on the website"
		return result, nil
	}
	if exists(s.path(order.OrderNumber, 0)) {
		result.Status, result.Files = Present, []string{s.path(order.OrderNumber, 0)}
		return result, nil
	}
	documents, err := s.open(ctx, order)
	if err == nil {
		defer closeAll(documents)
		err = s.save(&result, order.OrderNumber, documents)
	}
	if err == nil {
		return result, nil
	}
	result.Error = err.Error()
	_, isOfDisk := errors.AsType[*fs.PathError](err)
	if isOfDisk || ctx.Err() != nil || errors.Is(err, client.ErrUnauthorized) {
		return result, err
	}
	return result, nil
}

// isFileName reports whether an order number is safe as the name of a file on every system.
func isFileName(number string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return number != "" && len(number) <= 100 && strings.Trim(number, allowed) == ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// path returns the file of a document of an order.
func (s Saver) path(number string, i int) string {
	if i == 0 {
		return filepath.Join(s.Dir, number+".pdf")
	}
	return filepath.Join(s.Dir, fmt.Sprintf("%s.%d.pdf", number, i+1))
}

// open opens the documents of an order.
func (s Saver) open(ctx context.Context, listed gen.Order) ([]client.Label, error) {
	order, err := s.Orders.Get(ctx, listed.OrderNumber)
	if err != nil {
		return nil, err
	}
	if order.Shipment == nil {
		order.Shipment = &gen.Shipment{}
	}
	documents, err := s.Orders.DownloadLabels(ctx, order)
	if err != nil || order.InventoryType != gen.InventoryTypeDirect {
		return documents, err
	}
	direct, err := s.Orders.ListShippingDocuments(ctx, order.OrderNumber)
	if err != nil {
		closeAll(documents)
		return nil, err
	}
	for _, address := range addresses(direct.ShippingDocuments) {
		isKnown := func(l client.Label) bool { return l.URL == address }
		if slices.ContainsFunc(documents, isKnown) {
			continue
		}
		// DownloadLabels requests an address only if it is one of the service.
		with := gen.Order{OrderNumber: order.OrderNumber, Shipment: &gen.Shipment{ShippingLabelURL: address}}
		more, err := s.Orders.DownloadLabels(ctx, &with)
		if err != nil {
			closeAll(documents)
			return nil, err
		}
		documents = append(documents, more...)
	}
	return documents, nil
}

// addresses returns the URLs of all documents of a Direct order.
func addresses(d gen.ShippingDocuments) []string {
	var found []string
	for _, links := range []gen.DocumentLinks{
		d.SellerShippingInstructions.NormalLabel, d.SellerShippingInstructions.ThermalLabel, d.RequiredDocuments,
	} {
		for _, address := range links {
			found = append(found, address)
		}
	}
	found = append(found, d.ThermalLabelOnly)
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), func(address string) bool { return address == "" })
}

func closeAll(documents []client.Label) {
	for _, d := range documents {
		if d.Document != nil {
			_ = d.Document.Close()
		}
	}
}

// save saves documents, the first one last.
func (s Saver) save(result *Result, number string, documents []client.Label) error {
	var here []client.Label
	for _, d := range documents {
		if d.Document != nil {
			here = append(here, d)
		} else {
			result.URLs = append(result.URLs, d.URL)
		}
	}
	for i, d := range slices.Backward(here) {
		path := s.path(number, i)
		if err := s.create(path, d.Document); err != nil {
			return err
		}
		result.Files = slices.Insert(result.Files, 0, path)
	}
	switch {
	case len(here) > 0:
		result.Status = Saved
	case len(result.URLs) > 0:
		result.Status = Elsewhere
	default:
		result.Status = None
	}
	return nil
}

// create makes a file from a document, unless it exists.
func (s Saver) create(path string, document io.Reader) error {
	f, err := os.CreateTemp(s.Dir, ".label-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = io.Copy(f, document)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("save %s: %w", filepath.Base(path), err)
	}
	// A link does not replace a file, as a rename does.
	err = os.Link(f.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return nil // made by an earlier run that was stopped, or by another one just now
	}
	if err != nil && !exists(path) { // a file system without links
		err = os.Rename(f.Name(), path)
	}
	return err
}
