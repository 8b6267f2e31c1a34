//go:build !linux

package softmetal

import "errors"

var errUnavailable = errors.New("softmetal: shaders run on Linux only")

// A Library is a compiled source, with values for its function constants.
type Library struct{}

// Compile returns an error: softmetal is for Linux.
func Compile(_ string, constants map[int]any) (*Library, error) {
	if _, err := constantsOf(constants); err != nil {
		return nil, err
	}
	return nil, errUnavailable
}

// Dispatch returns an error: softmetal is for Linux.
func (*Library) Dispatch(string, [3]int, [3]int, ...Arg) error { return errUnavailable }
