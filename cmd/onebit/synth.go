package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
	"onebit/models/arch"
	"onebit/models/synth"
)

func newSynth() *cobra.Command {
	var (
		output string
		seed   uint64
		force  bool
	)
	cmd := &cobra.Command{
		Use:     "synth PRESET -o FILE",
		Short:   "Write a model of a real architecture with random weights",
		Example: "  onebit synth bonsai-1.7b -o bonsai-1.7b.gguf",
		Long: "Write a GGUF model of a real architecture and size with random weights and a\n" +
			"made-up vocabulary. The same preset and seed give the same file everywhere.\n\n" +
			"Presets:\n" + presetList(),
		Args: cli.ExactArgs("PRESET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := arch.LookupPreset(args[0])
			if err != nil {
				return cli.Usagef("%w", err)
			}
			if output == "" {
				return cli.Usagef("-o FILE is missing")
			}
			return synthesize(cmd, p, output, seed, force)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the weights")
	cmd.Flags().BoolVar(&force, "force", false, forceUsage)
	return cmd
}

func presetList() string {
	var b strings.Builder
	t := cli.NewTable(&b)
	for _, p := range arch.Presets() {
		t.Row("  "+p.Name, p.Summary)
	}
	t.Flush()
	return strings.TrimRight(b.String(), "\n")
}

func synthesize(cmd *cobra.Command, p *arch.Preset, output string, seed uint64, force bool) error {
	size, err := synth.Bytes(p)
	if err != nil {
		return err
	}
	return cli.WriteFile(cmd.Context(), output, force, func(w io.Writer) error {
		bar := progressOf(cmd)(p.Name, size)
		defer bar.Close()
		return synth.Write(io.MultiWriter(w, bar), p, seed)
	})
}

// progressOf shows how far a file is that is being made.
func progressOf(cmd *cobra.Command) func(name string, size int64) io.WriteCloser {
	return func(name string, size int64) io.WriteCloser { return cli.NewProgress(cmd.ErrOrStderr(), name, size) }
}
