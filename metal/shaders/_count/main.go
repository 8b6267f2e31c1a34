// Count prints how many instructions the products' inner loops take per 128
// weights. It hands the shaders, with the constants of a plan, to clang for
// another GPU, NVPTX, whose virtual instructions a compiler that everybody has
// writes down, one for each operation of a thread; see
// docs/measurements/metal-instructions.md. Usage, in the repository's root:
//
//	go run ./metal/shaders/_count
//	go run ./metal/shaders/_count FILE KERNEL WEIGHTS ...
//
// The second form counts other shaders, from copies that compile behind metal.h, as
// Metal compiles them unless told otherwise: with fast math. WEIGHTS is how many an
// iteration takes. CLANG names the compiler, if it isn't clang++.
package main

import (
	_ "embed"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"onebit/formats"
	"onebit/metal/shaders"
)

//go:embed metal.h
var header []byte

func main() {
	log.SetFlags(0)
	fmt.Println("| kernel | weights | rows a thread | columns | loads | threadgroup memory | full rate | quarter rate | matrices | addresses | cycles |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	if len(os.Args) > 1 {
		others(os.Args[1], os.Args[2:])
		return
	}
	for _, c := range []struct {
		variant    string
		format     *formats.Type
		actColumns uint32
		rows       int
		columns    int // of activations
		weights    int // times columns, of an iteration; 0: by the population counts
	}{
		{"metal-tiles", formats.Q1_0_g128, 128, 2048, 1, 0},
		{"metal-tiles", formats.Q1_0_g128, 128, 8192, 1, 0},
		{"metal-tiles", formats.Q1_0_g128, 32, 2048, 1, 0},
		{"metal-lanes", formats.Q1_0_g128, 128, 2048, 1, 0},
		{"metal-tiles", formats.I2_S, 0, 2048, 1, 0},
		{"metal-tiles", formats.I2_S, 0, 8192, 1, 0},
		{"metal-lanes", formats.I2_S, 0, 2048, 1, 0},
		{"metal-tiles", formats.Q2_0_g128, 128, 8192, 1, 0},
		{"metal-lanes", formats.Q2_0_g128, 128, 2048, 1, 0},
		{"metal-bytes", formats.Q8_0, 32, 2048, 1, 512},
		{"metal-bytes", formats.Q8_0, 32, 2048, 2, 1024},
		{"metal-bytes", formats.Q8_0, 32, 2048, 4, 1024},
		{"metal-bytes", formats.Q6_K, 32, 2048, 1, 512},
		{"metal-bytes", formats.Q6_K, 32, 2048, 4, 1024},
		{"metal-bytes", formats.Q4_0, 32, 2048, 1, 512},
		{"metal-bytes", formats.Q4_0, 32, 2048, 4, 1024},
		{"metal-dense", formats.F16, 0, 2048, 1, 16},
		{"metal-dense", formats.Q4_K, 0, 2048, 1, 128}, // of a block of 256, a thread has an eighth of four rows
		{"metal-dense", formats.Q4_K, 0, 2048, 4, 512},
		{"metal-tiles-matrix", formats.Q1_0_g128, 128, 2048, 32, 256},
		{"metal-tiles-matrix", formats.I2_S, 0, 2048, 32, 256},
		{"metal-tiles-matrix", formats.Q2_0_g128, 128, 2048, 32, 256},
		{"metal-bytes-matrix", formats.Q8_0, 32, 2048, 32, 256},
	} {
		for _, v := range shaders.Variants() {
			if v.Name != c.variant {
				continue
			}
			p, err := v.Plan(c.format, c.actColumns, c.rows, 2048, c.columns)
			if err != nil {
				log.Fatal(err)
			}
			ptx, err := compile(v.Source, p.Constants, "-ffp-contract=off")
			if err != nil {
				log.Fatalf("%s of %s: %v", v.Name, c.format.Name, err)
			}
			n := count(ptx, v.Kernel)
			weights := c.weights
			if weights == 0 {
				bits, _ := p.Constants[0].(uint32)
				weights = n.popcounts * 4 / int(bits)
			}
			rows := "4"
			switch v.Source {
			case shaders.Planes:
				rows = fmt.Sprint(p.Constants[10])
			case shaders.Bytes:
				rows = fmt.Sprint(p.Constants[4])
			case shaders.Matrices:
				rows = "32 a group"
			}
			n.print(fmt.Sprintf("%s, %s, %d", v.Name, c.format.Name, c.actColumns), rows, c.columns, weights)
		}
	}
}

// others counts kernels of a file.
func others(file string, kernels []string) {
	source, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	ptx, err := compile(string(source), nil, "-ffp-contract=fast", "-ffast-math")
	if err != nil {
		log.Fatalf("%s: %v", file, err)
	}
	for ; len(kernels) > 1; kernels = kernels[2:] {
		weights, err := strconv.Atoi(kernels[1])
		if err != nil {
			log.Fatal(err)
		}
		count(ptx, kernels[0]).print(kernels[0], "", 1, weights)
	}
}

var (
	attributes = regexp.MustCompile(`\[\[[^\]]*\]\]`)
	function   = regexp.MustCompile(`constant (\w+) (\w+)\s*\[\[function_constant\((\d+)\)\]\];`)
	shared     = regexp.MustCompile(`(?m)^\tthreadgroup (\w+) (\w+)\[`)
	vector     = regexp.MustCompile(`\b(float2|float4|ulong2)\(`)
	static     = regexp.MustCompile(`(?m)^static (\w.*\()`)
	prologue   = regexp.MustCompile(`(?m)^(#include <metal_\w+>|using namespace metal;|#pragma METAL.*)$`)
)

// compile returns the instructions of a source with values for its constants. All
// inner loops are unrolled.
func compile(source string, constants map[int]any, flags ...string) (string, error) {
	source = function.ReplaceAllStringFunc(source, func(s string) string {
		m := function.FindStringSubmatch(s)
		var index int
		fmt.Sscan(m[3], &index)
		return fmt.Sprintf("constexpr %s %s = %v;", m[1], m[2], constants[index])
	})
	source = prologue.ReplaceAllString(source, "")
	source = strings.ReplaceAll(source, "constexpr constant", "constexpr")
	source = strings.ReplaceAll(source, "\nconstant ", "\nconstexpr ")
	source = attributes.ReplaceAllString(source, "")
	source = shared.ReplaceAllString(source, "\tstatic threadgroup $1 $2[")
	source = vector.ReplaceAllString(source, "to_$0")
	source = static.ReplaceAllString(source, "static INLINE $1")
	folder, err := os.MkdirTemp("", "count-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "shader.cpp")
	if err := os.WriteFile(file, append(append(header, '\n'), source...), 0o666); err != nil {
		return "", err
	}
	clang := "clang++"
	if c := os.Getenv("CLANG"); c != "" {
		clang = c
	}
	cmd := exec.Command(clang, append(flags, "-std=c++17", "--target=nvptx64-nvidia-cuda", "-march=sm_70", "-nogpulib", "-O3", "-fno-slp-vectorize",
		"-mllvm", "-unroll-threshold=200000", "-mllvm", "-unroll-full-max-count=100000", "-w", "-S", "-o", "-", file)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return string(out), err
}

// A tally is of the instructions of a loop.
type tally struct {
	loads, local, full, quarter, matrices, addresses, popcounts int

	adder *tally // of one term, in a loop of its own
	term  *tally // of all of a thread's that end together
}

// cycles takes a product of two matrices of 8 × 8 as 512 fused multiply-adds of 32 threads.
func (n tally) cycles() int { return n.full + 4*n.quarter + 16*n.matrices }

var (
	label = regexp.MustCompile(`^(\$L__BB\d+_\d+):|^// %bb\.`)
	small = regexp.MustCompile(`^shl\.b32\s+(%r\d+), %r\d+, [1-4];`)
	pred  = regexp.MustCompile(`^setp\.\S+\s+(%p\d+),`)
)

// A block is instructions with no jump among them.
type block struct {
	label        string
	inLoop       bool
	instructions []string
}

func (b block) text() string { return strings.Join(b.instructions, "\n") }

func blocksOf(body string) (blocks []block) {
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if m := label.FindStringSubmatch(line); m != nil {
			blocks = append(blocks, block{label: m[1], inLoop: strings.Contains(line, "Loop")})
		} else if len(blocks) > 0 && line != "" && !strings.ContainsAny(line[:1], "./{})($") {
			last := &blocks[len(blocks)-1]
			last.instructions = append(last.instructions, line)
		}
	}
	return blocks
}

// count finds the loop of a kernel: of one that multiplies matrices, all that is in a
// loop; of others their longest block, and those behind it up to a barrier or the end of
// the loop, and the loop that adds terms, if there is one.
func count(ptx, kernel string) tally {
	_, body, _ := strings.Cut(ptx, ".entry "+kernel+"(")
	body, _, _ = strings.Cut(body, "-- End function")
	blocks := blocksOf(body)
	if strings.Contains(body, "simdgroup.multiply") {
		return countMatrices(blocks, body)
	}
	longest := 0
	for i := range blocks {
		if len(blocks[i].instructions) > len(blocks[longest].instructions) {
			longest = i
		}
	}
	var loop []string
	for _, b := range blocks[longest:] {
		loop = append(loop, b.instructions...)
		if text := b.text(); strings.Contains(text, "call") || strings.Contains(text, "bra") && strings.Contains(text, blocks[longest].label) {
			break
		}
	}
	n := classify(loop, body)
	for _, b := range blocks[longest+1:] {
		text := b.text()
		if reads := strings.Count(text, "ld.shared"); reads >= 4 && b.label != "" && strings.Contains(text, b.label+";") {
			t := classify(b.instructions, body)
			t.local, t.full, t.quarter, t.addresses = 1, (t.full+reads-1)/reads, (t.quarter+reads-1)/reads, (t.addresses+reads-1)/reads
			n.adder = &t
			break
		}
	}
	return n
}

// countMatrices counts the one loop that is left, apart from what it does where a term ends.
func countMatrices(blocks []block, body string) tally {
	var loop, term []string
	for _, b := range blocks {
		switch {
		case !b.inLoop:
		case strings.Contains(b.text(), "simdgroup.store"):
			term = append(term, b.instructions...)
		default:
			loop = append(loop, b.instructions...)
		}
	}
	n, t := classify(loop, body), classify(term, body)
	n.term = &t
	return n
}

// classify counts by what an instruction costs an Apple GPU. A comparison whose
// result selects, and a shift by at most four whose result is added, are one
// instruction with it; moves, and extensions of what was loaded, of fp16 to float
// too, are none.
func classify(instructions []string, body string) (n tally) {
	for _, in := range instructions {
		name, _, _ := strings.Cut(in, " ")
		name, _, _ = strings.Cut(name, "\t")
		is := func(prefixes ...string) bool {
			for _, p := range prefixes {
				if strings.HasPrefix(name, p) {
					return true
				}
			}
			return false
		}
		switch {
		case is("ld.global"):
			n.loads++
		case is("simdgroup.multiply"):
			n.matrices++
		case is("ld.shared", "st.shared", "simdgroup."):
			n.local++
		case is("ld.", "st.", "mov", "cvt.f32.f16", "cvt.u32.u16", "cvt.u16", "cvt.s32.s8", "call", "ret", "bar"):
		case is("mul.wide", "mad.wide", "add.s64", "shl.b64", "cvt.u64", "cvt.s64", "mul.lo.s64", "mad.lo.s64", "sub.s64", "and.b64", "shr.u64", "cvt.u32.u64"):
			n.addresses++
		case is("popc"):
			n.popcounts++
			n.quarter++
		case is("setp") && used(body, pred.FindStringSubmatch(in), "selp"):
		case is("shl.b32") && used(body, small.FindStringSubmatch(in), "add.s32"):
		case is("shl", "shr", "shf", "bfe", "prmt", "cvt", "mul.lo", "mad.lo", "mul24"):
			n.quarter++
		default:
			n.full++
		}
	}
	return n
}

// used reports whether the register of a match is an operand of such an instruction.
func used(body string, match []string, by string) bool {
	return match != nil && regexp.MustCompile(regexp.QuoteMeta(by)+`[^;\n]*, `+regexp.QuoteMeta(match[1])+`\b|`+regexp.QuoteMeta(by)+`[^;\n]*, [^;\n]*`+regexp.QuoteMeta(match[1])+`;`).MatchString(body)
}

func (n tally) print(name, rows string, columns, weights int) {
	per := func(x int) float64 { return float64(x) * 128 / float64(weights) }
	fmt.Printf("| %s | %d | %s | %d | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", name, weights, rows, columns,
		per(n.loads), per(n.local), per(n.full), per(n.quarter), per(n.matrices), per(n.addresses), per(n.cycles()))
	for what, t := range map[string]*tally{"for each term": n.adder, "where a term ends": n.term} {
		if t != nil {
			fmt.Printf("| …%s | | | | %d | %d | %d | %d | %d | %d | %d |\n", what, t.loads, t.local, t.full, t.quarter, t.matrices, t.addresses, t.cycles())
		}
	}
}
