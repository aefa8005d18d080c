// Package atomicfile replaces files at once.
package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Replace writes a new file for its owner only and renames it to path: a crash leaves the old file
// or the new one, and no reader sees a part. Links to the old file keep it.
func Replace(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// ReplaceWith is Replace with a text.
func ReplaceWith(path string, text []byte) error {
	return Replace(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
