package reports

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"onebit/bench/results"
	"onebit/internal/ctxio"
)

// A Kind is one form in which results can be rendered to a stream.
type Kind struct {
	Name      string // html, markdown, table, csv, samples
	Extension string // of a file that holds it, without the dot
	About     string // in a few words, for people
	Render    func(ctx context.Context, w io.Writer, res *results.Set) error

	several func(ctx context.Context, w io.Writer, f *fleet) error // Render of several machines
}

// RenderFleet renders the results of several machines, each of which stands for itself; those of one as
// Render does.
func (k Kind) RenderFleet(ctx context.Context, w io.Writer, found *results.Fleet) error {
	if len(found.Machines) == 1 {
		return k.Render(ctx, w, oneMachine(found))
	}
	return k.several(ctx, w, newFleet(found))
}

// until does work that writes to w, and ends at once with ctx: what the work goes on to write then is for nothing.
func until(ctx context.Context, w io.Writer, work func(io.Writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var b bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- work(&b) }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		if err == nil {
			_, err = b.WriteTo(ctxio.NewWriter(ctx, w))
		}
		return err
	}
}

// text renders a kind that draws nothing.
func text[R any](write func(io.Writer, R) error) func(context.Context, io.Writer, R) error {
	return func(ctx context.Context, w io.Writer, res R) error {
		return until(ctx, w, func(w io.Writer) error { return write(w, res) })
	}
}

var kindRegistry []Kind

// registerKind is called by the init function of each kind's file.
func registerKind(k Kind) { kindRegistry = append(kindRegistry, k) }

// Kinds lists the kinds of report by name.
func Kinds() []Kind {
	all := slices.Clone(kindRegistry)
	slices.SortFunc(all, func(a, b Kind) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// KindNamed returns the kind of a name; false if there is none.
func KindNamed(name string) (Kind, bool) {
	for _, k := range kindRegistry {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}
