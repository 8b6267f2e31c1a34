//go:build !windows

package clock

import "time"

func now() time.Time { return time.Now() }
