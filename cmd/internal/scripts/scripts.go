// Package scripts runs the testscripts of the programs in cmd, each script against the
// real main in a process of its own.
package scripts

import (
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"onebit/internal/require"
)

// testMachine describes the machine that a script finds, see sysinfo.Describe. It has
// small caches and little memory, so that no script reads through the caches of a
// server to measure beside them, and differs as the environment of the tests says.
const testMachine = "ONEBIT_TEST_MACHINE"

func describedMachine() string {
	parts := []string{"l1d=32K,l2=1M,l3=4M", os.Getenv(testMachine), "mem=64M"}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ",")
}

// takesSeconds begins a script that measures, trains, or builds what others compare.
const takesSeconds = "# Takes seconds.\n"

// draw draws one in six of the scripts that take seconds, where tests are short of all.
// Scripts that -run asks for by name are not drawn.
func draw(t *testing.T, scripts []string) []string {
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

// A Command is one that scripts may use beside those of testscript.
type Command = func(ts *testscript.TestScript, neg bool, args []string)

// Run runs testdata/script/*.txt, of the scripts that take seconds a drawn sixth. They
// have the command status, the conditions root, all and race, and these.
func Run(t *testing.T, commands map[string]Command, setup func(env *testscript.Env)) {
	scripts, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	// A script has no home, where Go would keep what it has built.
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Logf("scripts that build are skipped: %v", err)
	}
	all := map[string]Command{"status": status}
	maps.Copy(all, commands)
	testscript.Run(t, testscript.Params{
		Files:               draw(t, scripts),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                all,
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			env.Setenv("ENOENT", noSuchFile())
			env.Setenv(testMachine, describedMachine())
			for _, name := range []string{"GODEBUG", "GOMAXPROCS"} {
				env.Setenv(name, os.Getenv(name))
			}
			setup(env)
			return nil
		},
	})
}

func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "all":
		return require.All(), nil
	case "race":
		return require.Race, nil
	}
	return false, strconv.ErrSyntax
}

// noSuchFile is what this system says of a file that is not there.
func noSuchFile() string {
	_, err := os.Stat("no such file")
	return err.(*fs.PathError).Err.Error()
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
