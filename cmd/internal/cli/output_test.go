package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"onebit/internal/require"
)

// onlyFile fails unless the directory holds that file and nothing else, with
// that content.
func onlyFile(t *testing.T, dir, name, content string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Fatalf("directory holds %v, want %s alone", entries, name)
	}
	got, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != content {
		t.Errorf("%s holds %q, want %q", name, got, content)
	}
}

func TestWriteFile(t *testing.T) {
	say := func(text string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := WriteFile(t.Context(), path, false, say("first")); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, dir, "out", "first")
	if err := WriteFile(t.Context(), path, false, say("second")); err == nil || !strings.HasSuffix(err.Error(), "out exists; --force replaces it") {
		t.Errorf("error %v for an existing file", err)
	}
	onlyFile(t, dir, "out", "first")
	if err := WriteFile(t.Context(), path, true, say("second")); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, dir, "out", "second")
}

// Whatever stops the writing, the file is what it was and nothing else is
// there.
func TestWriteFileLeavesNothing(t *testing.T) {
	errDisk := errors.New("no space left on device")
	tests := []struct {
		name  string
		write func(cancel func(), w io.Writer) error
		want  error
	}{
		{"full disk", func(_ func(), w io.Writer) error {
			io.WriteString(w, "half")
			return errDisk
		}, errDisk},
		{"interrupt", func(cancel func(), w io.Writer) error {
			if _, err := io.WriteString(w, "half"); err != nil {
				return err
			}
			cancel()
			_, err := io.WriteString(w, "of it")
			return err
		}, context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := WriteFile(ctx, path, true, func(w io.Writer) error { return tt.write(cancel, w) })
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			onlyFile(t, dir, "out", "before")
		})
	}
}

// Several files are all there or none, whatever stops the second or its naming.
func TestWriteFilesTogether(t *testing.T) {
	errDisk := errors.New("no space left on device")
	for _, tt := range []struct {
		name   string
		second func(cancel func(), path string, w io.Writer) error
		left   string // beside the first path's content of before
	}{
		{"full disk", func(_ func(), _ string, w io.Writer) error { return errDisk }, ""},
		{"interrupt", func(cancel func(), _ string, w io.Writer) error {
			cancel()
			_, err := io.WriteString(w, "second")
			return err
		}, ""},
		{"a folder in the way of a name", func(_ func(), path string, w io.Writer) error {
			_, err := io.WriteString(w, "second")
			return errors.Join(err, os.Mkdir(path, 0o777))
		}, "b"},
	} {
		dir := t.TempDir()
		paths := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
		ctx, cancel := context.WithCancel(t.Context())
		err := WriteFiles(ctx, paths, false, func(i int, w io.Writer) error {
			if i == 1 {
				return tt.second(cancel, paths[1], w)
			}
			_, err := io.WriteString(w, "first")
			return err
		})
		cancel()
		entries, _ := os.ReadDir(dir)
		var left []string
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if err == nil || strings.Join(left, " ") != tt.left {
			t.Errorf("%s: error %v, and %q is left", tt.name, err, left)
		}
	}
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	if err := os.WriteFile(paths[1], []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	write := func(i int, w io.Writer) error {
		_, err := io.WriteString(w, "after")
		return err
	}
	if err := WriteFiles(t.Context(), paths, false, write); err == nil || !strings.HasSuffix(err.Error(), "b exists; --force replaces it") {
		t.Errorf("error %v for a second file that exists", err)
	}
	onlyFile(t, dir, "b", "before")
	if err := WriteFiles(t.Context(), paths, true, write); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if got, err := os.ReadFile(path); err != nil || string(got) != "after" {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
}

func TestWriteFileFollowsLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	target := filepath.Join(elsewhere, "target")
	if err := os.WriteFile(target, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" && require.Emulated() {
		t.Skip("Wine 8 shows a link that it has made as an ordinary file")
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("this system makes no symbolic links: %v", err)
	}
	err := WriteFile(t.Context(), link, true, func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	onlyFile(t, elsewhere, "target", "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%s is no longer a link (%v)", link, err)
	}
}
