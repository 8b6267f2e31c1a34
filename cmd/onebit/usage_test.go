package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/cmd/internal/cli"
	"onebit/kernels"
	"onebit/models/engine/cpu"
)

// saidOf runs a command that must end with a status, and returns what it says on
// standard error.
func saidOf(t *testing.T, status int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), strings.NewReader(""), &stdout, &stderr, args); code != status {
		t.Errorf("onebit %s: exit status %d, want %d: %s", strings.Join(args, " "), code, status, stderr.String())
	}
	return stderr.String()
}

// A wrong command line is blamed on what is wrong in it, in words of this program.
func TestBlame(t *testing.T) {
	for _, tt := range []struct {
		args string
		want string
	}{
		{"benchh --short", `unknown verb "benchh", did you mean "bench"?`},
		{"nothing --like -this", `unknown verb "nothing"`},
		{"--short", "unknown flag: --short"},
		{"bench --shrt", "unknown flag: --shrt"},
		{"bench --count many", "--count many: give a whole number"},
		{"bench --threads 1,two", "--threads 1,two: give a whole number"},
		{"bench --time 20", "--time 20: give a length of time such as 20ms or 2m"},
		{"run --seed -1 -p x", "--seed -1: give a whole number from 0 on"},
		{"run --temp hot -p x", "--temp hot: give a number"},
		{"bench --threads 99999", "--threads 99999: this process may use "},
		{"bench --filter /format:i2_s~AND", "--filter: /format:i2_s AND: AND needs a term on each side"},
		{"run -p x --variant avx512vnni-lookup --act q8_128", "--variant: avx512vnni-lookup takes activations in q8_32: no format has it in q8_128"},
	} {
		args := strings.Fields(tt.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "~", " ")
		}
		said, _, _ := strings.Cut(saidOf(t, 2, args...), "\n")
		if !strings.HasPrefix(said, "onebit: "+tt.want) {
			t.Errorf("onebit %s: %s\nwant %s", tt.args, said, tt.want)
		}
		if strings.Contains(said, "strconv") {
			t.Errorf("onebit %s: %s", tt.args, said)
		}
	}
}

func TestCheckThreads(t *testing.T) {
	for _, tt := range []struct {
		threads []int
		usable  int
		ok      bool
	}{{nil, 1, true}, {[]int{1, 2}, 2, true}, {[]int{2}, 1, false}, {[]int{1, 99}, 2, false}, {[]int{0}, 64, false}, {[]int{64}, 64, true}} {
		if err := checkThreads(tt.threads, tt.usable); (err == nil) != tt.ok {
			t.Errorf("%v of %d: %v", tt.threads, tt.usable, err)
		}
	}
}

// What is said of a run before it is what it does: a number of samples that time may
// cut short is the most.
func TestPlanned(t *testing.T) {
	suite := bench.Suite{Cases: make([]bench.Case, 83), Studies: make([]bench.Study, 1)}
	for exact, want := range map[bool]string{true: "83 cases, 10 samples each, and 1 study", false: "83 cases, up to 10 samples each, and 1 study"} {
		if got := planned(suite, bench.Plan{Count: 10}, exact); got != want {
			t.Errorf("planned = %q, want %q", got, want)
		}
	}
}

// A variant that a format has in one scheme alone runs in that one.
func TestVariantOfAnotherScheme(t *testing.T) {
	for _, v := range kernels.Variants() {
		if _, err := kernels.Lookup(v.Format.Name, v.Name, kernels.FormatOf(v.Format).Scheme); err == nil || v.Available() != nil {
			continue
		}
		if _, err := kernels.Lookup(v.Format.Name, v.Name, kernels.F32); err == nil {
			continue
		}
		choice, err := cpu.Prefer(v.Name, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := choice.Variant(v.Format); err != nil || got.Name != v.Name {
			t.Errorf("%s: %v runs in its place (%v)", v, got, err)
		}
	}
}

// repositoryDoc is a pointer to documentation that only a checkout of onebit has.
var repositoryDoc = regexp.MustCompile(`go doc (\S+)`)

// What help tells to type works where people are: go doc knows no onebit in a module of
// theirs.
func TestHelpNamesTheRepository(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		help := strings.Join(strings.Fields(cmd.Long+" "+cmd.LocalFlags().FlagUsages()), " ")
		for _, m := range repositoryDoc.FindAllStringSubmatch(help, -1) {
			if !strings.HasPrefix(m[1], "./") || !strings.Contains(help, "onebit's repository") {
				t.Errorf("onebit %s: %s", cmd.Name(), m[0])
			}
		}
		for _, verb := range cmd.Commands() {
			check(verb)
		}
	}
	check(newRoot())
}

// A table has the width that there is, also from report, and names what has no room.
func TestReportTableWidth(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	path := filepath.Join(t.TempDir(), "results.txt")
	const sample = "BenchmarkMatVec/format=q1_0_g128/variant=avx512vnni-native-lookup/act=q8_128/rows=2048/cols=2048/threads=2/cache=cold 1 5 ns/op 70 %roof 1e9 weight-B/s 5 packed-B 0.001 nmse 9 tok/s\n"
	writeFileText(t, path, strings.Repeat(sample, 6))
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, &stdout, &stderr, []string{"report", path, "--format", "table"}); code != 0 {
		t.Fatal(stderr.String())
	}
	for line := range strings.Lines(stdout.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(stdout.String(), "No room for: ") {
		t.Errorf("what is left out is not named:\n%s", stdout.String())
	}
}

// The flags of each verb are explained in lines that a usual terminal has.
func TestFlagsFitTerminals(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		_, flags, _ := strings.Cut(cmd.UsageString(), "\nFlags:\n")
		flags, _, _ = strings.Cut(flags, "\n\n")
		for line := range strings.Lines(flags) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > cli.HelpWidth && len(strings.Fields(line)) > 1 {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, verb := range cmd.Commands() {
			check(verb)
		}
	}
	check(newRoot())
}

// An interrupt is told as such, and nothing is left.
func TestRunInterrupted(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "before"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, nil, &stdout, &stderr, []string{"synth", "tiny", "-o", filepath.Join(dir, "tiny.gguf")})
	if code != 1 || !strings.HasPrefix(stderr.String(), "onebit: interrupted: ") {
		t.Errorf("status %d, error output %q", code, &stderr)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != "before" {
		t.Errorf("directory holds %v, %v; want before alone", files, err)
	}
}
