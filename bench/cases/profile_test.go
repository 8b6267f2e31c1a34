package cases

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/engine/cpu"
)

// described is what onebit machine found of a machine of up to three threads.
func described(t *testing.T) *Ceilings {
	t.Helper()
	var text strings.Builder
	for threads := 1; threads <= 3; threads++ {
		fmt.Fprintf(&text, "BenchmarkBandwidth/access=read/level=dram/bytes=1000000/pages=huge/threads=%d 1 1 ns/op 1e10 read-B/s\n", threads)
		fmt.Fprintf(&text, "BenchmarkDotPeak/type=int8/isa=avx2/threads=%d 1 1 ns/op 1e12 mac/s\n", threads)
	}
	r, err := results.Read(strings.NewReader(text.String()), "machine.txt")
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCeilings("machine.txt", r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func profiling(t *testing.T, opt ProfileOptions) *Profiling {
	t.Helper()
	require.Procs(t, 2)
	opt.File = modelFile(t, "tiny")
	opt.Host, opt.Ceilings = small(), described(t)
	on := cpuOf(&opt.Model)
	on.Threads = cmp.Or(on.Threads, 2) // machine.txt knows so many
	opt.Model.Engine = on
	p, err := NewProfiling(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	p.Settings = Settings(opt.Host, time.Now(), p.Settings...)
	return p
}

func TestProfile(t *testing.T) {
	p := profiling(t, ProfileOptions{Prompt: 8, Tokens: 4, Passes: 6, Check: true, Model: models.Options{Engine: cpu.Options{Threads: 2, Packing: cpu.PackBehind}}})
	res := measured(t, bench.Runner{Seed: 1}, p.Suite)
	if c := p.Profile.Ceilings; c.Threads != 2 || c.Source != "machine.txt" {
		t.Errorf("ceilings %+v, want those of the machine's file", c)
	}
	if got := res.Setting(results.ModelsKey); !strings.HasPrefix(got, "tiny=") || res.Samples[0].Weights != strings.TrimPrefix(got, "tiny=") {
		t.Errorf("the header says that weights are %q, a sample %q", got, res.Samples[0].Weights)
	}
	if len(p.Profile.Tests) != 2 {
		t.Fatalf("%d tests, want a prompt and decoding", len(p.Profile.Tests))
	}
	blocks, head := p.model.MultiplyAdds()
	for _, test := range p.Profile.Tests {
		if len(test.Passes) != 6 || len(test.Plain) != 6 || test.Shown == nil {
			t.Fatalf("%v: %d observed passes, %d others, want 6", test, len(test.Passes), len(test.Plain))
		}
		for i, costs := range test.Passes {
			var sum time.Duration
			threads := make([]time.Duration, 2)
			macs := 0
			for _, c := range costs {
				sum += c.Time
				if !slices.Contains(names.Operations, c.Op) {
					t.Errorf("%v: operation %s", test, c.Op)
				}
				if c.Op != "attn" {
					macs += c.MACs
				}
				for thread, activities := range c.Threads {
					for _, d := range activities {
						threads[thread] += d
					}
				}
			}
			if d := test.Observed[i]; sum != d || threads[0] != d || threads[1] != d {
				t.Errorf("%v, pass %d of %v: operations add up to %v, threads to %v", test, i, d, sum, threads)
			}
			want := test.Tokens * (blocks + head)
			if test.Kind == names.Prompt {
				want = test.Tokens*blocks + head
			}
			if macs != want {
				t.Errorf("%v: %d multiply-adds, want %d", test, macs, want)
			}
		}
		if got := test.Tensors[profile.Key{Block: 1, Op: "attn_qkv"}]; !slices.Equal(got, []string{"blk.1.attn_q.weight", "blk.1.attn_k.weight", "blk.1.attn_v.weight"}) {
			t.Errorf("%v: attn_qkv multiplies %q", test, got)
		}
		if f := test.Overhead(); math.IsNaN(f.Center) || !f.Bounded() {
			t.Errorf("%v: overhead %+v", test, f)
		}
	}
	if got, want := p.Profile.Tests[1].Footprint(), p.model.WeightBytes(); got < want {
		t.Errorf("a token reads %d bytes, want the %d of the weights and more", got, want)
	}
	for _, want := range []string{"/test=pp8/threads=2/block=0/op=ffn_down", "/test=tg4/threads=2/block=outside/op=unattributed", "/test=tg4/threads=2"} {
		n := 0
		for _, s := range res.Samples {
			if strings.HasSuffix(s.Name.Full, want) {
				n++
			}
		}
		if n != 6 {
			t.Errorf("%d samples end with %s, want one of each pass", n, want)
		}
	}
	checkProfileMemory(t, p)
	layout, packing := names.ChangePacked, "weights packed, not in place" // as without SIMD
	if p.Profile.Packing == names.Packed {
		layout, packing = names.ChangeNative, "weights in place, not packed"
	}
	for _, change := range []string{names.ChangeCache, layout} {
		n := 0
		for _, s := range res.Samples {
			if rate, ok := s.Value(results.TokenRate); s.Name.Base == names.BaseWhatIf && s.Name.Get(names.Change) == change && ok && rate > 0 {
				n++
			}
		}
		if n != 6 {
			t.Errorf("%d samples of what if %s, want one of each pair", n, change)
		}
	}
	var found []string
	for _, x := range p.Profile.WhatIfs {
		found = append(found, x.Name)
		if x.Why == "" && (math.IsNaN(x.Computed) || math.IsNaN(x.Measured.Center)) {
			t.Errorf("%+v is neither computed and measured, nor said why not", x)
		}
	}
	if want := []string{"cache in q8_0, not f16", packing, "one thread more"}; !slices.Equal(found, want) {
		t.Errorf("what-ifs %q, want %q", found, want)
	}
}

// A run that is interrupted keeps the pairs of passes that it has.
func TestProfileInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	p := profiling(t, ProfileOptions{Tokens: 4, Passes: 1000, Progress: func(string, int, int) {
		if steps++; steps == 4 {
			cancel()
		}
	}})
	_, err := (&bench.Runner{Seed: 1}).Run(ctx, p.Suite, &bytes.Buffer{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if len(p.Profile.Tests) != 1 || len(p.Profile.Tests[0].Passes) != 3 || p.Profile.Planned != 1000 {
		t.Errorf("%+v", p.Profile)
	}
}

func TestProfileRefuses(t *testing.T) {
	tiny := modelFile(t, "tiny")
	for _, tt := range []struct {
		opt  ProfileOptions
		want string
	}{
		{ProfileOptions{File: ModelFile{Name: "none", Path: filepath.Join(t.TempDir(), "none.gguf")}, Tokens: 1}, "none.gguf: "},
		{ProfileOptions{File: tiny, Tokens: 4000}, "tiny holds 512 tokens, fewer than the 4000 of test tg4000"},
		{ProfileOptions{File: tiny}, "nothing to profile"},
		{ProfileOptions{File: tiny, Tokens: 1, Cache: formats.I2_S}, "keys and values cannot be kept in i2_s"},
	} {
		if _, err := NewProfiling(t.Context(), tt.opt); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}

func TestMeasureCeilings(t *testing.T) {
	p := profiling(t, ProfileOptions{Tokens: 1, Model: models.Options{Engine: cpu.Options{Threads: 2}}})
	p.opt.Ceilings, p.opt.Host = nil, oneCPU
	if err := p.ceilingsStudy().Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	c := p.Profile.Ceilings
	last := 0
	for i, l := range c.Levels {
		if l.Rate <= 0 || i+1 < len(c.Levels) && l.Bytes <= last || i+1 == len(c.Levels) && l.Bytes != 0 {
			t.Errorf("level %d is %+v", i, l)
		}
		last = l.Bytes
	}
	if c.Threads != 2 || c.Int8 <= 0 || c.Dispatch <= 0 || len(c.Levels) == 0 {
		t.Errorf("%+v", c)
	}
}

// checkProfileMemory holds the owners to what the system tells in one number.
func checkProfileMemory(t *testing.T, p *Profiling) {
	t.Helper()
	m := p.Profile.Memory
	var phases []string
	for _, phase := range m.Phases {
		phases = append(phases, phase.Name)
		if runtime.GOOS != "linux" {
			continue
		}
		var sum int64
		for _, part := range phase.Parts {
			sum += part.Resident
			if part.Owner != profile.OwnerUnattributed && (part.Shared > part.Resident || part.Resident < 0) {
				t.Errorf("%s: %+v", phase.Name, part)
			}
		}
		if sum != phase.RSS || phase.RSS == 0 {
			t.Errorf("%s: owners have %d bytes, the process %d", phase.Name, sum, phase.RSS)
		}
		if left := phase.Part(profile.OwnerUnattributed).Resident; math.Abs(float64(left)) > 0.02*float64(phase.RSS) {
			t.Errorf("%s: %d of %d bytes have no owner, want 2%% at most: %+v", phase.Name, left, phase.RSS, phase.Parts)
		}
		if phase.Peak < phase.RSS/2 {
			t.Errorf("%s: peak %d, resident at the end %d", phase.Name, phase.Peak, phase.RSS)
		}
	}
	want := []string{"open", "pack", "prompt", "decode"}
	if mainLinear(p.model).Variant().Layout == kernels.Native {
		want = slices.Delete(want, 1, 2)
	}
	if !slices.Equal(phases, want) {
		t.Errorf("phases %q, want %q", phases, want)
	}
	if runtime.GOOS != "linux" {
		if m.Why == "" {
			t.Error("nothing says why no memory is resident")
		}
		return
	}
	first, last := m.Phases[0], m.Phases[len(m.Phases)-1]
	if got := first.Part(profile.OwnerFile); got.Resident == 0 || got.Reserved == 0 {
		t.Errorf("the file is %+v after it was opened", got)
	}
	if got := last.Part(profile.OwnerCache); got.Resident == 0 || got.Resident > got.Reserved+1<<16 {
		t.Errorf("the cache is %+v", got)
	}
	if got, least := last.Part(profile.OwnerPacked).Resident, int64(p.model.WeightBytes()); len(want) == 4 && got < least {
		t.Errorf("%d bytes of packed weights are resident, of %d", got, least)
	}
	if got := last.Part(profile.OwnerActivations).Resident; got != int64(p.session.BufferBytes()) || got == 0 {
		t.Errorf("%d bytes of activations", got)
	}
	if len(m.Looks) < len(phases) {
		t.Errorf("%d looks", len(m.Looks))
	}
}
