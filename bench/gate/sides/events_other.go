//go:build !linux

package sides

import "errors"

// perfEvents are Linux's.
func perfEvents() (*meter, error) { return nil, errors.New("perf events are Linux's alone") }
