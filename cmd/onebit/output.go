package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"onebit/internal/ctxio"
)

// writeFile makes the file at path from what write writes. The path holds the
// finished file or what it held before, never a part: the bytes go to a
// temporary file in its directory, which gets its name at the end and is gone
// if anything fails or ctx is cancelled. An existing file is replaced only with
// force; a device or pipe is written to as it is.
func writeFile(ctx context.Context, path string, force bool, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory, want a file name", path)
	case !info.Mode().IsRegular():
		return writeThrough(ctx, path, write)
	case !force:
		return fmt.Errorf("%s exists; --force replaces it", path)
	default:
		// A symbolic link stays, its target is replaced.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	return writeAndRename(ctx, path, write)
}

func writeAndRename(ctx context.Context, path string, write func(io.Writer) error) (err error) {
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.partial", filepath.Base(path), os.Getpid()))
	f, err := openTemp(temp)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, withoutPath(err, temp))
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(temp)
		}
	}()
	if err := write(ctxio.NewWriter(ctx, f)); err != nil {
		return fmt.Errorf("writing %s: %w", path, withoutPath(err, temp))
	}
	if err := errors.Join(f.name(), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, withoutPath(err, temp))
	}
	return os.Rename(temp, path)
}

// openNamed is openTemp where files can't lack a name.
func openNamed(path string) (tempFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return tempFile{File: f}, err
}

// withoutPath returns the cause of an error at path, which the message names
// by another name already.
func withoutPath(err error, path string) error {
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
		return fmt.Errorf("writing %s: %w", path, withoutPath(err, path))
	}
	return nil
}
