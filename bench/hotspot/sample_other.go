//go:build !linux

package hotspot

import "errors"

type events struct{}

func openEvents() (*events, string, error) { return nil, "", errors.ErrUnsupported }

func (*events) start() error           { return errors.ErrUnsupported }
func (*events) stop() (Samples, error) { return nil, errors.ErrUnsupported }
func (*events) close() error           { return nil }
