package main

import (
	"crypto/sha256"
	"io"
	"path/filepath"
	"testing"

	"onebit/formats"
	"onebit/formats/cellm"
	"onebit/formats/gguf"
	"onebit/models/source"
)

// runVerb runs a verb as the command line does, without its output.
func runVerb(t *testing.T, args ...string) {
	t.Helper()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

func opened(t *testing.T, path string) source.Source {
	t.Helper()
	src, err := source.Open(path, gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// hashes returns that of every tensor's bytes, and of its format and shape.
func hashes(t *testing.T, src source.Source) map[string][sha256.Size]byte {
	t.Helper()
	out := map[string][sha256.Size]byte{}
	for _, info := range src.Tensors() {
		data, err := src.Raw(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Type == formats.Q1_0_g128 {
			out[info.Name] = sha256.Sum256(data)
		}
	}
	return out
}

// There and back every 1-bit tensor has the bytes that it had, and the numbers
// that the original's converter loses are kept.
func TestCellmKeepsEveryTensor(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	runVerb(t, "synth", "tiny", "-o", path("in.gguf"))
	runVerb(t, "convert", path("in.gguf"), path("out.cellm"))
	runVerb(t, "convert", path("out.cellm"), path("back.gguf"), "--tokenizer", path("in.gguf"))
	want := hashes(t, opened(t, path("in.gguf")))
	if len(want) != 15 {
		t.Fatalf("%d tensors in 1 bit, want 15", len(want))
	}
	for _, name := range []string{"out.cellm", "back.gguf"} {
		got := hashes(t, opened(t, path(name)))
		if len(got) != len(want) {
			t.Errorf("%s has %d tensors in 1 bit, want %d", name, len(got), len(want))
		}
		for tensor, hash := range want {
			if got[tensor] != hash {
				t.Errorf("%s: %s has other bytes", name, tensor)
			}
		}
	}
	f, err := cellm.Open(path("out.cellm"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if h := f.Header; h.HeadDim == nil || *h.HeadDim != 64 {
		t.Errorf("the width of a head is lost: %+v", h)
	}
	if _, ok := f.Info("model.layers.1.self_attn.q_norm.weight"); !ok {
		t.Error("tensors have not the names that the original looks for")
	}
}
