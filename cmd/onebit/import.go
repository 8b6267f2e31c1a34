package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"onebit/bench/foreign"
	"onebit/cmd/internal/cli"
	"onebit/internal/bounded"
	"onebit/internal/count"
	"onebit/internal/term"
)

func newImport() *cobra.Command {
	var out string
	var force bool
	var kinds []string
	for _, k := range foreign.Kinds {
		kinds = append(kinds, "  "+k.Name)
	}
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Turn another program's results into a results file",
		Long: `Read the results of another benchmark program and write them in the Go benchmark format,
so that onebit's report and compare, and benchstat, take them. FILE may be - for
standard input. These are known, by their content:

` + strings.Join(kinds, "\n") + `

Nothing is invented: means stay single samples, with a warning that their spread
is not known. In onebit's repository, go doc ./bench/foreign says what becomes of
each field.`,
		Example: `  llama-bench -m model.gguf -o json | onebit import - -o llama.txt
  onebit report llama.txt onebit-report/results.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("give one file, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return importFile(cmd, args[0], out, force) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&out, "output", "o", "", "write to `FILE`, not to standard output")
	flags.BoolVar(&force, "force", false, forceUsage)
	return cmd
}

func importFile(cmd *cobra.Command, path, out string, force bool) error {
	in := cmd.InOrStdin()
	if path != "-" {
		f, err := bounded.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	results, kind, err := foreign.Read(in)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var text bytes.Buffer
	if err := results.Write(&text); err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	fmt.Fprintf(stderr, "%s: %s: %s\n", path, kind.Name, count.Of(len(results.Samples), "sample"))
	for _, w := range results.Warnings {
		fmt.Fprintf(stderr, "onebit: warning: %s\n", term.Text(w))
	}
	return cli.WriteText(cmd, out, force, text.Bytes())
}
