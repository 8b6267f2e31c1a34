package models_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"onebit/formats/gguf"
	"onebit/models/source"
)

// A Source can be implemented outside of this package.
func TestSourceHasNoUnexportedMethods(t *testing.T) {
	typ := reflect.TypeFor[source.Source]()
	for i := range typ.NumMethod() {
		if m := typ.Method(i); !m.IsExported() {
			t.Errorf("%s cannot be implemented elsewhere", m.Name)
		}
	}
}

// A file's first bytes say what it is, and its name does not.
func TestOpenSourceByContent(t *testing.T) {
	x := newFixture(t, preset("tiny"))
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := os.Rename(x.path(t), path); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(path, gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if src.Kind() != "GGUF version 3" {
		t.Errorf("it is a %s", src.Kind())
	}
	for content, want := range map[string]string{
		"":           "the file is empty",
		"GG":         `the file is not GGUF: it starts with "GG"`,
		"PK\x03\x04": "a zip archive",
		"GGUF":       "the file ends in the header",
	} {
		path := filepath.Join(t.TempDir(), "model.gguf")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := source.Open(path, gguf.Options{}); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
	none := filepath.Join(t.TempDir(), "none.gguf")
	if _, err := source.Open(none, gguf.Options{}); err == nil || strings.Count(err.Error(), none) != 1 {
		t.Errorf("%v, want an error with the path once", err)
	}
}
