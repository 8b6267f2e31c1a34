//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/mmap"
	"onebit/models/convert"
	"onebit/models/modeltest"
	"onebit/models/source"
)

// A pipe without a writer or an endless device in the place of any file of a
// model is refused by name, not waited for.
func TestPipesAndDevices(t *testing.T) {
	f, err := gguf.Open(tinyModel(t, "tiny-bitnet"), gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	hf := filepath.Join(t.TempDir(), "hf")
	if err := os.Mkdir(hf, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := modeltest.WriteHF(hf, f, modeltest.HF{Files: 2}); err != nil {
		t.Fatal(err)
	}
	shards, err := filepath.Glob(filepath.Join(hf, "*.safetensors"))
	if err != nil || len(shards) != 2 {
		t.Fatal(shards, err)
	}
	names := []string{"config.json", "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "generation_config.json",
		"chat_template.jinja", "model.safetensors", "model.safetensors.index.json", filepath.Base(shards[0])}
	for _, name := range names {
		for what, put := range map[string]func(path string) error{
			"pipe":   func(path string) error { return unix.Mkfifo(path, 0o600) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			dir := filepath.Join(t.TempDir(), "model")
			if err := os.CopyFS(dir, os.DirFS(hf)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			os.Remove(path) // if it is there
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"run", dir, "-p", "x", "-n", "1"},
				{"convert", dir, filepath.Join(t.TempDir(), "out.gguf")},
			} {
				refuses(t, args, path+": is a "+what+", want a regular file")
			}
			// Metadata without the tokenizer is worth showing.
			var stdout, stderr bytes.Buffer
			run(t.Context(), nil, &stdout, &stderr, []string{"inspect", dir})
			if !strings.Contains(stdout.String()+stderr.String(), path+": is a "+what) {
				t.Errorf("inspect, %s as a %s: %s", name, what, stderr.String())
			}
		}
	}
	pipe := filepath.Join(t.TempDir(), "model.gguf")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"inspect", pipe}, {"run", pipe, "-p", "x"}, {"convert", pipe, pipe + ".out", "--type", "f16"}, {"perplexity", pipe, "-f", os.DevNull},
		{"perplexity", pipe, "--logits", pipe},
	} {
		refuses(t, args, pipe+": is a pipe, want a regular file")
	}
}

// A cutter is an output that cuts the model to a page at the first byte.
type cutter struct{ model string }

func (c cutter) Write(p []byte) (int, error) {
	return len(p), os.Truncate(c.model, int64(os.Getpagesize()))
}

// A model file that another process cuts short while it is read is told in one
// line that names it.
func TestTruncatedWhileRunning(t *testing.T) {
	for _, flags := range [][]string{{"--native"}, {"--stream"}, {"--native", "--threads", "1"}} {
		model := tinyModel(t, "tiny")
		var stderr bytes.Buffer
		args := append([]string{"run", model, "-p", "Once upon", "-n", "50", "--ignore-eos"}, flags...)
		code := run(t.Context(), nil, cutter{model}, &stderr, args)
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		if last := lines[len(lines)-1]; code != 1 || len(lines) > 3 ||
			!strings.HasPrefix(last, "onebit: ") || !strings.Contains(last, model+": the file can no longer be read") {
			t.Errorf("%v: exit status %d, standard error %s", flags, code, stderr.String())
		}
	}
}

// What convert copies is read by the system, and what it converts by the
// program: neither ends the program, and nothing is left behind.
func TestTruncatedWhileConverting(t *testing.T) {
	const name = "blk.0.ffn_up.weight"
	var model bytes.Buffer
	w, err := gguf.NewWriter(&model, nil, []container.TensorInfo{{Name: name, Type: formats.F32, Shape: []int{1024, 1024}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteTensor(name, make([]byte, 4<<20)), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, to := range []*formats.Type{formats.F32, formats.F16} {
		path := filepath.Join(t.TempDir(), "model.gguf")
		if err := os.WriteFile(path, model.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := source.Open(path, gguf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		c, err := convert.New(in, convert.Options{To: to, MaxPart: 1 << 30}) // in parts, which also copies
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(os.Getpagesize())); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out.gguf")
		err = mmap.Guard(func() error {
			return cli.WriteFile(t.Context(), out, false, func(w io.Writer) error { return c.Write(0, w) })
		})
		if !errors.Is(err, mmap.ErrGone) || !strings.Contains(err.Error(), path+": ") {
			t.Errorf("to %s: %v, want an error that names %s", to.Name, err, path)
		}
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) > 0 {
			t.Errorf("to %s: %v is left", to.Name, left)
		}
	}
}
