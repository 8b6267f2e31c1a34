//go:build !purego

package cpu

import (
	"encoding/binary"
	"os"
)

// x/sys/cpu does not report FEAT_BF16, so the auxiliary vector is asked, as
// getauxval(3) does: pairs of words, of which the kernel's arch/arm64/include/
// uapi/asm/hwcap.h says what HWCAP2 means.
const (
	auxHWCAP2  = 26
	hwcap2BF16 = 1 << 14
)

func hasBF16() bool {
	aux, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return false
	}
	for ; len(aux) >= 16; aux = aux[16:] {
		if binary.LittleEndian.Uint64(aux) == auxHWCAP2 {
			return binary.LittleEndian.Uint64(aux[8:])&hwcap2BF16 != 0
		}
	}
	return false
}
