package main

import (
	"slices"

	"github.com/spf13/cobra"

	"onebit/formats"
	"onebit/formats/gguf"
)

// modelFlags are the flags of every verb that reads a model.
type modelFlags struct{ i2s string }

// i2sPackings are those that no file tells from i2_s.
var i2sPackings = []string{formats.I2_S.Name, formats.I2_S_ARM.Name, formats.I2_S_X4.Name}

func (m *modelFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.i2s, "i2s", formats.I2_S.Name,
		"packing of the file's I2_S tensors, which no file states: i2_s, i2_s_arm (quantized on ARM) or i2_s_x4 (x86 without ACT_PARALLEL)")
}

// open maps the model at path.
func (m *modelFlags) open(path string) (*gguf.File, error) {
	if !slices.Contains(i2sPackings, m.i2s) {
		return nil, usagef("--i2s %s: want one of %q", m.i2s, i2sPackings)
	}
	var opt gguf.Options
	if m.i2s != formats.I2_S.Name {
		opt.Types = []string{m.i2s}
	}
	return gguf.Open(path, opt)
}
