// Command onebit finds out how fast, how big and how wrong a 1-bit or ternary
// language model runs on this machine.
//
// Data goes to standard output, progress and warnings to standard error. Every verb has
// the exit statuses that onebit help lists.
package main

import (
	"cmp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	newMeasureMemory,
	newModels,
	newPerplexity,
	newProfile,
	newReport,
	newRun,
	newShare,
	newSite,
	newSynth,
	newTrain,
	newVerify,
	newVersion,
}

// Flags of one name mean one thing.
const (
	forceUsage     = "replace a file of that name, a run, or a page that onebit did not write"
	thresholdUsage = "changes of less than this `PERCENT` don't matter"
)

// oldSpellings are names that flags had. They are accepted, and shown nowhere.
var oldSpellings = map[string]string{"i2s": "gguf-types", "n-gen": "tokens", "llama-bench": "engine", "llama-bench-args": "engine-args"}

func newRoot() *cobra.Command {
	root := cli.NewRoot("onebit VERB", "How fast, how big and how wrong a 1-bit or ternary language model runs here", verbs...)
	root.Long = `How fast, how big and how wrong a 1-bit or ternary language model runs here.

Data goes to standard output, progress and warnings to standard error. The exit status is

  0  if all was done
  1  if something failed, or the answer is no: a gate proved that something is
     worse, verify that an engine is wrong
  2  if the command line is wrong, or gate or verify could not judge
  3  if a gate found the machine unfit to measure`
	root.Example = `  onebit models
  onebit bench --short
  onebit run -p "func NewReader("`
	var version bool
	root.Flags().BoolVar(&version, "version", false, "print which onebit this is")
	otherwise := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if version && len(args) == 0 {
			return printVersion(cmd)
		}
		return otherwise(cmd, args)
	}
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(cmp.Or(oldSpellings[name], name))
	})
	checkShells(root)
	addCompletions(root)
	return root
}
