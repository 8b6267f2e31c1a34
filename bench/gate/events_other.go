//go:build !linux

package gate

import "errors"

// perfEvents are Linux's.
func perfEvents() (*InstructionMeter, error) { return nil, errors.New("perf events are Linux's alone") }
