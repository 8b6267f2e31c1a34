package cases

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/require"
	devices "onebit/metal"
	"onebit/metal/metaltest"
	"onebit/models/engine/metal"
)

// playMetal has the suites of a test find a GPU: the Mac's, or one that is
// played on Linux. When the test ends, nothing may be alive there, or have been
// done wrong.
func playMetal(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "linux" {
		lib := metaltest.Played(t)
		devices.Provide(func() (devices.Frameworks, error) { return lib, nil })
		t.Cleanup(func() { devices.Provide(nil) })
	}
	g := openGPU()
	if errors.Is(g.err, devices.ErrNoDevice) {
		require.Skip(t, "metal", g.err.Error())
	}
	if err := errors.Join(g.err, g.close()); err != nil {
		t.Fatal(err)
	}
}

// Every kernel of Metal is verified and timed, by the wall's clock and by the
// GPU's.
func TestGPUKernels(t *testing.T) {
	require.Unraced(t, "its engine is raced where it stands")
	playMetal(t)
	tested := []string{"q1_0_g128", "i2_s", "tq1_0", "f16"}
	s := suite(t, Options{Sources: Synthetic(lookup(t, tested...), []formats.Shape{{Rows: 16, Cols: 256}}, 1), Caches: []string{names.Warm}})
	if err := s.Select("/variant:(" + strings.Join(metal.KernelNames(), " OR ") + ")"); err != nil {
		t.Fatal(err)
	}
	res := measured(t, bench.Runner{Count: 1, Time: 1}, bench.Suite{Cases: s.Cases, Studies: s.Studies})
	for _, format := range tested {
		for _, k := range metal.Kernels(lookup(t, format)[0]) {
			if _, err := k.Bytes(16, 256); err != nil {
				continue // it multiplies longer rows
			}
			name := "MatVec/format=" + format + "/variant=" + k.Name + "/act=" + string(k.Scheme) + "/rows=16/cols=256/cache=warm"
			i := slices.IndexFunc(res.Samples, func(s results.Sample) bool { return s.Name.Full == name })
			if i < 0 {
				t.Errorf("no sample of %s", name)
				continue
			}
			for _, unit := range []string{results.NsPerOp, results.GPUTime, results.WeightRate, results.PackedBytes, results.PackTime, results.NMSE, results.ActNMSE, results.KernelNMSE, results.MaxAbsErr} {
				if v, ok := res.Samples[i].Value(unit); !ok || unit == results.GPUTime && v <= 0 {
					t.Errorf("%s has %g %s", name, v, unit)
				}
			}
		}
	}
}

// Weights that come from memory are many copies; and a result that is not W·x is
// never timed.
func TestGPUVerifies(t *testing.T) {
	require.Unraced(t, "its engine is raced where it stands")
	playMetal(t)
	const copies = 3
	s := suite(t, Options{Sources: Synthetic(lookup(t, "i2_s"), []formats.Shape{{Rows: 64, Cols: 512}}, 1)})
	s.home.(*env).coldBytes = copies*64*512/4 - 1
	for _, k := range metal.Kernels(lookup(t, "i2_s")[0]) {
		variant := k.Name
		m := instance(t, s, "variant="+variant+"/act="+string(k.Scheme)+"/rows=64/cols=512/cache=cold").(*gpuMatvec)
		if len(m.weights) != copies {
			t.Errorf("%s rotates over %d matrices, want %d", variant, len(m.weights), copies)
		}
		m.next = len(m.weights) - 1
		if err := m.Run(t.Context(), 2); err != nil || m.next != 1 {
			t.Errorf("%s: after two products the next matrix is %d, %v", variant, m.next, err)
		}
		if _, err := m.Verify(t.Context()); err != nil {
			t.Errorf("%s: a right result: %v", variant, err)
		}
		x := slices.Clone(m.group.x)
		x[7] += 1
		m.stream.Write(m.x, x)
		if _, err := m.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "kernel-nmse") {
			t.Errorf("%s: the product of another vector: %v", variant, err)
		}
	}
}

// Rows as long as models have them: metal-naive adds thousands of floats one after
// the other.
func TestGPULongRows(t *testing.T) {
	require.Unraced(t, "its engine is raced where it stands")
	playMetal(t)
	s := suite(t, Options{Sources: Synthetic(lookup(t, "q1_0_g128", "f16"), []formats.Shape{{Rows: 8, Cols: 17408}}, 1), Caches: []string{names.Warm}})
	if err := s.Select("/variant:(" + strings.Join(metal.KernelNames(), " OR ") + ")"); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cases {
		if _, err := instance(t, s, c.Name).Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

// A suite says that its device is played if one of its cases is for it, and by
// itself has no such cases.
func TestGPUEmulator(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a Mac's GPU is not played")
	}
	playMetal(t)
	for filter, want := range map[string]string{"/variant:(metal-rows OR scalar)": results.PlayedGPU, "/variant:scalar": "", "": ""} {
		s := suite(t, Options{Sources: Synthetic(lookup(t, "i2_s"), []formats.Shape{{Rows: 8, Cols: 256}}, 1)})
		if err := s.Select(cmp.Or(filter, s.Usual)); err != nil {
			t.Fatal(err)
		}
		if got := s.Emulator(); got != want {
			t.Errorf("the emulator of %q is %q, want %q", filter, got, want)
		}
	}
}

// Without a GPU, its kernels are there under their names, with the reason.
func TestGPUMissing(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("a Mac has one")
	}
	s := suite(t, Options{Sources: Synthetic(lookup(t, "i2_s"), []formats.Shape{{Rows: 8, Cols: 256}}, 1)})
	err := s.Select("/variant:metal-tiles")
	if !errors.Is(err, devices.ErrNoDevice) {
		t.Errorf("%v", err)
	}
}

// A model on the GPU: loaded, prompted, asked for text, its time by operation and
// its errors by block.
func TestGPUModel(t *testing.T) {
	require.Unraced(t, "its engine is raced where it stands")
	playMetal(t)
	const of = "/model=tiny/engine=metal/variant=metal-tiles/act=q8_128/"
	type part struct {
		filter string
		units  map[string][]string // that samples have, by name
	}
	for _, part := range require.Draw(t, 4, []part{
		{"/test:load", map[string][]string{"Model" + of + "packing=packed/test=load": {results.NsPerOp, results.GPUBytes}}},
		{"/test:pp2", map[string][]string{"Model" + of + "packing=packed/test=pp2/depth=1": {results.NsPerOp, results.GPUTime, results.TokenRate, results.OpRate, results.GPUBytes}}},
		{"/test:tg1", map[string][]string{
			"Model" + of + "packing=packed/test=tg1/depth=1":                  {results.NsPerOp, results.GPUTime, results.TokenRate, results.GPUBytes},
			"Op" + of + "packing=packed/test=tg1/depth=1/block=1/op=attn_qkv": {results.NsPerOp, results.WeightRate},
		}},
		{".name:Lockstep", map[string][]string{
			"Lockstep" + of + "input=isolated/block=1/tensor=ffn_down": {results.NMSE, results.MaxAbsErr},
			"Logits" + of + "weights=random/tokens=2":                  {results.KLD, results.Top1},
		}},
	}) {
		s := modelsSuite(t, ModelsOptions{Prompt: 2, Tokens: 1, Depths: []int{1}, Lockstep: 2, Choice: AllVariants}, "tiny")
		if err := s.Select("/engine:metal /variant:metal-tiles " + part.filter); err != nil {
			t.Fatal(err)
		}
		res := measured(t, bench.Runner{Count: 1, Time: 1}, bench.Suite{Cases: s.Cases, Studies: s.Studies})
		for name, units := range part.units {
			i := slices.IndexFunc(res.Samples, func(s results.Sample) bool { return s.Name.Full == name })
			if i < 0 {
				t.Errorf("no sample of %s", name)
				continue
			}
			for _, unit := range units {
				if v, ok := res.Samples[i].Value(unit); !ok || v <= 0 && unit != results.KLD {
					t.Errorf("%s has %g %s", name, v, unit)
				}
			}
		}
	}
}

// A model whose logits are not those of the CPU is never timed.
func TestGPUModelIsVerified(t *testing.T) {
	require.Unraced(t, "its engine is raced where it stands")
	playMetal(t)
	s := modelsSuite(t, ModelsOptions{Tokens: 1, Choice: AllVariants}, "tiny")
	x := instance(t, s, "engine=metal/variant=metal-tiles/act=q8_128/packing=packed/test=tg1").(*text)
	wrong := make([]float32, x.scope().subject.config.Vocab)
	wrong[0] = 1
	x.scope().subject.generic[x.opening.(gpuModel).kernel.Scheme] = &logits{batch: wrong, step: wrong}
	if _, err := x.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "the logits differ from the pure Go variant's") {
		t.Errorf("logits that are not the CPU's: %v", err)
	}
}
