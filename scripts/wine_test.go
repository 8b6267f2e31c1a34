package scripts

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each line of wine-lacks.txt names a test that exists, and why Wine can't run it.
func TestWineLacks(t *testing.T) {
	list, err := os.ReadFile("wine-lacks.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) != 3 {
			t.Errorf("%q: want a package, a test and a reason", line)
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", fields[0], "*_test.go"))
		if err != nil || !has(files, "func "+fields[1]+"(t *testing.T)") {
			t.Errorf("%s has no test %s; %v", fields[0], fields[1], err)
		}
	}
}

// has reports whether one of the files holds the text.
func has(files []string, text string) bool {
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}
