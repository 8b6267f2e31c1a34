package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
)

// file puts a header and data together.
func file(header string, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// By hand: two rows of bf16 1, 2 and -1, 0.5; a scalar; bytes; nothing.
const goldenHeader = `{"__metadata__":{"format":"pt"},
"codes":{"dtype":"U8","shape":[3],"data_offsets":[10,13]},
"w":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},
"none":{"dtype":"I64","shape":[0,4],"data_offsets":[10,10]},
"s":{"dtype":"F16","shape":[],"data_offsets":[8,10]}}  `

var golden = file(goldenHeader, 0x80, 0x3f, 0x00, 0x40, 0x80, 0xbf, 0x00, 0x3f, 0x00, 0x3e, 7, 8, 9)

func TestGolden(t *testing.T) {
	f, err := Parse(golden, "golden")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, info := range f.Tensors() {
		names = append(names, info.Name)
	}
	if want := []string{"w", "s", "none", "codes"}; !slices.Equal(names, want) {
		t.Errorf("tensors %q, want %q", names, want)
	}
	for name, want := range map[string][]float32{"w": {1, 2, -1, 0.5}, "s": {1.5}} {
		tensor, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tensor.Floats(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
	if raw, err := f.Raw("codes"); err != nil || !bytes.Equal(raw, []byte{7, 8, 9}) || cap(raw) != 3 {
		t.Errorf("codes: %v, %v", raw, err)
	}
	if info, ok := f.Info("w"); !ok || !slices.Equal(info.Shape, []int{2, 2}) || info.Type != formats.BF16 ||
		info.Size != 8 || info.Offset != int64(8+len(goldenHeader)) {
		t.Errorf("%+v", info)
	}
	if f.Metadata()["format"] != "pt" || f.Name() != "golden" || f.Size() != int64(len(golden)) {
		t.Errorf("metadata %v", f.Metadata())
	}
	var e *container.FormatError
	if _, err := f.Tensor("codes"); !errors.As(err, &e) || e.Tensor != "codes" || e.Msg != "has dtype U8, want F32, F16 or BF16" {
		t.Errorf("%v", err)
	}
	if _, err := f.Raw("x"); !errors.Is(err, container.ErrMissing) {
		t.Errorf("%v, want ErrMissing", err)
	}
	if err := errors.Join(f.Release("w"), f.Release("x"), f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
}

const (
	one   = `"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	eight = "\x00\x00\x80\x3f\x00\x00\x80\x3f"
)

// Each is a file with one thing wrong, and what must be said of it: with the
// byte counted from the end of the length, or from the start if it is negative.
var malformed = []struct {
	name, header, data string
	at                 int
	tensor, want       string
}{
	{"not JSON", `hello`, "", 0, "", "the header is not a JSON object"},
	{"an array", `[]`, "", 0, "", "the header is not a JSON object"},
	{"no header", ``, "", 0, "", "the header is not a JSON object"},
	{"unclosed", `{`, "", 1, "", "the header's JSON: unexpected "},
	{"no name", `{"":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, eight, 1, "", "a tensor's name is empty"},
	{"closed twice", `{}}`, "", 2, "", "goes on behind its JSON object"},
	{"two objects", `{` + one + `}{}`, eight, 55, "", "goes on behind its JSON object"},
	{"name twice", `{` + one + `,` + one + `}`, eight, 53, "a", "is there twice"},
	{"metadata twice", `{"__metadata__":{},"__metadata__":{}}`, "", 18, "", "__metadata__ is there twice"},
	{"metadata of numbers", `{"__metadata__":{"a":1}}`, "", 23, "", "__metadata__: json: cannot unmarshal number"},
	{"entry is a list", `{"a":[]}`, "", 7, "a", "cannot unmarshal array"},
	{"no dtype", `{"a":{"shape":[2],"data_offsets":[0,8]}}`, eight, 4, "a", "want dtype, shape and data_offsets"},
	{"no shape", `{"a":{"dtype":"F32","data_offsets":[0,8]}}`, eight, 4, "a", "want dtype, shape and data_offsets"},
	{"null shape", `{"a":{"dtype":"F32","shape":null,"data_offsets":[0,8]}}`, eight, 4, "a", "want dtype, shape and data_offsets"},
	{"no offsets", `{"a":{"dtype":"F32","shape":[2]}}`, eight, 4, "a", "want data_offsets of two numbers"},
	{"one offset", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}}`, eight, 4, "a", "want data_offsets of two numbers"},
	{"three offsets", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}}`, eight, 4, "a", "want data_offsets of two numbers"},
	{"null offset", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[null,8]}}`, eight, 4, "a", "want data_offsets of two numbers"},
	{"negative offset", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}}`, eight, 54, "a", "cannot unmarshal number -8"},
	{"fraction", `{"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}}`, eight, 55, "a", "cannot unmarshal number 2.5"},
	{"negative dimension", `{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`, eight, 54, "a", "cannot unmarshal number -2"},
	{"unknown dtype", `{"a":{"dtype":"Q4","shape":[2],"data_offsets":[0,8]}}`, eight, 4, "a", `has dtype "Q4", which safetensors does not have`},
	{"9 dimensions", `{"a":{"dtype":"F32","shape":[2,1,1,1,1,1,1,1,1],"data_offsets":[0,8]}}`, eight, 4, "a", "has 9 dimensions"},
	{"absurd dimension", `{"a":{"dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,8]}}`, eight, 4, "a", "is absurd"},
	{"absurd product", `{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}`, eight, 4, "a", "is absurd"},
	{"absurd after none", `{"a":{"dtype":"F32","shape":[0,9223372036854775807],"data_offsets":[0,0]}}`, eight, 4, "a", "is absurd"},
	{"too few bytes", `{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, eight, 4, "a", "goes from offset 0 to 8, and shape [3] of F32 has 12 bytes"},
	{"too many bytes", `{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,8]}}`, eight, 4, "a", "shape [2] of F16 has 4 bytes"},
	{"backwards", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, eight, 4, "a", "goes from offset 8 to 0"},
	{"cut short", `{` + one + `}`, eight[:7], 4, "a", "its data ends at offset 8, and there are 7 bytes: is the file cut short?"},
	{"largest offsets", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[18446744073709551607,18446744073709551615]}}`, eight, 4, "a", "ends at offset 18446744073709551615"},
	{"overlap", `{` + one + `,"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}`, eight, 110, "b", `overlaps that of tensor "a" by 4 bytes`},
	{"same place", `{` + one + `,"b":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}}`, eight, 106, "b", `overlaps that of tensor "a" by 8 bytes`},
	{"gap at the start", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, eight, 54, "a", "4 bytes before its data belong to no tensor"},
	{"rest at the end", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, eight, 58, "", "the last 4 bytes of the file belong to no tensor"},
	{"nothing but data", `{}`, eight, 2, "", "the last 8 bytes of the file belong to no tensor"},
}

func TestMalformed(t *testing.T) {
	names := map[string]bool{}
	for _, m := range malformed {
		if names[m.name] {
			t.Errorf("two files are called %q", m.name)
		}
		names[m.name] = true
		t.Run(m.name, func(t *testing.T) {
			f, err := Parse(file(m.header, []byte(m.data)...), "bad")
			checkError(t, f, err, int64(8+m.at), m.tensor, m.want)
		})
	}
}

func checkError(t *testing.T, f *File, err error, at int64, tensor, want string) {
	t.Helper()
	var e *container.FormatError
	if f != nil || !errors.As(err, &e) {
		t.Fatalf("it parsed, or gave %T: %v", err, err)
	}
	if e.File != "bad" || e.Offset != at || e.Tensor != tensor || !strings.Contains(e.Msg, want) {
		t.Errorf("offset %d, tensor %q, want %d, %q, %q: %v", e.Offset, e.Tensor, at, tensor, want, err)
	}
}

func TestNotSafetensors(t *testing.T) {
	for _, m := range []struct {
		data string
		want string
	}{
		{"", "the file is empty"},
		{"\x02\x00\x00", "the file has 3 bytes"},
		{"GGUF\x03\x00\x00\x00", "a GGUF file"},
		{"PK\x03\x04\x00\x00\x00\x00", "a zip archive"},
		{"version https://git-lfs.github.com/spec/v1\n", "run git lfs pull"},
		{"<!DOCTYPE html>", "a web page"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff{}", "a header of 18446744073709551615 bytes is more than 100000000"},
		{"\x03\x00\x00\x00\x00\x00\x00\x00{}", "the header has 3 bytes, and 2 are left"},
	} {
		f, err := Parse([]byte(m.data), "bad")
		checkError(t, f, err, 0, "", m.want)
	}
}

func TestEveryPrefixFails(t *testing.T) {
	for n := range golden {
		if _, err := Parse(golden[:n], "prefix"); err == nil {
			t.Errorf("the first %d of %d bytes parse", n, len(golden))
		}
	}
}

func TestWriteReadsBack(t *testing.T) {
	want := []Tensor{
		{"w", "BF16", []int{2, 2}, []byte{0x80, 0x3f, 0, 0x40, 0x80, 0xbf, 0, 0x3f}},
		{"codes", "U8", []int{3}, []byte{1, 2, 3}},
		{"s", "F32", nil, []byte{0, 0, 0x80, 0x3f}},
	}
	var b bytes.Buffer
	if err := Write(&b, want); err != nil {
		t.Fatal(err)
	}
	f, err := Parse(b.Bytes(), "written")
	if err != nil {
		t.Fatal(err)
	}
	for i, info := range f.Tensors() {
		raw, err := f.Raw(info.Name)
		if w := want[i]; err != nil || info.Name != w.Name || info.TypeName != w.DType || !slices.Equal(info.Shape, w.Shape) || !bytes.Equal(raw, w.Data) {
			t.Errorf("%+v, %v, %v", info, raw, err)
		}
	}
	if start := f.Tensors()[0].Offset; start%8 != 0 {
		t.Errorf("data starts at byte %d", start)
	}
	for _, bad := range [][]Tensor{
		{want[0], want[0]},
		{{"", "U8", nil, []byte{1}}},
		{{"x", "Q4", nil, []byte{1}}},
		{{"x", "F32", []int{2}, []byte{1}}},
	} {
		b.Reset()
		if err := Write(&b, bad); err == nil || b.Len() > 0 {
			t.Errorf("%v was written", bad)
		}
	}
}

func write(t *testing.T, path string, tensors ...Tensor) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, tensors); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func scalar(name string, x byte) Tensor { return Tensor{name, "U8", nil, []byte{x}} }

// noSuchFile is what this system says of a file that is not there.
func noSuchFile(t *testing.T) string {
	t.Helper()
	_, err := os.Stat(filepath.Join(t.TempDir(), "none"))
	var at *fs.PathError
	if !errors.As(err, &at) {
		t.Fatal(err)
	}
	return at.Err.Error()
}

func TestOpenDir(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "model-1.safetensors"), scalar("a", 1), scalar("b", 2))
	write(t, filepath.Join(dir, "model-2.safetensors"), scalar("c", 3))
	index := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, indexFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	index(`{"metadata":{"total_size":3},"weight_map":{"a":"model-1.safetensors","b":"model-1.safetensors","c":"model-2.safetensors"}}`)
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a", "b", "c"} {
		raw, err := d.Raw(name)
		if err != nil || raw[0] != byte(i+1) || d.Tensors()[i].Name != name {
			t.Errorf("%s: %v, %v", name, raw, err)
		}
		if err := d.Release(name); err != nil {
			t.Error(err)
		}
	}
	if d.Name() != dir || d.Size() == 0 {
		t.Errorf("%s, %d bytes", d.Name(), d.Size())
	}
	if _, err := d.Tensor("x"); !errors.Is(err, container.ErrMissing) {
		t.Errorf("%v, want ErrMissing", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}

	// What an index may say wrongly.
	for text, want := range map[string]string{
		`{"weight_map":{"z":"model-2.safetensors"}}`:                           `model-2.safetensors: tensor "z": is missing, and model.safetensors.index.json says`,
		`{"weight_map":{"a":"model-2.safetensors","b":"model-1.safetensors"}}`: `model-2.safetensors: tensor "a": is missing`,
		`{"weight_map":{"a":"model-3.safetensors"}}`:                           `model-3.safetensors: ` + noSuchFile(t),
		`{"weight_map":{"a":"../model-1.safetensors"}}`:                        `tensor "a": is said to be in "../model-1.safetensors", which is not the name`,
		`{"weight_map":{"a":""}}`:                                              `is said to be in ""`,
		`{"weight_map":{}}`:                                                    `weight_map is missing or empty`,
		`{"weight_map":[]}`:                                                    `cannot unmarshal`,
		`{`:                                                                    `unexpected end`,
	} {
		index(text)
		_, err := OpenDir(dir)
		var e *container.FormatError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), dir) != 1 {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	write(t, filepath.Join(dir, "model-3.safetensors"), scalar("c", 3))
	index(`{"weight_map":{"a":"model-1.safetensors","c":"model-2.safetensors","x":"model-3.safetensors"}}`)
	if _, err := OpenDir(dir); err == nil || !strings.Contains(err.Error(), `tensor "c": is in `) {
		t.Errorf("%v, want a tensor in two files", err)
	}
	// One file needs no index.
	write(t, filepath.Join(dir, singleFile), scalar("only", 9))
	if d, err = OpenDir(dir); err != nil || len(d.Tensors()) != 1 {
		t.Fatalf("%v", err)
	}
	d.Close()
	if _, err := OpenDir(t.TempDir()); err == nil || !strings.Contains(err.Error(), "model.safetensors: is missing, and so is model.safetensors.index.json; weights in other files") {
		t.Errorf("%v", err)
	}
}
