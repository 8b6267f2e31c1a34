package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"onebit/cmd/internal/cli"
)

const unknown = "unknown"

// A build says which onebit this is.
type build struct {
	Version  string `json:"version"` // of the module: a tag, or (devel)
	Commit   string `json:"commit"`  // short, with -dirty if the working tree had changes; or unknown
	Date     string `json:"date"`    // of the commit, in RFC 3339; or unknown
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (b build) String() string {
	return fmt.Sprintf("onebit %s, commit %s of %s, %s, %s", b.Version, b.Commit, b.Date, b.Go, b.Platform)
}

// thisBuild is what the go command stamped into the program. It stamps the commit
// with go build, and with go run only under -buildvcs=true: a commit asked of git now
// would be that of another day.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) build {
	b := build{Version: cmp.Or(info.Main.Version, unknown), Commit: unknown, Date: unknown, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if state := stamped(info); state.hash != "" {
		b.Commit, b.Date = state.short(), cmp.Or(state.date, unknown)
	}
	return b
}

type commitState struct {
	hash, date string
	dirty      bool
}

// shortHash is how many digits name a commit for people, as git does it.
const shortHash = 7

func (s commitState) short() string {
	name := s.hash[:min(shortHash, len(s.hash))]
	if s.dirty {
		name += "-dirty"
	}
	return name
}

// stamped is the commit that the go command wrote into the program.
func stamped(info *debug.BuildInfo) (state commitState) {
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			state.hash = s.Value
		case "vcs.time":
			state.date = s.Value
		case "vcs.modified":
			state.dirty = s.Value == "true"
		}
	}
	return state
}

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Say which onebit this is: version, commit, Go, platform",
		Example: "  onebit version --json",
		Args:    cli.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), thisBuild())
			}
			return printVersion(cmd)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of a line")
	return cmd
}

func printVersion(cmd *cobra.Command) error {
	_, err := fmt.Fprintln(cmd.OutOrStdout(), thisBuild())
	return err
}
