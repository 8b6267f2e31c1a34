package kernels

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"onebit/internal/cpu"
)

// A Machine is what [BestFor] chooses for: its features, vendor and family.
type Machine = cpu.Machine

// Host returns the machine that the program runs on.
func Host() Machine { return cpu.Host() }

// An ISA is an instruction-set level that variants are written for.
type ISA struct {
	Name     string
	Arch     string  // GOARCH it exists on; "" is every one
	Requires cpu.Set // every feature its variants use
	rank     int     // Best takes the highest
}

// The instruction-set levels, from the one that runs anywhere.
var (
	Go         = &ISA{Name: "go", rank: 0}
	NEON       = &ISA{Name: "neon", Arch: "arm64", Requires: cpu.NEON, rank: 2}
	NEONDot    = &ISA{Name: "neondot", Arch: "arm64", Requires: cpu.NEON | cpu.DotProd, rank: 3}
	NEONI8MM   = &ISA{Name: "neoni8mm", Arch: "arm64", Requires: cpu.NEON | cpu.DotProd | cpu.I8MM, rank: 4}
	AVX2       = &ISA{Name: "avx2", Arch: "amd64", Requires: cpu.AVX2 | cpu.FMA | cpu.F16C, rank: 2}
	AVXVNNI    = &ISA{Name: "avxvnni", Arch: "amd64", Requires: AVX2.Requires | cpu.AVXVNNI, rank: 3}
	AVX512     = &ISA{Name: "avx512", Arch: "amd64", Requires: AVX2.Requires | cpu.AVX512F | cpu.AVX512BW | cpu.AVX512DQ | cpu.AVX512VL, rank: 4}
	AVX512VNNI = &ISA{Name: "avx512vnni", Arch: "amd64", Requires: AVX512.Requires | cpu.AVX512VNNI, rank: 5}
)

// ISAs returns every level, those of other architectures too.
func ISAs() []*ISA {
	return []*ISA{Go, NEON, NEONDot, NEONI8MM, AVX2, AVXVNNI, AVX512, AVX512VNNI}
}

// Foreign returns an error that names the architecture, if isa belongs to
// another one than this program was built for.
func (isa *ISA) Foreign() error { return isa.AvailableOn(^cpu.Set(0)) }

// Available returns nil if this machine has isa, or an error that names what is missing.
func (isa *ISA) Available() error { return isa.AvailableOn(cpu.Detected()) }

// AvailableOn is Available for a machine with the given features.
func (isa *ISA) AvailableOn(features cpu.Set) error {
	if m := isa.missing(features); m != "" {
		return fmt.Errorf("variant %s needs %s", isa.Name, m)
	}
	return nil
}

// Fastest returns the last of variants, each of them faster than those before it, that a
// machine with the given features runs. The first of them runs anywhere.
func Fastest[V interface{ AvailableOn(cpu.Set) error }](variants []V, features cpu.Set) V {
	for _, v := range slices.Backward(variants) {
		if v.AvailableOn(features) == nil {
			return v
		}
	}
	return variants[0]
}

// runsOn reports whether a machine with these features has isa.
func (isa *ISA) runsOn(features cpu.Set) bool {
	return (isa.Arch == "" || isa.Arch == runtime.GOARCH) && features.Has(isa.Requires)
}

// missing says what features lacks to run isa, or "".
func (isa *ISA) missing(features cpu.Set) string {
	if isa.Arch != "" && isa.Arch != runtime.GOARCH {
		return isa.Arch + " (this is " + runtime.GOARCH + ")"
	}
	if m := features.Missing(isa.Requires); m != 0 {
		return strings.Join(m.Names(), ", ")
	}
	return ""
}
