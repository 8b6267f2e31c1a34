package mmap

import "golang.org/x/sys/unix"

func adviseRelease(data []byte) error { return unix.Madvise(data, unix.MADV_DONTNEED) }

// adviseHuge ignores the result: a kernel without transparent huge pages
// refuses, and the memory is as good without them.
func adviseHuge(data []byte) { _ = unix.Madvise(data, unix.MADV_HUGEPAGE) }
