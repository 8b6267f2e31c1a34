package gguf

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"onebit/formats/container"
)

// A malformed file is a valid one with one thing wrong, and the error that it
// must give: at a part of the file (see spec.build) plus some bytes, about a
// tensor or a key, with words that say what to do.
type malformed struct {
	name   string
	spec   *spec               // or
	bytes  string              // the whole file
	spoil  func(*spec)         // of spec, which is small() if nil
	cut    func([]byte) []byte // of the built file
	at     string
	plus   int
	tensor string
	key    string
	want   string
}

func (m malformed) build() ([]byte, int64) {
	if m.bytes != "" || m.name == "empty" {
		return []byte(m.bytes), int64(m.plus)
	}
	s := m.spec
	if s == nil {
		s = small()
	}
	if m.spoil != nil {
		m.spoil(s)
	}
	b, at := s.build()
	if m.cut != nil {
		b = m.cut(b)
	}
	place, ok := at[m.at]
	if !ok {
		panic("no part " + m.at)
	}
	return b, int64(place + m.plus)
}

func cutTo(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }
func drop(n int) func([]byte) []byte  { return func(b []byte) []byte { return b[:len(b)-n] } }
func value(kind uint32, parts ...any) func(*spec) {
	return func(s *spec) { s.meta[1].kind, s.meta[1].body = kind, join(parts...) }
}

// nested is the body of arrays in arrays, depth deep, around no bytes.
func nested(depth int) []byte {
	b := bytes.Repeat(join(u32(9), u64(1)), depth-1)
	return append(b, join(u32(0), u64(0))...)
}

var corpus = []malformed{
	// Not GGUF at all.
	{name: "empty", want: "the file is empty"},
	{name: "two letters", bytes: "GG", want: `the file is not GGUF: it starts with "GG", not "GGUF"`},
	{name: "wrong magic", spoil: func(s *spec) { s.magic = "GGUX" }, at: "magic", want: `it starts with "GGUX"`},
	{name: "swapped magic", spoil: func(s *spec) { s.magic = "FUGG" }, at: "magic", want: "swapped bytes (big-endian)"},
	{name: "ggml", bytes: "lmgg\x00\x00\x00\x00", want: "a GGML file from before GGUF"},
	{name: "ggmf", bytes: "fmgg\x01\x00\x00\x00", want: "a GGML file from before GGUF"},
	{name: "ggjt", bytes: "tjgg\x03\x00\x00\x00", want: "a GGJT file from before GGUF"},
	{name: "ggla", bytes: "algg\x01\x00\x00\x00", want: "a GGML adapter"},
	{name: "cellm", bytes: "CELLM\x01\x00\x00\x00\x00", want: "a .cellm file"},
	{name: "safetensors", bytes: "\x02\x00\x00\x00\x00\x00\x00\x00{}", want: "a safetensors file"},
	{name: "safetensors with a header of 60 bytes", bytes: "<\x00\x00\x00\x00\x00\x00\x00{" + strings.Repeat(" ", 58) + "}", want: "a safetensors file"},
	{name: "zip", bytes: "PK\x03\x04rest", want: "a zip archive"},
	{name: "gzip", bytes: "\x1f\x8b\x08rest", want: "compressed with gzip"},
	{name: "git-lfs", bytes: "version https://git-lfs.github.com/spec/v1\noid sha256:00\n", want: "run git lfs pull"},
	{name: "web page", bytes: "\n<!DOCTYPE html>", want: "a web page, not the model"},
	{name: "JSON", bytes: `{"error":"Repository not found"}`, want: "JSON text, not a model"},

	// The header.
	{name: "magic only", cut: cutTo(4), at: "version", want: "it has 4 bytes and a GGUF header has 24"},
	{name: "half a header", cut: cutTo(23), at: "version", plus: 19, want: "it has 23 bytes and a GGUF header has 24"},
	{name: "version 0", spoil: func(s *spec) { s.version = 0 }, at: "version", want: "GGUF version 0 is not supported, only 2 and 3"},
	{name: "version 1", spoil: func(s *spec) { s.version = 1 }, at: "version", want: "GGUF version 1 is not supported; convert the model again"},
	{name: "version 4", spoil: func(s *spec) { s.version = 4 }, at: "version", want: "GGUF version 4 is not supported"},
	{name: "big-endian", spoil: func(s *spec) { s.version = 3 << 24 }, at: "version", want: "big-endian (its version reads 0x3000000)"},
	{name: "tensors beyond the file", spoil: func(s *spec) { s.tensors = 1000 }, at: "tensors", want: "1000 tensors cannot be in the"},
	{name: "all tensors", spoil: func(s *spec) { s.tensors = math.MaxInt64 }, at: "tensors", want: "9223372036854775807 tensors cannot be"},
	{name: "negative tensors", spoil: func(s *spec) { s.tensors = -2 }, at: "tensors", want: "18446744073709551614 tensors cannot be"},
	{name: "keys beyond the file", spoil: func(s *spec) { s.pairs = 1 << 40 }, at: "pairs", want: "1099511627776 metadata keys cannot be in the"},
	{name: "one key too many", spoil: func(s *spec) { s.pairs = 3 }, at: "dims 0", plus: 5, want: "a tensor's name is empty"},

	// Metadata.
	{name: "key beyond the file", cut: func(b []byte) []byte { return join(b[:24], u64(1<<40), b[32:]) }, at: "key 0", want: "a metadata key has length 1099511627776, and 196 bytes are left"},
	{name: "empty key", spoil: func(s *spec) { s.meta[0].key = "" }, at: "key 0", want: "a metadata key is empty"},
	{name: "long key", spoil: func(s *spec) { s.meta[0].key = strings.Repeat("k", 65536) }, at: "key 0", want: "a metadata key has length 65536, more than 65535"},
	{name: "key twice", spoil: func(s *spec) { s.meta[1].key = s.meta[0].key }, at: "key 1", key: "general.architecture", want: "is there twice"},
	{name: "file ends in a key", spoil: func(s *spec) { noTensors(s); s.meta = s.meta[:1] }, cut: cutTo(45), at: "key 0", want: "a metadata key has length 20, and 13 bytes are left"},
	{name: "file ends in a kind", spoil: noTensors, cut: cutTo(54), at: "kind 0", key: "general.architecture", want: "the file ends in the kind of a value: 4 bytes wanted, 2 left"},
	{name: "file ends in a number", spoil: noTensors, cut: cutTo(84), at: "value 1", key: "n", want: "the file ends in a value: 4 bytes wanted, 2 left"},
	{name: "kind 13", spoil: value(13, u64(0)), at: "kind 1", key: "n", want: "the kind of a value is 13, and GGUF has 0 to 12"},
	{name: "string beyond the file", spoil: value(8, u64(math.MaxUint64)), at: "value 1", key: "n", want: "a string has length 18446744073709551615"},
	{name: "array of kind 99", spoil: value(9, u32(99), u64(0)), at: "value 1", key: "n", want: "the kind of an array's elements is 99"},
	{name: "array beyond the file", spoil: value(9, u32(0), u64(1<<60)), at: "value 1", plus: 4, key: "n", want: "1152921504606846976 array elements cannot be in the"},
	{name: "array whose bytes overflow", spoil: value(9, u32(10), u64(1<<61)), at: "value 1", plus: 4, key: "n", want: "2305843009213693952 array elements cannot be in the"},
	{name: "strings beyond the file", spoil: value(9, u32(8), u64(1<<32)), at: "value 1", plus: 4, key: "n", want: "4294967296 array elements cannot be in the"},
	{name: "string in an array beyond the file", spoil: value(9, u32(8), u64(2), text("x"), u64(1<<50)), at: "value 1", plus: 12 + 9, key: "n", want: "a string has length 1125899906842624"},
	{name: "arrays nested 9 deep", spoil: value(9, nested(9)), at: "value 1", plus: 8 * 12, key: "n", want: "arrays are nested more than 8 deep"},
	{name: "arrays nested 100000 deep", spoil: value(9, nested(100000)), at: "value 1", plus: 8 * 12, key: "n", want: "arrays are nested more than 8 deep"},
	{name: "bool 2", spoil: value(7, []byte{2}), at: "value 1", key: "n", want: "a bool is 2, not 0 or 1"},
	{name: "bool 3 in an array", spoil: value(9, u32(7), u64(3), []byte{0, 1, 3}), at: "value 1", plus: 14, key: "n", want: "a bool is 3, not 0 or 1"},
	{name: "alignment 0", spoil: alignment(4, u32(0)), at: "value 0", key: alignmentKey, want: "is 0, want a power of two"},
	{name: "alignment 24", spoil: alignment(4, u32(24)), at: "value 0", key: alignmentKey, want: "is 24, want a power of two"},
	{name: "alignment of 64 bits", spoil: alignment(10, u64(32)), at: "value 0", key: alignmentKey, want: "is of kind uint64, want uint32"},
	{name: "alignment in words", spoil: alignment(8, text("32")), at: "value 0", key: alignmentKey, want: "is of kind string, want uint32"},
	{name: "alignment beyond the file", spoil: func(s *spec) { alignment(4, u32(1<<31))(s); s.infos = s.infos[:1] }, at: "offset 0", tensor: "a", want: "its data starts at byte 2147483648, beyond the end of the file"},

	// Tensor descriptions.
	{name: "name beyond the file", cut: func(b []byte) []byte { return join(b[:86], u64(1<<40), b[94:]) }, at: "name 0", want: "a tensor's name has length 1099511627776, and 134 bytes are left"},
	{name: "empty name", spoil: func(s *spec) { s.infos[1].name = "" }, at: "name 1", want: "a tensor's name is empty"},
	{name: "long name", spoil: func(s *spec) { s.infos[0].name = strings.Repeat("n", 70000) }, at: "name 0", want: "a tensor's name has length 70000, more than 65535"},
	{name: "name twice", spoil: func(s *spec) { s.infos[1].name = "a" }, at: "name 1", tensor: "a", want: "is there twice"},
	{name: "no dimensions", spoil: func(s *spec) { s.infos[0].dims = nil }, at: "dims 0", tensor: "a", want: "it has 0 dimensions, want 1 to 4"},
	{name: "5 dimensions", spoil: func(s *spec) { s.infos[0].dims = []uint64{4, 1, 1, 1, 1} }, at: "dims 0", tensor: "a", want: "it has 5 dimensions"},
	{name: "dimension 0", spoil: func(s *spec) { s.infos[1].dims[1] = 0 }, at: "dims 1", plus: 12, tensor: "b", want: "a dimension of 0 makes the tensor empty"},
	{name: "negative dimension", spoil: func(s *spec) { s.infos[0].dims[0] = 1 << 63 }, at: "dims 0", plus: 4, tensor: "a", want: "a dimension of 9223372036854775808 makes the tensor empty or absurdly large"},
	{name: "dimensions whose product overflows", spoil: func(s *spec) { s.infos[0].dims = []uint64{1 << 32, 1 << 32} }, at: "dims 0", plus: 12, tensor: "a", want: "a dimension of 4294967296 makes"},
	{name: "absurd size", spoil: func(s *spec) { s.infos[0].dims = []uint64{1 << 20, 1 << 20, 2} }, at: "dims 0", plus: 20, tensor: "a", want: "a dimension of 2 makes the tensor empty or absurdly large"},
	{name: "huge but possible size", spoil: func(s *spec) { s.infos[1].dims = []uint64{1 << 20, 1 << 20} }, at: "data", plus: 32, tensor: "b", want: "of the tensor's 154618822656 bytes (q1_0_g128) are missing"},
	{name: "offset of 33", spoil: func(s *spec) { s.infos[1].offset = 33 }, at: "offset 1", tensor: "b", want: "its offset 33 is not a multiple of the alignment 32"},
	{name: "offset at the end", spoil: func(s *spec) { s.infos[1].offset = 96; s.data = s.data[:64] }, at: "offset 1", tensor: "b", want: "beyond the end of the file (224 bytes)"},
	{name: "largest offset", spoil: func(s *spec) { s.infos[1].offset = 1<<64 - 32 }, at: "offset 1", tensor: "b", want: "beyond the end of the file"},
	{name: "file ends in a description", cut: cutTo(110), at: "id 0", tensor: "a", want: "the file ends in a tensor's type: 4 bytes wanted, 3 left"},
	{name: "no data", cut: cutTo(160), at: "offset 0", tensor: "a", want: "its data starts at byte 160, beyond the end of the file (160 bytes)"},

	// Tensor data.
	{name: "overlap", spoil: func(s *spec) { s.infos[0].dims[0] = 9 }, at: "data", tensor: "a", want: `its 36 bytes (f32) overlap those of tensor "b" by 4`},
	{name: "overlap in another order", spoil: func(s *spec) { s.infos[0].offset, s.infos[1].offset = 32, 0 }, at: "data", tensor: "b", want: `its 36 bytes (q1_0_g128) overlap those of tensor "a" by 4`},
	{name: "same place", spoil: func(s *spec) { s.infos[1].offset = 0 }, at: "data", tensor: "a", want: `its data starts where that of tensor "b" does`},
	{name: "cut short", cut: drop(1), at: "data", plus: 32, tensor: "b", want: "the file is cut short: 1 of the tensor's 36 bytes (q1_0_g128) are missing"},
	{name: "cut in an unknown format", spec: one(12, 143, 256), at: "data", tensor: "w", want: "1 of the tensor's 144 bytes (q4_k) are missing"},
	{name: "cut in a Bonsai 2 tensor", spec: one(143, 20, 128), at: "data", tensor: "w", want: "8 of the tensor's 28 bytes (ptq1_0) are missing"},
	{name: "columns that fill no block", spec: one(41, 36, 64, 4), at: "id 0", tensor: "w", want: "q1_0_g128: 64 columns do not fill blocks of 128"},
	{name: "columns that fill no block of an unknown format", spec: one(12, 144, 128, 2), at: "id 0", tensor: "w", want: "q4_k: 128 columns do not fill blocks of 256"},
	{name: "removed type", spec: one(4, 32, 32), at: "id 0", tensor: "w", want: "type id 4 is not one that onebit knows"},
	{name: "type of nobody", spec: one(math.MaxUint32, 32, 32), at: "id 0", tensor: "w", want: "type id 4294967295 is not one"},

	// Ids with several meanings.
	{name: "q2_0 undecided by padding", spec: one(42, 64, 128), at: "id 0", tensor: "w",
		want: "type id 42 has several meanings (q2_0: 36 bytes; q2_0_g128: 34 bytes; stq1_0 (id 42): 128 columns do not fill blocks of 256), and more than one of them fits the 64 bytes up to the end of the file; choose one of q2_0, q2_0_g128, stq1_0 (id 42) in Options.Types"},
	{name: "q2_0 with slack", spec: one(42, 100, 128), at: "id 0", tensor: "w", want: "none of them fits the 100 bytes"},
	{name: "q2_0 cut short", spec: one(42, 33, 128), at: "id 0", tensor: "w", want: "(q2_0: 36 bytes of which 3 missing; q2_0_g128: 34 bytes of which 1 missing; stq1_0 (id 42): 128 columns do not fill blocks of 256), and none of them fits the 33 bytes"},
	{name: "q2_0 before another tensor", spoil: func(s *spec) {
		s.infos[0].id, s.infos[0].dims[0] = 42, 128
		s.infos[1].offset = 64
		s.data = make([]byte, 100)
	},
		at: "id 0", tensor: "a", want: `more than one of them fits the 64 bytes up to the tensor "b"`},
	{name: "i2_s without its scale", spec: one(36, 32, 128), at: "id 0", tensor: "w",
		want: "type id 36 has several meanings (i2_s: 64 bytes of which 32 missing; iq4_nl_4_4: 72 bytes of which 40 missing), and none of them fits the 32 bytes up to the end of the file; choose one of i2_s, iq4_nl_4_4, i2_s_arm, i2_s_x4"},
	{name: "i2_s with half its tail", spec: one(36, 32+4, 128), at: "id 0", tensor: "w", want: "i2_s: 64 bytes of which 28 missing"},
	{name: "i2_s of 8640 columns", spec: one(36, 8640/4+32, 8640), at: "id 0", tensor: "w", want: "i2_s: 8640 columns do not fill blocks of 128"},
	{name: "tl2 too narrow", spec: one(39, 100, 128), at: "id 0", tensor: "w", want: "tl2: 128 columns are too few"},
	{name: "nvfp4 cut short", spec: one(40, 35, 64), at: "id 0", tensor: "w", want: "(nvfp4: 36 bytes of which 1 missing; q1_0_g32: 12 bytes)"},
}

func noTensors(s *spec) { s.infos, s.data = nil, nil }

func alignment(kind uint32, body []byte) func(*spec) {
	return func(s *spec) { s.meta[0] = rawKV{alignmentKey, kind, body} }
}

func TestMalformed(t *testing.T) {
	for _, m := range corpus {
		t.Run(m.name, func(t *testing.T) {
			data, at := m.build()
			f, err := Parse(data, "bad.gguf", Options{})
			if f != nil || err == nil {
				t.Fatalf("it parsed: %v", err)
			}
			var e *container.FormatError
			if !errors.As(err, &e) {
				t.Fatalf("%T, want *FormatError", err)
			}
			if e.File != "bad.gguf" || e.Offset != at || e.Tensor != m.tensor || e.Key != m.key {
				t.Errorf("offset %d, tensor %q, key %q, want %d, %q, %q: %v", e.Offset, e.Tensor, e.Key, at, m.tensor, m.key, err)
			}
			if !strings.Contains(e.Msg, m.want) {
				t.Errorf("%q, want %q", e.Msg, m.want)
			}
		})
	}
}

func TestCorpusIsLargeAndItsBaseValid(t *testing.T) {
	if len(corpus) < 40 {
		t.Errorf("%d malformed files, want 40", len(corpus))
	}
	names := map[string]bool{}
	for _, m := range corpus {
		if names[m.name] {
			t.Errorf("two files are called %q", m.name)
		}
		names[m.name] = true
	}
	data, _ := small().build()
	if f := parse(t, data); len(f.Tensors()) != 2 || len(f.Metadata()) != 2 {
		t.Errorf("%d tensors, %d keys", len(f.Tensors()), len(f.Metadata()))
	}
	parse(t, first(one(12, 144, 256).build()))
}

func first(b []byte, _ map[string]int) []byte { return b }

func TestErrorText(t *testing.T) {
	data, at := small().build()
	_, err := Parse(data[:len(data)-1], "dir/bad.gguf", Options{})
	want := fmt.Sprintf(`dir/bad.gguf: tensor "b": the file is cut short: 1 of the tensor's 36 bytes (q1_0_g128) are missing (at byte %d)`, at["data"]+32)
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	e := &container.FormatError{Offset: -1, Key: strings.Repeat("k", 100), Msg: "is missing", Err: container.ErrMissing}
	if want := `key "` + strings.Repeat("k", 80) + `"… (100 bytes): is missing`; e.Error() != want || !errors.Is(e, container.ErrMissing) {
		t.Errorf("%v, want %s", e, want)
	}
}

// Every prefix of a valid file is an error, except where only the padding
// behind the last tensor is gone.
func TestEveryPrefixFails(t *testing.T) {
	for name, file := range map[string][]byte{"v3": goldenV3[:152], "v2": goldenV2} {
		for n := range file {
			if _, err := Parse(file[:n], name, Options{}); err == nil {
				t.Errorf("%s: the first %d of %d bytes parse", name, n, len(file))
			}
		}
		parse(t, file)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	path := func(name, content string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	missing := filepath.Join(dir, "missing.gguf")
	for _, test := range []struct{ path, want string }{
		{dir, "is a directory"},
		{os.DevNull, "is a device, want a regular file"},
		{path("empty.gguf", ""), "the file is empty (at byte 0)"},
		{path("page.gguf", "<html>"), "a web page"},
		{missing, ""},
	} {
		f, err := Open(test.path, Options{})
		var e *container.FormatError
		if f != nil || !errors.As(err, &e) || e.File != test.path || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Open(%q) = %v, want the path and %q", test.path, err, test.want)
		} else if n := strings.Count(err.Error(), test.path); n != 1 {
			t.Errorf("%v: names the file %d times", err, n)
		}
	}
	if _, err := Open(missing, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want fs.ErrNotExist", err)
	}
}

func totalAlloc(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// allocLimit is what parsing may allocate in all: the constant is for the
// maps and the error, the factor for entries whose description in memory is
// longer than in the file.
func allocLimit(size int) uint64 { return 1<<15 + 16*uint64(size) }

func TestMemoryIsProportionalToTheFile(t *testing.T) {
	for _, m := range corpus {
		data, _ := m.build()
		if n := totalAlloc(func() { Parse(data, "", Options{}) }); n > allocLimit(len(data)) {
			t.Errorf("%s: %d bytes allocated for %d", m.name, n, len(data))
		}
	}
}

// The costliest files: as many keys or tensors as bytes allow.
func TestMemoryOfDenseFiles(t *testing.T) {
	const n = 20000
	keys := &spec{magic: "GGUF", version: 3, tensors: -1, pairs: -1, align: 32}
	tensors := &spec{magic: "GGUF", version: 3, tensors: -1, pairs: -1, align: 32, data: make([]byte, n*32)}
	for i := range n {
		name := fmt.Sprintf("%04x", i)
		keys.meta = append(keys.meta, rawKV{name, 0, []byte{1}})
		tensors.infos = append(tensors.infos, rawInfo{name, []uint64{1}, 24, uint64(i) * 32})
	}
	for _, s := range []*spec{keys, tensors} {
		data, at := s.build()
		header := at["data"]
		var f *File
		var err error
		used := totalAlloc(func() { f, err = Parse(data, "", Options{}) })
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Metadata())+len(f.Tensors()) != n {
			t.Fatalf("%d keys, %d tensors", len(f.Metadata()), len(f.Tensors()))
		}
		if used > allocLimit(header) {
			t.Errorf("%d bytes allocated for a header of %d", used, header)
		}
	}
}

// A vocabulary and the weights cost nothing until they are asked for.
func TestArraysAndDataAreNotCopied(t *testing.T) {
	s := small()
	s.meta[1] = rawKV{"tokens", 9, join(u32(8), u64(100000), bytes.Repeat(text("token"), 100000))}
	data, _ := s.build()
	var f *File
	if n := totalAlloc(func() { f = parse(t, data) }); n > 1<<14 {
		t.Errorf("%d bytes allocated for a file of %d", n, len(data))
	}
	tokens, err := f.Strings("tokens")
	if err != nil || len(tokens) != 100000 || tokens[99999] != "token" {
		t.Errorf("%d tokens, %v", len(tokens), err)
	}
}
