package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var (
	usesLine = regexp.MustCompile(`(?m)^\s*(?:- )?uses:.*$`)
	pinned   = regexp.MustCompile(`^\s*(?:- )?uses: (actions/[a-z-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+$`)
)

// Workflows parse, may only read, and run actions whose code cannot change:
// each is named by the hash of a commit, with its version beside it.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d workflows, want at least 3; %v", len(files), err)
	}
	hashes := map[string]string{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			readsOnly(t, data)
			lines := usesLine.FindAllString(strings.ReplaceAll(string(data), "\r\n", "\n"), -1)
			if len(lines) < 2 {
				t.Errorf("%d actions, want at least 2", len(lines))
			}
			for _, line := range lines {
				m := pinned.FindStringSubmatch(line)
				if m == nil {
					t.Errorf("%s: want the hash of a commit and its version: uses: actions/NAME@HASH # v1.2.3", strings.TrimSpace(line))
				} else if before, ok := hashes[m[1]]; ok && before != m[2] {
					t.Errorf("%s is %s here and %s in another place", m[1], m[2], before)
				} else {
					hashes[m[1]] = m[2]
				}
			}
		})
	}
}

// readsOnly holds a workflow to the right to read and nothing else, and to
// shells that see nothing that a stranger wrote.
func readsOnly(t *testing.T, workflow []byte) {
	t.Helper()
	var flow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions map[string]string
			Steps       []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(workflow, &flow); err != nil {
		t.Fatal(err)
	}
	if len(flow.Permissions) != 1 || flow.Permissions["contents"] != "read" {
		t.Errorf("permissions %v, want only to read contents", flow.Permissions)
	}
	steps := 0
	for name, job := range flow.Jobs {
		if job.Permissions != nil {
			t.Errorf("job %s has permissions of its own: %v", name, job.Permissions)
		}
		for _, step := range job.Steps {
			steps++
			if strings.Contains(step.Run, "${{ github.event") {
				t.Errorf("job %s pastes what a stranger wrote into a shell: %s", name, step.Run)
			}
		}
	}
	if steps < 3 {
		t.Errorf("%d steps, want at least 3", steps)
	}
}

// The commit stands in results that machines send in: go build stamps it, go run does not.
func TestFleetIsStamped(t *testing.T) {
	workflow, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "fleet.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(workflow); strings.Contains(text, "go run ./") || !strings.Contains(text, "bin/onebit bench") {
		t.Error("fleet.yml runs what go run builds")
	}
}
