package arch_test

import (
	"slices"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/models/arch"
)

func mustPreset(t *testing.T, name string) *arch.Preset {
	t.Helper()
	p, err := arch.LookupPreset(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The tensors of the published files: how many of each format, and the bytes
// that follow from the models' dimensions.
func TestInventorySizes(t *testing.T) {
	tests := []struct {
		preset string
		count  map[*formats.Type]int
		bytes  map[*formats.Type]int
	}{
		{
			// 28 blocks of 7 projections and 4 norms; embedding; output norm.
			"bonsai-1.7b",
			map[*formats.Type]int{formats.Q1_0_g128: 197, formats.F32: 113},
			map[*formats.Type]int{
				// 18 bytes per 128 of 28·(2·2048² + 2·1024·2048 + 3·6144·2048) + 151936·2048
				formats.Q1_0_g128: 18 * (28*(2*2048*2048+2*1024*2048+3*6144*2048) + 151936*2048) / 128,
				formats.F32:       4 * (28*(2*2048+2*128) + 2048),
			},
		},
		{
			"bonsai-4b",
			map[*formats.Type]int{formats.Q1_0_g128: 253, formats.F32: 145},
			map[*formats.Type]int{
				formats.Q1_0_g128: 18 * (36*(2*4096*2560+2*1024*2560+3*9728*2560) + 151936*2560) / 128,
				formats.F32:       4 * (36*(2*2560+2*128) + 2560),
			},
		},
		{
			// The head is not tied.
			"bonsai-8b",
			map[*formats.Type]int{formats.Q1_0_g128: 254, formats.F32: 145},
			map[*formats.Type]int{
				formats.Q1_0_g128: 18 * (36*(2*4096*4096+2*1024*4096+3*12288*4096) + 2*151936*4096) / 128,
				formats.F32:       4 * (36*(2*4096+2*128) + 4096),
			},
		},
		{
			// As the published file lists them: 353 in float32, 498 in one bit.
			"bonsai-27b",
			map[*formats.Type]int{formats.Q1_0_g128: 498, formats.F32: 353},
			map[*formats.Type]int{
				formats.Q1_0_g128: 18 * (26_869_760_000 + 23_592_960) / 128,
				formats.F32:       4 * 2_645_504,
			},
		},
		{
			// The same with ssm_alpha and ssm_beta in bf16: with the header of
			// 11,120,992 bytes they are the published 7,206,168,928.
			"bonsai-2-27b",
			map[*formats.Type]int{formats.PQ2_0: 402, formats.BF16: 96, formats.F32: 353},
			map[*formats.Type]int{
				formats.PQ2_0: 7_206_168_928 - 11_120_992 - 2*23_592_960 - 4*2_645_504,
				formats.BF16:  2 * 23_592_960,
				formats.F32:   4 * 2_645_504,
			},
		},
		{
			// 332 tensors: 210 I2_S, 1 F16, 121 F32, as the loader lists the
			// official file; 521,011,200 bytes of codes and 656,670,720 of
			// embedding.
			"bitnet-2b-4t",
			map[*formats.Type]int{formats.I2_S: 210, formats.F16: 1, formats.F32: 121},
			map[*formats.Type]int{
				formats.I2_S: 521_011_200 + 210*32,
				formats.F16:  656_670_720,
				formats.F32:  4 * (30*(3*2560+6912) + 2560),
			},
		},
		{
			// 24 blocks of 11 tensors, as all of this family.
			"bitnet-large",
			map[*formats.Type]int{formats.I2_S: 168, formats.F16: 1, formats.F32: 97},
			map[*formats.Type]int{
				formats.I2_S: 24*(4*1536*1536+3*4096*1536)/4 + 168*32,
				formats.F16:  2 * 32002 * 1536,
				formats.F32:  4 * (24*(3*1536+4096) + 1536),
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.preset, func(t *testing.T) {
			count, size := map[*formats.Type]int{}, map[*formats.Type]int{}
			for _, spec := range mustPreset(t, tt.preset).Tensors() {
				n, err := spec.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				count[spec.Type]++
				size[spec.Type] += n
			}
			for typ, want := range tt.count {
				if count[typ] != want {
					t.Errorf("%d tensors of %s, want %d", count[typ], typ.Name, want)
				}
				if size[typ] != tt.bytes[typ] {
					t.Errorf("%d bytes of %s, want %d", size[typ], typ.Name, tt.bytes[typ])
				}
			}
			if len(count) != len(tt.count) {
				t.Errorf("formats %v, want %v", count, tt.count)
			}
		})
	}
}

// What the files of the hub have beyond their tensors is the tokenizer: a
// vocabulary of 151,936 tokens takes between 5 and 6.5 MB. A wrong dimension
// would show as far more.
func TestInventoryAgainstPublishedFiles(t *testing.T) {
	for preset, file := range map[string]int{
		"bonsai-1.7b": 248_302_272,
		"bonsai-4b":   572_270_624,
		"bonsai-8b":   1_158_654_496,
	} {
		payload := 0
		for _, spec := range mustPreset(t, preset).Tensors() {
			n, err := spec.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			payload += n
		}
		if rest := file - payload; rest < 5_000_000 || rest > 6_500_000 {
			t.Errorf("%s: %d bytes of tensors leave %d of the published file's %d", preset, payload, rest, file)
		}
	}
}

// The names of a block and of what surrounds it, as the published files have
// them.
func TestTensorNames(t *testing.T) {
	tests := []struct {
		preset string
		global []string
		block  []string
	}{
		{"bonsai-8b",
			[]string{"token_embd.weight", "output_norm.weight", "output.weight"},
			[]string{
				"blk.3.attn_norm.weight", "blk.3.attn_q.weight", "blk.3.attn_k.weight", "blk.3.attn_v.weight",
				"blk.3.attn_q_norm.weight", "blk.3.attn_k_norm.weight", "blk.3.attn_output.weight",
				"blk.3.ffn_norm.weight", "blk.3.ffn_gate.weight", "blk.3.ffn_up.weight", "blk.3.ffn_down.weight",
			}},
		{"bitnet-2b-4t",
			[]string{"token_embd.weight", "output_norm.weight"},
			[]string{
				"blk.3.attn_norm.weight", "blk.3.attn_q.weight", "blk.3.attn_k.weight", "blk.3.attn_v.weight",
				"blk.3.attn_sub_norm.weight", "blk.3.attn_output.weight",
				"blk.3.ffn_norm.weight", "blk.3.ffn_gate.weight", "blk.3.ffn_up.weight",
				"blk.3.ffn_sub_norm.weight", "blk.3.ffn_down.weight",
			}},
	}
	names := func(specs []arch.TensorSpec) (out []string) {
		for _, s := range specs {
			out = append(out, s.Name)
		}
		return out
	}
	for _, tt := range tests {
		p := mustPreset(t, tt.preset)
		if got := names(p.Table.GlobalTensors(p.Config)); !slices.Equal(got, tt.global) {
			t.Errorf("%s: %q, want %q", tt.preset, got, tt.global)
		}
		if got := names(p.Table.BlockTensors(p.Config, 3)); !slices.Equal(got, tt.block) {
			t.Errorf("%s: %q, want %q", tt.preset, got, tt.block)
		}
	}
}

func TestCheckInventory(t *testing.T) {
	p := mustPreset(t, "tiny")
	file := func() []container.TensorInfo {
		var out []container.TensorInfo
		for _, s := range p.Tensors() {
			out = append(out, container.TensorInfo{Name: s.Name, Shape: s.Shape})
		}
		return out
	}
	if bad := p.Table.CheckInventory(p.Config, file()); len(bad) > 0 {
		t.Errorf("a complete file: %v", bad)
	}
	tensors := append(file(), container.TensorInfo{Name: "blk.0.attn_q.bias", Shape: []int{256}})
	tensors = slices.DeleteFunc(tensors, func(t container.TensorInfo) bool { return t.Name == "blk.1.ffn_up.weight" })
	i := slices.IndexFunc(tensors, func(t container.TensorInfo) bool { return t.Name == "blk.0.attn_k.weight" })
	tensors[i].Shape = []int{256, 128}
	want := []arch.Mismatch{
		{"blk.0.attn_k.weight", "has shape [256 128], want [128 256]"},
		{"blk.1.ffn_up.weight", "missing"},
		{"blk.0.attn_q.bias", "unexpected"},
	}
	if got := p.Table.CheckInventory(p.Config, tensors); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := want[1].Error(), "tensor blk.1.ffn_up.weight: missing"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Every format can hold every projection of the presets for tests.
func TestTinyFitsEveryFormat(t *testing.T) {
	for _, preset := range []string{"tiny", "tiny-bitnet"} {
		for _, spec := range mustPreset(t, preset).Tensors() {
			rows, cols := spec.Dims()
			for _, typ := range formats.Types() {
				if _, err := typ.Bytes(rows, cols); err != nil && spec.Role != arch.Norm {
					t.Errorf("%s: tensor %s: %v", preset, spec.Name, err)
				}
			}
		}
	}
}
