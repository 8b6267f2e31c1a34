package build

import (
	"runtime/debug"
	"testing"
)

func TestStamped(t *testing.T) {
	stamp := func(hash, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: modified}, {Key: "vcs.revision", Value: hash}}}
	}
	const hash = "8b4e993fd1c3a7d0b6d4b5f0a5a2c7f5c3f0e1d2"
	if got := stamped(stamp(hash, "false")).short(); got != "8b4e993" {
		t.Errorf("clean: %q", got)
	}
	if got := stamped(stamp(hash, "true")).short(); got != "8b4e993-dirty" {
		t.Errorf("changed: %q", got)
	}
	if got := stamped(&debug.BuildInfo{}); got != (commitState{}) {
		t.Errorf("no stamp: %+v", got)
	}
}

// The commit is the one that was built, wherever the program runs and whatever
// lies there now: without a stamp it is unknown.
func TestBuildAsksNobody(t *testing.T) {
	info, _ := debug.ReadBuildInfo()
	want := Unknown
	if state := stamped(info); state.hash != "" {
		want = state.short()
	}
	if got := This(); got.Commit != want {
		t.Errorf("commit %q, and the stamp says %q", got.Commit, want)
	}
	if got := of(&debug.BuildInfo{}); got.Version != Unknown || got.Commit != Unknown || got.Date != Unknown {
		t.Errorf("without a stamp: %v", got)
	}
}
