//go:build !linux

package cases

import "errors"

var errUnbound = errors.New("this system keeps no thread on a CPU of its own that a program names")

func usableCPUs() ([]int, error) { return nil, errUnbound }

func bindTo(int) error { return errUnbound }
