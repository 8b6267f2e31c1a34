//go:build (amd64 || arm64) && !purego

package kernels_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"onebit/internal/cpu"
	"onebit/kernels"
)

// described are the machines that docs/kernels.md chooses for, by architecture: what
// each generation of CPUs brought.
var described = map[string][]struct {
	name string
	cpu  cpu.Machine
}{
	"amd64": {
		{"no SIMD", cpu.Machine{}},
		{"Haswell", xeon.With(kernels.AVX2.Requires)},
		{"Zen 3", zen4.With(kernels.AVX2.Requires)},
		{"Alder Lake", xeon.With(kernels.AVXVNNI.Requires)},
		{"Skylake-X", xeon.With(kernels.AVX512.Requires)},
		{"Ice Lake", xeon.With(kernels.AVX512VNNI.Requires)},
		{"Sapphire Rapids", xeon.With(kernels.AVX512VNNI.Requires | cpu.AVXVNNI)},
		{"Zen 4", zen4.With(kernels.AVX512VNNI.Requires)},
		{"Zen 5", zen5.With(kernels.AVX512VNNI.Requires | cpu.AVXVNNI)},
	},
	"arm64": {
		{"Cortex-A72", cpu.Machine{Features: kernels.NEON.Requires}},
		{"Neoverse N1", cpu.Machine{Features: kernels.NEONDot.Requires}},
		{"Neoverse V2", cpu.Machine{Features: kernels.NEONI8MM.Requires}},
		{"Apple M1", cpu.Machine{Features: kernels.NEONDot.Requires}},
		{"Apple M2", cpu.Machine{Features: kernels.NEONI8MM.Requires}},
	},
}

// The CPUs whose vendor or family a choice looks at.
var (
	xeon = cpu.Machine{Vendor: "GenuineIntel", Family: 6}
	zen4 = cpu.Machine{Vendor: "AuthenticAMD", Family: 0x19}
	zen5 = cpu.Machine{Vendor: "AuthenticAMD", Family: 0x1a}
)

// kept says why there are variants that no machine picks, by their strings.
var kept = []struct{ variant, why string }{
	{`/reference/`, "the oracle of errors"},
	{`/scalar/`, "the specification that others equal"},
	{`/unrolled/`, "branchless Go, as the seeds ask"},
}

// functions says which variants functions are for: by folder and beginning of the name,
// variants by their strings and their layout's name. A variant has those of its
// instruction set, or else of the best that it requires.
var functions = []struct{ function, variant string }{
	{`q1/(q1Bitplanes128|q1Panels128|q1Columns)`, `^q1.*/q8_(128|row)/bitplanes`},
	{`q1/(q1Bitplanes32|q1Panels32)`, `^q1.*/q8_32/bitplanes`},
	{`q1/(q1Panel|q1Pack|packBitplanes)$`, `^q1.*/bitplanes`},
	{`q1/(q1Batch\d|arrangeDwords)`, `^q1.*/bitplanes`},
	{`q1/q1Lookup(Columns)?128`, `^q1.*/q8_(128|row)/rows64`},
	{`q1/q1Lookup(Columns)?32`, `^q1.*/q8_32/rows64`},
	{`q1/(q1Tables|packRows64)`, `^q1.*/rows64`},
	{`q1/(q1WordLookup128|q1WordColumns4$)`, `^q1.*/q8_(128|row)/rows128`},
	{`q1/(q1WordLookup32|q1WordColumns4Per32)`, `^q1.*/q8_32/rows128`},
	{`q1/(q1WordTables|q1BatchTables|packRows128)`, `^q1.*/rows128`},
	{`q1/(q1Native|q1ByteOrder|arrangeQ1Rows)`, `^q1.*/native`},
	{`q1/q1Rows128`, `^q1.*/q8_(128|row)/native`},
	{`q1/q1Rows32`, `^q1.*/q8_32/native`},
	{`twobit/ternary`, `^(i2_s|ternary).*/q8_row/`},
	{`twobit/arrangeRowsI2S$`, `^i2_s/.*/q8_row/`},
	{`twobit/arrangeRowsI2SARM`, `^i2_s_arm/.*/q8_row/`},
	{`twobit/(arrangeRowsU32|packWords)`, `^(i2_s_x4|ternary_u32)/.*/q8_row/`},
	{`twobit/arrangeBytes`, `^(i2|t).*/q8_row/`},
	{`twobit/(blocksTQ2|arrangeBlocksTQ2|arrangeRowsTQ2)`, `^tq2.*/native`},
	{`twobit/(blocksQ2$|arrangeBlocksQ2)`, `^q2_0/.*/native`},
	{`twobit/(blocksQ2G128|arrangeBlocksQ2)`, `^p?q2_0(_g128)?/.*_128/native`},
	{`twobit/packRows`, `^(i2_s|ternary|tq2|p?q2).*/q8_(128|row)/(native|words)`},
	{`twobit/tile`, `^((i2_s|t|p?q2).*/q8_(128|row)/|ptq1_0/.*_128/codes64)`},
	{`twobit/(twoBitB|arrangeColumns)`, `^(tq2|p?q2).*/native`},
	{`twobit/digitsRows`, `^ptq1_0/.*/native`},
	{`twobit/(digits64|packDigits64)`, `^ptq1_0/.*/digits64`},
	{`twobit/codes64`, `/q8_(128|row)/codes64`},
	{`twobit/packCodes64Bytes`, `^p?q2.*/codes64`},
	{`twobit/packCodes64Runs`, `^tq.*/codes64`},
	{`twobit/unpackTQ1`, `^tq1.*/codes64`},
	{`twobit/arrangeRowsDwords`, `/q8_(128|row)/(codes64|digits64|native)`},
	{`twobit/panel`, `^((i2_s|t|p?q2).*/q8_(128|row)/|ptq1_0/.*_128/(codes|digits)64)`},
	{`twobit/spans`, `/q8_32/codes(64|128)`},
	{`heads/f32`, `^f32/`},
	{`heads/f16`, `^f16/`},
	{`heads/bf16`, `^bf16/`},
	{`heads/nibbles`, `^q4_[0k]/`},
	{`heads/q6`, `^q6_k/`},
	{`heads/q8`, `^q8_0/`},
}

// isVariants says of which functions variants are made; packages dense and vectors have
// no variants, and quantize is for all.
var isVariants = regexp.MustCompile(`^(q1|twobit|heads)/`)

// A function is one of assembly.
type function struct {
	name  string // with its folder, without its instruction set
	isa   *kernels.ISA
	lines int
}

const tablePath = "../docs/kernels.md"

var update = flag.Bool("update", false, "write the tables of docs/kernels.md again")

// TestTable holds docs/kernels.md to the registry and to the assembly: its part for this
// architecture, which -update writes again.
func TestTable(t *testing.T) {
	text, err := os.ReadFile(tablePath)
	if err != nil {
		t.Fatal(err)
	}
	all := assemblyFunctions(t)
	parts := map[string]string{
		"variants of " + runtime.GOARCH: variantsTable(t, all),
		"functions":                     functionsTable(all),
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		begin, end := fmt.Sprintf("<!-- %s -->\n", name), fmt.Sprintf("<!-- end of %s -->\n", name)
		before, rest, ok := strings.Cut(string(text), begin)
		was, after, ends := strings.Cut(rest, end)
		if !ok || !ends {
			t.Fatalf("%s has no place for %s", tablePath, name)
		}
		if was != parts[name] && !*update {
			t.Errorf("%s: the %s are others now: go test ./kernels -run Table -update", tablePath, name)
		}
		text = []byte(before + begin + parts[name] + end + after)
	}
	if *update {
		if err := os.WriteFile(tablePath, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	textLine = regexp.MustCompile(`(?m)^TEXT ·(\w+)\(SB\)`)
	isaOf    = regexp.MustCompile(`^(\w+?)(AVX2|AVXVNNI|AVX512VNNI|AVX512|NEONI8MM|NEONDot|NEON|)$`)
)

// assemblyFunctions returns those of both architectures.
func assemblyFunctions(t *testing.T) (all []function) {
	for _, file := range assemblyFiles(t, ".", ".s") {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		starts := append(textLine.FindAllSubmatchIndex(source, -1), []int{len(source)})
		for i, at := range starts[:len(starts)-1] {
			name := isaOf.FindStringSubmatch(string(source[at[2]:at[3]]))
			body := source[at[0]:starts[i+1][0]]
			all = append(all, function{
				filepath.ToSlash(filepath.Join(filepath.Dir(file), name[1])), isaNamed(file, name[2]), bytes.Count(body, []byte("\n")),
			})
		}
	}
	return all
}

// isaNamed returns that of a function's name; without one, Go's own.
func isaNamed(file, name string) *kernels.ISA {
	for _, isa := range kernels.ISAs() {
		if strings.EqualFold(isa.Name, name) {
			return isa
		}
	}
	return &kernels.ISA{Name: "any", Arch: strings.TrimSuffix(file[strings.LastIndexByte(file, '_')+1:], ".s")}
}

// mostLines is how long assembly may be: of amd64 and arm64 together, of amd64, and what
// is no generator's.
var mostLines = map[string]int{"all": 50_000, "amd64": 40_000, "by hand": 2_000}

// Assembly stays as short as it is: new functions come with loops, or where others go.
func TestLinesOfAssembly(t *testing.T) {
	lines := map[string]int{}
	for _, file := range slices.Concat(assemblyFiles(t, "..", "_amd64.s"), assemblyFiles(t, "..", "_arm64.s")) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(source, []byte("\n"))
		lines["all"] += n
		if strings.HasSuffix(file, "_amd64.s") {
			lines["amd64"] += n
		}
		if !bytes.HasPrefix(source, []byte("// Code generated")) {
			lines["by hand"] += n
		}
	}
	for _, what := range slices.Sorted(maps.Keys(mostLines)) {
		if lines[what] > mostLines[what] {
			t.Errorf("%d lines of assembly, %s, are more than %d", lines[what], what, mostLines[what])
		}
	}
}

// functionsTable has a row for each name and a column for each instruction set.
func functionsTable(all []function) string {
	var columns []string
	for _, isa := range kernels.ISAs() {
		if slices.ContainsFunc(all, func(f function) bool { return f.isa == isa }) {
			columns = append(columns, isa.Name)
		}
	}
	columns = append(columns, "any")
	rows, total := map[string][]int{}, make([]int, len(columns))
	for _, f := range all {
		if rows[f.name] == nil {
			rows[f.name] = make([]int, len(columns))
		}
		at := slices.Index(columns, f.isa.Name)
		rows[f.name][at] += f.lines
		total[at] += f.lines
	}
	var out strings.Builder
	fmt.Fprintf(&out, "| | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("--:|", len(columns)))
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		writeNumbers(&out, name, rows[name])
	}
	writeNumbers(&out, "all", total)
	return out.String()
}

func writeNumbers(out *strings.Builder, name string, numbers []int) {
	fmt.Fprintf(out, "| %s |", name)
	for _, n := range numbers {
		if n == 0 {
			out.WriteString(" |")
			continue
		}
		fmt.Fprintf(out, " %d |", n)
	}
	out.WriteString("\n")
}

// variantsTable has a row for variants that differ in formats and schemes alone.
func variantsTable(t *testing.T, all []function) string {
	formats, schemes := map[string][]string{}, map[string][]string{}
	measured, ratios := measuredVariants(t), map[string][][]float64{}
	var rows []string
	served := map[string]bool{}
	for _, v := range kernels.Variants() {
		if strings.HasSuffix(v.Name, "-archsimd") {
			continue // of an experiment that the toolchain has to be asked for
		}
		picked := pickedBy(v)
		if picked == "" {
			if picked = whyKept(v); picked == "" {
				t.Errorf("no machine picks %v: it goes, or a line of kept says why it stays", v)
			}
		}
		lines := 0
		for _, f := range functionsOf(v, all) {
			served[f.name+f.isa.Name] = true
			lines += f.lines
		}
		batches := ""
		if k := v.Kernels[len(v.Kernels)-1]; k.From > 0 {
			batches = fmt.Sprint(k.From)
		}
		row := fmt.Sprintf("%s | %s | %s | %d | %s |", v.Name, v.Layout.Name, batches, lines, picked)
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		formats[row], schemes[row] = appendNew(formats[row], v.Format.Name), appendNew(schemes[row], string(v.Scheme))
		if ratios[row] == nil {
			ratios[row] = make([][]float64, len(measuredColumns))
		}
		for i, n := range measuredColumns {
			if r := overNext(v, n, measured); r > 0 {
				ratios[row][i] = append(ratios[row][i], r)
			}
		}
	}
	for _, f := range all {
		if f.isa.Arch == runtime.GOARCH && isVariants.MatchString(f.name) && !served[f.name+f.isa.Name] {
			t.Errorf("no variant has %s for %s: a line of functions says which", f.name, f.isa.Name)
		}
	}
	slices.SortStableFunc(rows, func(a, b string) int {
		return cmp.Compare(strings.Join(formats[a], " "), strings.Join(formats[b], " "))
	})
	var out strings.Builder
	out.WriteString("| weights | activations | variant | layout | batches from | lines | picked by | × next, 1 column | 16 |\n|---|---|---|---|--:|--:|---|--:|--:|\n")
	for _, row := range rows {
		fmt.Fprintf(&out, "| %s | %s | %s %s | %s |\n", strings.Join(formats[row], " "), strings.Join(schemes[row], " "), row, span(ratios[row][0]), span(ratios[row][1]))
	}
	return out.String()
}

var measurement = regexp.MustCompile(`(?m)^BenchmarkVariant/(\S+)\s+\d+\s+([\d.]+) Gop/s`)

// measuredVariants are the speeds in what BenchmarkVariant wrote, by measuredAs: medians. On the other
// architecture there are none.
func measuredVariants(t *testing.T) map[string]float64 {
	text, err := os.ReadFile("testdata/variants.txt")
	if err != nil {
		t.Fatal(err)
	}
	speeds, medians := map[string][]float64{}, map[string]float64{}
	if !bytes.Contains(text, []byte("goarch: "+runtime.GOARCH+"\n")) {
		return nil
	}
	for _, m := range measurement.FindAllSubmatch(text, -1) {
		speed, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			t.Fatal(err)
		}
		speeds[string(m[1])] = append(speeds[string(m[1])], speed)
	}
	for name, s := range speeds {
		slices.Sort(s)
		medians[name] = s[len(s)/2]
	}
	return medians
}

// overNext is how many times as fast v was as the fastest that wants less of a CPU; 0 if that was not
// measured. For one that multiplies in place that is another such, if there is one.
func overNext(v *kernels.Variant, columns int, measured map[string]float64) float64 {
	var next, inPlace float64
	for _, w := range kernels.Variants() {
		if w.Format != v.Format || w.Scheme != v.Scheme || w.ISA == v.ISA || !v.ISA.Requires.Has(w.ISA.Requires) {
			continue
		}
		speed := measured[measuredAs(w, columns)]
		next = max(next, speed)
		if w.Layout == kernels.Native && w.ISA != kernels.Go {
			inPlace = max(inPlace, speed)
		}
	}
	if v.Layout == kernels.Native && inPlace > 0 {
		next = inPlace
	}
	if next == 0 {
		return 0
	}
	return measured[measuredAs(v, columns)] / next
}

// span is numbers with three digits, or the least and the greatest.
func span(numbers []float64) string {
	if len(numbers) == 0 {
		return ""
	}
	least, most := fmt.Sprintf("%.3g", slices.Min(numbers)), fmt.Sprintf("%.3g", slices.Max(numbers))
	if least == most {
		return least
	}
	return least + "–" + most
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// pickedBy names the machines that take v: from all, or, if another is ahead that packs,
// from those that multiply in place.
func pickedBy(v *kernels.Variant) string {
	var best, inPlace []string
	for _, m := range described[runtime.GOARCH] {
		if w, err := kernels.BestFor(v.Format.Name, v.Scheme, m.cpu); err == nil && w == v {
			best = append(best, m.name)
		} else if bestInPlace(v, m.cpu) == v {
			inPlace = append(inPlace, m.name)
		}
	}
	all := strings.Join(best, ", ")
	switch {
	case len(inPlace) == 0:
		return all
	case len(best) == 0:
		return "in place: " + strings.Join(inPlace, ", ")
	}
	return all + "; in place: " + strings.Join(inPlace, ", ")
}

// bestInPlace is the variant of v's format and scheme that ranks highest on m of those
// that multiply the file's bytes.
func bestInPlace(v *kernels.Variant, m cpu.Machine) (best *kernels.Variant) {
	for _, w := range kernels.Variants() {
		if w.Format == v.Format && w.Scheme == v.Scheme && w.Layout == kernels.Native && w.AvailableOn(m.Features) == nil &&
			(best == nil || w.Rank(m) > best.Rank(m)) {
			best = w
		}
	}
	return best
}

func whyKept(v *kernels.Variant) string {
	for _, k := range kept {
		if regexp.MustCompile(k.variant).MatchString(v.String()) {
			return "nobody: " + k.why
		}
	}
	return ""
}

// functionsOf returns what v is made of.
func functionsOf(v *kernels.Variant, all []function) (of []function) {
	if v.ISA == kernels.Go {
		return nil
	}
	best := map[string]function{}
	for _, line := range functions {
		if !regexp.MustCompile(line.variant).MatchString(v.String() + "/" + v.Layout.Name) {
			continue
		}
		is := regexp.MustCompile("^(" + line.function + ")")
		for _, f := range all {
			if is.MatchString(f.name) && v.ISA.Requires.Has(f.isa.Requires) && f.isa.Arch == v.ISA.Arch &&
				f.isa.Requires|best[f.name].requires() == f.isa.Requires {
				best[f.name] = f
			}
		}
	}
	return slices.Collect(maps.Values(best))
}

// requires are the features that f uses; none if there is no f.
func (f function) requires() cpu.Set {
	if f.isa == nil {
		return 0
	}
	return f.isa.Requires
}
