package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"onebit/internal/ctxio"
	"onebit/internal/term"
)

// WriteText writes a text of others' names, of which nothing commands a terminal, to the file
// at path, or to standard output if that is "".
func WriteText(cmd *cobra.Command, path string, force bool, text []byte) error {
	write := func(w io.Writer) error { _, err := w.Write(term.Clean(text)); return err }
	if path == "" {
		return write(cmd.OutOrStdout())
	}
	return WriteFile(cmd.Context(), path, force, write)
}

// WriteFile makes the file at path from what write writes. The path holds the
// finished file or what it held before, never a part: the bytes go to a
// temporary file in its directory, which gets its name at the end and is gone
// if anything fails or ctx is cancelled. An existing file is replaced only with
// force; a device or pipe is written to as it is.
func WriteFile(ctx context.Context, path string, force bool, write func(io.Writer) error) error {
	return WriteFiles(ctx, []string{path}, force, func(_ int, w io.Writer) error { return write(w) })
}

// WriteFiles makes several, one after the other: all are there or none. They get their
// names when the last is finished, so that what fails before leaves every path as it
// was. Only the end of the process while they get them can leave some without the others.
func WriteFiles(ctx context.Context, paths []string, force bool, write func(i int, w io.Writer) error) (err error) {
	outputs := make([]output, len(paths))
	for i, path := range paths {
		if outputs[i], err = newOutput(path, force); err != nil {
			return err
		}
	}
	defer func() {
		for i := range outputs {
			outputs[i].end(err == nil)
		}
	}()
	for i := range outputs {
		if err := outputs[i].fill(ctx, func(w io.Writer) error { return write(i, w) }); err != nil {
			return err
		}
	}
	for i := range outputs {
		if err := outputs[i].close(); err != nil {
			return err
		}
	}
	for i := range outputs {
		if err := outputs[i].name(); err != nil {
			return err
		}
	}
	return nil
}

// An output is a file in the making.
type output struct {
	path    string
	temp    string // where it is until it has its name; "": a device or pipe is written to
	existed bool   // there was a file at the path
	file    tempFile
	named   bool
}

func newOutput(path string, force bool) (output, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return output{}, err
	case info.IsDir():
		return output{}, fmt.Errorf("%s is a directory, want a file name", path)
	case !info.Mode().IsRegular():
		return output{path: path, existed: true}, nil
	case !force:
		return output{}, fmt.Errorf("%s exists; --force replaces it", path)
	default:
		// A symbolic link stays, its target is replaced.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return output{}, err
		}
	}
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.partial", filepath.Base(path), os.Getpid()))
	return output{path: path, temp: temp, existed: info != nil}, nil
}

func (o *output) fill(ctx context.Context, write func(io.Writer) error) error {
	if o.temp == "" {
		return writeThrough(ctx, o.path, write)
	}
	f, err := openTemp(o.temp)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", o.path, WithoutPath(err, o.temp))
	}
	o.file = f
	return o.fault(write(ctxio.NewWriter(ctx, f)))
}

func (o *output) fault(err error) error {
	if err != nil {
		err = fmt.Errorf("writing %s: %w", o.path, WithoutPath(err, o.temp))
	}
	return err
}

// close puts the whole file at temp.
func (o *output) close() error {
	if o.file.File == nil {
		return nil
	}
	return o.fault(errors.Join(o.file.name(), o.file.Close()))
}

func (o *output) name() error {
	if o.temp == "" {
		return nil
	}
	err := os.Rename(o.temp, o.path)
	o.named = err == nil
	return err
}

// end leaves nothing of what has not come about.
func (o *output) end(done bool) {
	switch {
	case done || o.file.File == nil:
	case !o.named:
		o.file.Close()
		os.Remove(o.temp)
	case !o.existed:
		os.Remove(o.path)
	}
}

// openNamed is openTemp where files can't lack a name.
func openNamed(path string) (tempFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return tempFile{File: f}, err
}

// WithoutPath returns the cause of an error at path, which the message names
// by another name already.
func WithoutPath(err error, path string) error {
	var at *fs.PathError
	if errors.As(err, &at) && at.Path == path {
		return at.Err
	}
	return err
}

func writeThrough(ctx context.Context, path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(write(ctxio.NewWriter(ctx, f)), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, WithoutPath(err, path))
	}
	return nil
}
