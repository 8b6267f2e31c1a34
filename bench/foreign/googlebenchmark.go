package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/results"
)

var googleBenchmark = Kind{"Google Benchmark, JSON", isGoogleBenchmark, readGoogleBenchmark}

func isGoogleBenchmark(data []byte) bool { return hasFields(data, "context", "benchmarks") }

// A googleFile is the document; see docs/user_guide.md of
// github.com/google/benchmark, "Output Formats".
type googleFile struct {
	Context struct {
		Date       string  `json:"date"`
		Host       string  `json:"host_name"`
		CPUs       int     `json:"num_cpus"`
		MHz        float64 `json:"mhz_per_cpu"`
		Scaling    bool    `json:"cpu_scaling_enabled"`
		Build      string  `json:"library_build_type"`
		Executable string  `json:"executable"`
	} `json:"context"`
	Benchmarks []map[string]json.RawMessage `json:"benchmarks"`
}

// A googleRun is what every entry has.
type googleRun struct {
	Name       string  `json:"name"`
	RunName    string  `json:"run_name"`
	RunType    string  `json:"run_type"`
	Aggregate  string  `json:"aggregate_name"`
	Iterations float64 `json:"iterations"`
	Real       float64 `json:"real_time"`
	CPU        float64 `json:"cpu_time"`
	Unit       string  `json:"time_unit"`
	Failed     bool    `json:"error_occurred"`
	Message    string  `json:"error_message"`
	Label      string  `json:"label"`
}

// googleFields are those of an entry that are no counters of the benchmark's
// own.
var googleFields = []string{
	"name", "run_name", "run_type", "aggregate_name", "aggregate_unit", "iterations", "real_time", "cpu_time", "time_unit",
	"error_occurred", "error_message", "label", "family_index", "per_family_instance_index", "repetitions", "repetition_index",
	"threads", "big_o", "rms", "cpu_coefficient", "real_coefficient", "skipped", "skip_message",
}

// googleUnits are ours for rates that Google Benchmark has names for.
var googleUnits = map[string]string{"bytes_per_second": "B/s", "items_per_second": "items/s"}

func readGoogleBenchmark(data []byte) (*results.Set, error) {
	var file googleFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, at(err)
	}
	r := &results.Set{Settings: file.header()}
	if file.Context.Build == "debug" {
		r.Warnings = append(r.Warnings, "Google Benchmark's library was built for debugging, as the file says: short times are too long")
	}
	runs := make([]googleRun, len(file.Benchmarks))
	repeated := false
	for i, entry := range file.Benchmarks {
		if err := remarshal(entry, &runs[i]); err != nil {
			return nil, fmt.Errorf("benchmark %d: %w", i+1, err)
		}
		repeated = repeated || runs[i].RunType != "aggregate"
	}
	for i, run := range runs {
		if run.RunType == "aggregate" && (repeated || run.Aggregate != "mean") {
			continue // computed from what is there
		}
		if err := run.add(r, file.Benchmarks[i]); err != nil {
			return nil, fmt.Errorf("benchmark %d, %q: %w", i+1, run.Name, err)
		}
	}
	if !repeated && len(r.Samples) > 0 {
		r.Warnings = append(r.Warnings, onlyMeans)
	}
	return r, nil
}

// remarshal reads fields that are already apart.
func remarshal(fields map[string]json.RawMessage, dst any) error {
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, dst)
}

func (f googleFile) header() []results.Setting {
	c := f.Context
	return header("started", c.Date, "host", c.Host, "command", c.Executable, "cpus", strconv.Itoa(c.CPUs), "mhz", strconv.FormatFloat(c.MHz, 'f', -1, 64))
}

// add makes a sample or a failure of a run.
func (run googleRun) add(r *results.Set, fields map[string]json.RawMessage) error {
	n := results.ParseName(run.ours())
	if run.Failed {
		r.Failures = append(r.Failures, results.Failure{Name: n, Reason: run.Message})
		return nil
	}
	scale := map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[run.Unit]
	if scale == 0 {
		return fmt.Errorf("unknown time_unit %q (known: ns, us, ms, s)", run.Unit)
	}
	if err := positive("real_time", run.Real); err != nil {
		return err
	}
	values := []results.Metric{{Unit: results.NsPerOp, Value: run.Real * scale}, {Unit: "cpu-sec/op", Value: run.CPU * scale / 1e9}}
	for field, raw := range fields {
		var v float64
		if !slices.Contains(googleFields, field) && json.Unmarshal(raw, &v) == nil {
			unit := googleUnits[field]
			if unit == "" {
				unit = word(field)
			}
			values = append(values, results.Metric{Unit: unit, Value: v})
		}
	}
	slices.SortFunc(values[2:], func(a, b results.Metric) int { return strings.Compare(a.Unit, b.Unit) })
	r.Samples = append(r.Samples, results.Sample{Name: n, Iters: int(min(max(run.Iterations, 1), 1<<53)), Process: 1, Values: values})
	return nil
}

// ours is the run's name: "BM_copy/64/threads:2" is BM_copy/64/threads=2.
func (run googleRun) ours() string {
	full := run.RunName
	if full == "" {
		full = run.Name // as versions before 1.5 have it
	}
	var parts []string
	for part := range strings.SplitSeq(full, "/") {
		if k, v, ok := strings.Cut(part, ":"); ok && k != "" {
			part = word(k) + "=" + word(v)
		} else {
			part = word(part)
		}
		if part != "" && !strings.HasPrefix(part, "repeats=") && !strings.HasPrefix(part, "min_time=") {
			parts = append(parts, part)
		}
	}
	if run.Label != "" {
		parts = append(parts, "label="+word(run.Label))
	}
	return whole(strings.Join(parts, "/"))
}
