package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if err := writeFile(t.Context(), path, false, say("first")); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, dir, "out", "first")
	if err := writeFile(t.Context(), path, false, say("second")); err == nil || !strings.HasSuffix(err.Error(), "out exists; --force replaces it") {
		t.Errorf("error %v for an existing file", err)
	}
	onlyFile(t, dir, "out", "first")
	if err := writeFile(t.Context(), path, true, say("second")); err != nil {
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
			err := writeFile(ctx, path, true, func(w io.Writer) error { return tt.write(cancel, w) })
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			onlyFile(t, dir, "out", "before")
		})
	}
}

func TestWriteFileFollowsLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	target := filepath.Join(elsewhere, "target")
	if err := os.WriteFile(target, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("this system makes no symbolic links: %v", err)
	}
	err := writeFile(t.Context(), link, true, func(w io.Writer) error {
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

// An interrupt is told as such, and nothing is left.
func TestRunInterrupted(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "before"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, nil, &stdout, &stderr, []string{"synth", "tiny", "-o", filepath.Join(dir, "tiny.gguf")})
	if code != 1 || !strings.HasPrefix(stderr.String(), "onebit: interrupted: ") {
		t.Errorf("status %d, error output %q", code, &stderr)
	}
	onlyFile(t, dir, "before", "")
}
