package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/models/gopher"
	"onebit/models/source"
)

// modelFlags are the flags of every verb that reads a model.
type modelFlags struct {
	types     []string // that type ids stand for which a file leaves open
	tokenizer string   // another model, whose tokenizer it is
}

// i2sPackings names i2_s and those that no file tells from it.
func i2sPackings() []string { return each(gguf.Packings(formats.I2_S), typeName) }

func (m *modelFlags) register(cmd *cobra.Command) {
	registerTypes(cmd.Flags(), &m.types)
}

// registerTokenizer adds the flag of the verbs that read text or metadata.
func (m *modelFlags) registerTokenizer(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.tokenizer, "tokenizer", "", "take the tokenizer of another `MODEL`, as a .cellm file needs, which holds none")
}

// open maps the model at path, with the tokenizer that was asked for. A name of one
// inside the program means that, unless there is such a file.
func (m *modelFlags) open(path string) (source.Source, error) {
	if inside(path) {
		if m.tokenizer != "" {
			return nil, cli.Usagef("--tokenizer is for models without one, and %s has its own", path)
		}
		return gopher.Open(path)
	}
	opt, err := m.options()
	if err != nil {
		return nil, err
	}
	return source.OpenWith(path, m.tokenizer, opt)
}

// inside reports whether a model is in the program, and not in a file.
func inside(path string) bool {
	_, err := os.Stat(path)
	return gopher.Has(path) && errors.Is(err, fs.ErrNotExist)
}

// optionalModel demands a MODEL or nothing, for modelOf.
func optionalModel(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return cli.ExactArgs("MODEL")(cmd, args)
}

// modelOf returns the MODEL among the arguments, or that of the program.
func modelOf(args []string) string {
	if len(args) == 0 {
		return gopher.Default
	}
	return args[0]
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (m *modelFlags) options() (gguf.Options, error) {
	return gguf.Options{Types: m.types}, checkTypes(m.types)
}

// registerTypes adds the flag that settles what a GGUF file leaves open.
func registerTypes(flags *pflag.FlagSet, types *[]string) {
	flags.StringSliceVar(types, "gguf-types", nil, "`FORMATS` of type ids that the file leaves open: of I2_S i2_s_arm (quantized on ARM) or i2_s_x4 (x86 without ACT_PARALLEL), and not i2_s")
}

// checkTypes refuses formats that onebit has not.
func checkTypes(types []string) error {
	for _, name := range types {
		if _, err := formats.Lookup(name); err != nil {
			return cli.Usagef("--gguf-types: %w", err)
		}
	}
	return nil
}
