package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"onebit/internal/count"
	"onebit/internal/term"
)

// A Writer writes the results file line by line. It holds nothing back: what
// it was given is in the file, should the process end the next moment.
type Writer struct {
	out     io.Writer
	bench   *benchfmt.Writer
	samples int    // written so far
	group   string // of the last
	process int    // of the last of them
}

// NewWriter makes a writer of a file.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: out, bench: benchfmt.NewWriter(out)}
}

// Write writes results as Run does: Read gives them back.
func (r *Set) Write(out io.Writer) error {
	w := NewWriter(out)
	settings := slices.Clone(r.Settings)
	for i, s := range settings {
		if !ValidKey(s.Key) {
			return fmt.Errorf("writing results: %q is no key of a header", s.Key)
		}
		settings[i].Value = OneLine(s.Value)
	}
	if err := w.Header(settings); err != nil {
		return err
	}
	for _, text := range r.Warnings {
		if err := w.Warning(OneLine(text)); err != nil {
			return err
		}
	}
	for _, f := range r.Failures {
		if err := w.Failure(Failure{f.Name, cmp.Or(Lines(f.Reason), "failed")}); err != nil {
			return err
		}
	}
	for _, s := range r.Samples {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
		if err := w.Sample(s); err != nil {
			return err
		}
	}
	return nil
}

// Header writes the settings and the units' metadata. benchfmt would write
// the settings with the first sample, and failures may come before it.
func (w *Writer) Header(settings []Setting) error {
	var b strings.Builder
	for _, s := range settings {
		if s.Value != "" {
			fmt.Fprintf(&b, "%s: %s\n", s.Key, s.Value)
		}
	}
	b.WriteByte('\n')
	if _, err := io.WriteString(w.out, b.String()); err != nil {
		return w.explain(err)
	}
	for _, u := range Units {
		for _, m := range u.metadata() {
			if err := w.bench.Write(m); err != nil {
				return w.explain(err)
			}
		}
	}
	_, err := io.WriteString(w.out, "\n")
	return w.explain(err)
}

func (u Unit) metadata() []*benchfmt.UnitMetadata {
	better, assume := "lower", "nothing"
	if u.Better > 0 {
		better = "higher"
	}
	if u.Exact {
		assume = "exact"
	}
	line := func(key, value string) *benchfmt.UnitMetadata {
		return &benchfmt.UnitMetadata{
			UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: u.Name, Key: key},
			OrigUnit:        u.Name, Value: value,
		}
	}
	return []*benchfmt.UnitMetadata{line("better", better), line("assume", assume)}
}

// Sample writes a sample, below the lines that say where it comes from.
func (w *Writer) Sample(s Sample) error {
	if s.Process != w.process {
		w.process = s.Process
		if _, err := fmt.Fprintf(w.out, "%s%d\n", processPrefix, s.Process); err != nil {
			return w.explain(err)
		}
	}
	if s.Group != w.group {
		w.group = s.Group
		if _, err := fmt.Fprintf(w.out, "%s%s\n", GroupPrefix, OneLine(s.Group)); err != nil {
			return w.explain(err)
		}
	}
	if len(s.Slices) > 0 {
		if _, err := w.out.Write(appendSlices(nil, s.Slices)); err != nil {
			return w.explain(err)
		}
	}
	rec := &benchfmt.Result{Name: benchfmt.Name(s.Name.written()), Iters: s.Iters}
	for _, v := range s.Values {
		rec.Values = append(rec.Values, benchfmt.Value{Value: v.Value, Unit: v.Unit})
	}
	if err := w.bench.Write(rec); err != nil {
		return w.explain(err)
	}
	w.samples++
	return nil
}

// appendSlices writes the line above a sample: nanoseconds, as few digits as give
// them back.
func appendSlices(b []byte, ns []float64) []byte {
	b = append(b, strings.TrimSuffix(SlicesPrefix, " ")...)
	for _, v := range ns {
		b = strconv.AppendFloat(append(b, ' '), v, 'g', -1, 64)
	}
	return append(b, '\n')
}

// Failure writes go test's lines, whose names have no -GOMAXPROCS.
func (w *Writer) Failure(f Failure) error {
	reason := strings.ReplaceAll(f.Reason, "\n", "\n"+ReasonIndent)
	_, err := fmt.Fprintf(w.out, "%s%s\n%s%s\n", FailPrefix, f.Name.Full, ReasonIndent, reason)
	return w.explain(err)
}

// Warning writes a doubt.
func (w *Writer) Warning(text string) error {
	_, err := fmt.Fprintf(w.out, "%s%s\n", WarningPrefix, text)
	return w.explain(err)
}

// Remark writes a line "# KIND TEXT", which readers pass over that don't know it.
func (w *Writer) Remark(kind, text string) error {
	_, err := fmt.Fprintf(w.out, "# %s %s\n", kind, text)
	return w.explain(err)
}

// explain says what a failed write means for the user. An *os.File's errors
// name the file themselves.
func (w *Writer) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing results: %w (%s written before it stay there)", err, count.Of(w.samples, "sample"))
}

// OneLine makes a text safe for a line of its own.
func OneLine(s string) string {
	return strings.Join(strings.Fields(term.Text(s)), " ")
}

// Lines makes a text safe for a block of lines: no control characters, no
// empty ends.
func Lines(s string) string {
	var out []string
	for line := range strings.Lines(strings.TrimSpace(s)) {
		out = append(out, strings.TrimRight(term.Text(line), " "))
	}
	return strings.Join(out, "\n")
}
