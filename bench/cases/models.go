package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/formats"
	"onebit/internal/count"
	"onebit/internal/cpu"
	"onebit/internal/sysinfo"
	"onebit/kernels"
	"onebit/models"
	enginecpu "onebit/models/engine/cpu"
)

// A ModelFile is a model to measure.
type ModelFile struct {
	Name      string // in the names of its cases
	Path      string // as package models opens it
	Synthetic bool   // its weights are random
	Text      string // what the model was trained to predict, for its error; "": a speech

	// Head is a format to convert the output head to when the model is
	// opened; nil: as it is. The reference engine keeps the file's, so that the
	// error of the logits counts the conversion.
	Head *formats.Type

	// File is what Path names (/dev/fd/N) if that is a descriptor of this
	// process, to be handed on to child processes; else nil.
	File *os.File
}

// ModelsOptions say what a suite of models covers.
type ModelsOptions struct {
	Files    []ModelFile
	Prompt   int   // tokens of the test pp; 0: no such test
	Tokens   int   // tokens of the test tg; 0: no such test
	Depths   []int // tokens in the KV cache before a test; nil: 0
	Parallel []int // numbers of texts to decode together; nil: none but one
	Drafts   int   // most tokens of a draft, for tests on real text with drafts and without; 0: none
	Lockstep int   // tokens that are compared with the reference engine; 0: none
	Threads  []int // nil: 1, and sysinfo.Host.Threads
	Choice   Choice
	Features cpu.Set
	Host     sysinfo.Host
	Types    []string      // ModelOptions.Types
	Cache    *formats.Type // of keys and values; nil: the usual one
	// Tokenizer is a model whose tokenizer the files have, where they have none
	// of their own; "": they have.
	Tokenizer string

	// Activations are the schemes to measure, the main one first. The others
	// are measured in pp and tg tests and in error only. nil: the format's usual
	// one and, where there is SIMD for it, q8_32.
	Activations []kernels.Scheme

	// Again says that another process has compared the same models with the pure Go
	// variant, which takes seconds a token: here a model must equal itself, a
	// batch of tokens the same ones one by one.
	Again bool

	// MemoryVerb has this program run MeasureMemory; "": memory is not measured.
	MemoryVerb string
	// RunCommand is the verb run, which takes a model, -p, -n, --threads,
	// --variant, --head and --native; nil: the time to the first token is not
	// measured.
	RunCommand []string
	// Others are llama-bench programs, to be measured beside ours.
	Others     []OtherEngine
	OtherFlags []string // to add to their own, such as -fa 1
}

// A Choice says which variants are measured.
type Choice int

const (
	AllVariants  Choice = iota // and streaming, and those in pure Go, and the reference, which take patience
	SIMDVariants               // and streaming; of a scheme without SIMD, the best in Go
	BestVariants               // of these, of each scheme the best that packs and the best that does not; but for the main one, on the most threads alone
)

// Models returns the cases of whole models; see the package comment. It opens
// each file once, to see what it consists of.
func Models(ctx context.Context, opt ModelsOptions) (*Suite, error) {
	if opt.Threads == nil {
		opt.Threads = slices.Compact([]int{1, opt.Host.Threads()})
	}
	if opt.Depths == nil {
		opt.Depths = []int{0}
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	store := newStore(&opt)
	store.gpu = openGPU()
	s := &Suite{Usual: store.gpu.unusual(), home: store}
	s.Warn(threadDoubts(opt.Threads)...)
	for _, file := range opt.Files {
		subject, err := newSubject(ctx, file, &opt)
		if err == nil {
			err = subject.addOthers(ctx, s)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		store.subjects = append(store.subjects, subject)
	}
	tellApart(store.subjects)
	for _, subject := range store.subjects {
		s.addModel(store, subject)
	}
	s.Settings = append(s.Settings, modelsSetting(store.subjects...))
	if slices.Max(opt.Depths) > computedTokens {
		s.Settings = append(s.Settings, results.Setting{Key: results.ComputedKey, Value: strconv.Itoa(computedTokens)})
	}
	if opt.Cache != nil {
		s.Settings = append(s.Settings, results.Setting{Key: "keys-and-values", Value: opt.Cache.Name})
	}
	store.watchFaults()
	return s, nil
}

func (opt *ModelsOptions) check() error {
	if err := checkThreads(opt.Threads); err != nil {
		return err
	}
	for _, n := range append([]int{opt.Prompt, opt.Tokens, opt.Lockstep}, opt.Depths...) {
		if n < 0 || n > MaxTokens {
			return fmt.Errorf("%d tokens: give a number up to %d", n, MaxTokens)
		}
	}
	for _, n := range opt.Parallel {
		if n < 1 || n > MaxTexts {
			return fmt.Errorf("%d texts: give a number from 1 to %d", n, MaxTexts)
		}
	}
	if opt.Drafts < 0 || opt.Drafts > models.MostDraft {
		return fmt.Errorf("drafts of %d tokens: give a number up to %d", opt.Drafts, models.MostDraft)
	}
	return nil
}

// MaxTexts is the most texts that are decoded together.
const MaxTexts = 256

// A ContextError is a test that does not fit in a model's context.
type ContextError struct {
	Model           string
	Context, Tokens int
	Test            string
}

func (e *ContextError) Error() string {
	return fmt.Sprintf("%s holds %d tokens, fewer than the %d of test %s", e.Model, e.Context, e.Tokens, e.Test)
}

// MaxTokens is the most of a test: it is beyond the context of any model.
const MaxTokens = 1 << 24

// addModel adds the groups of a model, those that live on the same threads one
// after the other.
func (s *Suite) addModel(store *store, sub *subject) {
	for _, v := range sub.variants() {
		if err := v.AvailableOn(sub.opt.Features); err != nil {
			s.unavailable(names.ModelCase{Model: sub.Name, Variant: v.Name, Act: string(v.Scheme)}.String(), err)
		}
	}
	s.addForeign(func(isa string) string { return names.ModelCase{Model: sub.Name, Variant: isa}.String() })
	if sub.Synthetic {
		store.warn(fmt.Sprintf("the weights of %s are random: its speed and memory are those of the real model, its text means nothing, and its divergence is that of engines on random weights", sub.Name))
	}
	if part := sub.checkedInPart(); part != "" {
		store.warn(part)
	}
	for _, threads := range sub.opt.Threads {
		configs := sub.configs(threads)
		configs, skipped := sub.fitting(configs)
		for _, c := range skipped {
			err := fmt.Errorf("%s would take %s, which memory has no room for beside the other variants", c, sysinfo.Bytes(c.weightBytes()))
			s.unavailable(c.name(names.ModelTest{Kind: names.Decode, Tokens: sub.opt.Tokens}), err)
			store.warn("not measured: " + err.Error())
		}
		if len(configs) == 0 {
			continue
		}
		for _, kind := range []string{names.Load, names.TTFT} {
			t, group := names.ModelTest{Kind: kind}, textGroup(configs[0], kind)
			for _, c := range configs {
				switch {
				case c.packing == enginecpu.Stream: // as native
				case kind == names.Load && c.main():
					s.addLoading(store, c, group, c.expect(t))
				case kind == names.TTFT && c.best(): // a process starts on the file's bytes with any variant
					s.addFirstToken(store, c, group, c.expect(t), c.firstToken())
				}
			}
		}
		for _, kind := range []string{names.Prompt, names.Decode} {
			s.addTexts(store, kind, configs)
		}
		if threads == maxOf(sub.opt.Threads) {
			s.addLockstep(store, configs, textGroup(configs[0], names.Decode))
		}
	}
	s.addModelGPU(store, sub)
}

func textGroup(c modelConfig, kind string) string {
	return fmt.Sprintf("%s %s %s", c.subject.Name, kind, count.Of(c.threads, "thread"))
}

// addTexts adds the group of a kind of test, with its ceiling.
func (s *Suite) addTexts(store *store, kind string, configs []modelConfig) {
	tests := configs[0].subject.tests(kind)
	if len(tests) == 0 {
		return
	}
	sub, threads := configs[0].subject, configs[0].threads
	group := textGroup(configs[0], kind)
	var ceiling bench.Case
	if kind == names.Prompt {
		pool := store.pool(threads)
		ceiling = dotPeakCase(names.DotPeak{Model: sub.Name}, store.dot, group, pool, roofline.NewRoundTrip(pool))
		ceiling.Check = store.limits.Check(threads)
	} else {
		ceiling = store.readCase(group, configs)
	}
	for _, t := range tests {
		for _, c := range configs {
			if c.packing == enginecpu.Stream && t.Kind == names.Prompt {
				continue // the model is read once, however long the prompt
			}
			cs := textCase(store, c, t, group)
			if kind == names.Prompt {
				cs.Peak = ceiling.Name
			} else {
				cs.Roof = ceiling.Name
			}
			s.Cases = append(s.Cases, cs)
			if kind == names.Decode && c.studied() && c.packing != enginecpu.Stream {
				s.addHeads(store, c, t, group)
				s.addTogether(store, c, t, group, ceiling.Name)
				s.addSpeculation(store, c, t, group)
			}
			if c.studied() {
				s.Studies = append(s.Studies, store.operations(c, t, group, c.expect(t)))
			}
		}
		s.addOtherCases(sub, t, threads, group)
	}
	s.Cases = append(s.Cases, ceiling)
}

// tests returns the tests of a kind.
func (sub *subject) tests(kind string) (out []names.ModelTest) {
	n := sub.opt.Prompt
	if kind == names.Decode {
		n = sub.opt.Tokens
	}
	if n == 0 {
		return nil
	}
	for _, d := range sub.opt.Depths {
		out = append(out, names.ModelTest{Kind: kind, Tokens: n, Depth: d})
	}
	return out
}

// Rough rates of a desktop core, to forecast a run's length with.
const (
	coreBytes = 20e9  // weight bytes per second
	coreMACs  = 250e9 // multiply-adds per second in SIMD
	coreLoad  = 1e9   // bytes packed per second
	coreHead  = 100e6 // weights of a head converted per second
	goFactor  = 30    // by which pure Go is slower than SIMD
)

// expect is about how long a test takes.
func (c modelConfig) expect(t names.ModelTest) time.Duration {
	d := c.simdExpect(t)
	if !c.simd() {
		d *= goFactor
	}
	return d
}

func (c modelConfig) simdExpect(t names.ModelTest) time.Duration {
	threads := float64(c.threads)
	var seconds float64
	switch t.Kind {
	case names.Load:
		seconds = float64(c.weightBytes())/(coreLoad*threads) + c.headSeconds()
	case names.TTFT:
		seconds = 0.3 + c.headSeconds()
	case names.Prompt:
		seconds = float64(t.Tokens) * float64(c.subject.macs) / (coreMACs * threads)
	default:
		// Memory serves about two cores.
		seconds = float64(t.Tokens) * float64(c.weightBytes()) / (coreBytes * min(threads, 2))
	}
	return time.Duration(seconds * float64(time.Second))
}

// headSeconds is about how long it takes to convert the head.
func (c modelConfig) headSeconds() float64 {
	if c.subject.Head == nil {
		return 0
	}
	return float64(c.subject.headMAC) / (coreHead * float64(c.threads))
}

// fitting leaves out configurations with weights of their own, the slowest
// first, that have no room in memory together.
func (sub *subject) fitting(configs []modelConfig) (fit, skipped []modelConfig) {
	room := int64(1) << 62
	if m := sub.opt.Host.MemAvailable; m.OK() {
		room = int64(m.V) * 3 / 4
	}
	room -= int64(sub.maxBytes(configs)) // what the ceiling reads
	for _, c := range slices.Backward(configs) {
		if c.packing == enginecpu.PackFirst || !sub.inPlace {
			if room -= int64(c.weightBytes()); room < 0 {
				skipped = append(skipped, c)
				continue
			}
		}
		fit = append(fit, c)
	}
	slices.Reverse(fit)
	return fit, skipped
}

func (sub *subject) maxBytes(configs []modelConfig) (most int) {
	for _, c := range configs {
		most = max(most, c.weightBytes())
	}
	return most
}
