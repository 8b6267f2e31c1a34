package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/internal/sysinfo"
	"onebit/models"
	"onebit/models/source"
)

// A memorySize is the value of --memory: bytes, or 0 for what is available.
type memorySize int64

// sizeUnits are those of --memory, by what ends the number.
var sizeUnits = map[string]float64{
	"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}

func (m *memorySize) Set(text string) error {
	number := strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	unit, known := sizeUnits[strings.TrimSpace(text[len(number):])]
	n, err := strconv.ParseFloat(number, 64)
	if size := n * unit; !known || err != nil || size < 1 || size >= math.MaxInt64 {
		return errors.New("want a size such as 8GB, 7.5GiB or 512MiB")
	} else {
		*m = memorySize(size)
	}
	return nil
}

func (m *memorySize) String() string {
	if *m == 0 {
		return ""
	}
	return sysinfo.Bytes(*m).String()
}

func (m *memorySize) Type() string { return "SIZE" }

func (m *memorySize) register(flags *pflag.FlagSet) {
	flags.Var(m, "memory", "memory that there is for the model, such as 8GB (default: what the system has available); a context beyond it is refused")
}

// available is what was said, or what the system tells. Unknown, it is no limit.
func (m *memorySize) available() sysinfo.Value[sysinfo.Bytes] {
	if *m != 0 {
		return sysinfo.Value[sysinfo.Bytes]{V: sysinfo.Bytes(*m)}
	}
	return sysinfo.Available()
}

// foresee says on notes what memory a session of context tokens will take, and
// refuses one that has no room.
func (m *memorySize) foresee(notes io.Writer, plan *models.Plan, context int, cache *formats.Type) error {
	opt := models.SessionOptions{Context: context, Cache: cache}
	available := m.available()
	if !available.OK() {
		available.V = math.MaxInt64
	}
	f, err := plan.Check(opt, int64(available.V))
	if refused, ok := errors.AsType[*models.MemoryError](err); ok {
		return fmt.Errorf("%w (%s)", refused, wayOut(refused))
	}
	if err != nil || notes == nil {
		return err
	}
	left := "what is available is not known"
	if available.OK() {
		left = available.String() + " available"
	}
	_, err = fmt.Fprintf(notes, "memory: %s for %d tokens: %v; %s\n", sysinfo.Bytes(f.Total()), f.Context, f, left)
	return err
}

func wayOut(e *models.MemoryError) string {
	for _, f := range e.Fits {
		if f.Context > 0 {
			return "choose by --ctx and --cache; --memory says how much there is"
		}
	}
	return "--stream keeps one block of weights in memory; --memory says how much there is"
}

// A memoryInspection is what inspect tells of a model's memory.
type memoryInspection struct {
	Mapped    int64           `json:"weights_in_place"`
	Packed    int64           `json:"weights_packed"`
	State     int64           `json:"state"`
	Scratch   int64           `json:"scratch"`
	Context   int             `json:"context"`
	Available int64           `json:"available,omitempty"` // 0: not known
	Caches    []cacheForecast `json:"caches"`
}

// A cacheForecast is about a format of keys and values.
type cacheForecast struct {
	Format   string  `json:"format"`
	PerToken float64 `json:"bytes_per_token"`
	Bytes    int64   `json:"bytes"`   // of the context
	Total    int64   `json:"total"`   // with weights, state and scratch
	Largest  int     `json:"largest"` // context that fits in what is available; 0: none
}

// inspectMemory plans for the weights as run has them in the end.
func inspectMemory(src source.Source, context int, memory *memorySize) (*memoryInspection, error) {
	plan, err := models.NewPlan(src, models.Options{})
	if err != nil {
		return nil, err
	}
	available := memory.available()
	usual, err := plan.Footprint(models.SessionOptions{Context: context})
	if err != nil {
		return nil, err
	}
	m := &memoryInspection{
		Mapped: usual.Mapped, Packed: usual.Packed, State: usual.State, Scratch: usual.Scratch, Context: usual.Context,
		Available: int64(available.V), Caches: []cacheForecast{},
	}
	for _, fit := range plan.Fits(cmp.Or(m.Available, math.MaxInt64), 0) {
		f, err := plan.Footprint(models.SessionOptions{Context: context, Cache: fit.Format})
		if err != nil {
			return nil, err
		}
		m.Caches = append(m.Caches, cacheForecast{fit.Format.Name, f.TokenBytes(), f.Cache, f.Total(), fit.Context})
	}
	return m, nil
}

func (r inspection) printMemory(w io.Writer) error {
	m := r.Memory
	if m == nil {
		return nil
	}
	size := func(n int64) string { return sysinfo.Bytes(n).String() }
	available := "not known"
	if m.Available > 0 {
		available = size(m.Available)
	}
	fmt.Fprintf(w, "\nmemory: weights %s in place and %s packed, state %s, scratch %s; available %s\n",
		size(m.Mapped), size(m.Packed), size(m.State), size(m.Scratch), available)
	t := cli.NewTable(w, "KEYS AND VALUES", "BYTES A TOKEN", fmt.Sprintf("AT %d TOKENS", m.Context), "WITH THE REST", "LARGEST CONTEXT")
	for _, c := range m.Caches {
		t.Row(c.Format, fmt.Sprintf("%g", c.PerToken), size(c.Bytes), size(c.Total), c.Largest)
	}
	return t.Flush()
}
