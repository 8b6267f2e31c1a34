package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// fixtureSource is a test whose benchmark says what it is linked with, and does
// what two variables say: HANG is a file to make before it never ends, COUNT one
// that gets a letter each time.
const fixtureSource = `package work

import (
	"math/rand"
	"os"
	"strconv"
	"testing"
	"time"
)

var milliseconds, allocations string

func BenchmarkWork(b *testing.B) { b.Run("small", small) }

func small(b *testing.B) {
	if file := os.Getenv("HANG"); file != "" {
		os.WriteFile(file, nil, 0o666)
		b.TempDir()
		time.Sleep(time.Hour)
	}
	ms, _ := strconv.ParseFloat(milliseconds, 64)
	n, _ := strconv.ParseFloat(allocations, 64)
	if file, err := os.OpenFile(os.Getenv("COUNT"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err == nil {
		file.WriteString("x")
		file.Close()
		ms += rand.Float64() // a gate of what never changes ends soon
	}
	b.ReportMetric(ms*1e6, "ns/op")
	b.ReportMetric(n, "allocs/op")
	b.ReportMetric(0, "B/op") // which processes differ in
}
`

// fixtures are the test binaries that scripts have asked for, by what they say:
// each is linked once for all of them.
var fixtures struct {
	sync.Mutex
	binaries map[[2]string][]byte
}

// fixture writes a test binary whose benchmark Work/small reports a time and a
// number of allocations: fixture FILE MILLISECONDS ALLOCATIONS.
func fixture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: fixture FILE MILLISECONDS ALLOCATIONS")
	}
	fixtures.Lock()
	defer fixtures.Unlock()
	says := [2]string{args[1], args[2]}
	if fixtures.binaries[says] == nil {
		binary, err := buildFixture(ts.Getenv("GOCACHE"), says)
		ts.Check(err)
		if fixtures.binaries == nil {
			fixtures.binaries = map[[2]string][]byte{}
		}
		fixtures.binaries[says] = binary
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), fixtures.binaries[says], 0o777))
}

func buildFixture(cache string, says [2]string) (binary []byte, err error) {
	dir, err := os.MkdirTemp("", "onebit-fixture-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"go.mod": "module example.com/work\n\ngo 1.26\n", "work_test.go": fixtureSource} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	const variable = "-X example.com/work."
	cmd := exec.Command("go", "test", "-c", "-o", "work.test", "-ldflags", "-s -w "+variable+"milliseconds="+says[0]+" "+variable+"allocations="+says[1])
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOCACHE="+cache)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test -c: %w: %s", err, out)
	}
	return os.ReadFile(filepath.Join(dir, "work.test"))
}
