package cases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"onebit/bench"
	"onebit/bench/results"
	"onebit/internal/sysinfo"
)

// Join makes one suite of several that share a file, with more settings before theirs.
func Join(suites []*Suite, host sysinfo.Host, started time.Time, more ...results.Setting) bench.Suite {
	var all bench.Suite
	for _, s := range suites {
		if e := s.Emulator(); e != "" && !host.Emulated() { // of a part of the cases is of all: they share a file
			host.Emulator = sysinfo.Value[string]{V: e}
		}
		all.Cases, all.Studies = append(all.Cases, s.Cases...), append(all.Studies, s.Studies...)
		more = append(more, s.Settings...)
	}
	all.Settings = Settings(host, started, more...)
	all.Doubts = func() (doubts []string) {
		for _, s := range suites {
			doubts = append(doubts, s.Doubts()...)
		}
		return doubts
	}
	return all
}

// Selected applies a filter to several suites, "" for each one's usual cases. One of several
// may match nothing. A list also has those of which this machine can run nothing.
func Selected(suites []*Suite, filter string, list bool) (matching []*Suite, err error) {
	var first error
	for _, s := range suites {
		err := s.Select(cmp.Or(filter, s.Usual))
		var missing *UnavailableError
		if list && errors.As(err, &missing) {
			s.Cases, s.Studies, s.Unavailable, err = nil, nil, missing.Cases, nil
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		matching = append(matching, s)
		if e := s.Emulator(); e != "" {
			s.Warn(fmt.Sprintf("%s plays the GPU in software: times say nothing about one", e))
		}
	}
	if len(matching) == 0 {
		return nil, first
	}
	return matching, nil
}

// TakeCeilings takes the ceilings of several suites from a file of this machine.
func TakeCeilings(ctx context.Context, file string, suites []*Suite, host sysinfo.Host) error {
	now := time.Now()
	ceilings, err := ReadCeilings(ctx, file, Settings(host, now))
	if err != nil {
		return err
	}
	doubts := ceilings.Doubts(now)
	for i, s := range suites {
		if err := s.useCeilings(ceilings); err != nil {
			return err
		}
		if i == 0 {
			s.Settings = append(s.Settings, ceilings.Setting())
			s.Warn(doubts...)
		}
	}
	return nil
}
