//go:build !linux

package frameworks

import "errors"

// Load returns an error: the frameworks are played on Linux only.
func Load() (*Library, error) { return nil, errors.New("frameworks: they are played on Linux only") }
