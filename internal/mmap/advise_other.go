//go:build !linux

package mmap

// What Linux is advised of, other systems are not told: MADV_DONTNEED means something
// else there, a hint at most.

func adviseRelease([]byte) error { return nil }

func adviseHuge([]byte) {}

func adviseSmall([]byte) {}

func advisePopulate([]byte) {}

func adviseTouch([]byte) {}
