package cases

import (
	"slices"
	"strings"
	"testing"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/internal/require"
	"onebit/kernels"
)

// Where llama.cpp's scheme has SIMD, it stands beside the format's own. Other
// schemes than the main one are measured in prompts, texts and errors alone.
func TestSchemesOfModels(t *testing.T) {
	acts := func(opt ModelsOptions) map[string][]string {
		opt.Prompt, opt.Tokens, opt.Lockstep, opt.Threads = 4, 2, 4, []int{1}
		opt.RunCommand = []string{"onebit", "run"}
		s := modelsSuite(t, opt, "tiny")
		seen := map[string][]string{}
		see := func(name string) {
			n := results.ParseName(name)
			kind := n.Base + n.Get(names.Test)
			if act := n.Get(names.Act); act != "" && !slices.Contains(seen[kind], act) {
				seen[kind] = append(seen[kind], act)
			}
		}
		for _, c := range s.Cases {
			see(c.Name)
		}
		for _, st := range s.Studies {
			see(st.Name)
		}
		for _, acts := range seen {
			slices.Sort(acts)
		}
		return seen
	}
	check := func(what string, got map[string][]string, want map[string]string) {
		t.Helper()
		for kind, acts := range want {
			if strings.Join(got[kind], " ") != acts {
				t.Errorf("%s: %s has %q, want %q", what, kind, got[kind], acts)
			}
		}
	}
	usual := "q8_128"
	if slices.ContainsFunc(kernels.Variants(), func(v *kernels.Variant) bool {
		return v.Format == formats.Q1_0_g128 && v.Scheme == kernels.Q8Per32 && isSIMD(v) && v.Available() == nil
	}) {
		usual = "q8_128 q8_32"
	}
	for what, choice := range map[string]Choice{"best": BestVariants, "SIMD": SIMDVariants} {
		check(what, acts(ModelsOptions{Choice: choice}), map[string]string{
			"Modelpp4": usual, "Modeltg2": usual, "Lockstep": usual, "Modelload": "q8_128", "Modelttft": "q8_128", "Optg2": "q8_128",
		})
	}
	if s := modelsSuite(t, ModelsOptions{Choice: BestVariants, Tokens: 2, Threads: []int{1, 2}}, "tiny"); slices.ContainsFunc(s.Cases, func(c bench.Case) bool {
		n := results.ParseName(c.Name)
		return n.Get(names.Act) == "q8_32" && n.Get(names.Threads) == "1"
	}) {
		t.Error("another scheme than the main one is measured on fewer than all threads")
	}
	check("asked for", acts(ModelsOptions{Choice: BestVariants, Activations: []kernels.Scheme{kernels.F32, kernels.Q8Row}}), map[string]string{
		"Modelpp4": "f32 q8_row", "Modeltg2": "f32 q8_row", "Lockstep": "f32 q8_row", "Modelload": "f32", "Modelttft": "f32", "Opt2": "",
	})

	asked := ModelsOptions{Activations: []kernels.Scheme{kernels.Q8Per32}}
	if _, err := asked.schemes(formats.F16); err == nil || err.Error() != "no variant multiplies f16 with activations of q8_32" {
		t.Errorf("a scheme that the format lacks: %v", err)
	}
}

// Each scheme is verified against itself and has an error of its own.
func TestErrorOfSchemes(t *testing.T) {
	require.Turns(t, "TestErrorOfSchemes", "TestPeak")
	require.Unraced(t, "one thread computes it")
	schemes := []kernels.Scheme{kernels.Q8Per128, kernels.Q8Per32, kernels.F32}
	s := modelsSuite(t, ModelsOptions{Tokens: 2, Lockstep: 20, Threads: []int{1}, Choice: BestVariants, Activations: schemes}, "tiny")
	res := measured(t, few(1), whole(s))
	kld := map[string]float64{}
	for _, sm := range res.Samples {
		if v, ok := sm.Value(results.KLD); ok {
			kld[sm.Name.Get(names.Act)] = v
		}
	}
	if !(kld["f32"] < kld["q8_32"]/10 && kld["q8_32"] < kld["q8_128"]) {
		t.Errorf("divergences %v: want f32 far below q8_32, and that below q8_128", kld)
	}
}

// The first token of a scheme that is not the projections' own is made with it.
func TestFirstTokenHasTheScheme(t *testing.T) {
	for _, test := range []struct {
		act  kernels.Scheme
		want bool
	}{{kernels.Q8Per128, false}, {kernels.Q8Per32, true}} {
		s := modelsSuite(t, ModelsOptions{
			Threads: []int{1}, RunCommand: []string{"onebit", "run"}, Activations: []kernels.Scheme{test.act}, Features: cpu.Detected(),
		}, "tiny")
		c := s.home.(*store).subjects[0].configs(1)[1]
		cmd, _ := c.firstToken().command(t.Context())
		at := slices.Index(cmd.Args, "--act")
		if at >= 0 != test.want || test.want && cmd.Args[at+1] != string(test.act) {
			t.Errorf("%s: arguments %q", test.act, cmd.Args)
		}
	}
}
