package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"onebit/cmd/internal/cli"
	"onebit/cmd/internal/scripts"
	"onebit/formats/gguf"
	"onebit/internal/sysinfo"
	"onebit/metal"
	"onebit/metal/softmetal/frameworks"
	"onebit/models/modeltest"
)

// The scripts run the real main in a process of its own.
func TestMain(m *testing.M) {
	sysinfo.Describe()
	if os.Getenv(playMetal) != "" {
		metal.Provide(func() (metal.Frameworks, error) { return frameworks.Load() })
	}
	testscript.Main(m, map[string]func(){"onebit": main})
}

// run runs a command line of onebit and returns the exit status.
func run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args []string) int {
	return cli.Run(ctx, newRoot(), stdin, stdout, stderr, args)
}

// playMetal is what a script sets to play Metal on Linux, as with -tags softmetal.
// METAL_CACHE is where it is compiled, for XDG_CACHE_HOME.
const playMetal = "ONEBIT_TEST_PLAY_METAL"

// TestScripts runs the scripts, of those that take seconds a drawn sixth.
func TestScripts(t *testing.T) {
	// Under nohup it is ignored, and would be by all that is started from here.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	scripts.Run(t, map[string]scripts.Command{
		"patch":    patch,
		"replace":  replace,
		"truncate": truncate,
		"hf":       hf,
		"commits":  commits,
		"split":    split,
		"await":    await,
		"fixture":  fixture,
	}, func(env *testscript.Env) {
		if cache, err := os.UserCacheDir(); err == nil {
			env.Setenv("METAL_CACHE", cache)
		}
	})
}

// await waits until a file is there and, if a regular expression is given, its
// content matches: await FILE [PATTERN]. A loop of the shell would outlive a test
// that fails.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: await FILE [PATTERN]")
	}
	pattern := regexp.MustCompile(strings.Join(args[1:], ""))
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if data, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && pattern.Match(data) {
			return
		}
	}
	ts.Fatalf("%s: not there within three minutes, or without a match of %q", args[0], pattern)
}

// patch overwrites bytes of a file: patch FILE OFFSET HEX
func patch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: patch FILE OFFSET HEX")
	}
	offset, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	b, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt(b, offset)
	ts.Check(err)
	ts.Check(f.Close())
}

// replace puts text of the same length in the place of the first occurrence of
// another: replace FILE OLD NEW
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || len(args[1]) != len(args[2]) {
		ts.Fatalf("usage: replace FILE OLD NEW, of the same length")
	}
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	at := bytes.Index(data, []byte(args[1]))
	if at < 0 {
		ts.Fatalf("%s does not hold %s", args[0], args[1])
	}
	copy(data[at:], args[2])
	ts.Check(os.WriteFile(path, data, 0o666))
}

// truncate cuts a file: truncate FILE SIZE
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate FILE SIZE")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

// hf makes a Hugging Face directory of a GGUF file, with its ternary weights
// packed for a linear class or as floats: hf FILE DIR [CLASS]
func hf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: hf FILE DIR [CLASS]")
	}
	how := modeltest.HF{Files: 2}
	if len(args) == 3 {
		how.Linear = args[2]
	}
	f, err := gguf.Open(ts.MkAbs(args[0]), gguf.Options{})
	ts.Check(err)
	defer f.Close()
	dir := ts.MkAbs(args[1])
	ts.Check(os.Mkdir(dir, 0o777))
	ts.Check(modeltest.WriteHF(dir, f, how))
}

// split makes a GGUF file several: split FILE PREFIX N
func split(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: split FILE PREFIX N")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	f, err := gguf.Open(ts.MkAbs(args[0]), gguf.Options{})
	ts.Check(err)
	defer f.Close()
	ts.Check(modeltest.Split(f, ts.MkAbs(args[1]), n))
}

// commits writes a results file for each of N commits: commits DIR N. From the
// middle on, Slow takes a fifth more time and has one allocation more.
func commits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: commits DIR N")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	for i := range n {
		slow, allocs := 1000, 5
		if i >= n/2 {
			slow, allocs = 1200, 6
		}
		noise := i * 7 % 11
		text := fmt.Sprintf("goos: linux\ngoarch: amd64\ncpu: simulated\npkg: example.com/m\ncommit: %07xabc\ncommit-date: 2026-01-%02dT00:00:00Z\n"+
			"BenchmarkSlow-2 1000 %d ns/op %d allocs/op\nBenchmarkSteady-2 1000 %d ns/op 0 allocs/op\n", 0xa000000+i, i+1, slow+noise, allocs, 500+(i*5%13))
		ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.txt", i)), []byte(text), 0o666))
	}
}
