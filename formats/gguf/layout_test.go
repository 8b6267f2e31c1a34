package gguf

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
)

// Sizes of one row of 1024 columns, by hand: blocks × bytes per block.
func TestSizes(t *testing.T) {
	for name, want := range map[string]int{
		"q4_0": 32 * 18, "q4_1": 32 * 20, "q5_0": 32 * 22, "q5_1": 32 * 24, "q8_1": 32 * 36,
		"q2_k": 4 * 84, "q3_k": 4 * 110, "q4_k": 4 * 144, "q5_k": 4 * 176, "q8_k": 4 * 292,
		"iq2_xxs": 4 * 66, "iq2_xs": 4 * 74, "iq3_xxs": 4 * 98, "iq1_s": 4 * 50, "iq4_nl": 32 * 18,
		"iq3_s": 4 * 110, "iq2_s": 4 * 82, "iq4_xs": 4 * 136, "iq1_m": 4 * 56,
		"i8": 1024, "i16": 2048, "i32": 4096, "i64": 8192, "f64": 8192,
		"q4_0_4_4": 32 * 18, "q4_0_4_8": 32 * 18, "q4_0_8_8": 32 * 18,
		"iq4_nl_4_4": 32 * 18, "iq4_nl_4_8": 32 * 18, "iq4_nl_8_8": 32 * 18,
		"i8_s": 1024, "tl1": 1024/4 + 32, "mxfp4": 32 * 17, "nvfp4": 16 * 36, "q1_0_g32": 32 * 6,
		// 768 columns at 5 bits per 3 weights, 256 at 4 bits per 2.
		"tl2":   768/3*5/8 + 256/2*4/8 + 32,
		"pq2_0": 8 * 34, "ptq1_0": 8 * 28, "stq1_0": 4 * 42, "stq1_0 (id 42)": 4 * 42,
		"f32": 4096, "q1_0_g128": 8 * 18, "i2_s": 256 + 32, "q2_0": 16 * 18, "q2_0_g128": 8 * 34,
	} {
		if got, err := layoutNamed(name).bytes(1, 1024); err != nil || got != want {
			t.Errorf("%s: %d bytes, %v, want %d", name, got, err, want)
		}
	}
}

func TestLayoutsAreConsistent(t *testing.T) {
	named := map[string]bool{}
	for _, l := range layouts {
		if named[l.name] {
			t.Errorf("%s is listed twice", l.name)
		}
		named[l.name] = true
		if (l.typ == nil) != (l.size != nil) {
			t.Errorf("%s needs a Type or a size, and not both", l.name)
		}
		// What onebit knows by that name, it must decode.
		if typ, err := formats.Lookup(l.name); err == nil && typ != l.typ {
			t.Errorf("%s is not the Type of that name", l.name)
		}
	}
}

// The size of a tensor's data decides between the meanings of its id; what
// general.file_type says does not count.
func TestIDsAreResolvedBySize(t *testing.T) {
	for _, test := range []struct {
		id   uint32
		dims []uint64
		size int
		want string
	}{
		{36, []uint64{128, 1}, 128/4 + 32, "i2_s"},
		{36, []uint64{128, 1}, 72, "iq4_nl_4_4"},
		{36, []uint64{128, 1}, 96, "iq4_nl_4_4"}, // padded
		{36, []uint64{2560, 640}, 2560*640/4 + 32, "i2_s"},
		{37, []uint64{256, 4}, 1024, "i8_s"},
		{37, []uint64{256, 4}, 576, "iq4_nl_4_8"},
		{38, []uint64{256, 4}, 256 + 32, "tl1"},
		{38, []uint64{256, 4}, 576, "iq4_nl_8_8"},
		{39, []uint64{1024, 4}, 1024 * 4 / 32 * 17, "mxfp4"},
		{39, []uint64{1024, 4}, 768*4/3*5/8 + 256*4/2*4/8 + 32, "tl2"},
		{40, []uint64{64, 4}, 36 * 4, "nvfp4"},
		{40, []uint64{64, 4}, 12 * 4, "q1_0_g32"},
		{41, []uint64{2048, 64}, 2048 * 64 / 128 * 18, "q1_0_g128"},
		{42, []uint64{2048, 64}, 2048 * 64 / 64 * 18, "q2_0"},
		{42, []uint64{2048, 64}, 2048 * 64 / 128 * 34, "q2_0_g128"},
		{42, []uint64{64, 3}, 64, "q2_0"},         // padded; blocks of 128 cannot be
		{42, []uint64{128, 1}, 36, "q2_0"},        // no padding at the end of the file
		{42, []uint64{128, 1}, 34, "q2_0_g128"},   // likewise
		{42, []uint64{2048, 1}, 576, "q2_0"},      // 18 · 32
		{42, []uint64{2048, 1}, 544, "q2_0_g128"}, // 17 · 32
		{42, []uint64{2048, 1}, 2048 / 256 * 42, "stq1_0 (id 42)"},
		{42, []uint64{256, 3}, 3 * 42, "stq1_0 (id 42)"},
		{43, []uint64{2048, 64}, 2048 * 64 / 256 * 42, "stq1_0"},
		{142, []uint64{2048, 64}, 2048 * 64 / 128 * 34, "pq2_0"},
		{143, []uint64{2048, 64}, 2048 * 64 / 128 * 28, "ptq1_0"},
	} {
		for _, fileType := range []uint32{0, 36, 40, 41} {
			s := one(test.id, test.size, test.dims...)
			s.meta = []rawKV{{"general.file_type", 4, u32(fileType)}}
			data, _ := s.build()
			if got := parse(t, data).Tensors()[0]; got.TypeName != test.want {
				t.Errorf("id %d, %v, %d bytes: %s, want %s", test.id, test.dims, test.size, got.TypeName, test.want)
			}
		}
	}
}

// The same, when another tensor follows.
func TestIDsAreResolvedByTheNextOffset(t *testing.T) {
	for want, size := range map[string]uint64{"q2_0": 2048 / 64 * 18, "q2_0_g128": 2048 / 128 * 34} {
		s := one(42, int(size)+4, 2048)
		s.infos = append(s.infos, rawInfo{"next", []uint64{1}, 0, size})
		data, _ := s.build()
		if got := parse(t, data).Tensors()[0]; got.TypeName != want || got.Size != int64(size) {
			t.Errorf("%s of %d bytes, want %s of %d", got.TypeName, got.Size, want, size)
		}
	}
}

func TestChosenTypes(t *testing.T) {
	for _, test := range []struct {
		id    uint32
		dims  []uint64
		size  int
		types []string
		want  string
	}{
		{36, []uint64{128, 4}, 160, []string{"i2_s"}, "i2_s"},
		{36, []uint64{128, 4}, 160, []string{"i2_s_arm"}, "i2_s_arm"},
		{36, []uint64{128, 4}, 160, []string{"i2_s_x4"}, "i2_s_x4"},
		{36, []uint64{64, 1}, 64, []string{"i2_s_arm"}, "i2_s_arm"},
		{42, []uint64{128}, 64, []string{"q2_0"}, "q2_0"},
		{42, []uint64{128}, 64, []string{"i2_s", "q2_0_g128"}, "q2_0_g128"},
		{42, []uint64{128}, 1000, []string{"q2_0_g128", "q2_0_g128"}, "q2_0_g128"}, // slack
	} {
		data, _ := one(test.id, test.size, test.dims...).build()
		if got := parse(t, data, test.types...).Tensors()[0]; got.TypeName != test.want {
			t.Errorf("id %d with %v: %s, want %s", test.id, test.types, got.TypeName, test.want)
		}
	}
}

func TestChosenTypesErrors(t *testing.T) {
	for _, test := range []struct {
		size  int
		types []string
		want  string
	}{
		{64, []string{"q3_0"}, `unknown tensor type "q3_0" among the chosen ones`},
		{64, []string{"q2_0", "q2_0_g128"}, "tensor types q2_0 and q2_0_g128 are both chosen for id 42"},
		{35, []string{"q2_0"}, "1 of the tensor's 36 bytes (q2_0) are missing"},
		{33, []string{"q2_0_g128"}, "1 of the tensor's 34 bytes (q2_0_g128) are missing"},
	} {
		data, _ := one(42, test.size, 128).build()
		_, err := Parse(data, "x.gguf", Options{Types: test.types})
		var e *container.FormatError
		if !errors.As(err, &e) || !strings.Contains(e.Msg, test.want) {
			t.Errorf("%v: %v, want %q", test.types, err, test.want)
		}
	}
}

func TestUndecodableTypesSayWhy(t *testing.T) {
	for id, want := range map[uint32]string{
		13: "has type q5_k, which onebit cannot decode",
		38: "has type tl1, which onebit cannot decode (bitnet.cpp's lookup-table layout",
		42: "has type stq1_0 (id 42), which onebit cannot decode (Tencent's Sherry, which only its authors' llama.cpp reads; take the model's file of another type",
		43: "has type stq1_0, which onebit cannot decode (Tencent's Sherry",
	} {
		size := map[uint32]int{13: 176, 38: 256/4 + 32, 42: 42, 43: 42}[id]
		data, at := one(id, size, 256).build()
		f := parse(t, data)
		_, err := f.Tensor("w")
		var e *container.FormatError
		if !errors.As(err, &e) || e.Tensor != "w" || e.Offset != int64(at["data"]) || !strings.HasPrefix(e.Msg, want) {
			t.Errorf("id %d: %v, want %q", id, err, want)
		}
		if raw, err := f.Raw("w"); err != nil || len(raw) != size {
			t.Errorf("id %d: %d raw bytes, %v", id, len(raw), err)
		}
	}
}

func TestMissingTensor(t *testing.T) {
	f := parse(t, goldenV3)
	_, err := f.Tensor("v")
	_, rawErr := f.Raw("v")
	for _, err := range []error{err, rawErr} {
		if !errors.Is(err, container.ErrMissing) || err.Error() != `test.gguf: tensor "v": is missing` {
			t.Error(err)
		}
	}
	if _, ok := f.Info("v"); ok {
		t.Error("Info finds a tensor that is not there")
	}
}

func TestPackings(t *testing.T) {
	for _, c := range []struct {
		typ  *formats.Type
		want []*formats.Type
	}{
		{formats.I2_S, []*formats.Type{formats.I2_S, formats.I2_S_ARM, formats.I2_S_X4}},
		{formats.I2_S_X4, []*formats.Type{formats.I2_S, formats.I2_S_ARM, formats.I2_S_X4}},
		{formats.Q2_0, []*formats.Type{formats.Q2_0}}, // of one id with q2_0_g128, told apart by their bytes
		{formats.Ternary_u32, nil},
	} {
		if got := Packings(c.typ); !slices.Equal(got, c.want) {
			t.Errorf("%s: %d types, want %d", c.typ.Name, len(got), len(c.want))
		}
	}
}
