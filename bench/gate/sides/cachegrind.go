package sides

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"onebit/bench/gate"
)

// cachegrind counts by valgrind, which plays the program: on one CPU, and without
// collecting garbage until there is a gigabyte of it.
func cachegrind() (*meter, error) {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return nil, errors.New("valgrind is not installed (Debian and Ubuntu: apt-get install valgrind)")
	}
	return &meter{gate.InstructionMeter{Name: "cachegrind", Slower: 100, Enough: 5 * time.Millisecond}, underCachegrind}, nil
}

func underCachegrind(ctx context.Context, t tester, b testBinary, match string, n int) (executed map[string]float64, err error) {
	dir, err := os.MkdirTemp(t.temp, "cachegrind-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	counts, log := filepath.Join(dir, "counts"), filepath.Join(dir, "log")
	file := func(path string) string { return strings.ReplaceAll(path, "%", "%%") } // %p is the process there
	b.under = []string{
		"valgrind", "--command-line-only=yes", "--tool=cachegrind", "--cache-sim=no",
		"--cachegrind-out-file=" + file(counts), "--log-file=" + file(log),
	}
	if err := t.counts(ctx, b, match, n); err != nil {
		return nil, unknownInstruction(log, err)
	}
	return readCachegrind(counts)
}

var unhandled = regexp.MustCompile(`unhandled instruction bytes: ((?:0x[0-9A-F]{2} ?)+)`)

// unknownInstruction explains the end of a program that valgrind cannot play.
func unknownInstruction(log string, err error) error {
	text, unread := os.ReadFile(log)
	if bytes := unhandled.FindSubmatch(text); unread == nil && bytes != nil {
		return fmt.Errorf("it uses an instruction that valgrind does not know (%s), as those of AVX-512 are", strings.TrimSpace(string(bytes[1])))
	}
	return err
}

// readCachegrind sums up the instructions of each function. Without names of
// functions, which a stripped program has not, there is one that has no name.
func readCachegrind(path string) (executed map[string]float64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cachegrind wrote no counts: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	executed = map[string]float64{}
	function := ""
	in := bufio.NewScanner(file)
	in.Buffer(nil, 1<<20) // names of generic functions are long
	for in.Scan() {
		line := in.Text()
		if name, ok := strings.CutPrefix(line, "fn="); ok {
			function = strings.TrimPrefix(name, "???")
			continue
		}
		at, number, ok := strings.Cut(line, " ")
		if _, err := strconv.Atoi(at); err != nil || !ok {
			continue // of the header, a file's name or the summary
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, fmt.Errorf("cachegrind's counts have the line %q: %w", line, err)
		}
		executed[function] += n
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("cachegrind's counts: %w", err)
	}
	if len(executed) == 0 {
		return nil, errors.New("cachegrind counted nothing")
	}
	return executed, nil
}
