package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"onebit/formats"
	"onebit/formats/gguf"
)

// hostileName commands a terminal in each of its languages: ESC, the same in
// C1, DEL, an override of the reading order, a line separator.
const hostileName = "evil\x1b[2J\u009b2J\x7f\u202egnp.exe\u2028new line"

// hostileModel has that in its metadata, keys and tensor names, and an
// architecture of a megabyte.
func hostileModel(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w, err := gguf.NewWriter(&b, []gguf.KV{
		{Key: "general.architecture", Value: gguf.Of(strings.Repeat("a", 1<<20))},
		{Key: "general.name", Value: gguf.Of(hostileName)},
		{Key: hostileName, Value: gguf.Of(uint32(1))},
	}, []gguf.TensorInfo{{Name: hostileName, Type: formats.F32, Shape: []int{2, 32}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteTensor(hostileName, make([]byte, 256)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model"+"\u202e\x1b"+".gguf")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Skip("the file system has no such names: ", err)
	}
	return path
}

// Whatever is in a file, what a verb prints is graphic, and short.
func TestHostileNames(t *testing.T) {
	model := hostileModel(t)
	for _, args := range [][]string{
		{"inspect", model},
		{"inspect", model, "--json"},
		{"inspect", model + hostileName},
		{"run", model, "-p", "x"},
		{"convert", model, filepath.Join(t.TempDir(), "out.gguf"), "--type", "f16", "--tensors", ".", "--force"},
		{"convert", model, filepath.Join(t.TempDir(), "out.gguf"), "--type", hostileName},
		{"perplexity", model, "-f", model},
		{"bench", "models", model, "-o", t.TempDir()},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), nil, &stdout, &stderr, args)
		for _, out := range []string{stdout.String(), stderr.String()} {
			if at := strings.IndexFunc(out, func(r rune) bool { return !unicode.IsGraphic(r) && r != '\n' }); at >= 0 {
				t.Errorf("onebit %s, exit status %d: %+q", args[0], code, out[max(0, at-40):min(len(out), at+40)])
			}
		}
		if args[len(args)-1] != "--json" && stdout.Len()+stderr.Len() > 10_000 {
			t.Errorf("onebit %s, exit status %d: %d bytes printed", args[0], code, stdout.Len()+stderr.Len())
		}
	}
}

func TestHostileJSON(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, &stdout, &stderr, []string{"inspect", hostileModel(t), "--json"}); code != 0 {
		t.Fatal(stderr.String())
	}
	var r inspection
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Tensors) != 1 || r.Tensors[0].Name != hostileName {
		t.Errorf("tensors %+v", r.Tensors)
	}
}
