package main

import (
	"os"
	"os/exec"
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

// Each night's fleet makes a site of what its machines share: its own steps are run here on a results file, in the shell
// that they are written for.
func TestFleetMakesASite(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	data, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "fleet.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var flow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	if err := yaml.Unmarshal(data, &flow); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run, err := os.ReadFile(filepath.Join("..", "..", "reports", "testdata", "results.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"bin", "report", "results"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "report", "results.txt"), run, 0o666); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary, as onebit.
	wrapper := "#!/bin/bash\nexec -a onebit '" + self + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "bin", "onebit"), []byte(wrapper), 0o777); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, job := range []string{"bench", "report"} {
		for _, step := range flow.Jobs[job].Steps {
			if !strings.Contains(step.Run, "onebit share") && !strings.Contains(step.Run, "onebit site") {
				continue
			}
			ran++
			cmd := exec.Command("bash", "-e", "-c", strings.ReplaceAll(step.Run, "${{ matrix.os }}", "some-os"))
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", step.Run, err, out)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "site", "index.html"))
	if err != nil || ran != 2 || !strings.Contains(string(page), "AMD EPYC") {
		t.Errorf("%d steps of 2 ran, and made no site of the machine: %v", ran, err)
	}
}
