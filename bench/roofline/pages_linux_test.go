package roofline

import "golang.org/x/sys/unix"

// useSmallPages puts memory on pages of the smallest size: huge ones are given
// back, and the memory written again.
func useSmallPages(buf []byte) bool {
	if unix.Madvise(buf, unix.MADV_NOHUGEPAGE) != nil || unix.Madvise(buf, unix.MADV_DONTNEED) != nil {
		return false
	}
	random(buf[:4096], 1)
	for i := 4096; i < len(buf); i += 4096 {
		copy(buf[i:i+4096], buf)
	}
	return true
}
