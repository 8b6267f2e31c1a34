//go:build !unix

package lm

// syncFolder has nothing to do where folders cannot be synced: names are written
// with the files.
func syncFolder(string) error { return nil }
