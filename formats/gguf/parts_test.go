package gguf

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
)

// three are the tensors of part, 16 bytes each, which alignment makes 32.
func three() (out []container.TensorInfo) {
	for _, name := range []string{"t0", "t1", "t2"} {
		out = append(out, container.TensorInfo{Name: name, Type: formats.F32, Shape: []int{4}})
	}
	return out
}

var named = []container.KV{{Key: "general.name", Value: container.Of("m")}}

// Parts are the files of the specification, byte for byte, and are opened as one.
func TestParts(t *testing.T) {
	parts, err := Parts(append(slices.Clone(named), container.KV{Key: splitCountKey, Value: container.Of(uint16(1))}), three(), 63)
	if err != nil || len(parts) != 3 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	dir := t.TempDir()
	for no, p := range parts {
		var b bytes.Buffer
		w, err := NewWriter(&b, p.Meta, p.Tensors)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteTensor(p.Tensors[0].Name, bytes.Repeat([]byte{byte(no) + 1}, 16)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want, _ := part(uint16(no)).build()
		if got := b.Bytes(); !bytes.Equal(got[:len(want)], want) || strings.Trim(string(got[len(want):]), "\x00") != "" || "m"+p.Suffix != partName(no) {
			t.Errorf("m%s:\n%q\nwant %s\n%q", p.Suffix, got, partName(no), want)
		}
		if err := os.WriteFile(filepath.Join(dir, "m"+p.Suffix), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(filepath.Join(dir, "m"+parts[1].Suffix), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Parts()) != 3 || len(f.Tensors()) != 3 || len(f.Metadata()) != 1 {
		t.Errorf("%d parts, %d tensors, %d keys", len(f.Parts()), len(f.Tensors()), len(f.Metadata()))
	}
}

func TestPartsShare(t *testing.T) {
	for _, tt := range []struct {
		most int64
		want []int // tensors of each part
	}{{96, []int{3}}, {1 << 40, []int{3}}, {95, []int{2, 1}}, {64, []int{2, 1}}, {32, []int{1, 1, 1}}} {
		parts, err := Parts(named, three(), tt.most)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, p := range parts {
			got = append(got, len(p.Tensors))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("at most %d bytes: %v, want %v", tt.most, got, tt.want)
		}
	}
	if parts, err := Parts(named, three(), 96); err != nil || parts[0].Suffix != ".gguf" || len(parts[0].Meta) != 1 {
		t.Errorf("one part: %+v, %v", parts, err)
	}
}

func TestPartsRefuse(t *testing.T) {
	if _, err := Parts(named, three(), 31); err == nil || err.Error() != `gguf: write tensor "t0": has 32 bytes, and a part is to have at most 31; let parts be larger` {
		t.Errorf("too large a tensor: %v", err)
	}
	if _, err := Parts(named, []container.TensorInfo{{Name: "t", TypeName: "none", Shape: []int{1}}}, 99); err == nil || !strings.Contains(err.Error(), "no id for type") {
		t.Errorf("a type without an id: %v", err)
	}
	many := make([]container.TensorInfo, 1<<16)
	for i := range many {
		many[i] = three()[0]
	}
	if _, err := Parts(named, many, 32); err == nil || !strings.Contains(err.Error(), "in 65536 parts, more than 65535") {
		t.Errorf("too many parts: %v", err)
	}
}
