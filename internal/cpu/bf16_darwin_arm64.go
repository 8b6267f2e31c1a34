//go:build !purego

package cpu

import "golang.org/x/sys/unix"

func hasBF16() bool {
	has, err := unix.SysctlUint32("hw.optional.arm.FEAT_BF16")
	return err == nil && has == 1
}
