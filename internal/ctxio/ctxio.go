// Package ctxio makes writing end with a context.
package ctxio

import (
	"context"
	"io"
)

// NewWriter returns a writer to w that fails once ctx is cancelled.
func NewWriter(ctx context.Context, w io.Writer) io.Writer { return writer{ctx, w} }

type writer struct {
	ctx context.Context
	w   io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}
