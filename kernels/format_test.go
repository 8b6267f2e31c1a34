package kernels_test

import (
	"testing"

	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/kernels"
)

// formatsThat returns the names of those for which is says so.
func formatsThat(is func(f kernels.Format) bool) (names []string) {
	for _, t := range formats.Types() {
		if is(kernels.FormatOf(t)) {
			names = append(names, t.Name)
		}
	}
	return names
}

// headsOnly says whether no projection has the format.
func headsOnly(f kernels.Format) bool { return f.For(kernels.Head) && !f.For(kernels.Projection) }

// twoBit says whether projections have it, and more than one bit.
func twoBit(f kernels.Format) bool {
	return f.For(kernels.Projection) && f.Type != formats.Q1_0_g128
}

// Every format that something besides the reference multiplies has a role, and a
// scheme under which there are the variants that all others equal.
func TestFormatsAreRegistered(t *testing.T) {
	for _, v := range kernels.Variants() {
		if v.Name == "reference" {
			continue
		}
		f := kernels.FormatOf(v.Format)
		if f.Type != v.Format || f.Roles == 0 {
			t.Errorf("%v multiplies a format that was not registered", v)
		}
		for _, name := range []string{"scalar", "unrolled"} {
			if _, err := kernels.Lookup(f.Type.Name, name, f.Scheme); err != nil {
				t.Error(err)
			}
		}
	}
	if f := kernels.FormatOf(&formats.Type{Name: "new"}); f.Scheme != kernels.F32 || f.For(kernels.Projection|kernels.Head|kernels.Norm) {
		t.Errorf("a format of which nothing is known: %+v", f)
	}
}

// The registry's order is that of the documentation, and looking into it
// allocates nothing.
func TestRegistry(t *testing.T) {
	all := kernels.Variants()
	for i, v := range all[1:] {
		w := all[i]
		if w.Format.Name > v.Format.Name || w.Format == v.Format && w.Scheme > v.Scheme {
			t.Errorf("%v comes before %v", w, v)
		}
	}
	allocations := testing.AllocsPerRun(5, func() {
		for range kernels.Variants() {
			if _, err := kernels.BestFor("i2_s", kernels.Q8Row, cpu.Host()); err != nil {
				t.Fatal(err)
			}
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
	defer func() {
		if recover() == nil {
			t.Error("a variant could be registered twice")
		}
	}()
	kernels.Register(all[0])
}
