package results

import (
	"bytes"
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
	lines   bytes.Buffer // of a call, which are written at once
	bench   *benchfmt.Writer
	samples int    // written so far
	group   string // of the last
	process int    // of the last of them
	pkg     string // as the file says by now
}

// NewWriter makes a writer of a file.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: out}
	w.bench = benchfmt.NewWriter(&w.lines)
	return w
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
	w.settings(settings)
	w.lines.WriteByte('\n')
	for _, u := range Units {
		assume := "nothing"
		if u.Exact {
			assume = "exact"
		}
		w.unit(u.Name, "better", Direction(u.Better))
		w.unit(u.Name, "assume", assume)
	}
	w.lines.WriteByte('\n')
	return w.flush()
}

func (w *Writer) settings(settings []Setting) {
	for _, s := range settings {
		if s.Value != "" {
			fmt.Fprintf(&w.lines, "%s: %s\n", s.Key, s.Value)
		}
		if s.Key == "pkg" {
			w.pkg = s.Value
		}
	}
}

// Settings writes a header without units.
func (w *Writer) Settings(settings []Setting) error {
	w.settings(settings)
	return w.flush()
}

func (w *Writer) unit(name, key, value string) {
	fmt.Fprintf(&w.lines, "Unit %s %s=%s\n", name, key, value)
}

// Unit writes what is known of a unit.
func (w *Writer) Unit(name string, better int, exact bool) error {
	if d := Direction(better); d != "" {
		w.unit(name, "better", d)
	}
	if exact {
		w.unit(name, "assume", "exact")
	}
	return w.flush()
}

// Direction is a unit's better= in the format; "" if it is not known.
func Direction(better int) string {
	switch {
	case better > 0:
		return "higher"
	case better < 0:
		return "lower"
	}
	return ""
}

// Sample writes a sample, below the lines that say where it comes from.
func (w *Writer) Sample(s Sample) error {
	if s.Package != "" && s.Package != w.pkg {
		w.pkg = s.Package
		fmt.Fprintf(&w.lines, "\npkg: %s\n", OneLine(s.Package))
	}
	if s.Process != w.process {
		w.process = s.Process
		fmt.Fprintf(&w.lines, "%s%d\n", processPrefix, s.Process)
		if s.Side != "" {
			fmt.Fprintf(&w.lines, roundFormat+"\nside: %s\n", s.Round, s.Position, s.Start, s.Took, s.Side)
		}
	}
	if s.Group != w.group {
		w.group = s.Group
		fmt.Fprintf(&w.lines, "%s%s\n", groupPrefix, OneLine(s.Group))
	}
	if len(s.Slices) > 0 {
		w.lines.Write(appendSlices(w.lines.AvailableBuffer(), s.Slices))
	}
	rec := &benchfmt.Result{Name: benchfmt.Name(s.Name.written()), Iters: s.Iters}
	for _, v := range s.Values {
		rec.Values = append(rec.Values, benchfmt.Value{Value: v.Value, Unit: v.Unit})
	}
	if err := w.bench.Write(rec); err != nil {
		return w.explain(err)
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.samples++
	return nil
}

// appendSlices writes the line above a sample: nanoseconds, as few digits as give
// them back.
func appendSlices(b []byte, ns []float64) []byte {
	b = append(b, strings.TrimSuffix(slicesPrefix, " ")...)
	for _, v := range ns {
		b = strconv.AppendFloat(append(b, ' '), v, 'g', -1, 64)
	}
	return append(b, '\n')
}

// Failure writes go test's lines, whose names have no -GOMAXPROCS.
func (w *Writer) Failure(f Failure) error {
	reason := strings.ReplaceAll(f.Reason, "\n", "\n"+reasonIndent)
	fmt.Fprintf(&w.lines, "%s%s\n%s%s\n", failPrefix, f.Name.Full, reasonIndent, reason)
	return w.flush()
}

// Warning writes a doubt.
func (w *Writer) Warning(text string) error {
	fmt.Fprintf(&w.lines, "%s%s\n", warningPrefix, text)
	return w.flush()
}

// Remark writes a line "# KIND TEXT", which readers pass over that don't know it.
func (w *Writer) Remark(kind, text string) error {
	fmt.Fprintf(&w.lines, "# %s %s\n", kind, text)
	return w.flush()
}

// flush writes the lines of a call.
func (w *Writer) flush() error {
	_, err := w.out.Write(w.lines.Bytes())
	w.lines.Reset()
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
