package metal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/internal/deviation"
	"onebit/internal/require"
	gpu "onebit/metal"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/engine/metal"
)

// A looking is a stream that does nothing but attend, over the same text whatever
// the batches.
type looking struct {
	engine.Stream
	q, k, v, y engine.Buffer
	format     *formats.Type // which holds the text's numbers
}

const lookDim, lookHeads, lookContext = 32, 2, 600

func look(t *testing.T, opener engine.Opener, cache, format *formats.Type) *looking {
	t.Helper()
	e, err := opener.Open(memorySource{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s, err := e.NewStream(engine.StreamOptions{
		States: []engine.State{engine.KV{Heads: 1, Dim: lookDim}}, Context: lookContext, Batch: lookContext, Cache: cache,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &looking{s, s.Buffer(lookHeads * lookDim), s.Buffer(lookDim), s.Buffer(lookDim), s.Buffer(lookHeads * lookDim), format}
}

// to takes tokens up to a position in, and returns what each got.
func (l *looking) to(end int) ([]float32, error) {
	from := l.Position()
	for i, b := range []engine.Buffer{l.q, l.k, l.v} {
		rng, x := rand.New(rand.NewPCG(uint64(i), 4)), make([]float32, end*b.Width())
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		l.Write(b, l.held(x)[from*b.Width():])
	}
	l.Begin(end - from)
	l.Enter(0)
	l.Attend("attend", l.y, l.q, l.k, l.v)
	l.Enter(engine.Outside)
	l.End()
	y, err := l.Read(l.y)
	return slices.Clone(y), err
}

// held is x as the format holds it.
func (l *looking) held(x []float32) []float32 {
	n, err := l.format.Bytes(1, len(x))
	data := make([]byte, n)
	if err = errors.Join(err, l.format.Matrix(data, 1, len(x)).Quantize(x), l.format.Matrix(data, 1, len(x)).Dequantize(x)); err != nil {
		panic(err)
	}
	return x
}

// text takes batches in that end at these positions.
func (l *looking) text(t *testing.T, ends ...int) (y []float32) {
	t.Helper()
	for _, end := range ends {
		part, err := l.to(end)
		if err != nil {
			t.Fatal(err)
		}
		y = append(y, part...)
	}
	return y
}

// Texts of more positions than a threadgroup looks at get what the CPU engine
// gives over float32 and numbers that the cache holds (over q8_0 it rounds queries and weights too, over fp16 its powers of two are shorter), and the same bits
// wherever batches and command buffers end; also when the text goes back to before the boundary.
func TestLongTexts(t *testing.T) {
	require.Turns(t, "TestLongTexts", "TestLongTextsWithoutMemory", "TestOlderGPU", "TestAllocationsFail")
	d := device(t)
	type text struct {
		cache *formats.Type
		end   int
	}
	for _, c := range require.Draw(t, 3, []text{{formats.F16, 520}, {formats.F16, 264}, {formats.Q8_0, 264}}) {
		t.Run(fmt.Sprintf("%s/%d", c.cache.Name, c.end), func(t *testing.T) {
			const column = lookHeads * lookDim
			want := look(t, cpu.Options{Threads: 1}, formats.F32, c.cache).text(t, c.end)
			l := look(t, metal.Options{Device: d, Work: 40 * 256 * column}, c.cache, c.cache)
			cut := l.text(t, c.end)
			for _, from := range []int{0, 256, c.end - 8} {
				if e := deviation.Of(cut[from*column:], want[from*column:]).NMSE(); !(e < 1e-12) {
					t.Errorf("from position %d on, an NMSE of %.3g to the CPU engine", from, e)
				}
			}
			for _, ends := range [][]int{{c.end - 5, c.end - 4, c.end}, {250, 255, 256, 257, 264}} {
				if err := l.Truncate(ends[0]); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(l.text(t, ends[1:]...), cut[ends[0]*column:ends[len(ends)-1]*column]) {
					t.Errorf("in batches that end at %v, the text is another", ends)
				}
			}
		})
	}
}

// Memory for parts that is not there is an error, and the text goes on behind it.
func TestLongTextsWithoutMemory(t *testing.T) {
	require.Turns(t, "TestLongTexts", "TestLongTextsWithoutMemory", "TestOlderGPU", "TestAllocationsFail")
	d, lib := faulty(t)
	want := look(t, metal.Options{Device: d}, formats.F16, formats.F16).text(t, 250, 257)
	l := look(t, metal.Options{Device: d}, formats.F16, formats.F16)
	y := l.text(t, 250)
	failed := 0
	for n := 0; ; n++ {
		lib.FailAllocations(n, 1)
		part, err := l.to(257)
		lib.FailAllocations(0, 0)
		if err == nil {
			if !slices.Equal(append(y, part...), want) {
				t.Error("behind the errors, the text is another")
			}
			break
		}
		failed++
		if !errors.Is(err, gpu.ErrOutOfMemory) || !strings.HasPrefix(fmt.Sprint(err), "engine metal on ") {
			t.Errorf("allocation %d: error %v, want one of the engine that wraps %v", n, err, gpu.ErrOutOfMemory)
		}
		if err := l.Truncate(250); err != nil {
			t.Fatal(err)
		}
	}
	if failed < 2 {
		t.Errorf("%d allocations failed, want those of parts and of their sums", failed)
	}
}
