//go:build unix && !linux

package mmap

// MADV_DONTNEED means something else outside Linux: a hint at most.
func adviseRelease([]byte) error { return nil }

func adviseHuge([]byte) {}

func adviseSmall([]byte) {}

func advisePopulate([]byte) {}

func adviseTouch([]byte) {}
