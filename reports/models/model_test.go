package models

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"onebit/bench/names"
	"onebit/reports/digest"
	"onebit/reports/reportstest"
)

func onlyModel(t *testing.T, text string) (*report, *model) {
	t.Helper()
	d := newReport(digest.Of(reportstest.Set(t, []byte(text))))
	if len(d.models) != 1 {
		t.Fatalf("%d models, want 1", len(d.models))
	}
	return d, d.models[0]
}

// TestRunSheet ranks variants, packings and another engine; b is a tie of a, for they differ by less
// than the A/A pairs do.
func TestRunSheet(t *testing.T) {
	var b strings.Builder
	line := func(variant, test string, ns float64, rest string) {
		b.WriteString(reportstest.Repeat(6, fmt.Sprintf("BenchmarkModel/model=m/%s/test=%s 1 %v ns/op %s", variant, test, ns, rest)))
	}
	line("variant=a/packing=packed", "tg8/threads=2", 1000, "8 tok/s 80 %roof")
	line("variant=a/packing=native", "tg8/threads=2", 1005, "7.96 tok/s 79.6 %roof")
	line("variant=llama-bench", "tg8/threads=2", 4000, "2 tok/s")
	line("variant=a/packing=packed", "tg8/depth=16/threads=2", 1200, "6.67 tok/s 70 %roof")
	line("variant=a/packing=packed", "tg8/threads=1", 2000, "4 tok/s 90 %roof")
	line("variant=a/packing=packed", "load/threads=2", 50, "")
	line("variant=a/packing=native", "load/threads=2", 20, "")
	b.WriteString("BenchmarkModel/model=m/variant=a/packing=packed/test=load/threads=2 1 50 ns/op 3072 peak-RSS-B 2048 anon-B 1024 file-B\n")
	b.WriteString("BenchmarkModel/model=m/variant=a/packing=packed/test=tg8/threads=2 1 1000 ns/op 2048 peak-RSS-B 2000 anon-B 48 file-B\n")
	b.WriteString("BenchmarkModel/model=m/variant=a/packing=native/test=tg8/threads=2 1 1005 ns/op 1024 peak-RSS-B 24 anon-B 1000 file-B\n")
	b.WriteString("BenchmarkModel/model=m/variant=a/packing=packed/test=load/threads=2 1 50 ns/op 2048 plan-B 2048 plan-weights-B 0 plan-kv-B 0 plan-state-B 0 plan-scratch-B\n")
	b.WriteString("BenchmarkModel/model=m/variant=a/packing=packed/test=tg8/threads=2 1 1000 ns/op 3000 plan-B 2048 plan-weights-B 900 plan-kv-B 0 plan-state-B 52 plan-scratch-B\n")
	b.WriteString("BenchmarkModel/model=m/variant=a/packing=native/test=tg8/threads=2 1 1005 ns/op 1000 plan-B 48 plan-weights-B 900 plan-kv-B 2 plan-state-B 50 plan-scratch-B\n")
	line("variant=b-native/packing=native", "tg8/threads=1", 3000, "2.67 tok/s")
	b.WriteString("BenchmarkLogits/model=m/variant=a/tokens=9 1 0.002 kld 0.99 top1\n")
	b.WriteString(reportstest.AaPairs(10))

	d, m := onlyModel(t, b.String())
	reportstest.CheckSheet(t, d.runSheet(m, m.runs), [][]string{
		{"variant", "threads", "decode tg8", "vs best", "%roof", "decode tg8 @ d16", "%roof @ d16", "load", "memory", "anonymous", "file", "planned", "kld", "top1"},
		{"a packed", "2", "8.00 tok/s *", "", "80.0 %", "6.67 tok/s", "70.0 %", "50.0 ns", "3.00 KiB load", "2.00 KiB", "1.00 KiB", "2.00 KiB", "0.002", "99.0 %"},
		{"a native", "2", "7.96 tok/s *", "tie ±2 %", "79.6 %", "", "", "20.0 ns *", "1.00 KiB tg8 *", "24.0 B", "1000 B", "1000 B", "0.002", "99.0 %"},
		{"llama-bench", "2", "2.00 tok/s", "4.00× ±3 %", "", "", "", "", "", "", "", "", "", ""},
		{"a packed", "1", "4.00 tok/s *", "", "90.0 %", "", "", "", "", "", "", "", "0.002", "99.0 %"},
		{"b-native", "1", "2.67 tok/s", "1.50× ±3 %", "", "", "", "", "", "", "", "", "", ""},
	})
}

// A plan is said in its parts, and where memory was not measured too.
func TestPlanText(t *testing.T) {
	const line = "BenchmarkModel/model=m/variant=a/packing=packed/test=%s/threads=2 1 50 ns/op %d plan-B 2048 plan-weights-B %d plan-kv-B 0 plan-state-B 52 plan-scratch-B\n"
	d, m := onlyModel(t, fmt.Sprintf(line, "tg8", 3124, 1024)+fmt.Sprintf(line, "tg8/depth=8", 4148, 2048))
	want := "4.05 KiB (weights 2.00 KiB, keys and values 2.00 KiB, scratch 52.0 B)"
	if got := planText(m.tests[1].Cases[0]); got != want {
		t.Errorf("the plan %q, want %q", got, want)
	}
	s := d.runSheet(m, m.runs)
	if rows := reportstest.SheetRows(s); !slices.Contains(rows[0], "planned") || !slices.Contains(rows[1], "4.05 KiB") {
		t.Errorf("the sheet %q, of %q", rows, s.Caption)
	}
}

// TestProfileSheet adds up two blocks and what is outside.
func TestProfileSheet(t *testing.T) {
	const op = "BenchmarkOp/model=m/variant=%s/packing=packed/test=tg8/threads=2/block=%s/op=%s 1 %v ns/op%s\n"
	text := fmt.Sprintf(op, "v", "0", "qkv", 1000, " 4e9 weight-B/s") +
		fmt.Sprintf(op, "v", "10", "qkv", 3000, " 8e9 weight-B/s") +
		fmt.Sprintf(op, "v", "2", "norm", 1000, "") +
		fmt.Sprintf(op, "v", "outside", "output", 5000, " 1e9 weight-B/s") +
		fmt.Sprintf(op, "w", "0", "qkv", 1000, "") +
		"BenchmarkModel/model=m/variant=v/packing=packed/test=tg8/threads=2 1 64000 ns/op 125000 tok/s\n"
	_, m := onlyModel(t, text)
	p := m.profiles[0]
	if want := []string{"0", "2", "10"}; !slices.Equal(p.blocks, want) {
		t.Errorf("blocks %q, want %q", p.blocks, want)
	}
	// The products read 4000 and 24000 bytes in 4000 ns.
	reportstest.CheckSheet(t, profileSheet(m, p, p.variants), [][]string{
		{"operation", "w packed", "v packed"},
		{"output", "", "5.00 µs 50 % 1.00 GB/s"},
		{"qkv", "1.00 µs 100 %", "4.00 µs 40 % 7.00 GB/s"},
		{"norm", "", "1.00 µs 10 %"},
		{"all operations", "1.00 µs", "10.0 µs"},
		{"timed apart", "", "8.00 µs"},
	})
}

// TestErrorSheets joins variants whose numbers are the same, and finds the worst block and the last.
func TestErrorSheets(t *testing.T) {
	var b strings.Builder
	for _, v := range []struct {
		name  string
		scale float64
	}{{"avx2", 1}, {"scalar", 1}, {"f32", 0.001}} {
		for block, e := range []float64{1e-5, 9e-5, 4e-5} {
			for _, input := range []string{"isolated", "accumulated"} {
				fmt.Fprintf(&b, "BenchmarkLockstep/model=m/variant=%s/input=%s/block=%d/tensor=block 1 %g nmse %g cosine 0.5 max-abs-err\n", v.name, input, block, e*v.scale, 1-e)
			}
		}
	}
	b.WriteString("BenchmarkLockstep/model=m/variant=f32/input=isolated/block=outside/tensor=logits 1 1e-9 nmse 0.75 cosine\n")
	d, m := onlyModel(t, b.String())
	reportstest.CheckSheet(t, d.errorSheet(m), [][]string{
		{"variant", "worst block", "last block nmse", "last block cosine", "last block max-abs-err"},
		{"avx2", "9e-05 in 1", "4e-05", "0.999960", "0.5"},
		{"f32", "9e-08 in 1", "4e-08", "0.999960", "0.5"},
		{"scalar", "9e-05 in 1", "4e-05", "0.999960", "0.5"},
	})
	const range1 = "3.3e-05 ≤ 9e-05 in block 1, cosine ≥ 0.999910"
	const range2 = "3.3e-08 ≤ 9e-08 in block 1, cosine ≥ 0.999910"
	reportstest.CheckSheet(t, d.tensorSheet(m), [][]string{
		{"tensor", "input", "avx2 and scalar", "f32"}, {"logits", "isolated", "", "1e-09 cosine ≥ 0.750000"}, {"block", "isolated", range1, range2}, {"block", "accumulated", range1, range2},
	})
}

// TestPartsOfModelsAreFolded looks for one table row too many in the page and in Markdown, and for
// every line in CSV.
func TestPartsOfModelsAreFolded(t *testing.T) {
	m := reportstest.SmallModels()
	m.Models[0].Blocks = 40
	text := m.Results()
	res := reportstest.Set(t, text)
	var page, markdown, csv bytes.Buffer
	if err := reportstest.Print(t.Context(), &page, "html", res); err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(page.String(), "<tr>"); rows > 250 {
		t.Errorf("the page has %d table rows", rows)
	}
	for _, bad := range []string{"Op table", "Lockstep table"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page has an %s", bad)
		}
	}
	if err := reportstest.Print(t.Context(), &markdown, "markdown", res); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(markdown.String(), "\n"); lines > 350 {
		t.Errorf("Markdown has %d lines", lines)
	}
	if err := reportstest.Print(t.Context(), &csv, "csv", res); err != nil {
		t.Fatal(err)
	}
	ops := make(map[string]bool)
	for _, s := range res.Samples {
		if s.Name.Base == names.BaseOp {
			ops[s.Name.Full] = true
		}
	}
	if n := len(regexp.MustCompile(`(?m)^Op/.*,ns/op,`).FindAllString(csv.String(), -1)); n != len(ops) || n < 400 {
		t.Errorf("CSV has %d operations' times, the results have %d", n, len(ops))
	}
}

func TestCeilingOf(t *testing.T) {
	_, m := onlyModel(t, "BenchmarkModel/model=m/variant=v/test=tg8 1 5 ns/op 30 tok/s 75 %roof\nBenchmarkModel/model=m/variant=w/test=tg8 1 5 ns/op 30 tok/s\n")
	for i, want := range []float64{40, 0} {
		if got, ok := ceilingOf(m.tests[0].Cases[i]); ok != (want > 0) || math.Abs(got-want) > 1e-9 {
			t.Errorf("case %d: ceiling %v, %v, want %v", i, got, ok, want)
		}
	}
}
