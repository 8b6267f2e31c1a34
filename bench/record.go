package bench

import (
	"slices"
	"time"
)

func (run *run) write(samples []*taken) error {
	for _, t := range samples {
		if err := run.emit(Sample{Name: Name{Full: t.entry.name}, Iters: t.entry.n, Values: t.values()}); err != nil {
			return err
		}
	}
	return nil
}

// emit writes a sample whose name has no -GOMAXPROCS yet.
func (run *run) emit(s Sample) error {
	s.Name, s.Iters = ParseName(s.Name.Full+run.w.suffix), max(s.Iters, 1)
	sortUnits(s.Values)
	if err := run.w.sample(s); err != nil {
		return err
	}
	run.results.Samples = append(run.results.Samples, s)
	return nil
}

func (run *run) fail(name string, err error) error {
	reason := lines(err.Error())
	if reason == "" {
		reason = "failed"
	}
	f := Failure{Name: ParseName(name), Reason: reason}
	run.results.Failures = append(run.results.Failures, f)
	return run.w.failure(f)
}

func (run *run) warn(text string) error {
	text = oneLine(text)
	if slices.Contains(run.results.Warnings, text) {
		return nil
	}
	run.results.Warnings = append(run.results.Warnings, text)
	return run.w.warning(text)
}

func (run *run) report(group, doing string) {
	if run.Progress == nil {
		return
	}
	p := Progress{Group: group, Doing: doing, Done: len(run.results.Samples), Total: run.total}
	p.Elapsed = run.now().Sub(run.start)
	p.Left = run.forecast.Estimate - p.Elapsed
	if share := run.done.Seconds() / run.forecast.Estimate.Seconds(); share > 0 {
		p.Left = time.Duration(float64(p.Elapsed) * (1 - share) / share)
	}
	p.Left = max(p.Left, 0)
	run.Progress(p)
}
