package gguf

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/formats/container"
)

func u16(x uint16) []byte { return []byte{byte(x), byte(x >> 8)} }

// part is part no of three, with a tensor of its own.
func part(no uint16) *spec {
	s := &spec{magic: "GGUF", version: 3, tensors: -1, pairs: -1, align: 32}
	if no == 0 {
		s.meta = append(s.meta, rawKV{"general.name", 8, text("m")})
	}
	s.meta = append(s.meta,
		rawKV{"split.no", 2, u16(no)},
		rawKV{"split.count", 2, u16(3)},
		rawKV{"split.tensors.count", 5, u32(3)})
	s.infos = []rawInfo{{fmt.Sprint("t", no), []uint64{4}, 0, 0}}
	s.data = bytes.Repeat([]byte{byte(no) + 1}, 16)
	return s
}

func parts() []*spec { return []*spec{part(0), part(1), part(2)} }

// set replaces the value of a key.
func (s *spec) set(key string, kind uint32, body []byte) {
	for i, kv := range s.meta {
		if kv.key == key {
			s.meta[i] = rawKV{key, kind, body}
			return
		}
	}
	panic("no key " + key)
}

func partName(no int) string { return fmt.Sprintf("m-%05d-of-00003.gguf", no+1) }

// inFolder writes files and returns where.
func inFolder(t *testing.T, specs []*spec) string {
	t.Helper()
	dir := t.TempDir()
	for no, s := range specs {
		if s == nil {
			continue
		}
		data, _ := s.build()
		if err := os.WriteFile(filepath.Join(dir, partName(no)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Whichever part is opened, the model is all of them, in place.
func TestSplit(t *testing.T) {
	specs := parts()
	specs[0].infos, specs[0].data = nil, nil // as gguf-split --no-tensor-first-split
	specs[1].infos = append(specs[1].infos, rawInfo{"u", []uint64{4}, 0, 32})
	specs[1].data = append(append(specs[1].data, make([]byte, 16)...), bytes.Repeat([]byte{9}, 16)...)
	dir := inFolder(t, specs)
	for no := range specs {
		f, err := Open(filepath.Join(dir, partName(no)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(dir, partName(0)); f.Name() != want || len(f.Parts()) != 3 {
			t.Errorf("part %d: %s in %d parts, want %s in 3", no, f.Name(), len(f.Parts()), want)
		}
		if name, err := f.String("general.name"); err != nil || name != "m" || len(f.Metadata()) != 1 {
			t.Errorf("part %d: general.name is %q, %v, of %d keys, want those of the first part without split.*", no, name, err, len(f.Metadata()))
		}
		var size int64
		for i, p := range f.Parts() {
			size += p.Size()
			if want := filepath.Join(dir, partName(i)); p.Name() != want {
				t.Errorf("part %d is %s, want %s", i, p.Name(), want)
			}
		}
		if f.Size() != size {
			t.Errorf("%d bytes, want %d", f.Size(), size)
		}
		for i, want := range []struct {
			name string
			part int
			byte byte
		}{{"t1", 1, 2}, {"u", 1, 9}, {"t2", 2, 3}} {
			raw, err := f.Raw(want.name)
			if err != nil || !bytes.Equal(raw, bytes.Repeat([]byte{want.byte}, 16)) || f.Tensors()[i].Name != want.name || f.Part(want.name) != want.part {
				t.Errorf("part %d: %s in part %d is %v, %v", no, f.Tensors()[i].Name, f.Part(want.name), raw, err)
			}
			f.Populate(want.name)
			if err := f.Release(want.name); err != nil {
				t.Error(err)
			}
			if err, want := f.Fault(want.name, errors.New("is bad")), filepath.Join(dir, partName(want.part))+": "; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		if _, err := f.Tensor("none"); !errors.Is(err, container.ErrMissing) {
			t.Errorf("%v, want ErrMissing", err)
		}
		for range 2 {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// spoiledParts are parts with one thing wrong, and the error that they must give,
// about a part.
var spoiledParts = []struct {
	name  string
	spoil func(specs []*spec)
	part  int
	key   string
	want  string
}{
	{"missing", func(p []*spec) { p[1] = nil }, 1, "", "is missing, and is part 2 of the 3 of the model in m-"},
	{"first missing", func(p []*spec) { p[0] = nil }, 0, "", "is missing, and is part 1 of the 3 of the model in m-"},
	{"not GGUF", func(p []*spec) { p[1].magic = "GGUX" }, 1, "", `it starts with "GGUX"`},
	{"cut short", func(p []*spec) { p[1].data = nil }, 1, "", "cut short"},
	{"of fewer", func(p []*spec) { p[1].set("split.count", 2, u16(2)) }, 1, "split.count", "one of 2 by its content and of 3 by its name"},
	{"whole", func(p []*spec) { p[1].meta = nil }, 1, "split.count", "one of 1 by its content and of 3 by its name"},
	{"merged", func(p []*spec) { p[1].set("split.count", 2, u16(0)) }, 1, "split.count", "one of 1 by its content and of 3 by its name"},
	{"another's place", func(p []*spec) { p[1].set("split.no", 2, u16(2)) }, 1, "split.no", "part 3 by its content and part 2 by its name"},
	{"beyond the last", func(p []*spec) { p[1].set("split.no", 2, u16(3)) }, 1, "split.no", "is 3, and split.count is 3; parts count from 0"},
	{"negative", func(p []*spec) { p[1].set("split.no", 3, u16(0xffff)) }, 1, "split.no", "is -1, and"},
	{"negative count", func(p []*spec) { p[1].set("split.count", 3, u16(0xffff)) }, 1, "split.count", "is -1"},
	{"no number", func(p []*spec) { p[1].set("split.no", 8, text("x")) }, 1, "split.no", ""},
	{"no number of parts", func(p []*spec) { p[1].set("split.count", 8, text("x")) }, 1, "split.count", ""},
	{"without split.no", func(p []*spec) { p[1].meta = p[1].meta[1:] }, 1, "split.no", "is missing"},
	{"without split.tensors.count", func(p []*spec) { p[1].meta = p[1].meta[:2] }, 1, "split.tensors.count", "is missing"},
	{"of more tensors", func(p []*spec) { p[1].set("split.tensors.count", 5, u32(4)) }, 1, "split.tensors.count", "is 4, and in m-"},
	{"wrong sum", func(p []*spec) {
		for _, s := range p {
			s.set("split.tensors.count", 5, u32(4))
		}
	}, 0, "split.tensors.count", "is 4, and the 3 parts have 3 tensors"},
	{"tensor twice", func(p []*spec) { p[1].infos[0].name = "t0" }, 1, "", `tensor "t0": is in `},
}

// The error is the same whichever part was opened, and names one file once or two.
func TestSplitErrors(t *testing.T) {
	for _, tt := range spoiledParts {
		t.Run(tt.name, func(t *testing.T) {
			specs := parts()
			tt.spoil(specs)
			dir := inFolder(t, specs)
			for _, opened := range []int{0, 2} {
				if specs[opened] == nil {
					continue
				}
				_, err := Open(filepath.Join(dir, partName(opened)), Options{})
				e, ok := errors.AsType[*container.FormatError](err)
				if !ok || e.File != filepath.Join(dir, partName(tt.part)) || e.Key != tt.key || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("part %d opened: %v, want %s: %s", opened, err, partName(tt.part), tt.want)
				}
				if gone := specs[tt.part] == nil; errors.Is(err, fs.ErrNotExist) != gone {
					t.Errorf("%v: is the file said to be missing?", err)
				}
			}
		})
	}
}

// A part is found by its name.
func TestSplitRenamed(t *testing.T) {
	dir := inFolder(t, parts())
	path := filepath.Join(dir, "renamed.gguf")
	if err := os.Rename(filepath.Join(dir, partName(1)), path); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, Options{})
	want := path + `: key "split.no": the file is part 2 of a model in 3, and its name does not end in -00002-of-00003.gguf; give all parts their names back, by which they are found`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// What is merged may still say that it is in 0 parts, and what was split into one
// in 1. Bytes in memory stay the part that they are.
func TestSplitIntoOne(t *testing.T) {
	for _, count := range []uint16{0, 1} {
		s := part(0)
		s.set("split.count", 2, u16(count))
		f, err := Open(filepath.Join(inFolder(t, []*spec{s}), partName(0)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Parts() != nil || len(f.Tensors()) != 1 {
			t.Errorf("%d parts and %d tensors, want none and 1", len(f.Parts()), len(f.Tensors()))
		}
		f.Close()
	}
	data, _ := part(1).build()
	if f := parse(t, data); f.Parts() != nil || len(f.Metadata()) != 3 {
		t.Errorf("in memory: %d parts, %d keys", len(f.Parts()), len(f.Metadata()))
	}
}

// FuzzSplit: of whatever parts there is a model with all their tensors, or a
// *container.FormatError that names one of them.
func FuzzSplit(f *testing.F) {
	build := func(specs []*spec) (out [3][]byte) {
		for i, s := range specs {
			if s != nil {
				out[i], _ = s.build()
			}
		}
		return out
	}
	for opened := range 3 {
		b := build(parts())
		f.Add(opened, b[0], b[1], b[2])
	}
	for _, tt := range spoiledParts {
		specs := parts()
		tt.spoil(specs)
		b := build(specs)
		f.Add(0, b[0], b[1], b[2])
	}
	f.Fuzz(func(t *testing.T, opened int, first, second, third []byte) {
		files := map[string][]byte{partName(0): first, partName(1): second, partName(2): third}
		tensors := 0
		open := func(path string) (*File, error) {
			data, ok := files[path]
			if !ok {
				return nil, container.FileError(path, fs.ErrNotExist)
			}
			file, err := Parse(data, path, Options{})
			if err == nil {
				tensors += len(file.Tensors())
			}
			return file, err
		}
		file, err := open(partName(int(uint(opened) % 3)))
		if err != nil {
			return // which FuzzParse is for
		}
		if err := file.join(open); err != nil {
			if e, ok := errors.AsType[*container.FormatError](err); !ok || !strings.HasPrefix(e.File, "m-") {
				t.Errorf("%T without a part: %v", err, err)
			}
			return
		}
		if len(file.Tensors()) != tensors {
			t.Errorf("%d tensors, want %d", len(file.Tensors()), tensors)
		}
		for _, info := range file.Tensors() {
			if raw, err := file.Raw(info.Name); err != nil || int64(len(raw)) != info.Size {
				t.Errorf("%+v: %d bytes, %v", info, len(raw), err)
			}
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
}
