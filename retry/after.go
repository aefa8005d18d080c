package retry

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// After reads the Retry-After header, in seconds or as a date; zero when it is missing, past or malformed. A date is
// one of the service's clock, so it is compared with the Date header where there is one.
func After(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		const most = 366 * 24 * 3600 // keeps the product in range
		return time.Duration(max(0, min(seconds, most))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		now, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		return max(0, at.Sub(now))
	}
	return 0
}
