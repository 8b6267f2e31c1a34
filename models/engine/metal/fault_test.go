package metal_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels/kerneltest"
	gpu "onebit/metal"
	"onebit/metal/metaltest"
	"onebit/metal/shaders"
	"onebit/metal/softmetal/frameworks"
	"onebit/models/engine"
	"onebit/models/engine/metal"
)

// faulty opens a device whose faults a test can ask for.
func faulty(t *testing.T) (*gpu.Device, *frameworks.Library) {
	t.Helper()
	if runtime.GOOS != "linux" {
		require.Skip(t, "linux", "only a GPU that is played has faults on demand")
	}
	lib := metaltest.Played(t)
	d, err := gpu.OpenFrameworks(lib)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, lib
}

// A text is a stream through one block of each kind, with weights of three
// layouts and widths of 128.
type text struct {
	engine  engine.Engine
	weights []engine.Weight
	stream  engine.Stream
	x, y, z engine.Buffer
}

const width = 128

var states = []engine.State{
	engine.KV{Heads: 2, Dim: width / 2},
	engine.Delta{KeyHeads: 1, ValueHeads: 1, KeyDim: width, ValueDim: width, Channels: width, Taps: 2},
}

func tensors(t *testing.T) memorySource {
	t.Helper()
	out := memorySource{}
	for i, w := range []formats.Tensor{
		{Name: "table", Type: formats.F16, Shape: []int{width, width}}, {Name: "gain", Type: formats.F32, Shape: []int{1, width}},
		{Name: "taps", Type: formats.F32, Shape: []int{width, 2}}, {Name: "one bit", Type: formats.Q1_0_g128, Shape: []int{width, width}},
		{Name: "half", Type: formats.F16, Shape: []int{width, width}},
	} {
		w.Data = kerneltest.Tensor(t, w.Type, w.Shape[0], w.Shape[1], rand.New(rand.NewPCG(8, uint64(i)))).Data
		out[w.Name] = w
	}
	return out
}

// open starts a text; what there is of one with an error is closed.
func open(t *testing.T, opt metal.Options, block int) (*text, error) {
	e, err := opt.Open(tensors(t))
	if err != nil {
		return nil, err
	}
	x := &text{engine: e}
	x.weights, err = e.Load(t.Context(), []engine.Request{
		{Tensor: "table", Use: engine.Table}, {Tensor: "gain", Use: engine.Gain}, {Tensor: "taps", Use: engine.Gain},
		{Tensor: "one bit", Use: engine.Matrix}, {Tensor: "half", Use: engine.Matrix, Type: formats.Q8_0},
	})
	if err == nil {
		x.stream, err = e.NewStream(engine.StreamOptions{
			States: states[block : block+1], Context: 8, Batch: 2, Cache: formats.F16,
			Rope: engine.Rope{Freq: make([]float64, width/4), Magnitude: 1},
		})
	}
	if err != nil {
		x.close(t)
		return nil, err
	}
	x.x, x.y, x.z = x.stream.Buffer(width), x.stream.Buffer(width), x.stream.Buffer(width)
	return x, nil
}

func (x *text) close(t *testing.T) {
	t.Helper()
	var errs []error
	if x.stream != nil {
		errs = append(errs, x.stream.Close())
	}
	if err := errors.Join(append(errs, x.engine.Close())...); err != nil {
		t.Error(err)
	}
}

// step takes tokens through the block.
func (x *text) step(ids ...int) ([]float32, error) {
	s, w := x.stream, x.weights
	s.Begin(len(ids))
	s.Embed("embed", x.x, w[0], ids)
	s.Enter(0)
	s.Norm("norm", x.y, x.x, w[1], 1e-5)
	s.Multiply("product", x.y, []engine.Product{{Weight: w[3], Dst: x.z}, {Weight: w[4], Dst: x.x}})
	s.Add("add", x.z, x.x)
	s.Rotate("rotate", x.z, x.x)
	s.Attend("attend", x.y, x.z, x.x, x.z)
	return x.finish()
}

// recall is step through a block that is a gated delta net.
func (x *text) recall(ids ...int) ([]float32, error) {
	s, w := x.stream, x.weights
	s.Begin(len(ids))
	s.Embed("embed", x.x, w[0], ids)
	s.Enter(0)
	s.Norm("norm", x.x, x.x, w[1], 1e-5)
	s.Convolve("convolve", x.x, w[2])
	one := s.Buffer(1)
	s.Write(one, slices.Repeat([]float32{0.5}, len(ids)))
	s.DeltaRule("rule", x.y, x.x, x.x, x.x, one, one)
	return x.finish()
}

// steps are those for blocks of each of the states.
var steps = []func(*text, ...int) ([]float32, error){(*text).step, (*text).recall}

func (x *text) finish() ([]float32, error) {
	s := x.stream
	s.Enter(engine.Outside)
	s.Take(x.z, x.y, 0, 1)
	top, err := s.Top(x.z, 1)
	if err != nil {
		return nil, err
	}
	y, err := s.Read(x.y)
	if err != nil {
		return nil, err
	}
	s.End()
	return append(slices.Clone(y), top[0].Value), nil
}

// An allocation that fails, whichever it is, is an error and leaves nothing
// behind, or does no harm; a text in which it does goes on from its start.
func TestAllocationsFail(t *testing.T) {
	require.Turns(t, "TestLongTexts", "TestLongTextsWithoutMemory", "TestOlderGPU", "TestAllocationsFail")
	d, lib := faulty(t)
	opt := metal.Options{Device: d, Native: true}
	for block := range states {
		x, err := open(t, opt, block)
		if err != nil {
			t.Fatal(err)
		}
		step := steps[block]
		want, err := step(x, 5, 6)
		if err != nil {
			t.Fatal(err)
		}
		x.close(t)
		live := len(lib.Live())
		failed := 0
		for n, fine := 0, 0; fine < 10; n++ {
			lib.FailAllocations(n, 1)
			x, err := open(t, opt, block)
			var got []float32
			if err == nil {
				if got, err = step(x, 5, 6); err != nil {
					lib.FailAllocations(0, 0)
					if again := x.stream.Truncate(0); again != nil {
						t.Errorf("allocation %d: back to the start: %v", n, again)
					}
					var again error
					if got, again = step(x, 5, 6); again != nil {
						t.Errorf("allocation %d: once more: %v", n, again)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("allocation %d: the text is another", n)
				}
				x.close(t)
			}
			lib.FailAllocations(0, 0)
			if now := lib.Live(); len(now) != live {
				t.Fatalf("allocation %d: %d objects are alive, %d were before: %q; error %v", n, len(now), live, now, err)
			}
			if fine++; err != nil {
				fine, failed = 0, failed+1
				if !strings.Contains(err.Error(), "metal") {
					t.Errorf("allocation %d: error %v does not name who failed", n, err)
				}
			}
		}
		if failed < 30 {
			t.Errorf("%d allocations failed; there are more", failed)
		}
	}
}

// Commands that the GPU gives up are an error that stays until the text goes back
// to where it was sound.
func TestCommandsFail(t *testing.T) {
	d, lib := faulty(t)
	x, err := open(t, metal.Options{Device: d}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer x.close(t)
	for code, want := range map[int]error{2: gpu.ErrTimeout, 4: gpu.ErrDeviceLost, 8: gpu.ErrOutOfMemory, 11: gpu.ErrDeviceLost} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			if err := x.stream.Truncate(0); err != nil {
				t.Fatal(err)
			}
			expected := x.steps(t, 1, 2, 3)
			if err := x.stream.Truncate(0); err != nil {
				t.Fatal(err)
			}
			x.steps(t, 1, 2)
			lib.FailCommands(0, 1, code)
			_, err := x.step(3)
			if !errors.Is(err, want) || !strings.HasPrefix(err.Error(), "engine metal on softmetal: ") {
				t.Errorf("error %v, want one of the engine that wraps %v", err, want)
			}
			if _, again := x.stream.Read(x.y); again != err {
				t.Errorf("read again: %v, want %v", again, err)
			}
			if _, again := x.step(4); again != err {
				t.Errorf("a step behind: %v, want %v", again, err)
			}
			if err := x.stream.Truncate(2); err != nil {
				t.Fatal(err)
			}
			if got := x.steps(t, 3); !slices.Equal(got, expected) {
				t.Error("after going back, the text is another")
			}
		})
	}
}

// steps takes tokens in one by one, and returns what the last gave.
func (x *text) steps(t *testing.T, ids ...int) (y []float32) {
	t.Helper()
	for _, id := range ids {
		var err error
		if y, err = x.step(id); err != nil {
			t.Fatal(err)
		}
	}
	return y
}

// Tokens whose commands failed are no place to go back to, whether or not the
// caller has looked.
func TestFailedTokensAreNotKept(t *testing.T) {
	d, lib := faulty(t)
	x, err := open(t, metal.Options{Device: d}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer x.close(t)
	x.steps(t, 1)
	lib.FailCommands(0, 1, 4)
	x.stream.Begin(1)
	x.stream.Embed("embed", x.x, x.weights[0], []int{2})
	x.stream.Norm("norm", x.y, x.x, x.weights[1], 1e-5)
	x.stream.End()
	if _, err := x.stream.Read(x.y); !errors.Is(err, gpu.ErrDeviceLost) {
		t.Fatalf("error %v, want one that wraps %v", err, gpu.ErrDeviceLost)
	}
	x.stream.Begin(1)
	x.stream.End()
	for _, n := range []int{2, 3} {
		if err := x.stream.Truncate(n); !errors.Is(err, gpu.ErrDeviceLost) {
			t.Errorf("back to %d: error %v, want one that wraps %v", n, err, gpu.ErrDeviceLost)
		}
	}
	if err := x.stream.Truncate(1); err != nil {
		t.Errorf("back to 1, which was sound: %v", err)
	}
}

// A state without positions goes back to the start alone.
func TestCommandsFailInState(t *testing.T) {
	d, lib := faulty(t)
	x, err := open(t, metal.Options{Device: d}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.close(t)
	want, err := x.recall(1)
	if err != nil {
		t.Fatal(err)
	}
	lib.FailCommands(0, 1, 4)
	if _, err := x.recall(2); !errors.Is(err, gpu.ErrDeviceLost) {
		t.Errorf("error %v, want one that wraps %v", err, gpu.ErrDeviceLost)
	}
	if err := x.stream.Truncate(1); !errors.Is(err, engine.ErrNoRollback) {
		t.Errorf("back to token 1: %v, want one that wraps %v", err, engine.ErrNoRollback)
	}
	if err := x.stream.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if got, err := x.recall(1); err != nil || !slices.Equal(got, want) {
		t.Errorf("from the start: %v; the text is another: %v", err, !slices.Equal(got, want))
	}
}

// A text that is closed in the middle of a batch leaves nothing behind.
func TestCloseInBatch(t *testing.T) {
	d, _ := faulty(t)
	for _, work := range []int{0, 1} { // encoded, and committed too
		x, err := open(t, metal.Options{Device: d, Work: work}, 0)
		if err != nil {
			t.Fatal(err)
		}
		x.stream.Begin(1)
		x.stream.Embed("embed", x.x, x.weights[0], []int{1})
		x.stream.Multiply("product", x.x, []engine.Product{{Weight: x.weights[3], Dst: x.y}, {Weight: x.weights[4], Dst: x.z}})
		x.close(t)
	}
}

func TestRefused(t *testing.T) {
	d, lib := faulty(t)
	named := func(t *testing.T, err error, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if err == nil || !strings.Contains(err.Error(), p) {
				t.Errorf("error %v, want one with %q", err, p)
			}
		}
	}
	t.Run("no device", func(t *testing.T) {
		gpu.Provide(func() (gpu.Frameworks, error) { return lib, nil })
		defer gpu.Provide(nil)
		lib.NoDevice(true)
		defer lib.NoDevice(false)
		if _, err := engine.Lookup("metal"); !errors.Is(err, gpu.ErrNoDevice) {
			t.Errorf("error %v, want one that wraps %v", err, gpu.ErrNoDevice)
		}
		_, err := open(t, metal.Options{}, 0)
		if !errors.Is(err, gpu.ErrNoDevice) {
			t.Errorf("error %v, want one that wraps %v", err, gpu.ErrNoDevice)
		}
	})
	t.Run("default device", func(t *testing.T) {
		gpu.Provide(func() (gpu.Frameworks, error) { return lib, nil })
		defer gpu.Provide(nil)
		x, err := open(t, metal.Options{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		x.close(t)
	})
	t.Run("shader", func(t *testing.T) {
		good := shaders.Operations
		shaders.Operations = strings.Replace(good, "kernel void add(", "kernel void add(oops, ", 1)
		defer func() { shaders.Operations = good }()
		_, err := open(t, metal.Options{Device: d}, 0)
		if _, ok := errors.AsType[*gpu.CompileError](err); !ok {
			t.Errorf("error %v, want a *metal.CompileError", err)
		}
		named(t, err, "engine metal: kernel rms_norm: ", "kernel add: a parameter without")
	})
	t.Run("too large", func(t *testing.T) {
		const most = 1 << 14
		lib.MaxBuffer(most)
		defer lib.MaxBuffer(0)
		small, err := gpu.OpenFrameworks(lib)
		if err != nil {
			t.Fatal(err)
		}
		defer small.Close()
		for _, native := range []bool{true, false} {
			w := *kerneltest.Tensor(t, formats.F16, 2*most/256, 128, rand.New(rand.NewPCG(1, 1)))
			w.Name = "big"
			e, err := metal.Options{Device: small, Native: native}.Open(memorySource{"big": w})
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Load(t.Context(), []engine.Request{{Tensor: "big", Use: engine.Matrix}})
			if !errors.Is(err, gpu.ErrTooLarge) {
				t.Errorf("error %v, want one that wraps %v", err, gpu.ErrTooLarge)
			}
			named(t, err, "test.gguf: tensor big: ", "use the engine cpu")
			e.Close()
		}
	})
	t.Run("columns", func(t *testing.T) {
		w := formats.Tensor{Name: "odd", Type: formats.F16, Shape: []int{1, 3}, Data: make([]byte, 6)}
		e, err := metal.Options{Device: d}.Open(memorySource{"odd": w})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		_, err = e.Load(t.Context(), []engine.Request{{Tensor: "odd", Use: engine.Matrix}})
		named(t, err, "test.gguf: tensor odd: no Metal shader multiplies f16 in 3 columns", "the engine cpu")
	})
	t.Run("variant", func(t *testing.T) {
		_, err := metal.Options{Device: d, Variant: "fast"}.Open(memorySource{})
		named(t, err, `engine metal: unknown variant "fast" (known: metal-naive, `)
	})
	e, err := metal.Options{Device: d}.Open(memorySource{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for name, c := range map[string]struct {
		opt  engine.StreamOptions
		want string
	}{
		"cache":       {engine.StreamOptions{States: states, Context: 1, Cache: formats.Q2_0}, "engine metal: no Metal shader keeps keys and values in q2_0"},
		"no cache":    {engine.StreamOptions{States: states, Context: 1}, "engine metal: keys and values have no format"},
		"wide heads":  {engine.StreamOptions{States: []engine.State{engine.KV{Heads: 1, Dim: 516}}, Context: 1, Cache: formats.F16}, "heads have 516 values"},
		"q8_0 blocks": {engine.StreamOptions{States: []engine.State{engine.KV{Heads: 1, Dim: 48}}, Context: 1, Cache: formats.Q8_0}, "cannot be kept in q8_0"},
		"too long":    {engine.StreamOptions{States: states, Context: math.MaxInt32, Cache: formats.F32}, "keys and values of 2147483647 tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.NewStream(c.opt)
			named(t, err, c.want)
		})
	}
}

// A batch of more work than a command buffer may have is cut into several, also within
// an operation, by columns; a few at most wait for the GPU, whatever is asked for.
func TestCut(t *testing.T) {
	d, lib := faulty(t)
	for _, test := range []struct {
		work int
		want int // command buffers
	}{{0, 1}, {1, 16}} {
		x, err := open(t, metal.Options{Device: d, Work: test.work}, 0)
		if err != nil {
			t.Fatal(err)
		}
		s, w := x.stream, x.weights
		s.Begin(2)
		s.Embed("embed", x.x, w[0], []int{1, 2})
		s.Enter(0)
		for range 8 {
			s.Multiply("product", x.x, []engine.Product{{Weight: w[3], Dst: x.y}})
		}
		begun := 0
		for _, object := range lib.Live() {
			if strings.HasPrefix(object, "MTLCommandBuffer,") {
				begun++
			}
		}
		if most := 5; begun > most {
			t.Errorf("work %d: %d command buffers are begun and not done, want %d at most", test.work, begun, most)
		}
		if got := s.(interface{ Encoded() metal.Counts }).Encoded().CommandBuffers; got != test.want {
			t.Errorf("work %d: %d command buffers, want %d", test.work, got, test.want)
		}
		if _, err := s.Read(x.y); err != nil {
			t.Error(err)
		}
		x.close(t)
	}
}
