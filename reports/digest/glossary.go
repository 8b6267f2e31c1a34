package digest

import (
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/doc"
)

// terms explains words of reports in the order in which a reader meets them; a term is shown where
// any of its words is in use.
var terms = []struct {
	name  string
	used  []string
	about string
}{
	{"decode, tg", []string{names.Decode}, "text generation: tg128 is 128 tokens one after another, each reading all of the model's weights"},
	{"prompt, pp", []string{names.Prompt}, "prompt processing: pp512 is 512 tokens at once, so that each weight read serves many of them"},
	{"first token", []string{"ttft"}, "time to first token: from the start of the process, a short prompt included"},
	{"load", []string{"load"}, "from opening the file until the model is ready"},
	{"depth, d", []string{names.Depth}, "how many tokens are in the model's context before the test begins"},
	{"packed", []string{"packed"}, "the weights were repacked on loading into the variant's own layout"},
	{"native", []string{"native"}, "the weights are read as the mapped file holds them"},
	{"stream", []string{"stream"}, "only one block's weights are in memory at a time"},
	{"act", []string{names.Act}, "the activation scheme, which rounds what the weights are multiplied with: f32 does not, q8_row is 8 bits with one scale, q8_128 and q8_32 with one for so many values; integer variants of one scheme and format are equal to the bit"},
	{"GPU", []string{results.GPUTime}, "what a GPU does has no threads; its time is once the wall's, until the result is there, and once the GPU's own, that it worked"},
	{"cold", []string{names.Cold}, "the weights come from memory: products rotate over copies that fill several times the caches (setting cold-bytes)"},
	{"warm", []string{names.Warm}, "the weights are in a cache since the product before"},
	{"roof", []string{results.PctRoof}, "what the machine could do at most if it only read the weights, measured in the same rounds with as many threads; a share of it is a case's own, a median where it stands for several, and above 100 % where part of the weights was in a cache"},
	{"peak", []string{results.PctPeak}, "what the machine could do at most if it only multiplied, measured in the same rounds with as many threads; look-ups of 1-bit weights multiply nothing and can be above it"},
	{"A/A pair", []string{results.NsPerOp}, "the same code measured as if it were two: the difference that it shows is noise"},
	{"tie", []string{results.NsPerOp}, "a difference that identical code shows too, or that chance explains"},
}

// Glossary explains the terms and units that the results use.
func (d *Digest) Glossary() []doc.Fact {
	used := make(map[string]bool)
	for _, u := range d.Units {
		used[u] = true
	}
	for _, c := range d.Cases {
		for _, k := range c.Name.Keys {
			used[k.Key] = true
			used[strings.TrimRight(k.Value, "0123456789")] = true
		}
	}
	var all []doc.Fact
	for _, t := range terms {
		if slices.ContainsFunc(t.used, func(word string) bool { return used[word] }) {
			all = append(all, doc.Fact{Name: t.name, Value: t.about})
		}
	}
	for _, u := range d.Units {
		unit := results.UnitOf(u)
		if unit.Better == 0 {
			continue // nothing is known of it
		}
		all = append(all, doc.Fact{Name: u, Value: unit.About + "; " + results.Direction(unit.Better) + " is better"})
	}
	return all
}
