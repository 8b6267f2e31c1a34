package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"onebit/formats"
	"onebit/formats/container"
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
	w, err := gguf.NewWriter(&b, []container.KV{
		{Key: "general.architecture", Value: container.Of(strings.Repeat("a", 1<<20))},
		{Key: "general.name", Value: container.Of(hostileName)},
		{Key: hostileName, Value: container.Of(uint32(1))},
	}, []container.TensorInfo{{Name: hostileName, Type: formats.F32, Shape: []int{2, 32}}})
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

// Names, units, keys and settings of results files, too.
func TestHostileResults(t *testing.T) {
	dir := t.TempDir()
	name, unit := strings.NewReplacer(" ", "", "\u2028", "").Replace(hostileName), "x\u202e\x1b/op"
	results := "goos: " + hostileName + "\ncpu: \u2067x\n"
	for _, value := range []string{"1", "1.1", "1.2", "0.9"} {
		results += "BenchmarkMatVec/format=" + name + "/variant=scalar/act=q8_row/rows=1/cols=2/threads=1/cache=warm 1 " + value + " ns/op 3 " + unit + "\n"
	}
	for _, file := range []string{"old.txt", "new.txt"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(results+"# warning: "+hostileName+"\nBenchmarkBroken \x1b x\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	graphic := func(what, text string) {
		if at := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) && r != '\n' && r != '\t' }); at >= 0 {
			t.Errorf("%s: %+q", what, text[max(0, at-40):min(len(text), at+40)])
		}
	}
	for _, args := range [][]string{
		{"compare", filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")},
		{"compare", "--format", "csv", filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")},
		{"compare", "--row", hostileName, filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")},
		{"report", filepath.Join(dir, "old.txt"), "-o", filepath.Join(dir, "report")},
	} {
		var stdout, stderr bytes.Buffer
		run(t.Context(), nil, &stdout, &stderr, args)
		graphic(strings.Join(args[:2], " "), stdout.String()+stderr.String())
	}
	results = strings.TrimSuffix(results, "\n")
	if err := os.WriteFile(filepath.Join(dir, "old.txt"), []byte(results+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, &stdout, &stderr, []string{"report", filepath.Join(dir, "old.txt"), "-o", filepath.Join(dir, "report")}); code != 0 {
		t.Fatal(stderr.String())
	}
	page, err := os.ReadFile(filepath.Join(dir, "report", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	graphic("the page", string(page))
}

// What another program called its benchmarks does not reach a terminal as it is.
func TestHostileImport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hyperfine.json")
	name, err := json.Marshal(hostileName)
	if err != nil {
		t.Fatal(err)
	}
	writeFileText(t, path, `{"results": [{"command": `+string(name)+`, "mean": 1.01, "times": [1.01, 1.02]}]}`)
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, &stdout, &stderr, []string{"import", path}); code != 0 {
		t.Fatal(stderr.String())
	}
	for _, text := range []string{stdout.String(), stderr.String()} {
		if at := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) && r != '\n' }); at >= 0 {
			t.Errorf("%+q", text[max(0, at-40):min(len(text), at+40)])
		}
	}
	if samples := strings.Count(stdout.String(), "\nBenchmark"); samples != 2 {
		t.Errorf("%d samples:\n%s", samples, stdout.String())
	}
}

// A model's text commands no terminal, and goes elsewhere as it is.
func TestScreen(t *testing.T) {
	for terminal, want := range map[bool]string{true: "\\x1b[2J\n", false: "\x1b[2J\n"} {
		var shown bytes.Buffer
		g := generation{out: screen(&shown, terminal)}
		if err := g.write("\x1b[2J\n"); err != nil || shown.String() != want || g.text.String() != "\x1b[2J\n" {
			t.Errorf("to a terminal %v: %q (%v), want %q", terminal, shown.String(), err, want)
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

// A model whose logits overflow is told by name, and its perplexity is none.
func TestPerplexityOverflow(t *testing.T) {
	model := tinyModel(t, "tiny")
	data, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(data, model, gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	norm, _ := f.Info("output_norm.weight")
	for i := norm.Offset; i < norm.Offset+norm.Size; i += 4 {
		binary.LittleEndian.PutUint32(data[i:], math.Float32bits(math.MaxFloat32))
	}
	text := filepath.Join(t.TempDir(), "text")
	for path, bytes := range map[string][]byte{model: data, text: []byte(strings.Repeat("Once upon a time ", 10))} {
		if err := os.WriteFile(path, bytes, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	refuses(t, []string{"perplexity", model, "-f", text, "--ctx", "8"},
		model+": window 1: the logits are not finite: the model's arithmetic overflowed or its weights are damaged")
}

// refuses asserts that a command fails with one line, which those of run and
// perplexity write after what they take.
func refuses(t *testing.T, args []string, want string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), nil, &stdout, &stderr, args)
	said := stderr.String()
	if memory, rest, _ := strings.Cut(said, "\n"); strings.HasPrefix(memory, "memory: ") {
		said = rest
	}
	if code != 1 || said != "onebit: "+want+"\n" {
		t.Errorf("onebit %s: exit status %d, want 1; standard error %swant %s", strings.Join(args, " "), code, stderr.String(), want)
	}
}

// tinyModel is a model that synth made, in a directory of its own.
func tinyModel(t *testing.T, preset string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), preset+".gguf")
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, &stdout, &stderr, []string{"synth", preset, "-o", path}); code != 0 {
		t.Fatal(stderr.String())
	}
	return path
}
