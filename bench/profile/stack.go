package profile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"onebit/bench/names"
)

// A stack is where threads spent time, in all observed passes of a test.
type stack struct {
	Test   string
	Key    Key
	What   string // a tensor, if it was multiplied, else an activity
	Tensor string // "" for an activity
	Thread int
	Time   time.Duration
}

// frames are the stack from its root.
func (s stack) frames() []string {
	if s.Key == Unattributed {
		return []string{s.Test, s.Key.Op, s.What}
	}
	block := names.Outside
	if s.Key.Block != Outside {
		block = "block " + strconv.Itoa(s.Key.Block)
	}
	return []string{s.Test, block, s.Key.Op, s.What}
}

// stacks lists where the threads spent their time, test by test, in the order
// of the operations.
func (p *Profile) stacks() []stack {
	var all []stack
	for _, t := range p.Tests {
		index := map[stack]int{} // without the time
		for _, costs := range t.Passes {
			for _, c := range costs {
				for _, s := range t.stacks(c) {
					d := s.Time
					s.Time = 0
					i, ok := index[s]
					if !ok {
						i = len(all)
						index[s] = i
						all = append(all, s)
					}
					all[i].Time += d
				}
			}
		}
	}
	return all
}

// stacks are those of an operation in a pass.
func (t *Test) stacks(c Cost) (all []stack) {
	add := func(thread int, what, tensor string, d time.Duration) {
		if d > 0 {
			all = append(all, stack{t.String(), c.Key, what, tensor, thread, d})
		}
	}
	tensors := t.Tensors[c.Key]
	for thread, activities := range c.Threads {
		for a, d := range activities {
			if Activity(a) != Multiply {
				add(thread, Activity(a).String(), "", d)
			}
		}
		for product, d := range c.Products[thread] {
			if product < len(tensors) {
				add(thread, shortTensor(tensors[product]), tensors[product], d)
			} else {
				add(thread, Multiply.String(), "", d)
			}
		}
	}
	return all
}

// shortTensor is a tensor's name without its block: attn_q of
// blk.0.attn_q.weight.
func shortTensor(name string) string {
	name = strings.TrimSuffix(name, ".weight")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// WritePprof writes the time of all threads in all observed passes in the format
// of pprof. A sample's stack is test, block, operation, and the tensor or
// activity; its labels are test, block, op, tensor, activity and thread.
func (p *Profile) WritePprof(w io.Writer) error {
	out := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "time", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "time", Unit: "nanoseconds"}, Period: 1,
		Comments: []string{fmt.Sprintf("onebit profile of %s by %s with %s", p.Model, p.Variant, p.Act)},
	}
	for _, t := range p.Tests {
		for _, d := range t.Observed {
			out.DurationNanos += int64(d)
		}
	}
	locations := map[string]*profile.Location{}
	for _, s := range p.stacks() {
		sample := &profile.Sample{Value: []int64{int64(s.Time)}, Label: map[string][]string{
			"test": {s.Test}, "block": {BlockName(s.Key.Block)}, "op": {s.Key.Op}, "thread": {strconv.Itoa(s.Thread)},
		}}
		if s.Tensor != "" {
			sample.Label["tensor"], sample.Label["activity"] = []string{s.Tensor}, []string{Multiply.String()}
		} else {
			sample.Label["activity"] = []string{s.What}
		}
		for _, frame := range slices.Backward(s.frames()) {
			if locations[frame] == nil {
				id := uint64(len(locations) + 1)
				f := &profile.Function{ID: id, Name: frame, SystemName: frame}
				locations[frame] = &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
				out.Function, out.Location = append(out.Function, f), append(out.Location, locations[frame])
			}
			sample.Location = append(sample.Location, locations[frame])
		}
		out.Sample = append(out.Sample, sample)
	}
	if err := out.CheckValid(); err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	return out.Write(w)
}

// A Frame is a node of a flame graph: the time of all stacks that pass through
// it.
type Frame struct {
	Name     string
	Time     time.Duration
	Children []*Frame // the longest first
}

// Flame adds up stacks, the blocks together: tests, operations, then what
// threads did.
func (p *Profile) Flame() *Frame {
	root := &Frame{Name: p.Model}
	for _, s := range p.stacks() {
		at := root
		at.Time += s.Time
		for _, name := range []string{s.Test, s.Key.Op, s.What} {
			at = at.child(name)
			at.Time += s.Time
		}
	}
	root.sort()
	return root
}

func (f *Frame) child(name string) *Frame {
	for _, c := range f.Children {
		if c.Name == name {
			return c
		}
	}
	c := &Frame{Name: name}
	f.Children = append(f.Children, c)
	return c
}

func (f *Frame) sort() {
	slices.SortStableFunc(f.Children, func(a, b *Frame) int { return cmp.Compare(b.Time, a.Time) })
	for _, c := range f.Children {
		c.sort()
	}
}
