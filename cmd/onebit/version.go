package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const unknown = "unknown"

// A build says which onebit this is.
type build struct {
	Version  string // of the module: a tag, or (devel)
	Commit   string // short, with -dirty if the working tree had changes; or unknown
	Date     string // of the commit, in RFC 3339; or unknown
	Go       string
	Platform string
}

func (b build) String() string {
	return fmt.Sprintf("onebit %s, commit %s of %s, %s, %s", b.Version, b.Commit, b.Date, b.Go, b.Platform)
}

// thisBuild reads what the go command stamped. It stamps no commit with go run
// and go test: their source lies where they were built, so git is asked there.
func thisBuild(ctx context.Context) build {
	b := build{Version: unknown, Commit: unknown, Date: unknown, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	state := stamped(info)
	if state.hash == "" {
		state = gitState(ctx, sourceDirs())
	}
	if state.hash != "" {
		b.Commit, b.Date = state.short(), state.date
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

// sourceDirs are where this program's source may be: where it was compiled,
// which -trimpath hides, and the working directory and those above.
func sourceDirs() (dirs []string) {
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		dirs = append(dirs, filepath.Dir(filepath.Dir(filepath.Dir(file))))
	}
	dir, err := os.Getwd()
	for err == nil {
		dirs = append(dirs, dir)
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dirs
}

// gitState asks git for the commit of the first directory that is onebit's
// module and a repository's root. The zero value says that there is none.
func gitState(ctx context.Context, dirs []string) commitState {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, dir := range dirs {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil || !strings.HasPrefix(string(mod), "module onebit\n") {
			continue
		}
		git := func(args ...string) (string, error) {
			// Without a lock on the index it disturbs nobody who commits.
			cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-C", dir}, args...)...)
			out, err := cmd.Output()
			return strings.TrimSpace(string(out)), err
		}
		if prefix, err := git("rev-parse", "--show-prefix"); err != nil || prefix != "" {
			continue
		}
		commit, err := git("log", "-1", "--format=%H %cI")
		hash, date, ok := strings.Cut(commit, " ")
		if err != nil || !ok {
			continue
		}
		changes, err := git("status", "--porcelain")
		return commitState{hash: hash, date: date, dirty: err != nil || changes != ""}
	}
	return commitState{}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which onebit this is: version, commit, Go, platform",
		Args:  exactArgs(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return printVersion(cmd) },
	}
}

func printVersion(cmd *cobra.Command) error {
	_, err := fmt.Fprintln(cmd.OutOrStdout(), thisBuild(cmd.Context()))
	return err
}
