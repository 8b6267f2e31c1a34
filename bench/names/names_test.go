package names

import (
	"os"
	"strings"
	"testing"

	"onebit/bench/results"
)

// The names are a protocol: scripts filter by them, and results files of
// earlier runs are compared by them.
func TestStrings(t *testing.T) {
	tg := ModelCase{Model: "bonsai-1.7b", Variant: "avx2", Act: "q8_128", Packing: Packed, Test: ModelTest{Decode, 64, 512}, Threads: 2}
	for _, test := range []struct{ got, want string }{
		{MatVec{"q1_0_g128", "avx2", "q8_128", 6144, 2048, 1, Cold}.String(),
			"MatVec/format=q1_0_g128/variant=avx2/act=q8_128/rows=6144/cols=2048/threads=1/cache=cold"},
		{MatVec{Format: "i2_s", Rows: 2, Cols: 3, Variant: "neon"}.String(), "MatVec/format=i2_s/variant=neon/rows=2/cols=3"},
		{Read{Format: "i2_s", Rows: 2, Cols: 128, Bytes: 64, Threads: 1, Cache: Warm}.String(),
			"Read/format=i2_s/rows=2/cols=128/bytes=64/threads=1/cache=warm"},
		{Read{Model: "m", Bytes: 64, Threads: 2, Cache: Cold}.String(), "Read/model=m/bytes=64/threads=2/cache=cold"},
		{DotPeak{Model: "m", ISA: "avx2", Threads: 2}.String(), "DotPeak/model=m/isa=avx2/threads=2"},
		{DotPeak{Type: "f32", ISA: "fma", Threads: 1}.String(), "DotPeak/type=f32/isa=fma/threads=1"},
		{Bandwidth{CopyAccess, "l2", 1024, "huge", 2}.String(), "Bandwidth/access=copy/level=l2/bytes=1024/pages=huge/threads=2"},
		{Bandwidth{Access: ReadAccess, Bytes: 64, Pages: "small", Threads: 1}.String(), "Bandwidth/access=read/bytes=64/pages=small/threads=1"},
		{Latency{64, "huge"}.String(), "Latency/bytes=64/pages=huge"},
		{RoundTrip(0, 1), "RoundTrip/from=0/to=1"},
		{Dispatch(2), "Dispatch/threads=2"},
		{Gather(2), "Gather/threads=2"},
		{Frequency(2), "Frequency/threads=2"},
		{tg.String(), "Model/model=bonsai-1.7b/variant=avx2/act=q8_128/packing=packed/test=tg64/depth=512/threads=2"},
		{tg.Operation("", ""), "Op/model=bonsai-1.7b/variant=avx2/act=q8_128/packing=packed/test=tg64/depth=512/threads=2"},
		{tg.Operation(Outside, "output"),
			"Op/model=bonsai-1.7b/variant=avx2/act=q8_128/packing=packed/test=tg64/depth=512/threads=2/block=outside/op=output"},
		{tg.WhatIf(ChangeCache), "WhatIf/model=bonsai-1.7b/variant=avx2/act=q8_128/packing=packed/test=tg64/depth=512/threads=2/change=cache-q8_0"},
		{Kernel{"i2_s", "avx2", "q8_row", 64, 2048, 1, "l1d"}.String(), "Kernel/format=i2_s/variant=avx2/act=q8_row/rows=64/cols=2048/threads=1/level=l1d"},
		{Lockstep{"m", "", "avx2", "q8_row", Isolated, "3", "attn_q"}.String(), "Lockstep/model=m/variant=avx2/act=q8_row/input=isolated/block=3/tensor=attn_q"},
		{Logits{"m", "", "avx2", "", RandomWeights, 32}.String(), "Logits/model=m/variant=avx2/weights=random/tokens=32"},
		{ModelCase{Model: "m", Engine: Metal, Variant: "metal-simd", Act: "q8_128", Packing: Packed, Test: ModelTest{Decode, 8, 0}}.String(),
			"Model/model=m/engine=metal/variant=metal-simd/act=q8_128/packing=packed/test=tg8"},
		{ModelCase{Model: "m", Test: ModelTest{Decode, 8, 16}, Texts: 4, Threads: 2}.String(), "Model/model=m/test=tg8/depth=16/texts=4/threads=2"},
		{ModelCase{Model: "m", Test: ModelTest{Decode, 8, 0}, Text: "code", Drafts: 7, Threads: 2}.String(), "Model/model=m/test=tg8/text=code/drafts=7/threads=2"},
		{Lockstep{"m", Metal, "metal-simd", "q8_row", Isolated, "3", "attn_q"}.String(),
			"Lockstep/model=m/engine=metal/variant=metal-simd/act=q8_row/input=isolated/block=3/tensor=attn_q"},
		{Logits{"m", Metal, "metal-simd", "q8_row", "", 32}.String(), "Logits/model=m/engine=metal/variant=metal-simd/act=q8_row/tokens=32"},
		{HeadCase{"m", "avx2", "q8_row", Native, 2, "q6_k"}.String(), "Head/model=m/variant=avx2/act=q8_row/packing=native/threads=2/head=q6_k"},
	} {
		if test.got != test.want {
			t.Errorf("got  %s\nwant %s", test.got, test.want)
		}
		if n := results.ParseName(test.got); n.Full != test.got {
			t.Errorf("%s reads as %s", test.got, n.Full)
		}
	}
}

// The package comment draws each name with every key that it may have.
func TestTheCommentHasEveryKey(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	model := ModelCase{"m", Metal, "v", "a", Packed, ModelTest{Decode, 8, 16}, 2, 4, "code", 7}
	for _, name := range []string{
		MatVec{"f", "v", "a", 1, 1, 1, Warm}.String(), Kernel{"f", "v", "a", 1, 1, 1, "l2"}.String(),
		Read{Format: "f", Rows: 1, Cols: 1, Bytes: 1, Threads: 1, Cache: Warm}.String(), Read{Model: "m", Bytes: 1, Threads: 1, Cache: Warm}.String(),
		DotPeak{"m", "", "avx2", 1}.String(), DotPeak{"", Int8, "avx2", 1}.String(),
		model.String(), model.Operation("3", "attn"), model.WhatIf(ChangeHead),
		Lockstep{"m", Metal, "v", "a", Isolated, "3", "attn_q"}.String(), HeadCase{"m", "v", "a", Packed, 1, "f"}.String(),
		Logits{"m", Metal, "v", "a", RandomWeights, 8}.String(), Bandwidth{ReadAccess, "l2", 1, "huge", 1}.String(), Latency{1, "huge"}.String(),
	} {
		n := results.ParseName(name)
		drawn := false
		for line := range strings.Lines(string(text)) {
			has := strings.HasPrefix(line, "//\t"+n.Base+"/")
			for _, k := range n.Keys {
				has = has && strings.Contains(line, "/"+k.Key+"=")
			}
			drawn = drawn || has
		}
		if !drawn {
			t.Errorf("no line of doc.go has the keys of %s", name)
		}
	}
}

func TestOnGPU(t *testing.T) {
	for name, want := range map[string]bool{
		"MatVec/format=q1_0_g128/variant=metal-simd/rows=2/cols=3": true,
		"MatVec/format=q1_0_g128/variant=avx2/rows=2/cols=3":       false,
		"Model/model=m/engine=metal/test=load":                     true,
		"Model/model=metal/variant=avx2/test=load":                 false,
		"Model/model=m/variant=metallic/test=load":                 false,
	} {
		if got := OnGPU(results.ParseName(name)); got != want {
			t.Errorf("%s on a GPU: %v", name, got)
		}
	}
}

func TestGetters(t *testing.T) {
	n := results.ParseName("Op/model=m/test=pp512/depth=7/threads=2/block=3/op=attn-2")
	if got, ok := TestOf(n); !ok || got != (ModelTest{Prompt, 512, 7}) || got.String() != "pp512 @ d7" {
		t.Errorf("TestOf = %v, %v", got, ok)
	}
	if got, ok := BlockOf(n); !ok || got != 3 {
		t.Errorf("BlockOf = %d, %v", got, ok)
	}
	if got := ThreadsOf(n); got != 2 {
		t.Errorf("ThreadsOf = %d", got)
	}
	if got := SubjectOf(n); got != "m" {
		t.Errorf("SubjectOf = %q", got)
	}
	for _, name := range []string{"Model/test=ttft", "Model/test=load"} {
		if got, ok := TestOf(results.ParseName(name)); !ok || got.Tokens != 0 {
			t.Errorf("TestOf(%s) = %v, %v", name, got, ok)
		}
	}
	for _, name := range []string{"Model/test=qq5", "Model", "Model/test=512"} {
		if got, ok := TestOf(results.ParseName(name)); ok {
			t.Errorf("TestOf(%s) = %v", name, got)
		}
	}
	for _, name := range []string{"Op/block=outside", "Op/block=-1", "Op"} {
		if got, ok := BlockOf(results.ParseName(name)); ok {
			t.Errorf("BlockOf(%s) = %d", name, got)
		}
	}
}

func TestMachineNames(t *testing.T) {
	for name, want := range map[string]bool{
		Latency{Bytes: 64}.String(): true, RoundTrip(0, 3): true, BaseTimer: true, DotPeak{Type: Int8}.String(): true,
		DotPeak{Model: "m"}.String(): false, Read{Bytes: 3}.String(): false, "Else": false,
	} {
		if got := IsMachine(results.ParseName(name)); got != want {
			t.Errorf("%s is a machine's: %v", name, got)
		}
	}
	if from, to, ok := CPUsOf(results.ParseName(RoundTrip(0, 12))); !ok || from != 0 || to != 12 {
		t.Errorf("CPUs %d and %d, %v", from, to, ok)
	}
	for _, name := range []string{"RoundTrip/from=1", "RoundTrip/from=-1/to=2", "RoundTrip/from=x/to=2"} {
		if _, _, ok := CPUsOf(results.ParseName(name)); ok {
			t.Errorf("%s has two CPUs", name)
		}
	}
	if got := BytesOf(results.ParseName(Latency{Bytes: 77}.String())); got != 77 {
		t.Errorf("%d bytes", got)
	}
}

func TestPredicates(t *testing.T) {
	for name, want := range map[string][2]bool{
		Read{Model: "m"}.String():                          {true, false},
		DotPeak{Model: "m"}.String():                       {true, false},
		MatVec{Format: "f"}.String():                       {false, false},
		ModelCase{Model: "m"}.Operation(Outside, "output"): {false, true},
		Lockstep{Model: "m"}.String():                      {false, true},
		Logits{Model: "m"}.String():                        {false, true},
		HeadCase{Model: "m", Head: "q8_0"}.String():        {false, true},
	} {
		n := results.ParseName(name)
		if got := [2]bool{IsCeiling(n), IsPartOfModel(n)}; got != want {
			t.Errorf("%s: ceiling, part of a model = %v, want %v", name, got, want)
		}
	}
}
