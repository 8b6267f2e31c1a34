package mmap

import "golang.org/x/sys/unix"

// advisePopulate is MADV_POPULATE_READ, which Linux has since 5.14. An older
// one refuses, and the pages are mapped as they are read.
func advisePopulate(data []byte) { _ = unix.Madvise(data, unix.MADV_POPULATE_READ) }

// adviseTouch is MADV_POPULATE_WRITE, of the same age.
func adviseTouch(data []byte) { _ = unix.Madvise(data, unix.MADV_POPULATE_WRITE) }

func adviseRelease(data []byte) error { return unix.Madvise(data, unix.MADV_DONTNEED) }

// adviseHuge ignores the result: a kernel without transparent huge pages
// refuses, and the memory is as good without them.
func adviseHuge(data []byte) { _ = unix.Madvise(data, unix.MADV_HUGEPAGE) }

// adviseSmall ignores the result for the same reason.
func adviseSmall(data []byte) { _ = unix.Madvise(data, unix.MADV_NOHUGEPAGE) }
