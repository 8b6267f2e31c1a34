// Command onebit finds out how fast, how big and how wrong a 1-bit or ternary
// language model runs on this machine.
//
// Data goes to standard output, progress and warnings to standard error. The
// exit status is 0 if all was done, 1 if something failed, 2 if the command line
// was wrong or nothing could be measured, 3 if the machine was unfit to measure.
package main

import (
	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
)

func main() { cli.Main(newRoot()) }

// verbs are the constructors of the commands; each is a file.
var verbs = []cli.Verb{
	newBench,
	newBenchProcess,
	newCompare,
	newConvert,
	newGate,
	newHistory,
	newImport,
	newInspect,
	newKernels,
	newMachine,
	newMan,
	newModels,
	newPeak,
	newPerplexity,
	newPhases,
	newProfile,
	newReport,
	newRun,
	newSynth,
	newTrain,
	newVersion,
}

func newRoot() *cobra.Command {
	root := cli.NewRoot("onebit VERB", "How fast, how big and how wrong a 1-bit or ternary language model runs here", verbs...)
	var version bool
	root.Flags().BoolVar(&version, "version", false, "say which onebit this is")
	otherwise := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if version && len(args) == 0 {
			return printVersion(cmd)
		}
		return otherwise(cmd, args)
	}
	addCompletions(root)
	return root
}
