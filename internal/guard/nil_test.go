package guard_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/internal/guard"
)

func TestNil_WhatPanicsWhenCalled(t *testing.T) {
	for _, tc := range []struct {
		value any
		want  bool
		why   string
	}{
		{nil, true, "nothing"},
		{error(nil), true, "an interface that holds nothing"},
		{(*http.Transport)(nil), true, "a nil pointer"},
		{(func())(nil), true, "a nil function"},
		{http.HandlerFunc(nil), true, "a nil function with methods"},
		{&http.Transport{}, false, "a pointer"},
		{func() {}, false, "a function"},
		{errors.New("x"), false, "an interface"},
		{http.Header(nil), false, "methods of a nil map work"},
		{[]int(nil), false, "and those of a nil slice"},
		{0, false, "a number"},
	} {
		assert.Equal(t, tc.want, guard.Nil(tc.value), tc.why)
	}
}
