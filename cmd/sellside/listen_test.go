package main

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheOriginCanBeReachedWhateverIsListenedOn(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", ":0", "0.0.0.0:0"} {
		l, err := listen(t.Context(), address)
		require.NoError(t, err)
		host, found := strings.CutPrefix(originOf(l), "http://")
		require.True(t, found)
		assert.True(t, strings.HasPrefix(host, "127.0.0.1:"), host)
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
		require.NoError(t, err, address)
		require.NoError(t, conn.Close())
		require.NoError(t, l.Close())
	}
}

func TestListenSaysWhyItCannot(t *testing.T) {
	l, err := listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, err = listen(t.Context(), l.Addr().String())
	require.ErrorContains(t, err, "listen: ")
}
