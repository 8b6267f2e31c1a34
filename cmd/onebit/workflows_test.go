package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Workflows parse, may only read, and run actions whose code cannot change:
// bench.yml handles what strangers propose.
func TestWorkflows(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "bench.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var flow struct {
		On          any
		Permissions map[string]string
		Jobs        map[string]struct {
			RunsOn string `yaml:"runs-on"`
			Steps  []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal(data, &flow); err != nil {
		t.Fatal(err)
	}
	if len(flow.Permissions) != 1 || flow.Permissions["contents"] != "read" {
		t.Errorf("permissions %v, want only to read contents", flow.Permissions)
	}
	pinned := regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40}$`)
	steps := 0
	for name, job := range flow.Jobs {
		for _, step := range job.Steps {
			steps++
			if step.Uses != "" && !pinned.MatchString(step.Uses) {
				t.Errorf("job %s uses %s, want the hash of a commit", name, step.Uses)
			}
			if strings.Contains(step.Run, "${{ github.event") {
				t.Errorf("job %s pastes what a stranger wrote into a shell: %s", name, step.Run)
			}
		}
	}
	if steps < 5 {
		t.Errorf("%d steps, want at least 5", steps)
	}
}
