package kernels

import (
	"onebit/formats"
	"strings"
	"testing"
)

// A program that imports no family has the reference alone. It is told what to
// import, and does not run at a hundredth of the speed.
func TestNoFamily(t *testing.T) {
	defer func(all map[*formats.Type]Format) { known = all }(known)
	known = nil
	if v, err := Best("i2_s"); err == nil || !strings.Contains(err.Error(), "import onebit/kernels/all") {
		t.Errorf("%v, error %v", v, err)
	}
	if v, err := Lookup("i2_s", "avx2", "no such scheme"); err == nil || !strings.Contains(err.Error(), "import onebit/kernels/all") {
		t.Errorf("%v, error %v", v, err)
	}
}

// The last kernel whose From is not above the columns multiplies them; Register refuses
// variants of which none takes one column, or that are in no order.
func TestKernelsAreChosenByColumns(t *testing.T) {
	v := &Variant{Name: "none", Format: formats.F32, Scheme: F32, ISA: Go, Layout: Native, Kernels: []Kernel{{}, {From: 3}, {From: 8}}}
	for _, c := range []struct{ columns, kernel int }{{1, 0}, {2, 0}, {3, 1}, {7, 1}, {8, 2}, {100, 2}} {
		if got, want := v.kernel(c.columns), &v.Kernels[c.kernel]; got != want {
			t.Errorf("%d columns: the kernel from %d, want that from %d", c.columns, got.From, want.From)
		}
	}
	for _, froms := range [][]int{nil, {2}, {1, 8, 3}} {
		v.Kernels = nil
		for _, from := range froms {
			v.Kernels = append(v.Kernels, Kernel{From: from})
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("kernels from %v were registered", froms)
				}
			}()
			Register(v)
		}()
	}
}
