package safetensors

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"onebit/formats/container"
)

// FuzzParse: whatever the bytes, Parse gives a *container.FormatError or a File whose
// tensors cover its data, and which comes back equal when written again.
func FuzzParse(f *testing.F) {
	f.Add(golden)
	for _, m := range malformed {
		f.Add(file(m.header, []byte(m.data)...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data, "fuzz")
		if err != nil {
			var e *container.FormatError
			if !errors.As(err, &e) || e.File != "fuzz" || e.Offset < 0 || e.Offset > int64(len(data)) {
				t.Errorf("%T without file or place: %v", err, err)
			}
			return
		}
		var end int64
		var tensors []Tensor
		for i, info := range file.Tensors() {
			if i > 0 && info.Offset != end || info.Offset+info.Size > file.Size() {
				t.Errorf("%+v, after %d", info, end)
			}
			end = info.Offset + info.Size
			raw, err := file.Raw(info.Name)
			if err != nil || int64(len(raw)) != info.Size {
				t.Fatalf("%+v: %d bytes, %v", info, len(raw), err)
			}
			if tensor, err := file.Tensor(info.Name); err == nil {
				_ = tensor.Matrix().Validate()
			}
			tensors = append(tensors, Tensor{info.Name, info.TypeName, info.Shape, raw})
		}
		if len(tensors) > 0 && end != file.Size() {
			t.Errorf("tensors end at %d of %d", end, file.Size())
		}
		var b bytes.Buffer
		if err := Write(&b, tensors); err != nil {
			t.Fatal(err)
		}
		again, err := Parse(b.Bytes(), "again")
		if err != nil || len(again.Tensors()) != len(tensors) {
			t.Fatalf("written again: %v", err)
		}
	})
}

// However many tensors or dimensions a header has, or says it has, parsing
// allocates in proportion to the file.
func TestMemoryIsProportionalToTheFile(t *testing.T) {
	var dense strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&dense, `"%04x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},`, i)
	}
	files := [][]byte{
		file("{" + strings.TrimSuffix(dense.String(), ",") + "}"),
		file(`{"a":{"dtype":"U8","shape":[`+strings.Repeat("1,", 20000)+`1],"data_offsets":[0,1]}}`, 0),
		file(`{"a":` + strings.Repeat("[", 20000)),
	}
	for _, m := range malformed {
		files = append(files, file(m.header, []byte(m.data)...))
	}
	for _, data := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = Parse(data, "")
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<15+32*uint64(len(data)) {
			t.Errorf("%d bytes allocated for %d: %.60s…", n, len(data), data[8:])
		}
	}
}
