package main

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"onebit/formats/gguf"
	"onebit/internal/require"
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

// playMetal is what a script sets to play Metal on Linux, as with -tags softmetal.
// METAL_CACHE is where it is compiled, for XDG_CACHE_HOME.
const playMetal = "ONEBIT_TEST_PLAY_METAL"

// testMachine describes the machine that a script finds, see sysinfo.Describe. It has
// small caches and little memory, so that no script reads through the caches of a
// server to measure beside them, and differs as those who run the tests say.
const testMachine = "ONEBIT_TEST_MACHINE"

func describedMachine() string {
	parts := []string{"l1d=32K,l2=1M,l3=4M", os.Getenv(testMachine), "mem=64M"}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ",")
}

// takesSeconds begins a script that measures, trains, or builds what others compare.
const takesSeconds = "# Takes seconds.\n"

// drawScripts draws one in six of the scripts that take seconds, where tests are
// short of all. What -run asks for by name is not drawn.
func drawScripts(t *testing.T, scripts []string) []string {
	t.Helper()
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return scripts
	}
	if testing.Short() {
		return require.Draw(t, 8, scripts)
	}
	var drawn, slow []string
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte(takesSeconds)) {
			slow = append(slow, script)
		} else {
			drawn = append(drawn, script)
		}
	}
	return append(drawn, require.Draw(t, 6, slow)...)
}

// TestScripts runs the scripts, of those that take seconds a drawn sixth.
func TestScripts(t *testing.T) {
	// Under nohup it is ignored, and would be by all that is started from here.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	scripts, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	// A script has no home, where Go would keep what it has built.
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Logf("scripts that build are skipped: %v", err)
	}
	testscript.Run(t, testscript.Params{
		Files:               drawScripts(t, scripts),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			env.Setenv("ENOENT", noSuchFile())
			env.Setenv(testMachine, describedMachine())
			for _, name := range []string{"GODEBUG", "GOMAXPROCS"} {
				env.Setenv(name, os.Getenv(name))
			}
			if cache, err := os.UserCacheDir(); err == nil {
				env.Setenv("METAL_CACHE", cache)
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":   status,
			"patch":    patch,
			"replace":  replace,
			"truncate": truncate,
			"hf":       hf,
			"commits":  commits,
			"split":    split,
			"await":    await,
			"fixture":  fixture,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "all":
				return require.All(), nil
			case "race":
				return require.Race, nil
			}
			return false, strconv.ErrSyntax
		},
	})
}

// noSuchFile is what this system says of a file that is not there.
func noSuchFile() string {
	_, err := os.Stat("no such file")
	return err.(*fs.PathError).Err.Error()
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

// status runs a command and asserts its exit status: status CODE COMMAND ARGS…
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE COMMAND ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v: exit status %d, want %d", args[1:], got, want)
	}
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
