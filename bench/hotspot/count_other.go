//go:build !linux || !amd64

package hotspot

import (
	"context"
	"errors"
	"io"
	"os/exec"
)

var errNoSteps = errors.New("instructions are counted one by one on Linux on amd64 alone")

// Stepped is the child's side of Count.
func Stepped(io.Reader, io.Writer) (mark func() error, err error) { return nil, errNoSteps }

// Count steps through a child process and counts what it executes.
func Count(context.Context, *exec.Cmd, int) ([]Counts, error) { return nil, errNoSteps }
