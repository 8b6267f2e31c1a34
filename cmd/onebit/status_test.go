package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failures are command lines that fail in each way that a verb can, "" where it can't: its
// words are wrong, a file is not there, a file is none of its kind. FILE is garbage, and
// TAKEN a file that is there.
var failures = map[string]struct{ wrong, absent, malformed, taken string }{
	"bench":      {"--filter /format:nope", "--model none.gguf", "--model FILE", "--short -o FILE"},
	"compare":    {"one.txt", "none.txt none.txt", "FILE FILE", ""},
	"completion": {"nope", "", "", ""},
	"convert":    {"a.gguf b.gguf --type nope", "none.gguf out.gguf --type f16", "FILE out.gguf --type f16", ""},
	"gate":       {"--threshold x", "--suite kernels --base-binary none --head-binary none", "--suite kernels --base-binary FILE --head-binary FILE", ""},
	"help":       {"nope", "", "", ""},
	"history":    {"--threshold x", "none", "FILE", ""},
	"import":     {"", "none.json", "FILE", ""},
	"inspect":    {"", "none.gguf", "FILE", ""},
	"kernels":    {"extra", "", "", ""},
	"machine":    {"extra", "", "", "--short -o FILE"},
	"man":        {"", "", "", "FILE"},
	"models":     {"--threads 99999", "none.txt", "FILE", ""},
	"perplexity": {"", "none.gguf -f FILE", "FILE -f FILE", ""},
	"profile":    {"--preset nope", "none.gguf", "FILE", "-o FILE"},
	"report":     {"", "none.txt", "FILE", ""},
	"run":        {"-p x --engine nope", "none.gguf -p x", "FILE -p x", ""},
	"share":      {"", "none.txt", "FILE", ""},
	"site":       {"", "none", "FILE", ""},
	"synth":      {"nope -o out.gguf", "", "", "tiny -o FILE"},
	"train":      {"nope -o out", "", "", "ternary -o FILE --steps 1"},
	"verify":     {"", "none.gguf --logits FILE", "FILE --logits FILE", ""},
	"version":    {"extra", "", "", ""},
}

// One rule holds for every verb: 2 if the command line is wrong, 1 if what it names can't
// be read or written. A gate that can't compare is 2, since 1 says that something is worse,
// and so is a verdict that can't be given.
func TestExitStatus(t *testing.T) {
	t.Chdir(t.TempDir())
	file := filepath.Join(t.TempDir(), "file.gguf")
	if err := os.WriteFile(file, []byte("GGUFxxxx"), 0o666); err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	root.InitDefaultHelpCmd()
	for _, verb := range root.Commands() {
		f, ok := failures[verb.Name()]
		if !ok && !verb.Hidden {
			t.Errorf("%s: no failures are known", verb.Name())
		}
		if !ok {
			continue
		}
		failed := 1
		if verb.Name() == "gate" || verb.Name() == "verify" {
			failed = 2
		}
		expect := func(status int, args string) {
			t.Helper()
			saidOf(t, status, strings.Fields(verb.Name()+" "+strings.ReplaceAll(args, "FILE", file))...)
		}
		expect(2, "--no-such-flag")
		expect(2, f.wrong)
		for _, args := range []string{f.absent, f.malformed, f.taken} {
			if args != "" {
				expect(failed, args)
			}
		}
	}
	for _, status := range []string{"0", "1", "2", "3"} {
		if !strings.Contains(root.Long, "\n  "+status+"  ") {
			t.Errorf("onebit help does not explain the exit status %s", status)
		}
	}
}
