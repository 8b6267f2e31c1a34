package hotspot

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// An MCA is llvm-mca, which simulates a processor that it has a table of.
type MCA struct {
	Path    string
	Version string // 14.0.6
	host    string // what it calls this machine's CPU; "" if it does not know it
}

// FindMCA looks for llvm-mca.
func FindMCA(ctx context.Context) (*MCA, error) {
	path, err := exec.LookPath("llvm-mca")
	if err != nil {
		return nil, errors.New("llvm-mca is not installed (Debian's package llvm)")
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", path, err)
	}
	m := &MCA{Path: path}
	m.Version, m.host = parseMCAVersion(string(out))
	return m, nil
}

var (
	mcaVersion = regexp.MustCompile(`LLVM version (\S+)`)
	mcaHost    = regexp.MustCompile(`Host CPU: (\S+)`)
)

func parseMCAVersion(text string) (version, host string) {
	if found := mcaVersion.FindStringSubmatch(text); found != nil {
		version = found[1]
	}
	if found := mcaHost.FindStringSubmatch(text); found != nil && found[1] != "(unknown)" && !strings.HasPrefix(found[1], "generic") && found[1] != "x86-64" {
		host = found[1]
	}
	return version, host
}

// standIns are processors that llvm-mca has tables of, by the makers or else the
// architecture of those that they stand for; the nearest first, and last those that know most instructions.
var standIns = map[string][]string{
	"AuthenticAMD": {"znver4", "znver3", "icelake-server"},
	"amd64":        {"sapphirerapids", "icelake-server", "skylake-avx512"},
	"arm64":        {"neoverse-n1", "apple-m1", "cortex-a76", "cortex-a57"},
}

// An Analysis is what llvm-mca says of a loop. All are cycles of an iteration.
type Analysis struct {
	CPU     string // whose table was used
	StandIn bool   // for this machine's own, which it has none of
	Version string // of llvm-mca

	Loads     float64 // least, by what loads and prefetches alone take; 0 if there are none
	Ports     float64 // least, by the units that all instructions need and by the width of dispatch
	Simulated float64 // with what waits for results of others, and no cache missed

	// Shares of the simulated cycles in which something waited.
	OnPorts, OnResults float64
}

// Source says where the analysis is from, for people.
func (a *Analysis) Source() string {
	text := fmt.Sprintf("llvm-mca %s with the tables of %s", a.Version, a.CPU)
	if a.StandIn {
		text += ", which stands in for this machine's CPU"
	}
	return text
}

// Analyze simulates a loop of this machine's instructions. maker is the CPU's, as
// CPUID names it; cpu is the processor to simulate, "" for this machine's, or
// where llvm-mca does not know it, one that stands in.
func (m *MCA) Analyze(ctx context.Context, loop []Instruction, maker, cpu string) (*Analysis, error) {
	candidates := []string{cpu}
	if cpu == "" {
		candidates = nil
		if m.host != "" {
			candidates = []string{m.host}
		}
		stand := standIns[maker]
		if stand == nil { // no CPUID, or not asked
			stand = standIns[runtime.GOARCH]
		}
		candidates = append(candidates, stand...)
	}
	var failed error
	for _, c := range candidates {
		a, err := m.analyze(ctx, loop, c)
		if err == nil {
			a.StandIn = c != m.host
			return a, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		failed = fmt.Errorf("llvm-mca %s as %s: %w", m.Version, c, err)
	}
	if failed == nil {
		failed = fmt.Errorf("llvm-mca %s does not know this machine's CPU: name one that it does by --mca-cpu", m.Version)
	}
	return nil, failed
}

func (m *MCA) analyze(ctx context.Context, loop []Instruction, cpu string) (*Analysis, error) {
	whole, err := m.simulate(ctx, assembly(loop), cpu)
	if err != nil {
		return nil, err
	}
	a := &Analysis{CPU: cpu, Version: m.Version, Ports: whole.throughput, Simulated: whole.cycles, OnPorts: whole.onPorts, OnResults: whole.onResults}
	if loads := loadsOf(loop); loads != "" {
		alone, err := m.simulate(ctx, loads, cpu)
		if err != nil {
			return nil, err
		}
		a.Loads = alone.throughput
	}
	return a, nil
}

// mcaIterations make the start negligible.
const mcaIterations = 1000

func (m *MCA) simulate(ctx context.Context, code, cpu string) (mcaSummary, error) {
	args := []string{"-mcpu=" + cpu, "-iterations=" + strconv.Itoa(mcaIterations), "-bottleneck-analysis", "-instruction-info=0", "-resource-pressure=0"}
	if runtime.GOARCH == "arm64" {
		args = append(args, "-march=aarch64", "-mattr=+dotprod,+i8mm,+bf16,+fullfp16")
	}
	c := exec.CommandContext(ctx, m.Path, args...)
	c.Stdin = strings.NewReader(code)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n"); strings.Contains(line, "not a recognized processor") || err != nil && line != "" {
		return mcaSummary{}, errors.New(line)
	}
	if err != nil {
		return mcaSummary{}, err
	}
	return parseMCA(out)
}

// assembly is a loop as llvm-mca's assembler reads it: a branch needs a label, and
// where it goes does not matter.
func assembly(loop []Instruction) string {
	var b strings.Builder
	b.WriteString("L:\n")
	for _, i := range loop {
		operands := i.Operands
		if i.Target != 0 {
			all := i.operands()
			operands = strings.Join(append(all[:len(all)-1], "L"), ", ")
		}
		fmt.Fprintf(&b, "%s %s\n", i.Mnemonic, operands)
	}
	return b.String()
}

// loadsOf are the loads and prefetches of a loop alone: what reads and does more is
// replaced by a plain load to a register of the same size. They wait for nothing.
func loadsOf(loop []Instruction) string {
	var b strings.Builder
	for n, i := range loop {
		switch {
		case i.Kind() == Prefetch, i.Reads() && !i.x86():
			fmt.Fprintln(&b, i)
		case i.Reads():
			all := i.operands()
			memory := all[slices.IndexFunc(all, isMemory)]
			memory, _, _ = strings.Cut(strings.TrimPrefix(memory, "*"), "{")
			register := fmt.Sprintf("%%r%d", 8+n%8)
			move := "movq"
			for _, size := range []string{"zmm", "ymm", "xmm"} {
				if strings.Contains(i.Operands, size) {
					move, register = "vmovups", fmt.Sprintf("%%%s%d", size, n%16)
					break
				}
			}
			fmt.Fprintf(&b, "%s %s, %s\n", move, memory, register)
		}
	}
	return b.String()
}

// An mcaSummary is what is used of llvm-mca's report.
type mcaSummary struct {
	cycles, throughput float64 // of an iteration
	onPorts, onResults float64
}

// parseMCA reads the summary and the bottleneck analysis:
//
//	Iterations:        100
//	Total Cycles:      511
//	Block RThroughput: 1.5
//	  Resource Pressure       [ 15.69% ]
//	  Data Dependencies:      [ 62.75% ]
func parseMCA(text []byte) (s mcaSummary, err error) {
	values := map[string]float64{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			name, value, ok = strings.Cut(lines.Text(), "[")
		}
		value = strings.Trim(value, "[]% ")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			if name = strings.TrimSpace(name); values[name] == 0 { // those of parts come behind
				values[name] = v
			}
		}
	}
	iterations := values["Iterations"]
	s = mcaSummary{
		cycles: values["Total Cycles"] / iterations, throughput: values["Block RThroughput"],
		onPorts: values["Resource Pressure"] / 100, onResults: values["Data Dependencies"] / 100,
	}
	if !(iterations > 0) || !(s.cycles > 0) || !(s.throughput > 0) {
		return s, errors.New("it printed no summary")
	}
	return s, lines.Err()
}
