package hotspot

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A Disassembler is objdump of GNU binutils or of LLVM.
type Disassembler struct {
	Path string
	Name string // the first line of its --version
	llvm bool
}

// FindDisassembler looks for objdump and llvm-objdump, in this order, and takes
// the first that can read this program: objdump may be another architecture's.
func FindDisassembler(ctx context.Context) (*Disassembler, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"objdump", "llvm-objdump"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		version, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil || exec.CommandContext(ctx, path, "-d", "--start-address=0", "--stop-address=1", program).Run() != nil {
			continue
		}
		return newDisassembler(path, string(version)), nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, errors.New("neither objdump nor llvm-objdump is installed and reads this program (Debian's packages binutils and llvm, or Xcode's command-line tools)")
}

func newDisassembler(path, version string) *Disassembler {
	d := &Disassembler{Path: path, llvm: strings.Contains(version, "LLVM")}
	for line := range strings.Lines(version) {
		if line = strings.TrimSpace(line); strings.Contains(line, "objdump") || strings.Contains(line, "LLVM version") {
			d.Name = line
			break
		}
	}
	return d
}

// Disassemble returns the instructions of a function of this program, at their
// addresses in memory.
func (d *Disassembler) Disassemble(ctx context.Context, f Function) ([]Instruction, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	shift, err := shift(program, f)
	if err != nil {
		return nil, fmt.Errorf("disassembling %s: %w", f.Name, err)
	}
	args := []string{"-d", "--no-show-raw-insn",
		fmt.Sprintf("--start-address=%#x", f.Start-shift), fmt.Sprintf("--stop-address=%#x", f.End-shift)}
	if d.llvm && runtime.GOARCH == "arm64" {
		args = append(args, "--mattr=+dotprod,+i8mm,+bf16,+fullfp16")
	}
	out, err := exec.CommandContext(ctx, d.Path, append(args, program)...).Output()
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("disassembling %s with %s: %w%s", f.Name, d.Path, err, complaint(err))
	}
	code, err := parseObjdump(out)
	if err != nil {
		return nil, fmt.Errorf("disassembling %s with %s: %w", f.Name, d.Path, err)
	}
	code = withoutPadding(code)
	for i := range code {
		code[i].Addr += shift
		if code[i].Target != 0 {
			code[i].Target += shift
		}
	}
	return code, nil
}

// withoutPadding leaves out what fills the room up to the next function.
func withoutPadding(code []Instruction) []Instruction {
	for n := len(code); n > 1 && slices.Contains([]string{"int3", "udf", "unknown"}, code[n-1].Mnemonic); n = len(code) {
		code = code[:n-1]
	}
	return code
}

// complaint is what a program said of its failure.
func complaint(err error) string {
	var exit *exec.ExitError
	if !errors.As(err, &exit) || len(bytes.TrimSpace(exit.Stderr)) == 0 {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
	return ": " + line
}

// parseObjdump reads what objdump -d --no-show-raw-insn prints, GNU's or LLVM's,
// of x86 in the syntax of AT&T or of arm64:
//
//	82cbd1:	vpdpbusd (%r11){1to16},%zmm10,%zmm5
//	36dd74:      	ldp	q16, q17, [x8], #32
func parseObjdump(text []byte) ([]Instruction, error) {
	var code []Instruction
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		address, rest, ok := strings.Cut(lines.Text(), ":")
		addr, err := strconv.ParseUint(strings.TrimSpace(address), 16, 64)
		if !ok || err != nil || !strings.HasPrefix(strings.TrimLeft(rest, " "), "\t") {
			continue
		}
		if n := len(code); n > 0 && addr <= code[n-1].Addr {
			return nil, fmt.Errorf("address %x follows %x", addr, code[n-1].Addr)
		}
		code = append(code, parseInstruction(addr, rest))
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(code) == 0 {
		return nil, errors.New("it printed no instructions")
	}
	return code, nil
}

// prefixes stand before x86's mnemonics.
var prefixes = []string{"lock", "rep", "repz", "repe", "repnz", "repne", "notrack", "bnd", "data16", "cs", "ds", "rex.W", "xacquire", "xrelease", "{vex}", "{evex}"}

func parseInstruction(addr uint64, text string) Instruction {
	for _, comment := range []string{" #", "\t#", "//", "<"} { // of x86, of arm64, and the name of a target
		if before, _, found := strings.Cut(text, comment); found && !(comment == " #" && strings.Contains(text, ", #")) {
			text = before
		}
	}
	i := Instruction{Addr: addr}
	words := strings.Fields(text)
	for len(words) > 1 && slices.Contains(prefixes, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 { // <unknown>
		i.Mnemonic = "unknown"
		return i
	}
	i.Mnemonic, i.Operands = words[0], strings.Join(words[1:], " ")
	if i.isBranch() {
		all := i.operands()
		if len(all) > 0 {
			// A target is the last operand; arm64's has 0x before it, and so has LLVM's.
			i.Target, _ = strconv.ParseUint(strings.TrimPrefix(all[len(all)-1], "0x"), 16, 64)
		}
	}
	return i
}
