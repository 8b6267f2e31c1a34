package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/results"
)

var hyperfine = Kind{"hyperfine, JSON", isHyperfine, readHyperfine}

func isHyperfine(data []byte) bool {
	var file struct {
		Results []map[string]json.RawMessage `json:"results"`
	}
	return json.Unmarshal(data, &file) == nil && len(file.Results) > 0 && file.Results[0]["command"] != nil
}

// A hyperfineCommand is one of "results" of --export-json. Times are seconds.
type hyperfineCommand struct {
	Command    string            `json:"command"`
	Mean       float64           `json:"mean"`
	User       *float64          `json:"user"`
	System     *float64          `json:"system"`
	Times      []float64         `json:"times"`
	Memory     []float64         `json:"memory_usage_byte"` // by run, from 1.19 on
	ExitCodes  []*int            `json:"exit_codes"`        // null if a signal ended it
	Parameters map[string]string `json:"parameters"`
}

func readHyperfine(data []byte) (*results.Set, error) {
	var file struct {
		Results []hyperfineCommand `json:"results"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, at(err)
	}
	r := &results.Set{}
	seen := map[string]int{}
	for i, c := range file.Results {
		full := c.name()
		if seen[full]++; seen[full] > 1 {
			full = whole(full + "/again=" + strconv.Itoa(seen[full]))
		}
		if err := c.add(r, full); err != nil {
			return nil, fmt.Errorf("command %d, %q: %w", i+1, c.Command, err)
		}
	}
	return r, nil
}

func (c hyperfineCommand) name() string {
	keys := []key{{"command", c.Command}}
	for _, p := range slices.Sorted(maps.Keys(c.Parameters)) {
		keys = append(keys, key{p, c.Parameters[p]})
	}
	return name("Command", keys...)
}

func (c hyperfineCommand) add(r *results.Set, full string) error {
	times := c.Times
	if len(times) == 0 {
		times = []float64{c.Mean}
		if !slices.Contains(r.Warnings, onlyMeans) {
			r.Warnings = append(r.Warnings, onlyMeans)
		}
	}
	for i, seconds := range times {
		if err := positive("a time", seconds); err != nil {
			return err
		}
		values := []results.Metric{{Unit: results.NsPerOp, Value: seconds * 1e9}}
		if i < len(c.Memory) {
			values = append(values, results.Metric{Unit: results.PeakRSS, Value: c.Memory[i]})
		}
		if i == 0 {
			values = append(values, c.means()...)
		}
		r.Samples = append(r.Samples, results.Sample{Name: results.ParseName(full), Iters: 1, Process: len(r.Samples) + 1, Values: values})
	}
	if n := c.failed(); n > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s ended with an error in %d of %d runs", strings.Join(strings.Fields(c.Command), " "), n, len(c.ExitCodes)))
	}
	return nil
}

// means are values that hyperfine gives for all runs together.
func (c hyperfineCommand) means() (values []results.Metric) {
	for _, m := range []struct {
		unit    string
		seconds *float64
	}{{"user-sec/op", c.User}, {"system-sec/op", c.System}} {
		if m.seconds != nil {
			values = append(values, results.Metric{Unit: m.unit, Value: *m.seconds})
		}
	}
	return values
}

func (c hyperfineCommand) failed() (n int) {
	for _, code := range c.ExitCodes {
		if code == nil || *code != 0 {
			n++
		}
	}
	return n
}
