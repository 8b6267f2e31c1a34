//go:build !linux

package roofline

import "errors"

var errUnbound = errors.New("this system keeps no thread on a CPU of its own that a program names")

// UsableCPUs is an error here.
func UsableCPUs() ([]int, error) { return nil, errUnbound }

func bindTo(int) error { return errUnbound }
