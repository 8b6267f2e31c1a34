package shaders

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
	"onebit/metal"
	"onebit/metal/softmetal"
	"onebit/metal/softmetal/frameworks"
)

// A library runs kernels: softmetal's, or a device's.
type library interface {
	Dispatch(kernel string, grid, threadgroup [3]int, args ...softmetal.Arg) error
}

// A hosted library runs kernels through package metal, as an engine does.
type hosted struct {
	device    *metal.Device
	library   *metal.Library
	constants metal.Constants
}

func host(t *testing.T, source string, constants map[int]any) *hosted {
	t.Helper()
	d := openDevice(t)
	l, err := d.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &hosted{d, l, constants}
}

var errBeforeApple7 = errors.New("this GPU has no reductions over simdgroups")

// Dispatch is that of softmetal: arguments of the same memory share a buffer,
// and get back what is in it.
func (h *hosted) Dispatch(kernel string, grid, threadgroup [3]int, args ...softmetal.Arg) error {
	if strings.HasSuffix(kernel, "_simd") && !h.device.Supports(metal.Apple7) {
		return errBeforeApple7
	}
	p, err := h.library.Pipeline(kernel, h.constants)
	if err != nil {
		return err
	}
	c, err := h.device.NewCommands()
	if err != nil {
		return err
	}
	defer c.Close()
	c.Use(p)
	buffers := map[*byte]*metal.Buffer{}
	for _, a := range args {
		index, data := a.Memory()
		first := unsafe.SliceData(data)
		if buffers[first] == nil {
			b, err := h.device.NewBuffer(len(data))
			if err != nil {
				return fmt.Errorf("buffer %d: %w", index, err)
			}
			defer b.Close()
			copy(b.Bytes(), data)
			buffers[first] = b
		}
		c.SetBuffer(index, buffers[first], 0)
	}
	size := func(s [3]int) metal.Size { return metal.Size{Width: uint(s[0]), Height: uint(s[1]), Depth: uint(s[2])} }
	c.DispatchThreads(size(grid), size(threadgroup))
	if err := c.Commit(); err != nil {
		return err
	}
	if err := c.Wait(); err != nil {
		return err
	}
	for _, a := range args {
		_, data := a.Memory()
		copy(data, buffers[unsafe.SliceData(data)].Bytes())
	}
	return nil
}

// What softmetal runs directly, it also runs for the host: one kernel of each
// source. On a Mac, all tests of this package go this way.
func TestHosted(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	p := newProduct(t, kerneltest.Tensor(t, formats.I2_S, 9, 256, rng), kernels.Q8Row, normal(rng, 2*256), 2)
	same(t, "matvec_simd", of(t)(p.simd(host(t, MatVec, p.codes.Constants()), 2)), p.want)
	if err := checkQuantize(host(t, Quantize, map[int]any{0: uint32(1)}), kernels.Q8Per128, normal(rng, 2*130), 130); err != nil {
		t.Error(err)
	}
	x := []float32{1, 2, 3, 4, 5}
	if err := vectors(host(t, Operations, nil), "add", x, x[:5:5]); err != nil {
		t.Error(err)
	}
	if x[4] != 10 {
		t.Error("5 + 5 is not 10")
	}
}

// Tests on a Mac skip what its GPU is too old for.
func TestBeforeApple7(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only a GPU that is played can be an older one")
	}
	l := host(t, MatVec, nil)
	played, err := frameworks.Load()
	if err != nil {
		t.Fatal(err)
	}
	played.Family(frameworks.Apple5)
	defer played.Family(frameworks.Apple7)
	if err := l.Dispatch("matvec_simd", [3]int{1, 1, 1}, [3]int{1, 1, 1}); err != errBeforeApple7 {
		t.Error(err)
	}
	sum := host(t, `#include <metal_stdlib>
using namespace metal;
kernel void reduce(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = simd_sum(x[i]); }`, nil)
	err = sum.Dispatch("reduce", [3]int{2, 1, 1}, [3]int{2, 1, 1}, softmetal.Buffer(0, []uint32{1, 2}))
	const want = "exchanges values in a simdgroup in line 3, which GPUs before Apple7 do not"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// A call of a function of simdgroups or quads, barriers apart, or a matrix of a simdgroup.
var exchange = regexp.MustCompile(`\b(simd|quad)_[a-z_]+\(|\bsimdgroup_(float|half|load|store|multiply)`)

// A line that begins a function, whose name is before the bracket.
var function = regexp.MustCompile(`(?m)^[a-z].*?(\w+)\(`)

// exchanging returns the functions of a source that exchange values in a simdgroup.
func exchanging(source string) (names []string) {
	starts := append(function.FindAllStringSubmatchIndex(source, -1), []int{len(source)})
	for i, at := range starts[:len(starts)-1] {
		if exchange.MatchString(source[at[3]:starts[i+1][0]]) {
			names = append(names, source[at[2]:at[3]])
		}
	}
	return names
}

// Before Apple7 there are no such functions. No kernel calls one but those of variants
// that say so, which an engine leaves out there.
func TestSimdgroups(t *testing.T) {
	want := map[string]bool{}
	for _, v := range Variants() {
		if v.Simdgroups {
			want[v.Kernel] = true
		}
	}
	got := map[string]bool{}
	for _, source := range sources {
		for _, name := range exchanging(source) {
			got[name] = true
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v exchange values in a simdgroup, want %v", got, want)
	}
	planted := strings.Replace(Bytes, "const uint high = codes >> 16;", "const uint high = simd_broadcast_first(codes) >> 16;", 1)
	if got := exchanging(planted); !slices.Equal(got, []string{"four_of"}) {
		t.Errorf("%v exchange values, want four_of", got)
	}
}
