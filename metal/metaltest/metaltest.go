// Package metaltest gives tests of Metal the GPU that is played on Linux.
package metaltest

import (
	"errors"
	"os/exec"
	"testing"

	"onebit/internal/require"
	"onebit/metal/softmetal/frameworks"
)

// Played loads the GPU that is played. When the test ends, what it made there is
// released, and nothing was done wrong that the test has not taken note of. Without
// a compiler the test is skipped.
func Played(t *testing.T) *frameworks.Library {
	t.Helper()
	lib, err := frameworks.Load()
	if errors.Is(err, exec.ErrNotFound) {
		require.Skip(t, "g++", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	before := len(lib.Live())
	t.Cleanup(func() {
		for _, v := range lib.Violations() {
			t.Error(v)
		}
		if live := lib.Live(); len(live) != before {
			t.Errorf("%d objects are alive, %d were before: %q", len(live), before, live)
		}
	})
	return lib
}
