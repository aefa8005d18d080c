package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// market is a sandbox whose clock and work the program controls.
type market struct {
	*sandbox.Sandbox
	now      time.Time
	random   *rand.Rand
	variants []string
}

func open(file string, now time.Time) (*market, error) {
	m := &market{now: now, random: rand.New(rand.NewPCG(1, 1))}
	for _, p := range sandbox.Catalog() {
		for _, v := range p.Variants {
			m.variants = append(m.variants, v.ID)
		}
	}
	var err error
	m.Sandbox, err = sandbox.New(sandbox.Options{
		DB: file, Manual: true, Delay: -1, OrderStep: -1, Now: func() time.Time { return m.now },
	})
	return m, err
}

// call makes a request and returns its response and duration.
func (m *market) call(method, path, body string) (*httptest.ResponseRecorder, time.Duration, error) {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(context.Background(), method, sandbox.BasePath+path, content)
	r.Header.Set("Authorization", "Bearer "+m.Token())
	r.Header.Set("x-api-key", m.APIKey())
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	start := time.Now()
	m.ServeHTTP(w, r)
	took := time.Since(start)
	if w.Code/100 != 2 {
		return nil, took, fmt.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return w, took, nil
}

// get reads into a value and returns the duration of the request, without the decoding.
func (m *market) get(into any, path string, args ...any) (time.Duration, error) {
	w, took, err := m.call(http.MethodGet, fmt.Sprintf(path, args...), "")
	if err != nil {
		return took, err
	}
	return took, json.Unmarshal(w.Body.Bytes(), into)
}

// submit submits a batch and returns its path.
func (m *market) submit(kind string, elements []string) (path string, err error) {
	w, _, err := m.call(http.MethodPost, "/selling/batch/"+kind, `{"items":[`+strings.Join(elements, ",")+`]}`)
	if err != nil {
		return "", err
	}
	var batch struct{ BatchID string }
	err = json.Unmarshal(w.Body.Bytes(), &batch)
	return "/selling/batch/" + kind + "/" + batch.BatchID, err
}
