// Package cpu names the instruction-set features that kernels require, and
// says which of them this machine has.
//
// A Set is a value: nothing here switches a feature off for the whole
// program. Code that wants to know what a lesser machine would do passes a
// smaller Set (see kernels.BestFor).
package cpu

import (
	"fmt"
	"strings"
)

// Set is a set of features.
type Set uint64

// The features that a variant may require. A Set is no hierarchy: a variant
// names every feature it uses (a CPU with AVX512VNNI says nothing about BW).
const (
	AVX2 Set = 1 << iota
	FMA
	F16C
	AVXVNNI // VEX-encoded VPDPBUSD
	AVX512F
	AVX512BW
	AVX512DQ
	AVX512VL
	AVX512VNNI // EVEX-encoded VPDPBUSD
	AVX512BF16
	NEON    // Advanced SIMD
	DotProd // SDOT, UDOT
	I8MM    // SMMLA
	BF16    // FEAT_BF16
	Metal   // an Apple GPU

	numFeatures = iota
)

var names = [numFeatures]string{
	"avx2", "fma", "f16c", "avxvnni",
	"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vnni", "avx512bf16",
	"neon", "dotprod", "i8mm", "bf16",
	"metal",
}

// Detected returns the features of the machine that the program runs on, as
// far as CPU and operating system both support them. Under -tags purego it is
// empty.
func Detected() Set { return host.Features }

// A Machine is what a choice between kernels looks at. Tests describe machines
// that they do not run on.
type Machine struct {
	Features Set
	Vendor   string // the CPU's maker as CPUID names it: "GenuineIntel"; "" if there is no CPUID
	Family   int    // base and extended family together: 0x19 is AMD's Zen 3 and 4
}

// Host returns the machine that the program runs on.
func Host() Machine { return host }

var host = detect()

// With returns m with other features.
func (m Machine) With(features Set) Machine {
	m.Features = features
	return m
}

// Has reports whether s holds every feature of want.
func (s Set) Has(want Set) bool { return s&want == want }

// Missing returns the features of want that s lacks.
func (s Set) Missing(want Set) Set { return want &^ s }

// Names returns the names of the features in s, in the order of declaration.
func (s Set) Names() []string {
	var out []string
	for i, name := range names {
		if s&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// String returns the names joined by commas, or "none".
func (s Set) String() string {
	if s == 0 {
		return "none"
	}
	return strings.Join(s.Names(), ",")
}

// Parse reads a comma-separated list of feature names. The empty string and
// "none" are the empty set.
func Parse(list string) (Set, error) {
	var s Set
	if list == "" || list == "none" {
		return 0, nil
	}
next:
	for _, want := range strings.Split(list, ",") {
		want = strings.TrimSpace(want)
		for i, name := range names {
			if name == want {
				s |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("unknown CPU feature %q (known: %s)", want, strings.Join(names[:], ", "))
	}
	return s, nil
}
