package cases

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/cpu"
	"onebit/kernels"
)

func TestLockstep(t *testing.T) {
	s := modelsSuite(t, ModelsOptions{Lockstep: 20, Threads: []int{2}, Activations: []kernels.Scheme{kernels.Q8Per128}}, "tiny")
	if err := s.Select("/variant:(scalar OR unrolled) .name:Lockstep"); err != nil {
		t.Fatal(err)
	}
	res := measured(t, few(1), whole(s))
	values := map[string]float64{}
	known := append(slices.Clone(names.Tensors), names.BlockOutput, names.LogitsOutput)
	for _, sm := range res.Samples {
		if tensor := sm.Name.Get(names.Tensor); sm.Name.Base == names.BaseLockstep && !slices.Contains(known, tensor) {
			t.Errorf("tensor %q is unknown to package names", tensor)
		}
		for _, m := range sm.Values {
			key := sm.Name.Full + " " + m.Unit
			if _, again := values[key]; again {
				t.Errorf("%s twice", key)
			}
			values[key] = m.Value
		}
	}
	// Of each variant: 2 inputs of 2 blocks with 7 projections and the stream,
	// and of the head; and the logits.
	if want := 2 * (2*(2*8+1) + 1); len(res.Samples) != want {
		t.Errorf("%d samples, want %d", len(res.Samples), want)
	}
	for _, variant := range []string{"unrolled", "scalar"} {
		within := func(name, unit string, low, high float64) {
			t.Helper()
			key := fmt.Sprintf(name+" "+unit, variant)
			if v, ok := values[key]; !ok || !(v > low && v < high) {
				t.Errorf("%s is %v, want between %v and %v", key, v, low, high)
			}
		}
		const lines, logits = "Lockstep/model=tiny/variant=%s/act=q8_128/", "Logits/model=tiny/variant=%s/act=q8_128/weights=random/tokens=20"
		within(lines+"input=isolated/block=1/tensor=ffn_down", results.NMSE, 0, 1e-3)
		within(lines+"input=isolated/block=outside/tensor=output", results.Cosine, 0.99, 1)
		within(lines+"input=accumulated/block=1/tensor=block", results.NMSE, 0, 1e-2)
		within(lines+"input=accumulated/block=1/tensor=block", results.MaxAbsErr, 0, 1)
		within(logits, results.NMSE, 0, 1e-2)
		within(logits, results.KLD, 0, 1e-2)
		within(logits, results.Top1, 0.5, 1.001)
		within(logits, results.Top5, 0.5, 1.001)
		for _, unit := range []string{results.KLD, results.Top1, results.Top5} {
			low, high := results.Bounds(unit)
			value := values[fmt.Sprintf(logits+" "+unit, variant)]
			within(logits, low, 0, value)
			within(logits, high, math.Nextafter(value, 0), 1.001)
		}
		for _, unit := range []string{results.Perplexity, results.RefPpl} {
			if v, ok := values[fmt.Sprintf(logits+" "+unit, variant)]; ok {
				t.Errorf("random weights have a perplexity: %s %v", unit, v)
			}
		}
	}
}

// Predictions of random weights say that they are, and have no perplexity; a
// file by synth has random weights, whoever names it.
func TestPerplexity(t *testing.T) {
	file := modelFile(t, "tiny")
	file.Synthetic = false
	s, err := Models(t.Context(), ModelsOptions{Files: []ModelFile{file}, Lockstep: 4, Threads: []int{1}, Host: small(), Features: cpu.Detected()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	logits := func() (last results.Sample) {
		t.Helper()
		err := s.Studies[len(s.Studies)-1].Run(t.Context(), func(sm results.Sample) error {
			last = sm
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return last
	}
	check := func(weights string, perplexity bool) {
		t.Helper()
		sample := logits()
		_, ppl := sample.Value(results.Perplexity)
		_, ref := sample.Value(results.RefPpl)
		if got := sample.Name.Get(names.Weights); got != weights || ppl != perplexity || ref != perplexity {
			t.Errorf("%s: weights %q, want %q; perplexities %v, want %v", sample.Name.Full, got, weights, ppl, perplexity)
		}
	}
	check(names.RandomWeights, false)
	s.home.(*store).subjects[0].Synthetic = false
	check("", true)
}

// There is one study of each variant, and none of the reference, in the group where their models are open.
func TestLockstepStudies(t *testing.T) {
	s := modelsSuite(t, ModelsOptions{Lockstep: 20, Tokens: 1}, "tiny")
	var names []string
	for _, st := range s.Studies {
		if strings.HasPrefix(st.Name, "Lockstep/") {
			names = append(names, st.Name)
			if st.Group != "tiny tg 2 threads" || st.Time <= 0 {
				t.Errorf("%s in group %q, for %v", st.Name, st.Group, st.Time)
			}
		}
	}
	if slices.Contains(names, "Lockstep/model=tiny/variant=reference/act=f32") || !slices.Contains(names, "Lockstep/model=tiny/variant=scalar/act=q8_128") {
		t.Errorf("studies %q", names)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("%q has a name twice", names)
	}
}

// A text that is shorter than was asked for, and a full results file.
func TestLockstepEnds(t *testing.T) {
	s := modelsSuite(t, ModelsOptions{Lockstep: 1000, Threads: []int{1}}, "tiny")
	sub := s.home.(*store).subjects[0]
	ids, err := sub.text()
	if err != nil {
		t.Fatal(err)
	}
	if len(ids) > sub.config.Context || len(ids) < 100 {
		t.Errorf("%d tokens for a context of %d", len(ids), sub.config.Context)
	}
	sub.opt.Lockstep = 2
	if ids, err := sub.text(); err != nil || len(ids) != 3 {
		t.Errorf("%d tokens of a speech, and error %v, want 3 and none", len(ids), err)
	}
	sub.Text = strings.Repeat("a reader of bytes. ", 100) // and the model is a small one
	if ids, err := sub.text(); err != nil || len(ids) != 257 {
		t.Errorf("%d tokens of its own text, and error %v, want 257 and none", len(ids), err)
	}
	sub.Text = ""
	full := errors.New("full")
	if err := s.Studies[len(s.Studies)-1].Run(t.Context(), func(results.Sample) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v, want that of emit", err)
	}
}
