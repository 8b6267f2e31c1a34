package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"onebit/internal/require"
)

// An asked context counts how often it is asked, and ends when it has been asked so
// many times; never if that is 0.
type asked struct {
	context.Context
	n    atomic.Int64
	last int64
}

func (c *asked) Err() error {
	if n := c.n.Add(1); c.last > 0 && n >= c.last {
		return context.Canceled
	}
	return nil
}

// hostile are files that made work grow with the square or the cube of their lines.
var hostile = map[string]func(lines int) string{
	"machines": func(lines int) string {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "mem-total: %d\nBenchmarkX 1 %d ns/op\n", i, 1+i%3)
		}
		return b.String()
	},
	"commits": func(lines int) string {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "commit: %08x\nBenchmarkX 1 %d ns/op\n", i, 1+i%3)
		}
		return b.String()
	},
	"units": func(lines int) string {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "Unit u%d better=lower\nBenchmarkX 1 %d u%[1]d\n", i, 1+i%3)
		}
		return b.String()
	},
}

// TestLoadEndsAtOnce: whatever a file holds, reading it ends with the context, which is
// asked at each line.
func TestLoadEndsAtOnce(t *testing.T) {
	const lines = 2000
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"a.txt": text(lines)})
			whole := &asked{Context: t.Context()}
			if _, err := Load(whole, dir, LoadOptions{}); err != nil {
				t.Fatal(err)
			}
			if n := whole.n.Load(); n < lines || n > 10*lines {
				t.Errorf("the context was asked %d times in %d lines", n, lines)
			}
			if _, err := Load(&asked{Context: t.Context(), last: whole.n.Load() / 2}, dir, LoadOptions{}); !errors.Is(err, context.Canceled) {
				t.Errorf("half way: %v", err)
			}
		})
	}
}

// TestLoadWorkIsLinear counts allocations: that of a name for each of the names before
// made 4,000 machines take a minute.
func TestLoadWorkIsLinear(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			few, many := folder(t, map[string]string{"a.txt": text(500)}), folder(t, map[string]string{"a.txt": text(4000)})
			work := func(dir string) float64 {
				return testing.AllocsPerRun(1, func() { load(t, dir, LoadOptions{}) })
			}
			if a, b := work(few), work(many); b > 20*a {
				t.Errorf("%.0f allocations for 500, and %.0f for 4,000", a, b)
			}
		})
	}
}

// TestBoundIsLinear: a clear change in n points cost n² exponentials.
func TestBoundIsLinear(t *testing.T) {
	const n = 100_000
	sums := make([]int, n)
	for k := range sums {
		sums[k] = 1
	}
	asked := 0
	p := bound(n, sums, 1000, func(lambda float64) moments {
		asked++
		half := lambda * lambda / 2 // of normal scores, their logarithm
		return moments{lambda, 1 + half, 1 + half}
	})
	if asked > 1000 || !(p < 1e-6) {
		t.Errorf("the moments of %d scores were asked for %d times, for a chance of %v", n, asked, p)
	}
}

// TestTrendsEndAtOnce ends a search in the middle of its permutations.
func TestTrendsEndAtOnce(t *testing.T) {
	require.Unraced(t, "a context ends what one thread computes")
	h := simulated(rand.New(rand.NewPCG(15, 16)), 1, 200, 0.02, noises["normal"], func(_, point int) float64 { return 1 + 0.016*float64(point/100) })
	whole := &asked{Context: t.Context()}
	if found, err := h.Trends(whole, Options{Alpha: 1e-5}); err != nil || len(found.Changes) != 1 || whole.n.Load() < 50 {
		t.Fatalf("%+v, %v: the context was asked %d times", found, err, whole.n.Load())
	}
	if _, err := h.Trends(&asked{Context: t.Context(), last: 20}, Options{Alpha: 1e-5}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}
