package gguf

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"onebit/formats/container"
)

// A file with a vocabulary and no tensors ends before their data would start.
func TestOpenWithoutTensors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vocabulary.gguf")
	if err := os.WriteFile(path, write(t, []container.KV{{Key: "general.name", Value: container.Of("none")}}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.DataOffset() <= f.Size() {
		t.Fatalf("the data starts at %d of %d bytes: this tests nothing", f.DataOffset(), f.Size())
	}
	if name, err := f.String("general.name"); err != nil || name != "none" {
		t.Errorf("general.name = %q, %v", name, err)
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "golden.gguf")
	if err := os.WriteFile(path, goldenV3, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Name() != path || f.Size() != int64(len(goldenV3)) {
		t.Errorf("name %s, size %d", f.Name(), f.Size())
	}
	if diff := cmp.Diff(parse(t, goldenV3).Tensors(), f.Tensors(), cmp.Comparer(sameType)); diff != "" {
		t.Error(diff)
	}
	for range 2 {
		if err := f.Release("w"); err != nil {
			t.Error(err)
		}
		w, err := f.Tensor("w")
		if err != nil || !bytes.Equal(w.Data, goldenV3[128:152]) {
			t.Errorf("w = %v, %v", w.Data, err)
		}
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	defer func() {
		if recover() != "container: file used after Close" {
			t.Error("a closed file gives tensors")
		}
	}()
	f.Tensor("w")
}

// A file as large as a model is opened without reading it: a hole of 8 GiB
// stands in for the weights.
func TestOpenReadsNoData(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows gives a hole disk space")
	}
	const rows, cols = 1 << 20, 1 << 13 // of q8_0: 8.5 GiB
	s := one(8, 0, cols, rows)
	header, at := s.build()
	path := filepath.Join(t.TempDir(), "hole.gguf")
	if err := os.WriteFile(path, header, 0o600); err != nil {
		t.Fatal(err)
	}
	size := int64(at["data"]) + rows*cols/32*34
	if err := os.Truncate(path, size); err != nil {
		t.Skip("no room for a sparse file: ", err)
	}
	var f *File
	var err error
	if n := totalAlloc(func() { f, err = Open(path, Options{}) }); n > 1<<15 {
		t.Errorf("%d bytes allocated", n)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := f.Tensor("w")
	if err != nil || len(w.Data) != rows*cols/32*34 {
		t.Errorf("%d bytes, %v", len(w.Data), err)
	}
}
