//go:build !linux && !darwin

package counters

import (
	"errors"

	"onebit/bench"
)

var sources = []func() ([]source, []Missing){func() ([]source, []Missing) {
	return nil, []Missing{{
		[]string{bench.Cycles, bench.Instructions, bench.PageFaults, bench.Switches, bench.Energy},
		errors.New("onebit reads counters of Linux and macOS only"),
	}}
}}
