package main

import (
	"context"
	"fmt"
	"net"
)

// listen listens on a TCP address, such as 127.0.0.1:0.
func listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// originOf returns the URL for clients on this machine, without a path.
func originOf(l net.Listener) string {
	addr, ok := l.Addr().(*net.TCPAddr)
	if ok && addr.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d", addr.Port)
	}
	return "http://" + l.Addr().String()
}
