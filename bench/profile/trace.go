package profile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"onebit/bench/names"
)

// A traceEvent is an event of the trace-event format of Chrome and Perfetto:
// X is a span, M names a process or a thread.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     *float64       `json:"ts,omitempty"`  // µs
	Duration *float64       `json:"dur,omitempty"` // µs
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// traceGap is what lies between two tests.
const traceGap = time.Millisecond

// WriteTrace writes the fastest observed pass of each test in the trace-event
// format, which Perfetto and chrome://tracing show. A test is a process, with a
// thread for the operations and one for each thread of the pool.
func (p *Profile) WriteTrace(w io.Writer) error {
	t := &traceWriter{out: bufio.NewWriter(w)}
	t.text(`{"displayTimeUnit":"ns","traceEvents":[`)
	var at time.Duration
	for i, test := range p.Tests {
		if test.Shown == nil {
			continue
		}
		t.test(i+1, p.Model+" "+test.String(), test, at)
		at += test.Shown.Duration + traceGap
	}
	t.text("\n]}\n")
	if t.err != nil {
		return t.err
	}
	return t.out.Flush()
}

type traceWriter struct {
	out   *bufio.Writer
	wrote bool
	err   error
}

func (t *traceWriter) text(s string) {
	if t.err == nil {
		_, t.err = t.out.WriteString(s)
	}
}

func (t *traceWriter) event(e traceEvent) {
	data, err := json.Marshal(e)
	if t.err == nil {
		t.err = err
	}
	if t.wrote {
		t.text(",")
	}
	t.wrote = true
	t.text("\n" + string(data))
}

func (t *traceWriter) name(what string, process, thread int, name string) {
	t.event(traceEvent{Name: what, Phase: "M", Process: process, Thread: thread, Args: map[string]any{"name": name}})
}

func (t *traceWriter) span(name, category string, process, thread int, start, end time.Duration, args map[string]any) {
	ts, dur := micros(start), micros(end-start)
	t.event(traceEvent{name, category, "X", &ts, &dur, process, thread, args})
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }

func (t *traceWriter) test(process int, name string, test *Test, at time.Duration) {
	t.name("process_name", process, 0, name)
	t.name("thread_name", process, 0, "operations")
	pass := test.Shown
	for _, s := range pass.Spans {
		args := map[string]any{"block": BlockName(s.Block)}
		for name, n := range map[string]int{"bytes": s.Bytes, "macs": s.MACs} {
			if n > 0 {
				args[name] = n
			}
		}
		t.span(s.Op, "operation", process, 0, at+s.Start, at+s.End, args)
	}
	for thread, segments := range pass.Timeline() {
		t.name("thread_name", process, thread+1, "thread "+strconv.Itoa(thread))
		for _, s := range segments {
			args := map[string]any{}
			if s.Span >= 0 {
				span := pass.Spans[s.Span]
				args["op"], args["block"] = span.Op, BlockName(span.Block)
				if tensor := test.Tensor(span.Key, s); tensor != "" {
					args["tensor"] = tensor
				}
			}
			t.span(s.Activity.String(), "activity", process, thread+1, at+s.Start, at+s.End, args)
		}
	}
}

// Tensor is what a thread multiplies in a segment; "" if that is not known.
func (t *Test) Tensor(k Key, s Segment) string {
	if tensors := t.Tensors[k]; s.Activity == Multiply && s.Product < len(tensors) {
		return tensors[s.Product]
	}
	return ""
}

// BlockName is what names of benchmarks call a block.
func BlockName(block int) string {
	if block == Outside {
		return names.Outside
	}
	return fmt.Sprint(block)
}
