package main

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/models"
)

// modelFlags are the flags of every verb that reads a model.
type modelFlags struct {
	i2s       string
	tokenizer string // another model, whose tokenizer it is
}

// i2sPackings names i2_s and those that no file tells from it.
func i2sPackings() (out []string) {
	for _, t := range gguf.Packings(formats.I2_S) {
		out = append(out, t.Name)
	}
	return out
}

func (m *modelFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.i2s, "i2s", formats.I2_S.Name,
		"packing of the file's I2_S tensors, which no file states: i2_s, i2_s_arm (quantized on ARM) or i2_s_x4 (x86 without ACT_PARALLEL)")
}

// registerTokenizer adds the flag of the verbs that read text or metadata.
func (m *modelFlags) registerTokenizer(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.tokenizer, "tokenizer", "", "take the tokenizer of another `MODEL`, as a .cellm file needs, which holds none")
}

// open maps the model at path, with the tokenizer that was asked for.
func (m *modelFlags) open(path string) (models.Source, error) {
	opt, err := m.options()
	if err != nil {
		return nil, err
	}
	return models.OpenWith(path, m.tokenizer, opt)
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (m *modelFlags) options() (gguf.Options, error) {
	if !slices.Contains(i2sPackings(), m.i2s) {
		return gguf.Options{}, usagef("--i2s %s: want one of %q", m.i2s, i2sPackings())
	}
	var opt gguf.Options
	if m.i2s != formats.I2_S.Name {
		opt.Types = []string{m.i2s}
	}
	return opt, nil
}
