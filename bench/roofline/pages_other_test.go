//go:build !linux

package roofline

// useSmallPages can do nothing here: pages are what they are.
func useSmallPages([]byte) bool { return false }
