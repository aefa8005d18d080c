package retry

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// After reads the Retry-After header, in seconds or as a date; zero when it is missing, past or odd.
func After(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		const most = 366 * 24 * 3600 // keeps the product in range
		return time.Duration(max(0, min(seconds, most))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
