package cellm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
)

// smallHeader is what the original needs, without the tensors.
const smallHeader = `"model_type":"qwen3","vocab_size":2,"hidden_dim":128,"intermediate_size":256,"num_layers":1,` +
	`"num_heads":2,"num_kv_heads":1,"rms_norm_eps":1e-6,"rope_theta":1000000.0,"head_dim":null,"source_quantization":{"a":[1]}`

const (
	tensorW = `{"name":"w","offset_bytes":512,"nbytes":36,"shape":[2,128],"dtype":"q1_0_g128"}`
	tensorN = `{"name":"n","offset_bytes":576,"nbytes":8,"shape":[4],"dtype":"f16"}`
)

// small is a whole header; file gives it 512 bytes, in which its tensors begin.
const small = `{` + smallHeader + `,"tensors":[` + tensorW + `,` + tensorN + `]}`

// file is a .cellm file of that JSON, which the first tensor follows at byte 512.
func file(text string) []byte {
	b := append([]byte(Magic), version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	b = append(b, text...)
	// Spaces up to the last multiple of 64 keep the padding short.
	for len(b) <= 512-alignment {
		b = append(b, ' ')
	}
	binary.LittleEndian.PutUint32(b[6:], uint32(len(b)-headerStart))
	for len(b) < 512 {
		b = append(b, 0)
	}
	b = append(b, bytes.Repeat([]byte{0x3c}, 36)...) // w: two blocks of 128
	b = append(b, make([]byte, 64-36)...)
	return append(b, 0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44) // n: 1, 2, 3, 4
}

func TestParse(t *testing.T) {
	data := file(small)
	path := filepath.Join(t.TempDir(), "model.cellm")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	parsed, err := Parse(data, "small")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*File{opened, parsed} {
		h := f.Header
		if h.ModelType != "qwen3" || h.VocabSize != 2 || h.HiddenDim != 128 || h.IntermediateSize != 256 || h.NumLayers != 1 || h.NumHeads != 2 ||
			h.NumKVHeads != 1 || h.RMSNormEps != 1e-6 || h.RopeTheta != 1e6 || h.HeadDim != nil || h.Tied != nil || h.RopeScaling != nil {
			t.Errorf("header %+v", h)
		}
		w, err := f.Tensor("w")
		if err != nil || w.Type != formats.Q1_0_g128 || !slices.Equal(w.Shape, []int{2, 128}) || !bytes.Equal(w.Data, data[512:548]) {
			t.Errorf("w = %+v, %v", w, err)
		}
		n, err := f.Tensor("n")
		if err != nil {
			t.Fatal(err)
		}
		if x, err := n.Floats(); err != nil || !slices.Equal(x, []float32{1, 2, 3, 4}) {
			t.Errorf("n = %v, %v", x, err)
		}
	}
}

// Types that onebit does not decode are listed, and their bytes can be had.
func TestOtherTypes(t *testing.T) {
	for _, tt := range []struct {
		dtype  string
		nbytes int
		shape  string
	}{
		{"i8", 36, "[2,18]"}, {"f8e4m3", 36, "[36]"}, {"i4", 36, "[4,17]"}, {"i2", 36, "[4,33]"},
	} {
		tensor := fmt.Sprintf(`{"name":"w","offset_bytes":512,"nbytes":%d,"shape":%s,"dtype":%q}`, tt.nbytes, tt.shape, tt.dtype)
		f, err := Parse(file(`{`+smallHeader+`,"tensors":[`+tensor+`,`+tensorN+`]}`), "small")
		if err != nil {
			t.Error(err)
			continue
		}
		if raw, err := f.Raw("w"); err != nil || len(raw) != 36 {
			t.Errorf("%s: %d bytes, %v", tt.dtype, len(raw), err)
		}
		if _, err := f.Tensor("w"); err == nil || !strings.Contains(err.Error(), "has type "+tt.dtype+", which onebit cannot decode") {
			t.Errorf("%s: %v", tt.dtype, err)
		}
	}
}

func replace(old, with string) func([]byte) []byte {
	return func([]byte) []byte {
		if !strings.Contains(small, old) {
			panic("the header has no " + old)
		}
		return file(strings.Replace(small, old, with, 1))
	}
}

func set(at int, b string) func([]byte) []byte {
	return func(data []byte) []byte {
		copy(data[at:], b)
		return data
	}
}

func cut(n int) func([]byte) []byte { return func(data []byte) []byte { return data[:n] } }

func add(n int) func([]byte) []byte {
	return func(data []byte) []byte { return append(data, make([]byte, n)...) }
}

// A malformed file is small, spoilt, and what its error must say. -1: any byte.
var malformed = []struct {
	name        string
	spoil       func([]byte) []byte
	at          int
	tensor, key string
	want        string
}{
	// What the file is.
	{"empty", cut(0), 0, "", "", "the file is empty"},
	{"no magic", set(0, "X"), 0, "", "", `the file is not .cellm: it starts with "XELLM"`},
	{"half a magic", cut(3), 0, "", "", `it starts with "CEL"`},
	{"GGUF", set(0, "GGUF\x03"), 0, "", "", "the file is a GGUF file"},
	{"web page", set(0, "<html>"), 0, "", "", "the file is a web page"},
	{"only magic", cut(5), 5, "", "", "the file ends before its header"},
	{"no length", cut(9), 9, "", "", "the file ends before its header"},
	{"version 0", set(5, "\x00"), 5, "", "", ".cellm version 0 is not supported, only 1"},
	{"version 2", set(5, "\x02"), 5, "", "", ".cellm version 2 is not supported, only 1"},

	// The header's length.
	{"header beyond the file", set(6, "\xff\xff\x00\x00"), 6, "", "", "the header has 65535 bytes, and 574 are left: is the file cut short?"},
	{"absurd header", set(6, "\xff\xff\xff\xff"), 6, "", "", "a header of 4294967295 bytes is more than 100000000"},
	{"no header", set(6, "\x00\x00\x00\x00"), 10, "", "", "the header is not a JSON object"},
	{"header cut", set(6, "\x64\x00\x00\x00"), -1, "", "", "the header's JSON: unexpected "},
	{"file cut in the header", cut(200), 6, "", "", "is the file cut short?"},

	// The JSON.
	{"list", replace(small, "[]"), 10, "", "", "the header is not a JSON object"},
	{"number", replace(small, "7"), 10, "", "", "the header is not a JSON object"},
	{"no JSON", replace(small, "model"), 10, "", "", "the header is not a JSON object"},
	{"open object", replace(`"f16"}]}`, `"f16"}]`), -1, "", "", "the header's JSON: unexpected "},
	{"two objects", replace(`"f16"}]}`, `"f16"}]}{}`), -1, "", "", "the header goes on behind its JSON object"},
	{"bad text", replace(`"qwen3"`, `"qw`+"\n"+`en3"`), -1, "", "model_type", "invalid character"},
	{"comma", replace(`"num_layers":1,`, `"num_layers":1,,`), -1, "", "", "the header's JSON: "},
	{"key twice", replace(`"num_layers":1,`, `"num_layers":1,"num_layers":1,`), -1, "", "num_layers", "is there twice"},
	{"no model_type", replace(`"model_type":"qwen3",`, ``), 10, "", "model_type", "is missing"},
	{"no vocab_size", replace(`"vocab_size":2,`, ``), 10, "", "vocab_size", "is missing"},
	{"no rope_theta", replace(`"rope_theta":1000000.0,`, ``), 10, "", "rope_theta", "is missing"},
	{"no tensors", replace(`,"tensors":[`+tensorW+`,`+tensorN+`]`, ``), 10, "", "tensors", "is missing"},
	{"model_type is a number", replace(`"qwen3"`, `3`), -1, "", "model_type", "is a number, want string"},
	{"negative count", replace(`"num_heads":2`, `"num_heads":-2`), -1, "", "num_heads", "is a number -2, want uint32"},
	{"fraction of a head", replace(`"num_heads":2`, `"num_heads":2.5`), -1, "", "num_heads", "is a number 2.5, want uint32"},
	{"count beyond 32 bits", replace(`"num_heads":2`, `"num_heads":4294967296`), -1, "", "num_heads", "is a number 4294967296, want uint32"},
	{"epsilon beyond float32", replace(`1e-6`, `1e60`), -1, "", "rms_norm_eps", "is a number 1e60, want float32"},
	{"text for theta", replace(`1000000.0`, `"1e6"`), -1, "", "rope_theta", "is a string, want float32"},
	{"scaling is a number", replace(`"head_dim":null`, `"rope_scaling":8`), -1, "", "rope_scaling", "is a number, want cellm.RopeScaling"},
	{"factor is a text", replace(`"head_dim":null`, `"rope_scaling":{"factor":"8"}`), -1, "", "rope_scaling.factor", "is a string, want float32"},

	// The list of tensors.
	{"tensors is an object", replace(`"tensors":[`+tensorW+`,`+tensorN+`]`, `"tensors":{}`), -1, "", "tensors", "is not a list"},
	{"tensor is a number", replace(tensorW, `7`), -1, "", "tensors", "the header's JSON: "},
	{"tensor without a name", replace(`"name":"w",`, ``), -1, "", "", "a tensor's name is missing or empty"},
	{"tensor with an empty name", replace(`"name":"w"`, `"name":""`), -1, "", "", "a tensor's name is missing or empty"},
	{"tensor twice", replace(`"name":"n"`, `"name":"w"`), -1, "w", "", "is there twice"},
	{"no offset", replace(`"offset_bytes":512,`, ``), -1, "w", "", "want name, offset_bytes, nbytes, shape and dtype"},
	{"no bytes", replace(`"nbytes":36,`, ``), -1, "w", "", "want name, offset_bytes"},
	{"no shape", replace(`"shape":[2,128],`, ``), -1, "w", "", "want name, offset_bytes"},
	{"null shape", replace(`[2,128]`, `null`), -1, "w", "", "want name, offset_bytes"},
	{"no dtype", replace(`,"dtype":"f16"`, ``), -1, "n", "", "want name, offset_bytes"},
	{"negative offset", replace(`512`, `-64`), -1, "", "tensors", "cannot unmarshal number -64"},
	{"unknown dtype", replace(`q1_0_g128`, `q2_0`), -1, "w", "", `has dtype "q2_0", which .cellm version 1 does not have`},
	{"dtype in capitals", replace(`"f16"`, `"F16"`), -1, "n", "", `has dtype "F16"`},

	// Shapes and sizes.
	{"scalar", replace(`[4]`, `[]`), -1, "n", "", "has 0 dimensions, want 1 to 8"},
	{"nine dimensions", replace(`[4]`, `[4,1,1,1,1,1,1,1,1]`), -1, "n", "", "has 9 dimensions"},
	{"no rows", replace(`[2,128]`, `[0,128]`), -1, "w", "", "shape [0 128] is empty or absurd"},
	{"absurd shape", replace(`[2,128]`, `[1099511627776,128]`), -1, "w", "", "is empty or absurd"},
	{"shape that overflows", replace(`[2,128]`, `[4294967296,4294967296,128]`), -1, "w", "", "is empty or absurd"},
	{"columns that fill no block", replace(`[2,128]`, `[2,100]`), -1, "w", "", "100 columns do not fill blocks of 128"},
	{"bytes too few for the shape", replace(`[2,128]`, `[3,128]`), -1, "w", "", "has nbytes 36, and shape [3 128] of q1_0_g128 has 54 bytes"},
	{"bytes too many for the shape", replace(`"nbytes":8`, `"nbytes":9`), -1, "n", "", "has nbytes 9, and shape [4] of f16 has 8 bytes"},
	{"bytes of another dtype", replace(`"f16"`, `"i8"`), -1, "n", "", "has nbytes 8, and shape [4] of i8 has 4 bytes"},

	// Where the data lies.
	{"data at no multiple of 64", replace(`576`, `552`), -1, "n", "", "its offset_bytes 552 is no multiple of 64"},
	{"data in the header", replace(`512`, `448`), -1, "w", "", "lies in the header"},
	{"data in the magic", replace(`512`, `0`), -1, "w", "", "its data at byte 0 lies in the header"},
	{"data beyond the file", replace(`576`, `640`), -1, "n", "", "its data ends at byte 648, and the file has 584 bytes: is it cut short?"},
	{"offset that overflows", replace(`576`, `18446744073709551552`), -1, "n", "", "is absurd"},
	{"data cut short", cut(580), -1, "n", "", "its data ends at byte 584, and the file has 580 bytes: is it cut short?"},
	{"overlap", replace(`576`, `512`), 512, "n", "", `its data overlaps that of tensor "w" by 36 bytes`},
	{"same data", replace(tensorN, `{"name":"x","offset_bytes":512,"nbytes":36,"shape":[2,128],"dtype":"q1_0_g128"}`), 512, "x", "", `overlaps that of tensor "w" by 36 bytes`},
	{"bytes between", replace(tensorW+`,`, ``), -1, "n", "", "before its data belong to no tensor"},
	{"bytes behind", add(64), 584, "", "", "the last 64 bytes of the file belong to no tensor"},
	{"much behind", add(1 << 16), 584, "", "", "the last 65536 bytes of the file belong to no tensor"},
	{"padding that is not zero", set(511, "\x09"), 511, "", "", "the padding behind the header has a byte 0x09, want zeros"},
}

func TestMalformed(t *testing.T) {
	names := map[string]bool{}
	for _, m := range malformed {
		if names[m.name] {
			t.Errorf("two files are called %q", m.name)
		}
		names[m.name] = true
		t.Run(m.name, func(t *testing.T) {
			data := m.spoil(file(small))
			f, err := Parse(data, "bad")
			var e *container.FormatError
			if f != nil || !errors.As(err, &e) {
				t.Fatalf("it parsed, or gave %T: %v", err, err)
			}
			if e.File != "bad" || e.Tensor != m.tensor || e.Key != m.key || !strings.Contains(e.Msg, m.want) {
				t.Errorf("tensor %q, key %q, want %q, %q, %q: %v", e.Tensor, e.Key, m.tensor, m.key, m.want, err)
			}
			if m.at >= 0 && e.Offset != int64(m.at) || e.Offset < 0 || e.Offset > int64(len(data)) {
				t.Errorf("it is at byte %d, want %d: %v", e.Offset, m.at, err)
			}
		})
	}
}

func TestEveryPrefixFails(t *testing.T) {
	data := file(small)
	for n := range data {
		if _, err := Parse(data[:n], "prefix"); err == nil {
			t.Errorf("the first %d of %d bytes parse", n, len(data))
		}
	}
	if _, err := Parse(append(data, make([]byte, 63)...), "padded"); err != nil {
		t.Errorf("padding at the end: %v", err)
	}
}

func write(t *testing.T, h Header, tensors []container.TensorInfo, data func(i int) []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, h, tensors)
	if err != nil {
		t.Fatal(err)
	}
	for i, info := range tensors {
		if err := w.WriteTensor(info.Name, data(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Whatever the length of the header, the offsets that are in it are right.
func TestWriteReadsBack(t *testing.T) {
	u := func(n uint32) *uint32 { return &n }
	tied := false
	h := Header{
		ModelType: "qwen3", VocabSize: 3, HiddenDim: 128, IntermediateSize: 256, NumLayers: 1, NumHeads: 2, NumKVHeads: 1,
		HeadDim: u(80), RMSNormEps: 1.1e-6, RopeTheta: 1234567.9, BOS: u(0), EOS: u(7), MaxPositions: u(40960), Tied: &tied,
		RopeScaling: &RopeScaling{Type: "yarn", Factor: 1.7, OriginalContext: 32768},
	}
	for n := range 150 {
		var tensors []container.TensorInfo
		for i := range n {
			tensors = append(tensors, container.TensorInfo{Name: fmt.Sprint("tensor ", i*i), Type: formats.F16, Shape: []int{1 + i}})
		}
		tensors = append(tensors, container.TensorInfo{Name: strings.Repeat("w", 1+n), Type: formats.Q1_0_g128, Shape: []int{3, 256}})
		data := func(i int) []byte {
			size, err := tensors[i].Type.Bytes(formats.Dims(tensors[i].Shape))
			if err != nil {
				t.Fatal(err)
			}
			return bytes.Repeat([]byte{byte(i)}, size)
		}
		f, err := Parse(write(t, h, tensors, data), "written")
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Header; *got.HeadDim != 80 || got.RMSNormEps != h.RMSNormEps || got.RopeTheta != h.RopeTheta || *got.BOS != 0 || *got.EOS != 7 ||
			*got.MaxPositions != 40960 || *got.Tied || *got.RopeScaling != *h.RopeScaling {
			t.Errorf("header %+v", got)
		}
		for i, info := range f.Tensors() {
			raw, err := f.Raw(info.Name)
			if err != nil || info.Name != tensors[i].Name || info.Type != tensors[i].Type || !slices.Equal(info.Shape, tensors[i].Shape) || !bytes.Equal(raw, data(i)) {
				t.Errorf("%+v, %v", info, err)
			}
		}
	}
	if _, err := Parse(write(t, h, nil, nil), "empty"); err != nil {
		t.Errorf("a file without tensors: %v", err)
	}
}

func TestWriterRefuses(t *testing.T) {
	for _, tt := range []struct {
		tensor container.TensorInfo
		want   string
	}{
		{container.TensorInfo{Name: "a", Type: formats.I2_S, Shape: []int{2, 128}}, `cellm: write tensor "a": is i2_s, which .cellm has no name for; it holds f16 and q1_0_g128`},
		{container.TensorInfo{Name: "a", Type: formats.F32, Shape: []int{2}}, "is f32, which .cellm has no name for"},
		{container.TensorInfo{Name: "a", TypeName: "q4_0", Shape: []int{2, 128}}, "is q4_0, which .cellm has no name for"},
		{container.TensorInfo{Name: "a", Type: formats.Q1_0_g128, Shape: []int{2, 100}}, "100 columns do not fill blocks"},
		{container.TensorInfo{Type: formats.F16, Shape: []int{2}}, "the name is empty"},
		{container.TensorInfo{Name: "b", Type: formats.F16, Shape: []int{2}}, `"b": the name is empty, or there twice`},
	} {
		var b bytes.Buffer
		_, err := NewWriter(&b, Header{}, []container.TensorInfo{{Name: "b", Type: formats.F16, Shape: []int{1}}, tt.tensor})
		if err == nil || !strings.Contains(err.Error(), tt.want) || b.Len() > 0 {
			t.Errorf("%v after %d bytes, want %q before any", err, b.Len(), tt.want)
		}
	}
}
