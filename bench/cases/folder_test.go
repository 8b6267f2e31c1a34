package cases

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/bench/names"
	"onebit/formats"
)

// TestFolder has a second process of a run, which finds what the first one left: its matrix has the same bytes, in memory
// of its own, and is verified as the first's was. Bytes that are not those that were left are made again.
func TestFolder(t *testing.T) {
	dir, made := t.TempDir(), 0
	process := func(again bool) *matvec {
		sources := Synthetic(lookup(t, "q1_0_g128"), []formats.Shape{{Rows: 64, Cols: 256}}, 1)
		tensor := sources[0].Tensor
		sources[0].Tensor = func() (*formats.Tensor, error) {
			made++
			return tensor()
		}
		s := suite(t, Options{Sources: sources, Caches: []string{names.Warm}, Folder: dir, Again: again})
		m := instance(t, s, "variant=unrolled/act=q8_128/rows=64/cols=256/threads=1").(*matvec)
		if _, err := m.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m.Took() <= 0 {
			t.Errorf("the product took %v", m.Took())
		}
		return m
	}
	first, second := process(false), process(true)
	if a, b := first.group.tensor, second.group.tensor; made != 1 || a.Name != b.Name || !bytes.Equal(a.Data, b.Data) || &a.Data[0] == &b.Data[0] {
		t.Errorf("made %d times, %s and %s", made, a.Name, b.Name)
	}
	const row, block = 5, 1
	second.matrices[0].Data[(row*2+block)*18+4] ^= 1
	if _, err := second.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "row 5") {
		t.Errorf("one wrong sign: error %v, want one that names row 5", err)
	}
	path := filepath.Join(dir, first.group.tensor.Name)
	left, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	left[100] ^= 1
	for _, damaged := range [][]byte{left, left[:100], left[:10], nil} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		made = 0
		if third := process(true); made != 1 || !bytes.Equal(third.group.tensor.Data, first.group.tensor.Data) {
			t.Errorf("of %d bytes: made %d times", len(damaged), made)
		}
	}
}

// The kernel that reads the fastest is looked for by one process, and read with by all.
func TestFolderHasTheReader(t *testing.T) {
	shared := folder(t.TempDir())
	left, err := shared.once("read.1.false.12", func() ([]byte, error) { return []byte("go"), nil })
	if err != nil || string(left) != "go" {
		t.Fatalf("%q: %v", left, err)
	}
	s := suite(t, Options{Sources: Synthetic(lookup(t, "q1_0_g128"), []formats.Shape{{Rows: 64, Cols: 256}}, 1), Folder: string(shared)})
	r := instance(t, s, "Read/format=q1_0_g128/rows=64/cols=256/bytes=2304/threads=1/cache=warm")
	if readers := s.home.(*env).readers; len(readers) != 1 || readers[readPlace{1, false, 12}] != "go" {
		t.Errorf("read with %v, and not with what the first process found", readers)
	}
	if _, err := r.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
