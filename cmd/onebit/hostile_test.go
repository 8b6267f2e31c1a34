package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/require"
	"onebit/models/arch"
	"onebit/models/inspect"
	"onebit/models/modeltest"
	"onebit/models/synth"
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

// hostileTiny is the preset tiny with that in its metadata, keys, values and lists,
// in its tokens, and if it is to be refused as the name of a tensor that it has no
// use for.
func hostileTiny(t *testing.T, refused bool) string {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	preset, err := arch.LookupPreset("tiny")
	check(err)
	var b, out bytes.Buffer
	check(synth.Write(&b, preset, 1))
	f, err := gguf.Parse(b.Bytes(), "model.gguf", gguf.Options{})
	check(err)
	texts := []string{"general.name", "general.description", "general.license", "tokenizer.chat_template", hostileName}
	meta := slices.DeleteFunc(slices.Clone(f.Metadata()), func(kv container.KV) bool { return slices.Contains(texts, kv.Key) })
	for i, kv := range meta {
		if kv.Key == "tokenizer.ggml.tokens" {
			tokens, err := f.Strings(kv.Key)
			check(err)
			tokens = slices.Clone(tokens)
			tokens[len(tokens)-1] = hostileName
			meta[i].Value = container.ArrayOf(tokens)
		}
	}
	for _, key := range texts {
		meta = append(meta, container.KV{Key: key, Value: container.Of(hostileName)})
	}
	meta = append(meta, container.KV{Key: hostileName + "s", Value: container.ArrayOf([]string{hostileName})})
	tensors := slices.Clone(f.Tensors())
	if refused {
		tensors = append(tensors, container.TensorInfo{Name: hostileName, Type: formats.F32, Shape: []int{32}})
	}
	w, err := gguf.NewWriter(&out, meta, tensors)
	check(err)
	for _, info := range tensors {
		data := make([]byte, 128)
		if info.Name != hostileName {
			tensor, err := f.Tensor(info.Name)
			check(err)
			data = tensor.Data
		}
		check(w.WriteTensor(info.Name, data))
	}
	check(w.Close())
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	check(os.WriteFile(path, out.Bytes(), 0o666))
	return path
}

// hostileFolder is a GGUF file as a Hugging Face folder, whose settings are renamed to
// that if it is to be refused.
func hostileFolder(t *testing.T, file string, refused bool) string {
	t.Helper()
	f, err := gguf.Open(file, gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir := t.TempDir()
	if err := modeltest.WriteHF(dir, f, modeltest.HF{}); err != nil {
		t.Fatal(err)
	}
	if refused {
		name, err := json.Marshal(hostileName)
		if err != nil {
			t.Fatal(err)
		}
		writeFileText(t, filepath.Join(dir, "config.json"), fmt.Sprintf(`{"architectures": [%s], "model_type": %[1]s, %[1]s: %[1]s}`, name))
	}
	return dir
}

// graphic fails a test where a text is not, but for line ends and tabs.
func graphic(t *testing.T, what, text string) {
	t.Helper()
	if at := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) && r != '\n' && r != '\t' }); at >= 0 {
		t.Errorf("%s: %+q", what, text[max(0, at-40):min(len(text), at+40)])
	}
}

// Whatever is in a file, what a verb prints is graphic, and short: of a file that it
// refuses, and of one that it reads. Only what a model says, which goes to no terminal
// here, goes out as it is.
func TestHostileNames(t *testing.T) {
	require.Unraced(t, "it looks at words")
	text := filepath.Join(t.TempDir(), "text")
	writeFileText(t, text, strings.Repeat("a text of some words. ", 20))
	reads, done := hostileTiny(t, false), map[string]bool{}
	folder := hostileFolder(t, reads, false)
	hostile := []string{hostileModel(t), hostileTiny(t, true), reads, hostileFolder(t, reads, true), folder}
	for _, model := range hostile {
		out := func(name string) string { return filepath.Join(t.TempDir(), name) }
		for _, args := range [][]string{
			{"inspect", model},
			{"inspect", model, "--json"},
			{"inspect", model + hostileName},
			{"run", model, "-p", "x", "-n", "2"},
			{"run", model, "-p", "x", "-n", "1", "--engine", "plain"},
			{"run", model, "--chat", "-n", "2"},
			{"convert", model, out("f16.gguf"), "--type", "f16", "--tensors", ".", "--force"},
			{"convert", model, out("tq2_0.gguf"), "--type", "tq2_0", "--force"},
			{"convert", model, out("out.cellm")},
			{"convert", model, out("out.gguf"), "--type", hostileName},
			{"perplexity", model, "-f", model, "--ctx", "32", "--chunks", "1"},
			{"perplexity", model, "-f", text, "--ctx", "32", "--chunks", "1", "--kld"},
			{"bench", "--model", model, "--list", "--filter", "/variant:scalar /threads:1 /cache:warm"},
			{"profile", model, "-p", "1", "-n", "1", "--passes", "6", "--check=false", "-o", out("profile")},
		} {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), strings.NewReader("x\n"), &stdout, &stderr, args)
			what := fmt.Sprintf("onebit %s, exit status %d", args[0], code)
			graphic(t, what, stderr.String())
			if args[0] != "run" {
				graphic(t, what, stdout.String())
			}
			if args[len(args)-1] != "--json" && stdout.Len()+stderr.Len() > 50_000 {
				t.Errorf("%s: %d bytes printed", what, stdout.Len()+stderr.Len())
			}
			if code == 0 && (model == reads || model == folder) {
				done[args[0]+" "+filepath.Ext(model)] = true
			}
		}
	}
	if len(done) != 12 {
		t.Errorf("verbs that read the file or the folder: %v, want all six of both", done)
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
	for _, args := range [][]string{
		{"compare", filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")},
		{"compare", "--format", "csv", filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")},
		{"compare", "--row", hostileName, filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")},
		{"report", filepath.Join(dir, "old.txt"), "-o", filepath.Join(dir, "report")},
	} {
		var stdout, stderr bytes.Buffer
		run(t.Context(), nil, &stdout, &stderr, args)
		graphic(t, strings.Join(args[:2], " "), stdout.String()+stderr.String())
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
	graphic(t, "the page", string(page))
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
	graphic(t, "import", stdout.String()+stderr.String())
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
	var r inspect.Model
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
