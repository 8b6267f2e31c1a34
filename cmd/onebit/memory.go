package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"onebit/formats"
	"onebit/internal/sysinfo"
	"onebit/models"
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
	flags.Var(m, "memory", "memory for the model, such as 8GB (default: the memory that the system has available); a context beyond it is refused")
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
	left := "the memory available is not known"
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
