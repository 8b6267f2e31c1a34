//go:build !linux && !darwin

package counters

import (
	"errors"

	"onebit/bench/results"
)

var sources = []func() ([]source, []Missing){func() ([]source, []Missing) {
	return nil, []Missing{{
		[]string{results.Cycles, results.Instructions, results.PageFaults, results.Switches, results.Energy},
		errors.New("onebit reads counters of Linux and macOS only"),
	}}
}}
