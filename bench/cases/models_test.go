package cases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/internal/require"
	"onebit/internal/sysinfo"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine"
	enginecpu "onebit/models/engine/cpu"
	"onebit/models/synth"
)

// modelFile makes a preset's model.
func modelFile(t testing.TB, preset string) ModelFile {
	t.Helper()
	return seededFile(t, preset, 1)
}

func seededFile(t testing.TB, preset string, seed uint64) ModelFile {
	t.Helper()
	p, err := arch.LookupPreset(preset)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), preset+".gguf")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(synth.Write(f, p, seed), f.Close()); err != nil {
		t.Fatal(err)
	}
	return ModelFile{Name: preset, Path: path, Synthetic: true}
}

func modelsSuite(t testing.TB, opt ModelsOptions, presets ...string) *Suite {
	t.Helper()
	for _, p := range presets {
		opt.Files = append(opt.Files, modelFile(t, p))
	}
	require.Procs(t, 2)
	opt.Host, opt.Features = small(), cpu.Detected()
	s, err := Models(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	s.home.(*store).limits.Measure = endless
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// whole is all of a suite, and few its samples: so many.
func whole(s *Suite) bench.Suite {
	return bench.Suite{Settings: s.Settings, Cases: s.Cases, Studies: s.Studies, Doubts: s.Doubts}
}

func few(count int) bench.Runner { return bench.Runner{Count: count, Time: time.Millisecond} }

// fakeRun stands in for onebit run: a token, and on standard error the
// variants that a real one would list.
func fakeRun(args []string) error {
	at := slices.Index(args, "--variant")
	if at < 0 || !slices.Contains(args, "--ignore-eos") {
		return fmt.Errorf("unexpected arguments %q", args)
	}
	if _, err := os.Stat(args[0]); err != nil {
		return err
	}
	for _, v := range kernels.Variants() {
		if v.Name == args[at+1] {
			fmt.Fprintln(os.Stderr, v)
		}
	}
	_, err := fmt.Println("token")
	return err
}

func TestModels(t *testing.T) {
	presets := []string{"tiny", "tiny-bitnet"}
	s := modelsSuite(t, ModelsOptions{
		Prompt: 20, Tokens: 4, Depths: []int{0, 20}, Choice: SIMDVariants, RunCommand: child(t, "run"), MemoryVerb: "memory",
	}, presets...)
	if !slices.ContainsFunc(s.home.(*store).subjects[0].configs(1), modelConfig.simd) {
		require.Skip(t, "avx2,neon", "no SIMD variant runs here")
	}
	res := measured(t, few(1), whole(s))
	samples := map[string]results.Sample{}
	for _, sm := range res.Samples {
		if sm.Name.Base == "Model" {
			samples[sm.Name.Full] = sm
		}
	}
	for _, file := range s.home.(*store).subjects {
		for _, threads := range []int{1, 2} {
			for _, c := range file.configs(threads) {
				checkSamples(t, c, samples)
			}
		}
	}
	checkOperations(t, res)
	checkMemory(t, samples)
	if want := "the weights of tiny are random"; !slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.HasPrefix(w, want) }) {
		t.Errorf("warnings %q lack %q", res.Warnings, want)
	}
}

// checkSamples looks for each test's values.
func checkSamples(t *testing.T, c modelConfig, samples map[string]results.Sample) {
	t.Helper()
	value := func(test names.ModelTest, unit string) float64 {
		name := c.name(test)
		v, ok := samples[name].Value(unit)
		if !ok || v <= 0 {
			t.Errorf("%s: no %s", name, unit)
		}
		return v
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-4*want {
			t.Errorf("%s: %s is %v, want %v", c, what, got, want)
		}
	}
	kv := float64(c.subject.config.Layers * c.subject.config.KVHeads * c.subject.config.HeadDim * 2 * 2) // fp16
	for _, depth := range []int{0, 20} {
		test := names.ModelTest{Kind: names.Decode, Tokens: 4, Depth: depth}
		seconds := value(test, results.NsPerOp) / 1e9
		near("tokens", value(test, results.TokenRate)*seconds, 4)
		positions := float64(4*depth + 1 + 2 + 3 + 4)
		near("bytes", value(test, results.WeightRate)*seconds, 4*float64(c.weightBytes())+kv*positions)
		value(test, results.PctRoof)
	}
	if c.packing == enginecpu.Stream {
		return
	}
	for _, depth := range []int{0, 20} {
		test := names.ModelTest{Kind: names.Prompt, Tokens: 20, Depth: depth}
		seconds := value(test, results.NsPerOp) / 1e9
		near("tokens", value(test, results.TokenRate)*seconds, 20)
		near("multiply-adds", value(test, results.OpRate)*seconds, float64(c.subject.multiplyAdds(test)))
		value(test, results.PctPeak)
	}
	if c.main() {
		value(names.ModelTest{Kind: names.Load}, results.NsPerOp)
	}
	if c.best() {
		value(names.ModelTest{Kind: names.TTFT}, results.NsPerOp)
	}
}

// checkOperations wants each block's operations in each study, under names that
// readers know.
func checkOperations(t *testing.T, res *results.Set) {
	t.Helper()
	seen := map[string]int{}
	for _, s := range res.Samples {
		if s.Name.Base != "Op" {
			continue
		}
		if op := s.Name.Get(names.Op); !slices.Contains(names.Operations, op) {
			t.Errorf("operation %q is missing in names.Operations", op)
		}
		n := s.Iters // passes: what is too short for the clock is summed over several
		if s.Name.Get("test") == "tg4" {
			n /= 4
		}
		seen[fmt.Sprint(s.Name.Get("model"), s.Name.Get("block"), s.Name.Get("op"), s.Name.Get("test"))] += n
		seen[s.Name.Full] += n
		if ns, ok := s.Value(results.NsPerOp); !ok || ns <= 0 || s.Name.Get("threads") != "2" {
			t.Errorf("%s: %+v", s.Name.Full, s.Values)
		}
		if _, ok := s.Value(results.WeightRate); s.Name.Get("op") == "ffn_down" && !ok {
			t.Errorf("%s has no weight-B/s", s.Name.Full)
		}
	}
	for name, n := range seen {
		if strings.HasPrefix(name, "Op/") && !strings.HasSuffix(name, names.Unattributed) && n != passes {
			t.Errorf("%s has samples of %d passes, want %d", name, n, passes)
		}
	}
	for _, op := range []string{"0attn_qkv", "1attn_qkv", "1ffn_down", "outsideoutput"} {
		for _, test := range []string{"tg4", "pp20"} {
			if seen["tiny"+op+test] < 2*passes || seen["tiny-bitnet"+op+test] < passes {
				t.Errorf("%s of %s was seen %d and %d times", op, test, seen["tiny"+op+test], seen["tiny-bitnet"+op+test])
			}
		}
	}
}

// What the models of every architecture call their operations, readers know.
func TestOperationsAreNamed(t *testing.T) {
	for _, preset := range []string{"tiny", "tiny-bitnet", "tiny-llama", "tiny-minicpm", "tiny-qwen35"} {
		m, err := models.Open(t.Context(), modelFile(t, preset).Path, models.Options{Engine: enginecpu.Options{Packing: enginecpu.PackNever, Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		s, err := m.NewSession(models.SessionOptions{Context: 2, Observer: operationNames{t, preset}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Prefill(t.Context(), []int{1, 2}); err != nil {
			t.Fatal(err)
		}
	}
}

type operationNames struct {
	t      *testing.T
	preset string
}

func (o operationNames) Observe(op engine.Op) {
	if !slices.Contains(names.Operations, op.Name) {
		o.t.Errorf("operation %q of %s is missing in names.Operations", op.Name, o.preset)
	}
}

// A state without positions is read and written for each token, whatever the
// depth; keys and values are read once for each that there are.
func TestBytesOfStates(t *testing.T) {
	s := modelsSuite(t, ModelsOptions{Tokens: 2, Depths: []int{0, 100}, Threads: []int{1}, Parallel: []int{3}}, "tiny-qwen35")
	sub := s.home.(*store).subjects[0]
	c, d := sub.configs(1)[0], sub.config.Delta
	attending := 0
	for i := range sub.config.Layers {
		if sub.config.Attends(i) {
			attending++
		}
	}
	kv := attending * sub.config.KVHeads * sub.config.HeadDim * 2 * 2 // fp16
	state := 4 * (sub.config.Layers - attending) * (d.ValueHeads*d.HeadDim*d.HeadDim + d.Channels()*(d.Taps-1))
	for depth, positions := range map[int]int{0: 1 + 2, 100: 101 + 102} {
		test := names.ModelTest{Kind: names.Decode, Tokens: 2, Depth: depth}
		if got, want := c.bytes(test), int64(2*(c.weightBytes()+2*state)+positions*kv); got != want {
			t.Errorf("behind %d tokens two read %d bytes, want %d", depth, got, want)
		}
	}
	test := names.ModelTest{Kind: names.Decode, Tokens: 2}
	if got, want := c.bytesTogether(test, 3), int64(2*(c.weightBytes()+3*2*state)+(1+2+2+3+3+4)*kv); got != want {
		t.Errorf("three texts together read %d bytes, want %d", got, want)
	}
}

// checkMemory wants packed weights to be anonymous, and native ones the
// file's.
func checkMemory(t *testing.T, samples map[string]results.Sample) {
	t.Helper()
	if err := sysinfo.ResetPeak(); err != nil {
		t.Log("memory is not measured here: ", err)
		return
	}
	measured := 0
	for name, s := range samples {
		peak, ok := s.Value(results.PeakRSS)
		if !ok {
			continue
		}
		measured++
		anon, _ := s.Value(results.AnonBytes)
		file, _ := s.Value(results.FileBytes)
		checkPlan(t, name, s, peak)
		if anon <= 0 || file <= 0 || peak < anon+file || peak > 1<<30 || s.Name.Get("threads") != "2" {
			t.Errorf("%s: peak %v, anonymous %v, files %v", name, peak, anon, file)
		}
	}
	// Of tiny packed, native and stream, of tiny-bitnet the last two: load but
	// for stream, tg4 twice, pp20 twice but for stream.
	if measured < 2*5+2*2 {
		t.Errorf("%d lines have a peak memory", measured)
	}
}

// Keys and values in another format are those of every test: what it reads, what it
// is planned to take, and what its logits are compared with.
func TestCachesOfModels(t *testing.T) {
	s := modelsSuite(t, ModelsOptions{Tokens: 2, Depths: []int{0, 100}, Threads: []int{1}, Cache: formats.Q8_0, Lockstep: 4, MemoryVerb: "memory"}, "tiny")
	configs := s.home.(*store).subjects[0].configs(1)
	looked := configs[slices.IndexFunc(configs, modelConfig.studied)]
	if err := s.Select("/variant:" + looked.variant.Name); err != nil {
		t.Fatal(err)
	}
	res := measured(t, few(1), whole(s))
	if got := res.Setting("keys-and-values"); got != "q8_0" {
		t.Errorf("the header says %q", got)
	}
	sub := s.home.(*store).subjects[0]
	values := sub.config.Layers * sub.config.KVHeads * sub.config.HeadDim * 2
	if want := values * 34 / 32; sub.kvBytes != want {
		t.Errorf("%d bytes a token, want %d", sub.kvBytes, want)
	}
	measured := 0
	for _, sm := range res.Samples {
		if kv, ok := sm.Value(results.PlanKV); ok && sm.Name.Get(names.Depth) == "100" {
			measured++
			if want := float64(128 * values * 34 / 32); kv != want {
				t.Errorf("%s: planned %v bytes of keys and values, want %v", sm.Name.Full, kv, want)
			}
		}
	}
	if measured == 0 {
		t.Error("nothing was planned")
	}
}

// checkPlan wants a plan that is the sum of its parts, and of what was there at the
// peak nothing that it left out but the program.
func checkPlan(t *testing.T, name string, s results.Sample, peak float64) {
	t.Helper()
	value := func(unit string) float64 { v, _ := s.Value(unit); return v }
	plan, weights, kv, scratch := value(results.PlanBytes), value(results.PlanWeights), value(results.PlanKV), value(results.PlanScratch)
	loading := s.Name.Get("test") == names.Load
	if plan != weights+kv+value(results.PlanState)+scratch || weights <= 0 || (kv > 0) == loading || (scratch > 0) == loading {
		t.Errorf("%s: planned %v, for weights %v, keys and values %v, scratch %v", name, plan, weights, kv, scratch)
	}
	if program := float64(64 << 20); peak > plan+program {
		t.Errorf("%s: the peak of %v is far above the plan of %v", name, peak, plan)
	}
}

func TestModelNames(t *testing.T) {
	s := modelsSuite(t, ModelsOptions{Prompt: 512, Threads: []int{1}}, "tiny-bitnet")
	var names []string
	for _, c := range s.Cases {
		names = append(names, c.Name)
	}
	for _, want := range []string{
		"Model/model=tiny-bitnet/variant=unrolled/act=q8_row/packing=native/test=pp512/threads=1",
		"Model/model=tiny-bitnet/variant=scalar/act=q8_row/packing=native/test=load/threads=1",
		"Model/model=tiny-bitnet/variant=reference/act=f32/packing=native/test=pp512/threads=1",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("no case %s in %q", want, names)
		}
	}
	if slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "test=tg") || strings.Contains(n, "stream") }) {
		t.Errorf("cases of tests that nobody asked for: %q", names)
	}
	if err := s.Select("/variant:neon"); runtime.GOARCH == "amd64" && (err == nil || !strings.Contains(err.Error(), "needs arm64")) {
		t.Errorf("a variant of another machine: %v", err)
	}
}

// TestModelsInGo measures what the usual filter leaves out.
func TestModelsInGo(t *testing.T) {
	s := modelsSuite(t, ModelsOptions{Tokens: 2, Threads: []int{1}}, "tiny")
	if err := s.Select("/variant:(scalar OR unrolled OR reference)"); err != nil {
		t.Fatal(err)
	}
	res := measured(t, few(1), whole(s))
	seen := map[string]bool{}
	for _, sm := range res.Samples {
		seen[sm.Name.Get("variant")+" "+sm.Name.Get("test")] = true
	}
	for _, want := range []string{"scalar tg2", "unrolled tg2", "reference tg2", "unrolled load"} {
		if !seen[want] {
			t.Errorf("no sample of %s", want)
		}
	}
}

// verifiedAnew verifies a model, whether or not that was done before.
func verifiedAnew(t *testing.T, s *store, c modelConfig) error {
	t.Helper()
	x, err := newText(t.Context(), s, c, names.ModelTest{Kind: names.Prompt, Tokens: 4}, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	x.model.verified = false
	_, err = x.Verify(t.Context())
	return err
}

// TestWrongModelIsFound breaks what a model is compared with, and the model.
func TestWrongModelIsFound(t *testing.T) {
	s := modelsSuite(t, ModelsOptions{Prompt: 4, Threads: []int{1}}, "tiny")
	store := s.home.(*store)
	sub := store.subjects[0]
	configs := sub.configs(1)
	c := configs[slices.IndexFunc(configs, func(c modelConfig) bool { return c.variant.Name == "unrolled" })]
	verify := func() error { return verifiedAnew(t, store, c) }
	if err := verify(); err != nil {
		t.Fatal(err)
	}
	right := sub.generic[c.act()].step[7]
	sub.generic[c.act()].step[7] = math.Nextafter32(right, 0)
	if err := verify(); err == nil || !strings.Contains(err.Error(), "after one more token, logit 7 is") {
		t.Errorf("a wrong bit of a logit: %v", err)
	}
	store.opt.Again = true // the other process would have told
	if err := verify(); err != nil {
		t.Errorf("a process that trusts another: %v", err)
	}
	store.opt.Again = false
	sub.generic[c.act()].step[7] = right
	if err := verify(); err != nil {
		t.Fatal(err)
	}
	m, err := store.open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	other := c
	other.variant = configs[slices.IndexFunc(configs, func(c modelConfig) bool { return c.variant.Name == "scalar" })].variant
	if err := other.checkVariants(m.Model); err == nil || !strings.Contains(err.Error(), "is multiplied by q1_0_g128/unrolled") {
		t.Errorf("another variant than the one that was asked for: %v", err)
	}
	other = c
	other.subject = &subject{linears: sub.linears[1:], format: sub.format, opt: sub.opt}
	if err := other.checkVariants(m.Model); err == nil || !strings.Contains(err.Error(), "bytes of weights") {
		t.Errorf("fewer weights: %v", err)
	}
}

func TestModelsThatDontFit(t *testing.T) {
	file := modelFile(t, "tiny")
	host := small()
	host.MemAvailable.V = 400 << 10
	s, err := Models(t.Context(), ModelsOptions{Files: []ModelFile{file}, Tokens: 2, Threads: []int{1}, Host: host, Features: cpu.Detected()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	packed := slices.ContainsFunc(kernels.Variants(), func(v *kernels.Variant) bool {
		return v.Format.Name == "q1_0_g128" && v.Layout != kernels.Native && v.Available() == nil
	})
	if !packed {
		require.Skip(t, "avx2,neon", "no variant packs here")
	}
	for _, c := range s.Cases {
		if strings.Contains(c.Name, "packing=packed") && strings.Contains(c.Name, "variant=avx2/act=q8_128") {
			t.Errorf("%s has no room", c.Name)
		}
	}
	if got := strings.Join(s.Doubts(), "\n"); !strings.Contains(got, "which memory has no room for") {
		t.Errorf("doubts %q", got)
	}
	if _, err := Models(t.Context(), ModelsOptions{Files: []ModelFile{file}, Tokens: 2, Depths: []int{511}, Host: host}); err == nil || !strings.Contains(err.Error(), "tiny holds 512 tokens, fewer than the 513 of test tg2 @ d511") {
		t.Errorf("beyond the context: %v", err)
	}
	file.Path += ".missing"
	if _, err := Models(t.Context(), ModelsOptions{Files: []ModelFile{file}, Host: host}); err == nil {
		t.Error("a file that is missing is no error")
	}
}

// A llamaScript is what the stand-in for llama-bench does; see
// fakeLlamaBench.
const llamaScript = "ONEBIT_TEST_LLAMA"

// fakeLlamaBench prints what llama-bench -o json does, in the fields that its
// README documents, by hand. A prompt token takes 1 ms, a token of text 10 ms.
func fakeLlamaBench(args []string) error {
	flags := map[string]int{}
	for i := 0; i+1 < len(args); i += 2 {
		var n int
		fmt.Sscan(args[i+1], &n)
		flags[args[i]] = n
	}
	ns := (1_000_000*flags["-p"] + 10_000_000*flags["-n"]) * (1 + flags["-fa"])
	switch os.Getenv(llamaScript) {
	case "unsupported":
		fmt.Fprintln(os.Stderr, "main: error: failed to load model\nunknown type 41")
		os.Exit(1)
	case "garbage":
		fmt.Println("| model | size |")
		return nil
	case "other":
		flags["-t"]++
	case "empty":
		_, err := io.WriteString(os.Stdout, "[]")
		return err
	}
	_, err := fmt.Printf(`[
  {
    "build_commit": "0a1b2c3",
    "build_number": 4567,
    "cpu_info": "Imaginary Processor 9000",
    "backends": "CPU",
    "model_type": "qwen3 1.7B Q1_0",
    "n_threads": %d,
    "n_prompt": %d,
    "n_gen": %d,
    "n_depth": %d,
    "avg_ns": %d,
    "stddev_ns": 0,
    "avg_ts": 100.000000,
    "samples_ns": [ %[5]d ],
    "samples_ts": [ 100.000000 ]
  }
]
`, flags["-t"], flags["-p"], flags["-n"], flags["-d"], ns)
	return err
}

// llamaBenchPath is an executable that is fakeLlamaBench.
func llamaBenchPath(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	path := filepath.Join(t.TempDir(), "llama-bench")
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' llama-bench \"$@\"\n", child(t, "llama-bench")[0])
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func otherEngines(path string) []OtherEngine {
	return []OtherEngine{{Name: names.LlamaBench, Path: path}}
}

// TestSeveralEngines runs two by turns with our own, each under its own name, with its
// version.
func TestSeveralEngines(t *testing.T) {
	require.Unraced(t, "a process of its own measures")
	path := llamaBenchPath(t)
	s := modelsSuite(t, ModelsOptions{Tokens: 2, Threads: []int{1}, Others: []OtherEngine{{"llama.cpp", path}, {"bitnet.cpp", path}}}, "tiny")
	if err := s.Select("/variant:(llama.cpp OR bitnet.cpp OR unrolled) /test:tg2"); err != nil {
		t.Fatal(err)
	}
	res := ran(t, few(2), whole(s))
	groups := map[string]bool{}
	for _, engine := range []string{"llama.cpp", "bitnet.cpp"} {
		if got := res.Setting(engine); got != "build 4567 (0a1b2c3), backends CPU" {
			t.Errorf("the header says of %s %q", engine, got)
		}
		n := 0
		for _, sm := range res.Samples {
			if sm.Name.Get("variant") == engine {
				n++
				groups[sm.Group] = true
				if peak, ok := sm.Value(results.PeakRSS); ok && peak <= 0 {
					t.Errorf("%s: a peak of %v", engine, peak)
				}
			}
		}
		if n != 2 {
			t.Errorf("%d samples of %s, want 2", n, engine)
		}
	}
	if len(groups) != 1 || len(res.Failures) > 0 {
		t.Errorf("groups %v, failures %v", groups, res.Failures)
	}
}

func TestLlamaBench(t *testing.T) {
	require.Unraced(t, "a process of its own measures")
	s := modelsSuite(t, ModelsOptions{Prompt: 8, Tokens: 2, Depths: []int{0, 16}, Threads: []int{1}, Others: otherEngines(llamaBenchPath(t))}, "tiny")
	if err := s.Select("/variant:(llama-bench OR unrolled) -/test:load"); err != nil {
		t.Fatal(err)
	}
	res := ran(t, few(1), whole(s))
	if got, want := res.Setting("llama-bench"), "build 4567 (0a1b2c3), backends CPU"; got != want {
		t.Errorf("the header says %q, want %q", got, want)
	}
	rates := map[string]float64{}
	for _, sm := range res.Samples {
		if sm.Name.Get("variant") == "llama-bench" {
			rates[strings.TrimPrefix(sm.Name.Full, "Model/model=tiny/variant=llama-bench/")], _ = sm.Value(results.TokenRate)
		}
	}
	want := map[string]float64{"test=pp8/threads=1": 1000, "test=tg2/threads=1": 100, "test=pp8/depth=16/threads=1": 1000, "test=tg2/depth=16/threads=1": 100}
	for name, rate := range want {
		if rates[name] != rate {
			t.Errorf("%s: %v tok/s, want %v", name, rates[name], rate)
		}
	}
	if len(res.Failures) > 0 || len(rates) != len(want) {
		t.Errorf("samples %v, failures %+v", rates, res.Failures)
	}
}

// What is added to llama-bench's arguments reaches it, and the header.
func TestLlamaBenchArgs(t *testing.T) {
	s := modelsSuite(t, ModelsOptions{Tokens: 2, Threads: []int{1}, Others: otherEngines(llamaBenchPath(t)), OtherFlags: []string{"-fa", "1"}}, "tiny")
	if err := s.Select("/variant:llama-bench"); err != nil {
		t.Fatal(err)
	}
	res := ran(t, few(1), whole(s))
	if got := res.Setting("llama-bench-args"); got != "-fa 1" {
		t.Errorf("the header says %q", got)
	}
	for _, sm := range res.Samples {
		if rate, ok := sm.Value(results.TokenRate); ok && rate != 50 {
			t.Errorf("%s: %v tok/s, want 50 with -fa 1", sm.Name.Full, rate)
		}
	}
}

func TestLlamaBenchFails(t *testing.T) {
	require.Unraced(t, "a process of its own measures")
	path := llamaBenchPath(t)
	for script, want := range map[string]string{
		"unsupported": "failed to load model\nunknown type 41",
		"garbage":     "its output is not JSON as expected",
		"other":       "not what it was asked for",
		"empty":       "0 results, want 1",
	} {
		t.Run(script, func(t *testing.T) {
			t.Setenv(llamaScript, script)
			s := modelsSuite(t, ModelsOptions{Tokens: 1, Threads: []int{1}, Others: otherEngines(path)}, "tiny")
			if err := s.Select("/variant:(llama-bench OR unrolled) /test:tg1"); err != nil {
				t.Fatal(err)
			}
			res := ran(t, few(1), whole(s))
			if len(res.Failures) != 1 || !strings.Contains(res.Failures[0].Reason, want) {
				t.Errorf("failures %+v, want one that says %q", res.Failures, want)
			}
			if len(res.Samples) < 2 {
				t.Errorf("our own samples are missing: %+v", res.Samples)
			}
		})
	}
	_, err := Models(t.Context(), ModelsOptions{Files: []ModelFile{modelFile(t, "tiny")}, Tokens: 1, Others: otherEngines(path + ".missing"), Host: small()})
	if err == nil || !strings.Contains(err.Error(), "llama-bench.missing") {
		t.Errorf("no such program: %v", err)
	}
}

// TestInterruptedModels ends a run at once: nothing may stay open.
func TestInterruptedModels(t *testing.T) {
	s := modelsSuite(t, ModelsOptions{Prompt: 8, Tokens: 2}, "tiny")
	ctx, cancel := context.WithCancel(t.Context())
	r := bench.Runner{Count: 100, Time: time.Millisecond, Progress: func(p bench.Progress) {
		if p.Doing == "measure" && p.Done > 3 {
			cancel()
		}
	}}
	defer cancel()
	_, err := r.Run(ctx, bench.Suite{Cases: s.Cases, Studies: s.Studies, Doubts: s.Doubts}, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want an interruption", err)
	}
}
