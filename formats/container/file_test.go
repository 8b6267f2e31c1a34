package container

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/formats"
)

// The tests' container has no header: tensor a is its first 8 bytes, b the
// next 4 in a type of its own.
func parseTest(data []byte) ([]TensorInfo, error) {
	if len(data) != 12 {
		return nil, &FormatError{File: "inner", Offset: 3, Msg: "has another size"}
	}
	return []TensorInfo{
		{Name: "a", Type: formats.F32, TypeName: "f32", Shape: []int{1, 2}, Size: 8},
		{Name: "b", TypeName: "q7_9", Shape: []int{4}, Offset: 8, Size: 4},
	}, nil
}

var testData = []byte("12345678abcd")

func writeTest(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	path := writeTest(t, testData)
	mapped, err := Open(path, parseTest)
	if err != nil {
		t.Fatal(err)
	}
	inMemory, err := Parse(testData, path, parseTest)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*File{"mapped": mapped, "in memory": inMemory} {
		if f.Name() != path || f.Size() != 12 || len(f.Tensors()) != 2 {
			t.Errorf("%s: %s, %d bytes, %d tensors", name, f.Name(), f.Size(), len(f.Tensors()))
		}
		f.Populate("a")
		f.Populate("none")
		a, err := f.Tensor("a")
		if err != nil || a.Name != "a" || a.Type != formats.F32 || !bytes.Equal(a.Data, testData[:8]) || cap(a.Data) != 8 {
			t.Errorf("%s: a = %+v, %v", name, a, err)
		}
		if b, err := f.Raw("b"); err != nil || string(b) != "abcd" {
			t.Errorf("%s: b = %q, %v", name, b, err)
		}
		for _, tensor := range []string{"a", "none"} {
			if err := f.Release(tensor); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err = f.Tensor("b")
		wantError(t, err, path+`: tensor "b": has type q7_9, which onebit cannot decode (at byte 8)`)
		if _, err = f.Tensor("none"); !errors.Is(err, ErrMissing) {
			t.Errorf("%s: %v, want ErrMissing", name, err)
		}
		wantError(t, err, path+`: tensor "none": is missing`)
		for range 2 {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		func() {
			defer func() {
				if recover() != "container: file used after Close" {
					t.Errorf("%s: a closed file gives bytes", name)
				}
			}()
			_, _ = f.Raw("a")
		}()
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want || !IsFormat(err) {
		t.Errorf("%v, want a *FormatError: %s", err, want)
	}
}

// Whatever fails, the path is said once, and the cause stays in the chain.
func TestOpenErrors(t *testing.T) {
	_, err := Open(writeTest(t, testData[:5]), parseTest)
	wantError(t, err, "inner: has another size (at byte 3)")

	none := filepath.Join(t.TempDir(), "none")
	if _, err = Open(none, parseTest); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), none) != 1 || !IsFormat(err) {
		t.Errorf("%v, want a *FormatError with the path once", err)
	}
	dir := t.TempDir()
	if _, err = Open(dir, parseTest); err == nil || strings.Count(err.Error(), dir) != 1 || !IsFormat(err) {
		t.Errorf("%v, want a *FormatError with the path once", err)
	}
}

func TestFault(t *testing.T) {
	f, err := Parse(testData, "name", parseTest)
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("is bad")
	err = f.Fault("b", cause)
	wantError(t, err, `name: tensor "b": is bad (at byte 8)`)
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if again := f.Fault("a", err); again != err {
		t.Errorf("%v, want the error as it was", again)
	}
	if err := FileError("other", f.Fault("b", cause)); err.File != "name" {
		t.Errorf("%v, want the error as it was", err)
	}
}

func TestForeign(t *testing.T) {
	for data, want := range map[string]string{
		"":          "the file is empty",
		"GGUF":      "the file is a GGUF file",
		"CELLM\x01": "the file is a .cellm file",
		"\x10\x00\x00\x00\x00\x00\x00\x00{\"a\":1}": "",
		"\x07\x00\x00\x00\x00\x00\x00\x00{\"a\":1}": "a safetensors file; give the directory",
		" \n<!doctype html>":                        "a web page",
		"PK\x03\x04":                                "a zip archive",
		"something":                                 "",
	} {
		if got := Foreign([]byte(data)); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q is %q, want %q", data, got, want)
		}
	}
}
