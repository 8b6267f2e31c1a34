package reportstest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
)

// A modelRun simulates what a run of whole models leaves, the same for the same seed.
type modelRun struct {
	rng      *rand.Rand
	Models   []fixtureModel
	variants []fixtureEngine
	samples  int
}

type fixtureModel struct {
	name   string
	Blocks int
	bytes  float64 // of weights read per token
	macs   float64 // per token
}

// A fixtureEngine is a variant that reaches shares of the machine's ceilings.
type fixtureEngine struct {
	name       string
	packings   []string
	roof, peak float64
	nmse       float64 // of one block
}

func newModelRun(seed uint64, blocks int) *modelRun {
	all := []string{"packed", "native", "stream"}
	return &modelRun{
		rng:    rand.New(rand.NewPCG(seed, 2)),
		Models: []fixtureModel{{"bitnet-2b-4t", blocks, 1.19e9, 2.4e9}, {"bonsai-1.7b", blocks, 0.25e9, 1.7e9}},
		variants: []fixtureEngine{
			{"avx512vnni", all, 0.78, 0.62, 3e-5}, {"avx2", all[:2], 0.55, 0.3, 3e-5},
			{"avxvnni", all[:2], 0.66, 0.4, 3e-5}, {"avx2-f32", all[:1], 0.3, 0.1, 4e-13},
			{"scalar", all[:1], 0.02, 0.01, 3e-5}, {"llama-bench", []string{""}, 0.3, 0.1, 0},
		},
		samples: 6,
	}
}

// fixtureOps are the operations of a block with their shares of its time; the last are outside.
var fixtureOps = []struct {
	name    string
	share   float64
	weights bool
}{
	{"attn_norm", 0.01, false}, {"attn_qkv", 0.16, true}, {"attn_q_norm", 0.01, false}, {"rope", 0.01, false}, {"attn", 0.06, false},
	{"attn_output", 0.12, true}, {"ffn_norm", 0.01, false}, {"ffn_gate_up", 0.38, true}, {"ffn_act", 0.03, false}, {"ffn_down", 0.21, true},
}

func (m *modelRun) Results() []byte {
	var lines []string
	for _, threads := range []int{1, 2} {
		for range m.samples {
			lines = append(lines, fmt.Sprintf("BenchmarkRead/bytes=1073741824/threads=%d/cache=cold-2 1 1e7 ns/op %.4g read-B/s\n", threads, m.bandwidth(threads)),
				fmt.Sprintf("BenchmarkDotPeak/isa=avx512vnni/threads=%d-2 100 1e6 ns/op %.4g mac/s\n", threads, m.peak(threads)))
		}
	}
	for _, model := range m.Models {
		for _, v := range m.variants {
			for _, packing := range v.packings {
				lines = append(lines, m.engine(model, v, packing)...)
			}
			if v.name != "llama-bench" {
				lines = append(lines, m.errors(model, v)...)
			}
		}
	}
	m.rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	var b bytes.Buffer
	b.WriteString(fixtureHeader)
	for _, line := range lines {
		b.WriteString(line)
	}
	return b.Bytes()
}

func (m *modelRun) bandwidth(threads int) float64 { return 12e9 * math.Pow(float64(threads), 0.7) }

func (m *modelRun) peak(threads int) float64 { return 430e9 * float64(threads) }

// engine is one variant in all tests, and its profile.
func (m *modelRun) engine(model fixtureModel, v fixtureEngine, packing string) []string {
	var lines []string
	variant := "model=" + model.name + "/variant=" + v.name
	slow := 1.0
	if packing != "" {
		variant += "/packing=" + packing
		slow = map[string]float64{"packed": 1, "native": 0.6, "stream": 0.25}[packing]
	}
	anon, file := model.bytes*1.2, model.bytes*0.1
	if packing != "packed" {
		anon, file = 9e7, model.bytes*1.05
	}
	for _, threads := range []int{1, 2} {
		decode := m.bandwidth(threads) * v.roof * slow / model.bytes
		prompt := m.peak(threads) * v.peak * slow / model.macs
		for _, test := range []struct {
			name   string
			ns     float64
			values string
		}{
			{"load", 8e7 + anon/3, ""},
			{"ttft", 9e7 + anon/3 + 22e9/prompt, ""},
			{"pp512", 512e9 / prompt, fmt.Sprintf("%.4g tok/s %.4g mac/s%s", prompt, prompt*model.macs, m.share(packing, v.peak*slow, "%peak"))},
			{"tg128", 128e9 / decode, fmt.Sprintf("%.4g tok/s %.4g weight-B/s%s", decode, decode*model.bytes, m.share(packing, v.roof*slow, "%roof"))},
			{"tg128/depth=2048", 128e9 / decode * 1.15, fmt.Sprintf("%.4g tok/s", decode/1.15)},
		} {
			for sample := range m.samples {
				line := fmt.Sprintf("BenchmarkModel/%s/test=%s/threads=%d-2 1 %.0f ns/op %s", variant, test.name, threads, test.ns*(1+0.01*m.rng.ExpFloat64()), test.values)
				if sample == 0 && packing != "" {
					line += fmt.Sprintf(" %.0f peak-RSS-B %.0f anon-B %.0f file-B", anon+file, anon, file)
				}
				lines = append(lines, line+"\n")
			}
			if packing != "" && (test.name == "pp512" || test.name == "tg128") {
				ns := test.ns
				if test.name == "tg128" {
					ns /= 128
				}
				lines = append(lines, m.profile(model, variant, test.name, threads, ns)...)
			}
		}
	}
	return lines
}

// share is the share of a ceiling, which is unknown of another program.
func (m *modelRun) share(packing string, share float64, unit string) string {
	if packing == "" {
		return ""
	}
	return fmt.Sprintf(" %.3g %s", 100*share, unit)
}

func (m *modelRun) profile(model fixtureModel, variant, test string, threads int, ns float64) []string {
	var lines []string
	add := func(block, op string, ns float64, weights bool) {
		line := fmt.Sprintf("BenchmarkOp/%s/test=%s/threads=%d/block=%s/op=%s-2 1 %.0f ns/op", variant, test, threads, block, op, ns*(1+0.05*m.rng.Float64()))
		if weights {
			line += fmt.Sprintf(" %.4g weight-B/s", 0.8*m.bandwidth(threads))
		}
		lines = append(lines, line+"\n")
	}
	for block := range model.Blocks {
		for _, op := range fixtureOps {
			add(fmt.Sprint(block), op.name, 0.85*ns/float64(model.Blocks)*op.share, op.weights)
		}
	}
	add("outside", "token_embd", 0.001*ns, false)
	add("outside", "output", 0.16*ns, true)
	return lines
}

// errors are a variant's, block by block and in the predictions.
func (m *modelRun) errors(model fixtureModel, v fixtureEngine) []string {
	var lines []string
	total := 0.0
	for block := range model.Blocks {
		// The same for all variants of one error: they compute the same numbers.
		own := v.nmse * (1 + 0.5*math.Sin(float64(3*block)))
		total += own
		for i, tensor := range []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down", "block"} {
			for _, e := range []struct {
				input string
				nmse  float64
			}{{"isolated", own * (1 + 0.3*float64(i))}, {"accumulated", total * (1 + 0.3*float64(i))}} {
				lines = append(lines, fmt.Sprintf("BenchmarkLockstep/model=%s/variant=%s/input=%s/block=%d/tensor=%s-2 1 %.4g nmse %.7f cosine %.3g max-abs-err\n",
					model.name, v.name, e.input, block, tensor, e.nmse, 1-e.nmse/2, 7*math.Sqrt(e.nmse)))
			}
		}
	}
	return append(lines, fmt.Sprintf("BenchmarkLogits/model=%s/variant=%s/tokens=512-2 1 %.3g kld %.4f top1 %.4f top5 %.5g ppl 17.213 ref-ppl %.3g nmse\n",
		model.name, v.name, 2*total, 1-4*math.Sqrt(total)/10, 1-3*math.Sqrt(total)/10, 17.213*(1+total/3), total))
}

// SmallModels is a run for goldens: one model of few blocks.
func SmallModels() *modelRun {
	m := newModelRun(1, 3)
	m.Models = m.Models[1:]
	m.variants = append(m.variants[:1:1], m.variants[3], m.variants[5])
	m.variants[0].packings = m.variants[0].packings[:2]
	return m
}
