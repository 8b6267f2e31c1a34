// Command onebit-lab holds the studies of this project's authors: how often the gate is
// wrong, and what networks of ternary and 1-bit weights learn.
package main

import (
	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
)

func main() { cli.Main(newRoot()) }

// studies are the constructors of the commands; each is a file.
var studies = []cli.Verb{
	newCalibrate,
	newCurve,
	newGradients,
	newLogic,
}

func newRoot() *cobra.Command {
	return cli.NewRoot("onebit-lab STUDY", "Studies of onebit's gate and of training in few bits", studies...)
}
