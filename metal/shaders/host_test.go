package shaders

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/metal"
	"onebit/metal/metaltest"
)

// openDevice opens the Mac's GPU, or the one that is played on Linux.
func openDevice(t *testing.T) *metal.Device {
	t.Helper()
	d, err := metal.Open()
	if runtime.GOOS == "linux" {
		d, err = metal.OpenFrameworks(metaltest.Played(t))
	}
	if errors.Is(err, metal.ErrNoDevice) {
		require.Skip(t, "metal", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// The host gets a pipeline for every kernel: on a Mac, from Apple's compiler.
func TestPipelines(t *testing.T) {
	d := openDevice(t)
	q1, err := CodesOf(formats.Q1_0_g128)
	if err != nil {
		t.Fatal(err)
	}
	q6, err := CodesOf(formats.Q6_K)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		source    string
		constants map[int]any
		kernels   []string
	}{
		{MatVec, q1.Constants(), []string{"matvec_naive", "matvec_rows", "matvec_simd", "matvec_experts", "embed"}},
		{Planes, TilesCut(q1, 128, 1, 1).Constants(q1), []string{"quantize_planes", "matvec_tiles", "matvec_lanes"}},
		{Bytes, BytesCut(1024, 1).Constants(q6, 32), []string{"matvec_bytes"}},
		{Matrices, MatricesConstants(q1, 128), []string{"matmul_simd"}},
		{Heads, floatConstants(t, formats.F16, 4), []string{"matvec_dense", "dense_experts", "embed_dense"}},
		{Quantize, map[int]any{0: uint32(0)}, []string{"quantize"}},
		{Operations, nil, []string{"rms_norm", "rotate", "gate_silu", "gate_relu2", "gate_sigmoid", "add", "scale", "take", "normalize", "select_parts"}},
		{Delta, nil, []string{"convolve", "delta_gates", "delta_rule"}},
		{Attention, map[int]any{0: uint32(1)}, []string{"append", "append_q8_0", "attend", "attend_parts", "attend_merge"}},
		{Hadamard, nil, []string{"rotate_hadamard"}},
		{Experts, nil, []string{"route", "combine", "clamp_values"}},
		{Top, nil, []string{"top_slices", "top"}},
	} {
		l, err := d.Compile(s.source)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		for _, kernel := range s.kernels {
			if strings.HasSuffix(kernel, "_simd") && !d.Supports(metal.Apple7) {
				t.Logf("%s: no simdgroup reductions before Apple7", kernel)
				continue
			}
			p, err := l.Pipeline(kernel, s.constants)
			if err != nil {
				t.Errorf("%s: %v", kernel, err)
			} else if p.MaxThreads() < 64 {
				t.Errorf("%s: %d threads in a threadgroup at most", kernel, p.MaxThreads())
			}
		}
	}
}

// The host gets a pipeline for every variant's plans, with registers for as many
// threads as they have.
func TestPlannedPipelines(t *testing.T) {
	d := openDevice(t)
	for _, v := range Variants() {
		if v.Simdgroups && !d.Supports(metal.Apple7) {
			continue
		}
		l, err := d.Compile(v.Source)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		for _, format := range []*formats.Type{formats.F16, formats.Q1_0_g128, formats.I2_S, formats.TQ2_0, formats.Q8_0, formats.Q6_K, formats.Q4_0, formats.Q4_K} {
			for _, actColumns := range []uint32{0, 32, 128} {
				for _, columns := range []int{1, 8} {
					plan, err := v.Plan(format, actColumns, 151936, 2048, columns)
					if err != nil {
						continue // TestRefusedPlans has why
					}
					p, err := l.Pipeline(v.Kernel, plan.Constants)
					if err != nil {
						t.Errorf("%s of %s: %v", v.Name, format.Name, err)
					} else if int(p.MaxThreads()) < plan.Threads[0] {
						t.Errorf("%s of %s: %d threads in a threadgroup at most, of %d planned", v.Name, format.Name, p.MaxThreads(), plan.Threads[0])
					}
				}
			}
		}
	}
}
