package models_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/deviation"
	"onebit/internal/require"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/modeltest"
	"onebit/models/source"
)

// smallQwen35 has what the real models have and tiny-qwen35 has not: several
// delta nets in a row, and three value heads to a key head. Its projections are
// in fp16, so that they may be rotated without loss.
func smallQwen35() *arch.Preset {
	p := *must(arch.LookupPreset("tiny-qwen35"))
	p.Name = "small-qwen35"
	p.Config.Layers, p.Config.TiedHead, p.Config.Vocab = 8, false, 300
	p.Config.Delta = arch.Delta{Interval: 4, KeyHeads: 2, ValueHeads: 6, HeadDim: 64, Taps: 4}
	p.Types = map[arch.Role]*formats.Type{
		arch.Embedding: formats.F16, arch.Head: formats.F16, arch.Projection: formats.F16, arch.Control: formats.BF16,
	}
	return &p
}

// fold stores a model's weights as Bonsai 2's are: rotated, in blocks of 128.
func fold(t testing.TB, x *fixture) {
	t.Helper()
	for _, kv := range foldedMetadata() {
		x.set(kv.Key, kv.Value)
	}
	c := smallQwen35().Config
	rotation := must(source.FromGGUF(x.file(t)).Rotation())
	for _, info := range slices.Clone(x.tensors) {
		if !rotation.Weights[info.Name] && !rotation.Rows[info.Name] {
			continue
		}
		x.fold(t, info, func(row []float64) []float64 { return modeltest.Fold(rotation, c, info.Name, row) })
	}
}

// shortKeys makes the keys of delta nets so short that what keeps them from being
// divided by 0 counts.
func shortKeys(t testing.TB, x *fixture) {
	c := smallQwen35().Config
	for _, info := range slices.Clone(x.tensors) {
		if !strings.HasSuffix(info.Name, "attn_qkv.weight") {
			continue
		}
		n := 0
		x.fold(t, info, func(row []float64) []float64 {
			if n++; n > c.Delta.Keys() && n <= 2*c.Delta.Keys() {
				for i := range row {
					row[i] *= 0x1p-11
				}
			}
			return row
		})
	}
}

// foldedMetadata is what such a file says, with random signs.
func foldedMetadata() []container.KV {
	p := smallQwen35()
	p.Rotation = 128
	signs := map[int][]float32{}
	for _, width := range []int{256, 384, 512} {
		rng := rand.New(rand.NewPCG(uint64(width), 5))
		for range width {
			signs[width] = append(signs[width], 1-2*float32(rng.IntN(2)))
		}
	}
	return p.RotationMetadata(signs)
}

// fold replaces the rows of a matrix, in float32.
func (x *fixture) fold(t testing.TB, info container.TensorInfo, change func(row []float64) []float64) {
	t.Helper()
	tensor := formats.Tensor{Name: info.Name, Type: info.Type, Shape: info.Shape, Data: x.data[info.Name]}
	rows, cols := tensor.Dims()
	values := must(tensor.Floats())
	for r := range rows {
		row := make([]float64, cols)
		for c := range row {
			row[c] = float64(values[r*cols+c])
		}
		for c, v := range change(row) {
			values[r*cols+c] = float32(v)
		}
	}
	data := make([]byte, must(formats.F32.Bytes(rows, cols)))
	if err := formats.F32.Matrix(data, rows, cols).Quantize(values); err != nil {
		t.Fatal(err)
	}
	x.put(t, info.Name, formats.F32, data, info.Shape...)
}

// exactly computes everything in float32 but what is summed in float64.
var exactly = models.Options{Engine: cpu.Options{Kernels: cpu.Kernels{Variant: exact}}}

// A model whose weights are stored rotated has the logits of the one that it was
// made of.
func TestFoldedModel(t *testing.T) {
	require.Unraced(t, "the engines are raced where they stand")
	sameEverywhere(t)
	plain, folded := newFixture(t, smallQwen35()), newFixture(t, smallQwen35())
	fold(t, folded)
	ids := text(70, 300)
	want := prefill(t, plain.open(t, exactly), ids)
	if e := deviation.Of(prefill(t, folded.open(t, exactly), ids), want).NMSE(); !(e < 1e-10) {
		t.Errorf("an NMSE of %.3g", e)
	}
}

func prefill(t *testing.T, m *models.Model, ids []int) []float32 {
	t.Helper()
	logits, err := session(t, m, models.SessionOptions{Cache: formats.F32}).Prefill(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(logits)
}

// The comparison with the oracle shows every mistake: each alone moves the
// logits by far more than rounding does.
func TestOracleCatches(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	sameEverywhere(t)
	x := newFixture(t, smallQwen35())
	fold(t, x)
	ids := text(12, 300)
	got := prefill(t, x.open(t, exactly), ids)
	nmse := func(mistakes ...modeltest.Mistake) float64 {
		oracle := must(modeltest.Load(x.file(t), mistakes...))
		return deviation.Of(got, oracle.Logits(ids)[len(ids)-1]).NMSE()
	}
	if e := nmse(); !(e < 1e-9) {
		t.Fatalf("an NMSE of %.3g without a mistake", e)
	}
	for _, mistake := range require.Draw(t, 5, []modeltest.Mistake{
		modeltest.SignsLast, modeltest.NoOrder, modeltest.HalfBlocks, modeltest.GroupedHeads, modeltest.DecayLate,
		modeltest.Unrotated, modeltest.WholeRope, modeltest.TapsReversed, modeltest.TurnHeads,
	}) {
		if e := nmse(mistake); !(e > 1e-3) {
			t.Errorf("%s: an NMSE of %.3g is not seen", mistake, e)
		} else {
			t.Logf("%s: %.3g", mistake, e)
		}
	}
}

// Any batches of a text give the same bits: the state goes from token to token.
func TestStateInAnyBatches(t *testing.T) {
	x := newFixture(t, smallQwen35())
	fold(t, x)
	m := x.open(t, models.Options{})
	ids := text(70, 300)
	var want []float32
	for _, batch := range []int{64, 1, 7, 128} {
		s := session(t, m, models.SessionOptions{Batch: batch})
		got, err := s.Prefill(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = slices.Clone(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("batches of %d give other logits", batch)
		}
	}
}

// A session goes back to its mark as often as it likes, and on from there as if
// there had been nothing behind it. Between, it says that it cannot, and keeps
// its text; the way out is to begin anew.
func TestStateSnapshots(t *testing.T) {
	m := newFixture(t, smallQwen35()).open(t, models.Options{})
	ids, other := text(40, 300), text(31, 211)
	take := func(s *models.Session, ids []int) []float32 {
		t.Helper()
		logits, err := s.Prefill(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(logits)
	}
	s := session(t, m, models.SessionOptions{})
	take(s, ids[:20])
	if err := s.Mark(); err != nil {
		t.Fatal(err)
	}
	for _, tail := range [][]int{ids[20:], other, ids[20:]} {
		got := take(s, tail)
		if want := take(session(t, m, models.SessionOptions{}), slices.Concat(ids[:20], tail)); !slices.Equal(got, want) {
			t.Errorf("%d tokens behind the mark have other logits than in a text of their own", len(tail))
		}
		before := s.Position()
		if err := s.Truncate(before - 1); !errors.Is(err, models.ErrNoRollback) || s.Position() != before {
			t.Errorf("back by a token: error %v, position %d", err, s.Position())
		}
		if err := s.Truncate(20); err != nil || s.Position() != 20 {
			t.Fatalf("back to the mark: error %v, position %d", err, s.Position())
		}
	}
	if err := s.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(take(s, other), take(session(t, m, models.SessionOptions{}), other)) {
		t.Error("a text begun anew has other logits than the first of a session")
	}
	if err := s.Truncate(20); !errors.Is(err, models.ErrNoRollback) {
		t.Errorf("back to a mark in a text that is gone: error %v", err)
	}
}

// What a file says of its rotation must be whole, known and fit its tensors.
func TestRotationRefusals(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	sameEverywhere(t)
	rotated := func() *fixture {
		x := newFixture(t, smallQwen35())
		for _, kv := range foldedMetadata() {
			x.set(kv.Key, kv.Value)
		}
		return x
	}
	if _, err := source.FromGGUF(rotated().file(t)).Rotation(); err != nil {
		t.Fatalf("refused before the change: %v", err)
	}
	const prefix = "prism.hadamard."
	u32 := func(n uint32) container.Value { return container.Of(n) }
	names := func(x *fixture, key string) []string {
		for _, kv := range x.meta {
			if kv.Key == prefix+key {
				return must(kv.Value.Strings())
			}
		}
		return nil
	}
	for _, tt := range require.Draw(t, 4, []struct {
		name   string
		change func(t testing.TB, x *fixture)
		key    string
		want   string
	}{
		{"no version", func(t testing.TB, x *fixture) { x.unset(prefix + "version") }, "version", "missing"},
		{"version", func(t testing.TB, x *fixture) { x.set(prefix+"version", u32(3)) }, "version", "3 is unknown"},
		{"transform", func(t testing.TB, x *fixture) { x.set(prefix+"transform", container.Of("haar")) }, "transform", `"haar" is unknown`},
		{"axis", func(t testing.TB, x *fixture) { x.set(prefix+"axis", container.Of("rows")) }, "axis", `"rows" is unknown`},
		{"sign mode", func(t testing.TB, x *fixture) { x.set(prefix+"sign_mode", container.Of("random")) }, "sign_mode", `"random" is unknown`},
		{"block of no power", func(t testing.TB, x *fixture) { x.set(prefix+"block_size", u32(96)) }, "block_size", "96 is not a power of two"},
		{"block of 0", func(t testing.TB, x *fixture) { x.set(prefix+"block_size", u32(0)) }, "block_size", "0 is not a power of two"},
		{"block too long", func(t testing.TB, x *fixture) { x.set(prefix+"block_size", u32(256)) }, "block_size", "256 does not divide the 384 inputs of"},
		{"no signs", func(t testing.TB, x *fixture) { x.unset(prefix + "sign_values") }, "sign_values", "missing"},
		{"too few signs", func(t testing.TB, x *fixture) { x.set(prefix+"sign_values", container.ArrayOf([]int32{1, -1})) }, "sign_values", "ends within"},
		{"too many signs", func(t testing.TB, x *fixture) { x.set(prefix+"sign_widths", container.ArrayOf([]int32{256})) }, "sign_values", "signs more than"},
		{"signs of another width", func(t testing.TB, x *fixture) {
			x.set(prefix+"sign_widths", container.ArrayOf([]int32{256, 512, 128, 256 + 384 - 256 - 128}))
		}, "sign_widths", "lists 256 twice"},
		{"no signs of a width", func(t testing.TB, x *fixture) {
			x.set(prefix+"sign_widths", container.ArrayOf([]int32{256, 512, 383, 1}))
		}, "sign_widths", "lacks the 384 inputs of"},
		{"neither sign", func(t testing.TB, x *fixture) {
			x.set(prefix+"sign_values", container.ArrayOf(make([]int8, 256+512+384)))
		}, "sign_values", "0, which is neither 1 nor -1"},
		{"a norm", func(t testing.TB, x *fixture) {
			x.set(prefix+"weight_names", container.ArrayOf(append(names(x, "weight_names"), "blk.0.attn_norm.weight")))
		}, "weight_names", "lists blk.0.attn_norm.weight, which is no layer that can be rotated"},
		{"a control", func(t testing.TB, x *fixture) {
			x.set(prefix+"weight_names", container.ArrayOf(append(names(x, "weight_names"), "blk.0.ssm_alpha.weight")))
		}, "weight_names", "lists blk.0.ssm_alpha.weight, which is no layer that can be rotated"},
		{"a tensor that is missing", func(t testing.TB, x *fixture) {
			x.set(prefix+"weight_names", container.ArrayOf([]string{"blk.0.attn_q.weight"}))
		}, "weight_names", "lists blk.0.attn_q.weight, which the file does not have"},
		{"a tensor twice", func(t testing.TB, x *fixture) {
			all := names(x, "weight_names")
			x.set(prefix+"weight_names", container.ArrayOf(append(all, all[0])))
		}, "weight_names", "twice"},
		{"rows of a layer", func(t testing.TB, x *fixture) {
			x.set(prefix+"inverse_weight_names", container.ArrayOf([]string{"output.weight"}))
		}, "inverse_weight_names", "lists output.weight, which is no table of rows"},
		{"a layer that is the table", func(t testing.TB, x *fixture) {
			x.set(prefix+"weight_names", container.ArrayOf([]string{"token_embd.weight"}))
		}, "weight_names", "lists token_embd.weight, whose rows are looked up"},
		{"tied in version 1", func(t testing.TB, x *fixture) { x.set(prefix+"tied_output", container.Of(true)) }, "tied_output", "version 1"},
		{"tied with a head", func(t testing.TB, x *fixture) {
			x.set(prefix+"version", u32(2))
			x.set(prefix+"tied_output", container.Of(true))
		}, "tied_output", "the file has output.weight"},
		{"untied without a head", func(t testing.TB, x *fixture) {
			x.remove("output.weight")
			all := names(x, "weight_names")
			x.set(prefix+"weight_names", container.ArrayOf(slices.DeleteFunc(all, func(s string) bool { return s == "output.weight" })))
		}, "inverse_weight_names", "which without output.weight is the head too"},
		{"an unknown key", func(t testing.TB, x *fixture) { x.set(prefix+"phase", u32(1)) }, "phase", "does not know"},
		{"a key of another kind", func(t testing.TB, x *fixture) { x.set(prefix+"gdn_v_grouped", u32(1)) }, "gdn_v_grouped", "bool"},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			x := rotated()
			tt.change(t, x)
			x.refused(t, tt.name, prefix+tt.key, tt.want)
		})
	}
}

// Blocks that predict further tokens are left alone, and no others.
func TestNextTokenBlocks(t *testing.T) {
	plain, x := newFixture(t, preset("tiny-qwen35")), newFixture(t, preset("tiny-qwen35"))
	x.set("qwen35.block_count", container.Of(uint32(3)))
	x.set("qwen35.nextn_predict_layers", container.Of(uint32(1)))
	x.put(t, "blk.2.nextn.eh_proj.weight", formats.F16, nil, 128, 256)
	x.put(t, "blk.2.attn_q.weight", formats.F16, nil, 512, 128)
	m := x.open(t, models.Options{})
	if m.Config.Layers != 2 || m.Config.NextN != 1 {
		t.Errorf("%d blocks and %d", m.Config.Layers, m.Config.NextN)
	}
	if notes := source.Notes(m.Source()); len(notes) != 1 || !strings.Contains(notes[0], "1 block that predict further tokens (MTP), blocks 2 to 2") {
		t.Errorf("notes %q", notes)
	}
	ids := text(9, 512)
	if !slices.Equal(prefill(t, m, ids), prefill(t, plain.open(t, models.Options{}), ids)) {
		t.Error("they change the logits")
	}
	x.put(t, "blk.3.attn_norm.weight", formats.F32, nil, 128)
	x.refused(t, "a block behind them", `"blk.3.attn_norm.weight": unexpected`)
}

// The numbers of gated delta nets must fit each other.
func TestDeltaRefusals(t *testing.T) {
	u32 := func(n uint32) container.Value { return container.Of(n) }
	for _, tt := range []struct {
		key   string
		value container.Value
		want  string
	}{
		{"ssm.inner_size", u32(128), "128 differs from the 256 values of 4 heads of 64"},
		{"ssm.time_step_rank", u32(3), "differs from the 192 values"},
		{"ssm.group_count", u32(3), "4 value heads cannot share 3 key heads"},
		{"ssm.group_count", u32(0), "0 is not between"},
		{"ssm.conv_kernel", u32(0), "0 is not between"},
		{"ssm.state_size", u32(1 << 20), "differs"},
		{"full_attention_interval", u32(0), "0 is not between"},
		{"full_attention_interval", u32(4), "attn_q"},
		{"attention.recurrent_layers", container.ArrayOf([]bool{true, true}), "element 1 is true, and every 2. block attends"},
		{"attention.recurrent_layers", container.ArrayOf([]uint32{1}), "has 1 elements for 2 blocks"},
		{"attention.recurrent_layers", container.ArrayOf([]string{"yes", "no"}), "element 0 is"},
		{"rope.dimension_count", u32(33), "33 values of heads that are 64 wide"},
		{"rope.dimension_count", u32(66), "66 values of heads that are 64 wide"},
		{"rope.dimension_count", u32(0), "is 0"},
		{"nextn_predict_layers", u32(2), "0 is not between"},
	} {
		x := newFixture(t, preset("tiny-qwen35"))
		x.set("qwen35."+tt.key, tt.value)
		x.refused(t, tt.key, tt.want)
	}
	for _, key := range []string{"inner_size", "time_step_rank", "group_count", "conv_kernel", "state_size"} {
		x := newFixture(t, preset("tiny-qwen35"))
		x.unset("qwen35.ssm." + key)
		x.refused(t, "without ssm."+key, "qwen35.ssm."+key, "missing")
	}
	x := newFixture(t, preset("tiny-qwen35"))
	x.set("qwen35.attention.recurrent_layers", container.ArrayOf([]bool{true, false}))
	x.open(t, models.Options{})
}

// A .cellm file cannot say that its weights are rotated.
func TestCellmOfRotatedModel(t *testing.T) {
	x := newFixture(t, preset("tiny"))
	f := x.file(t)
	table, c, err := source.ConfigFromGGUF(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.NewCellm(io.Discard, table, c, foldedMetadata(), f.Tensors()); err == nil || !strings.Contains(err.Error(), "rotated") {
		t.Errorf("rotated: %v", err)
	}
	c.RopeDim = 32
	if _, err := source.NewCellm(io.Discard, table, c, nil, f.Tensors()); err == nil || !strings.Contains(err.Error(), "turns 32 of the 64 values") {
		t.Errorf("part of a head: %v", err)
	}
}

// A preset that is rotated is written so, a tied one with the embedding's rows as
// its head's: the oracle brings both back.
func TestRotatedPresets(t *testing.T) {
	for _, tied := range []bool{false, true} {
		p := *must(arch.LookupPreset("tiny-qwen35"))
		p.Config.TiedHead, p.Rotation = tied, 128
		x := newFixture(t, &p)
		rotation := must(source.FromGGUF(x.file(t)).Rotation())
		if rotation == nil || rotation.Weights["token_embd.weight"] != tied || rotation.Weights["output.weight"] == tied || !rotation.Grouped {
			t.Fatalf("tied %v: %+v", tied, rotation)
		}
		ids := text(10, p.Config.Vocab)
		want := must(modeltest.Load(x.file(t))).Logits(ids)
		if e := deviation.Of(prefill(t, x.open(t, exactly), ids), want[len(ids)-1]).NMSE(); !(e < 1e-9) {
			t.Errorf("tied %v: an NMSE of %.3g", tied, e)
		}
	}
}

// FuzzRotation: whatever a file says of its rotation, it is a rotation that fits
// the model's tensors, or an error.
func FuzzRotation(f *testing.F) {
	f.Add(uint32(1), uint32(128), []byte{1, 255}, int32(256), int32(384), "blk.0.ssm_out.weight", "token_embd.weight", true)
	f.Add(uint32(2), uint32(1<<31), []byte{}, int32(-1), int32(1<<30), "output.weight", "", false)
	x := newFixture(f, smallQwen35())
	f.Fuzz(func(t *testing.T, version, block uint32, signs []byte, a, b int32, layer, rows string, explicit bool) {
		for _, kv := range foldedMetadata() {
			x.set(kv.Key, kv.Value)
		}
		const prefix = "prism.hadamard."
		x.set(prefix+"version", container.Of(version))
		x.set(prefix+"block_size", container.Of(block))
		if explicit {
			values := make([]int8, len(signs))
			for i, s := range signs {
				values[i] = int8(s)
			}
			x.set(prefix+"sign_widths", container.ArrayOf([]int32{a, b}))
			x.set(prefix+"sign_values", container.ArrayOf(values))
		}
		x.set(prefix+"weight_names", container.ArrayOf([]string{layer}))
		x.set(prefix+"inverse_weight_names", container.ArrayOf([]string{rows}))
		src := source.FromGGUF(x.file(t))
		r, err := src.Rotation()
		if err != nil {
			return
		}
		table, c, err := src.Config()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range table.Tensors(c) {
			_, width := s.Dims()
			if (r.Weights[s.Name] || r.Rows[s.Name]) && (width%r.Block != 0 || len(r.Signs[width]) != width) {
				t.Errorf("%s of %d inputs in blocks of %d with %d signs", s.Name, width, r.Block, len(r.Signs[width]))
			}
		}
	})
}
