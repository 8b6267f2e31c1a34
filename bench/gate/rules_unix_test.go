//go:build unix

package gate

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file of rules that never begins or never ends is refused.
func TestRulesThatAreNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.toml")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	long := filepath.Join(dir, "long.toml")
	if err := os.WriteFile(long, []byte(strings.Repeat("# nothing\n", 1<<18)), 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "want a regular file", "/dev/zero": "want a regular file", long: "is larger than"} {
		if _, err := ReadRulesIfAny(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
