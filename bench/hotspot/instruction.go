package hotspot

import (
	"slices"
	"strconv"
	"strings"
)

// An Instruction is one line of a disassembly.
type Instruction struct {
	Addr     uint64
	Mnemonic string // without what is written before it, such as lock
	Operands string // as the disassembler wrote them, without its comment
	Target   uint64 // where a branch goes; 0: nowhere that is known
}

func (i Instruction) String() string { return strings.TrimSpace(i.Mnemonic + " " + i.Operands) }

// A Kind is what an instruction does. Each has one: a multiplication that also
// reads memory is a multiplication, and Reads.
type Kind int

const (
	Load        Kind = iota // moves memory to registers
	Store                   // moves registers to memory
	MultiplyAdd             // multiplies, or multiplies and adds: also dot products
	Shuffle                 // moves parts of vectors about: permutations, table look-ups, packing
	Convert                 // one type of number to another
	Arithmetic              // other work on vectors and floats: additions, masks, shifts, comparisons
	Scalar                  // work on integer registers: addresses, counters
	Branch                  // jumps, calls, returns
	Prefetch                // asks for memory ahead
	numKinds
)

// Kinds are all of them.
var Kinds = []Kind{Load, Store, MultiplyAdd, Shuffle, Convert, Arithmetic, Scalar, Branch, Prefetch}

func (k Kind) String() string {
	return [numKinds]string{"load", "store", "multiply-add", "shuffle", "convert", "arithmetic", "scalar", "branch", "prefetch"}[k]
}

// A Mix is how many instructions of each kind there are.
type Mix struct {
	Kinds   [numKinds]float64
	Reads   float64 // that read memory, whatever their kind; prefetches don't
	Vectors float64 // that work on vector, mask or float registers, whatever their kind
}

// Add counts an instruction n times.
func (m *Mix) Add(i Instruction, n float64) {
	m.Kinds[i.Kind()] += n
	if i.Reads() {
		m.Reads += n
	}
	if i.vector() {
		m.Vectors += n
	}
}

// Total is the number of instructions.
func (m Mix) Total() float64 {
	sum := 0.0
	for _, n := range m.Kinds {
		sum += n
	}
	return sum
}

// operands splits the operands at commas outside brackets.
func (i Instruction) operands() (all []string) {
	depth, start := 0, 0
	for at, c := range i.Operands {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				all = append(all, strings.TrimSpace(i.Operands[start:at]))
				start = at + 1
			}
		}
	}
	if rest := strings.TrimSpace(i.Operands[start:]); rest != "" {
		all = append(all, rest)
	}
	return all
}

// isMemory reports whether an operand of x86, as AT&T writes them, or of arm64
// is in memory.
func isMemory(operand string) bool {
	if strings.HasPrefix(operand, "[") {
		return true
	}
	return strings.HasSuffix(strings.SplitN(operand, "{", 2)[0], ")") || strings.HasPrefix(operand, "%fs:") || strings.HasPrefix(operand, "%gs:")
}

// x86 reports whether the operands are written as those of x86 are: registers
// have a percent sign, constants a dollar.
func (i Instruction) x86() bool { return strings.ContainsAny(i.Operands, "%$(") }

// hasPrefix reports whether the mnemonic begins with one of the words.
func (i Instruction) hasPrefix(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(i.Mnemonic, w) })
}

// Kind tells what the instruction does by its name and its operands.
func (i Instruction) Kind() Kind {
	switch {
	case i.hasPrefix("prefetch", "prfm", "prfum"):
		return Prefetch
	case i.isBranch():
		return Branch
	case i.hasPrefix("nop", "endbr", "yield", "hint", "pause"):
		return Scalar
	case i.hasPrefix(multiplyAdds...):
		return MultiplyAdd
	case i.onlyLoads():
		return Load
	case i.onlyStores():
		return Store
	case i.hasPrefix(conversions...):
		return Convert
	case i.hasPrefix(shuffles...) || i.vectorMove():
		return Shuffle
	case i.vector():
		return Arithmetic
	}
	return Scalar
}

var (
	multiplyAdds = []string{
		"vpdp", "vdp", "dpp", "vpmadd", "pmadd", "vfmadd", "vfmsub", "vfnm", "vpmul", "pmul", "vmul", "mul", "imul",
		"sdot", "udot", "usdot", "sudot", "bfdot", "smmla", "ummla", "usmmla", "bfmmla", "smlal", "umlal", "smull", "umull", "smlsl", "umlsl",
		"mla", "mls", "madd", "msub", "fmla", "fmls", "fmul", "fmadd", "fmsub", "fnmul", "fnmadd", "sqdmull", "sqrdmulh",
	}
	conversions = []string{
		"vcvt", "cvt", "vpmovsx", "vpmovzx", "pmovsx", "pmovzx", "vpmovd", "vpmovw", "vpmovq", "vpmovs", "vpmovus",
		"scvtf", "ucvtf", "fcvt", "bfcvt", "sxtl", "uxtl", "sshll", "ushll", "xtn", "sqxt", "uqxt", "shrn", "shll",
	}
	shuffles = []string{
		"vpshuf", "pshuf", "vperm", "vpunpck", "punpck", "vunpck", "unpck", "vpack", "pack", "vinsert", "vextract", "vpinsr", "pinsr", "vpextr", "pextr",
		"vbroadcast", "vpbroadcast", "valign", "vpalign", "palign", "vshuf", "shuf", "vpblend", "vblend", "pblend", "blend", "vpslldq", "vpsrldq",
		"pslldq", "psrldq", "vmovddup", "vmovs", "vmovhlps", "vmovlhps", "movhlps", "movlhps", "vpcompress", "vpexpand", "vpmovm2", "vpmovmsk", "pmovmsk",
		"vmovmsk", "movmsk",
		"tbl", "tbx", "zip", "uzp", "trn", "dup", "umov", "smov", "rev64", "rev32", "bsl", "bit", "bif",
	}
)

func (i Instruction) isBranch() bool {
	if i.x86() || !strings.Contains(i.Operands, ",") {
		if i.hasPrefix("j", "call", "ret") {
			return true
		}
	}
	return i.Mnemonic == "b" || i.hasPrefix("b.", "bl", "br", "cbz", "cbnz", "tbz", "tbnz") && !i.x86() && !i.hasPrefix("blend")
}

// moves are the names of x86's moves, without those that look like them.
func (i Instruction) moves() bool {
	return i.hasPrefix("mov", "vmov", "kmov", "lddqu", "vlddqu", "vbroadcast", "vpbroadcast", "pop", "vpgather", "vgather") && !i.hasPrefix("movmsk", "vmovmsk")
}

func (i Instruction) onlyLoads() bool {
	if !i.x86() {
		return strings.HasPrefix(i.Mnemonic, "ld") && strings.Contains(i.Operands, "[")
	}
	return i.moves() && i.Reads()
}

func (i Instruction) onlyStores() bool {
	if !i.x86() {
		return strings.HasPrefix(i.Mnemonic, "st") && strings.Contains(i.Operands, "[")
	}
	all := i.operands()
	return i.hasPrefix("mov", "vmov", "kmov", "vpmov", "vextract", "set", "vcvtps2ph") && len(all) > 0 && isMemory(all[len(all)-1])
}

// Reads reports whether the instruction reads memory, but for a stack that is
// not spelled out.
func (i Instruction) Reads() bool {
	if !i.x86() {
		return strings.HasPrefix(i.Mnemonic, "ld") && strings.Contains(i.Operands, "[")
	}
	if i.hasPrefix("lea", "nop", "prefetch") {
		return false
	}
	all := i.operands()
	at := slices.IndexFunc(all, isMemory)
	// The last operand is written; all but moves read it before.
	return at >= 0 && (at < len(all)-1 || !i.onlyStores())
}

// vector reports whether the instruction works on vector, mask or float
// registers.
func (i Instruction) vector() bool {
	if i.x86() {
		return strings.Contains(i.Operands, "mm") || strings.Contains(i.Operands, "%k")
	}
	for _, operand := range i.operands() {
		if operand = strings.Trim(operand, "{}[] "); len(operand) > 1 && strings.ContainsRune("vqdsh", rune(operand[0])) {
			if number, _, _ := strings.Cut(operand[1:], "."); isNumber(number) {
				return true
			}
		}
	}
	return i.hasPrefix("fcmp", "fadd", "fsub")
}

// vectorMove reports whether the instruction moves a part of a vector, or between
// vectors and other registers. arm64 calls many things mov.
func (i Instruction) vectorMove() bool {
	return !i.x86() && (i.Mnemonic == "mov" || i.Mnemonic == "ext" || i.Mnemonic == "ins" || i.Mnemonic == "fmov") && i.vector()
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}
