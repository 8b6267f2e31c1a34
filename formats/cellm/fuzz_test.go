package cellm

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"onebit/formats/container"
)

// FuzzParse: whatever the bytes, Parse gives a *container.FormatError or a File
// whose tensors lie in the file, apart, and which comes back equal when it is
// written again.
func FuzzParse(f *testing.F) {
	f.Add(file(small))
	for _, m := range malformed {
		if data := m.spoil(file(small)); len(data) < 1<<12 {
			f.Add(data)
		}
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
		var raw [][]byte
		for _, info := range file.Tensors() {
			b, err := file.Raw(info.Name)
			if err != nil || int64(len(b)) != info.Size || info.Offset%alignment != 0 {
				t.Fatalf("%+v: %d bytes, %v", info, len(b), err)
			}
			if tensor, err := file.Tensor(info.Name); err == nil {
				_ = tensor.Validate() // must not panic on any data
			} else if info.Type != nil {
				t.Errorf("%+v: %v", info, err)
			} else {
				return // it cannot be written
			}
			raw = append(raw, b)
		}
		again, err := Parse(write(t, file.Header, file.Tensors(), func(i int) []byte { return raw[i] }), "again")
		if err != nil {
			t.Fatal(err)
		}
		for i, info := range again.Tensors() {
			if b, err := again.Raw(info.Name); err != nil || !bytes.Equal(b, raw[i]) {
				t.Errorf("%+v differs, %v", info, err)
			}
		}
	})
}

// However many tensors or dimensions a header has, or says it has, parsing
// allocates in proportion to the file.
func TestMemoryIsProportionalToTheFile(t *testing.T) {
	deep := `{` + smallHeader + `,"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `,"tensors":[]}`
	many := `{` + smallHeader + `,"tensors":[{"shape":[` + strings.Repeat("1,", 20000) + `1]}]}`
	files := [][]byte{file(deep), file(many), file(`{"tensors":` + strings.Repeat("[", 20000))}
	for _, m := range malformed {
		files = append(files, m.spoil(file(small)))
	}
	for _, data := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = Parse(data, "")
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<16+64*uint64(len(data)) {
			t.Errorf("%d bytes allocated for %d: %.60q…", n, len(data), data)
		}
	}
}
