package bench

import (
	"runtime"
	"slices"
	"time"

	"onebit/bench/results"
)

func (run *run) write(samples []*taken) error {
	for _, t := range samples {
		if err := run.emit(results.Sample{Name: results.Name{Full: t.arm.name}, Iters: t.ops, Values: t.values(), Slices: t.byPass}); err != nil {
			return err
		}
	}
	return nil
}

// emit writes a sample whose name has no -GOMAXPROCS yet.
func (run *run) emit(s results.Sample) error {
	s.Name, s.Iters = results.ParseName(s.Name.Full), max(s.Iters, 1)
	if procs := runtime.GOMAXPROCS(0); procs != 1 {
		s.Name.Procs = procs // as go test does
	}
	s.Group, s.Process = run.current, run.process
	results.SortUnits(s.Values)
	return run.record(s)
}

// record writes a sample.
func (run *run) record(s results.Sample) error {
	s.Package, s.Weights = run.results.Setting("pkg"), run.models[s.Name.Model()]
	if err := run.w.Sample(s); err != nil {
		return err
	}
	run.results.Samples = append(run.results.Samples, s)
	return nil
}

func (run *run) fail(name string, err error) error {
	reason := results.Lines(err.Error())
	if reason == "" {
		reason = "failed"
	}
	f := results.Failure{Name: results.ParseName(name), Reason: reason}
	run.results.Failures = append(run.results.Failures, f)
	return run.w.Failure(f)
}

func (run *run) warn(text string) error {
	text = results.OneLine(text)
	if slices.Contains(run.results.Warnings, text) {
		return nil
	}
	run.results.Warnings = append(run.results.Warnings, text)
	return run.w.Warning(text)
}

// report says what is done next.
func (run *run) report(c Case, doing string) {
	if run.Progress == nil || !run.worthReporting(doing) {
		return
	}
	p := Progress{Group: c.Group, Case: c.Name, Doing: doing, Done: len(run.results.Samples), Total: run.total}
	p.Elapsed = run.now().Sub(run.start)
	p.Left = timeLeft(run.done.Seconds()/run.forecast.Estimate.Seconds(), run.forecast.Estimate, p.Elapsed)
	run.Progress(p)
}

// reportRest is how long progress rests between slices: who reads it takes a CPU.
const reportRest = 100 * time.Millisecond

// worthReporting reports whether what is done is new, or the last report old.
func (run *run) worthReporting(doing string) bool {
	if doing == run.doing && doing == "measure" && run.now().Sub(run.reported) < reportRest {
		return false
	}
	run.doing, run.reported = doing, run.now()
	return true
}

// timeLeft forecasts from the share of a run that is done. The estimate counts
// in the beginning, and what the share took in the end: a first setup that
// lasts is no reason to tell of hours.
func timeLeft(share float64, estimate, elapsed time.Duration) time.Duration {
	if !(share > 0) {
		return max(0, estimate-elapsed)
	}
	left := 1 - min(share, 1)
	return time.Duration(left * (left*float64(estimate) + float64(elapsed)))
}
