//go:build !purego

package cpu

import (
	"encoding/binary"

	"golang.org/x/sys/cpu"
)

func detect() Machine {
	return Machine{Features: features(), Vendor: vendor(), Family: family()}
}

func features() Set {
	var s Set
	add := func(have bool, f Set) {
		if have {
			s |= f
		}
	}
	x := &cpu.X86
	add(x.HasAVX2, AVX2)
	add(x.HasFMA, FMA)
	add(x.HasAVX && hasF16C(), F16C)
	add(x.HasAVXVNNI, AVXVNNI)
	add(x.HasAVX512F, AVX512F)
	add(x.HasAVX512BW, AVX512BW)
	add(x.HasAVX512DQ, AVX512DQ)
	add(x.HasAVX512VL, AVX512VL)
	add(x.HasAVX512VNNI, AVX512VNNI)
	add(x.HasAVX512BF16, AVX512BF16)
	return s
}

// x/sys/cpu does not report F16C, so CPUID is asked directly: leaf 1, ECX bit 29
// (Intel SDM vol. 2A, CPUID). What the operating system saves is covered by the
// check of AVX.
func hasF16C() bool {
	_, _, ecx, _ := cpuid(1, 0)
	return ecx>>29&1 != 0
}

// vendor is the name that CPUID leaf 0 gives, in EBX, EDX, ECX.
func vendor() string {
	_, b, c, d := cpuid(0, 0)
	name := binary.LittleEndian.AppendUint32(nil, b)
	name = binary.LittleEndian.AppendUint32(name, d)
	return string(binary.LittleEndian.AppendUint32(name, c))
}

// family is that of CPUID leaf 1, EAX bits 11:8, to which bits 27:20 are added
// if it is 15.
func family() int {
	eax, _, _, _ := cpuid(1, 0)
	family := eax >> 8 & 15
	if family == 15 {
		family += eax >> 20 & 255
	}
	return int(family)
}

// cpuid executes CPUID with EAX = leaf, ECX = sub.
//
//go:noescape
func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)
