package foreign

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strconv"

	"onebit/bench/names"
	"onebit/bench/results"
)

// ollamaBench is what cmd/bench of ollama/ollama writes with -format benchstat: a line
// for each step of an epoch, whose iterations are its tokens.
var ollamaBench = Kind{"ollama's bench, Go benchmark format", isOllamaBench, readOllamaBench}

var ollamaLine = regexp.MustCompile(`(?m)^BenchmarkModel/name=(\S+?)(?:/step=(prefill|generate|load))? (\d+) ([0-9.e+]+) ns/(token|request)`)

func isOllamaBench(data []byte) bool {
	return ollamaLine.Match(data) && bytes.Contains(data, []byte("/step="))
}

func readOllamaBench(data []byte) (*results.Set, error) {
	r := new(results.Set)
	passed := false
	for _, m := range ollamaLine.FindAllSubmatch(data, -1) {
		tokens, err1 := strconv.Atoi(string(m[3]))
		ns, err2 := strconv.ParseFloat(string(m[4]), 64)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, fmt.Errorf("%s: %w", m[0], err)
		}
		model, step := string(m[1]), string(m[2])
		if step == "load" || step == "" {
			if err := positive("a time", ns); err != nil || step == "" {
				passed = true // a request as a whole
				continue
			}
			r.Samples = append(r.Samples, results.Sample{
				Name:  results.ParseName(name(names.BaseModel, key{names.Model, model}, key{names.Variant, "ollama"}, key{names.Test, names.Load})),
				Iters: 1, Process: 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: ns}},
			})
			continue
		}
		if tokens == 0 {
			passed = true
			continue
		}
		if err := positive("a time", ns); err != nil {
			return nil, fmt.Errorf("%s: %w", m[0], err)
		}
		kind := map[string]string{"prefill": names.Prompt, "generate": names.Decode}[step]
		if err := (rate{model: model, variant: "ollama", kind: kind, tokens: tokens, perSecond: 1e9 / ns}).addTo(r); err != nil {
			return nil, fmt.Errorf("%s: %w", m[0], err)
		}
	}
	if passed {
		r.Warnings = append(r.Warnings, "steps without tokens, and whole requests, are left out")
	}
	return r, nil
}
