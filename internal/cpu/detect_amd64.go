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
	add(x.HasAVX512VBMI, AVX512VBMI)
	add(x.HasAVX512F && hasAVX512FP16(), AVX512FP16)
	add(x.HasAVX512BF16, AVX512BF16)
	if x.HasAMXTile && x.HasOSXSAVE && tilesAreSaved() {
		add(true, AMXTile)
		add(x.HasAMXInt8, AMXInt8)
	}
	return s
}

// x/sys/cpu reports neither F16C nor AVX512-FP16, so CPUID is asked directly:
// leaf 1, ECX bit 29 and leaf 7, EDX bit 23 (Intel SDM vol. 2A, CPUID). What
// the operating system saves is covered by the AVX and AVX512F checks.
func hasF16C() bool {
	_, _, ecx, _ := cpuid(1, 0)
	return ecx>>29&1 != 0
}

func hasAVX512FP16() bool {
	_, _, _, edx := cpuid(7, 0)
	return edx>>23&1 != 0
}

// tilesAreSaved says whether the system saves tiles, by XCR0 bits 17 and 18, and lets
// this process use them.
func tilesAreSaved() bool {
	const tiles = 3 << 17
	return xcr0()&tiles == tiles && askForTiles()
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

// xcr0 executes XGETBV with ECX = 0.
func xcr0() uint64
