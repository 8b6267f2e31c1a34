// Package build says which onebit a program is.
package build

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Unknown is in the place of what the go command has not stamped.
const Unknown = "unknown"

// A Build is a version of a program.
type Build struct {
	Version  string `json:"version"` // of the module: a tag, or (devel)
	Commit   string `json:"commit"`  // short, with -dirty if the working tree had changes; or Unknown
	Date     string `json:"date"`    // of the commit, in RFC 3339; or Unknown
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (b Build) String() string {
	return fmt.Sprintf("onebit %s, commit %s of %s, %s, %s", b.Version, b.Commit, b.Date, b.Go, b.Platform)
}

// This is what the go command stamped into the program. It stamps the commit
// with go build, and with go run only under -buildvcs=true: a commit asked of git now
// would be that of another day.
func This() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return of(info)
}

func of(info *debug.BuildInfo) Build {
	b := Build{Version: cmp.Or(info.Main.Version, Unknown), Commit: Unknown, Date: Unknown, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if state := stamped(info); state.hash != "" {
		b.Commit, b.Date = state.short(), cmp.Or(state.date, Unknown)
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
