//go:build !purego

package cpu

import "golang.org/x/sys/cpu"

func detect() Machine {
	s := NEON // part of ARMv8-A's base profile for every system Go supports
	if cpu.ARM64.HasASIMDDP {
		s |= DotProd
	}
	if cpu.ARM64.HasI8MM {
		s |= I8MM
	}
	if hasBF16() {
		s |= BF16
	}
	return Machine{Features: s}
}
