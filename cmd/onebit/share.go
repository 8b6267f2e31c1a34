package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports/share"
)

func newShare() *cobra.Command {
	var out, into string
	var force bool
	cmd := &cobra.Command{
		Use:   "share RESULTS…",
		Short: "Condense results into a small file that others may see",
		Long: `Condense results files of one machine to the figures that others choose by, a few
kilobytes in the Go benchmark format: the machine and its ceilings, the fastest variant of each format,
model and activation scheme with its interval and error, digests of the models, and warnings.

Nothing personal stays in it: no name of a host, no path, no time of a day. Nothing is sent.
The file goes to standard output, or with -o to FILE; how to propose it to a repository of
results goes to standard error.`,
		Example: "  onebit share onebit-report/results.txt\n  onebit share results.txt -o shared.txt --to https://github.com/OWNER/RESULTS",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("give a results file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := results.ReadFiles(cmd.Context(), args...)
			if err != nil {
				return err
			}
			shared, err := share.Condense(res)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			var text bytes.Buffer
			if err := share.Write(&text, shared); err != nil {
				return err
			}
			if err := share.Check(shared); err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "onebit: warning: a site would leave it out: %s\n", term.Text(err.Error()))
			}
			if err := cli.WriteText(cmd, out, force, text.Bytes()); err != nil {
				return err
			}
			tellHowToSend(cmd.ErrOrStderr(), out, into, share.Name(shared), text.Len())
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE`, not to standard output")
	cmd.Flags().BoolVar(&force, "force", false, forceUsage)
	cmd.Flags().StringVar(&into, "to", "", "`URL` of a repository of results, for the command that proposes the file to it")
	return cmd
}

// tellHowToSend says how a file gets into a repository, which is its owner's to do.
func tellHowToSend(w io.Writer, file, repository, name string, bytes int) {
	fmt.Fprintf(w, "%s. Nothing was sent. Read it; to propose it to a repository of results:\n", count.Of(bytes, "byte"))
	if file == "" {
		file = "FILE"
	}
	if repository == "" {
		repository = "URL"
	}
	fmt.Fprintf(w, "  git clone %s results && cp %s results/%s && cd results\n", term.ShellWord(repository), term.ShellWord(file), name)
	fmt.Fprintf(w, "  git checkout -b %s && git add . && git commit -m 'Results' && gh pr create --fill\n", name[:len(name)-len(".txt")])
}
