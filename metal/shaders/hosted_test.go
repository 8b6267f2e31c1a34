package shaders

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
	"onebit/metal"
	"onebit/metal/softmetal"
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

// Dispatch is that of softmetal: arguments of the same memory share a buffer,
// and get back what is in it.
func (h *hosted) Dispatch(kernel string, grid, threadgroup [3]int, args ...softmetal.Arg) error {
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
