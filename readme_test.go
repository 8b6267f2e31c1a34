package onebit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"onebit/internal/require"
	"onebit/models"
	"onebit/models/synth"
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestReadmePrograms runs the Go blocks of the README as pasted, each the main
// program of a module of its own with the README's lines in its go.mod, on a
// small model; by default a drawn one of them.
func TestReadmePrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		require.Skip(t, "go", "there is no go command")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	const lines = "require onebit v0.0.0\nreplace onebit => ../onebit\n"
	if !strings.Contains(string(readme), "```\n"+lines+"```\n") {
		t.Fatalf("the README does not give the lines of go.mod:\n%s", lines)
	}
	// What go mod tidy must not ask the network for is in our go.sum.
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	model := filepath.Join(work, "model.gguf")
	preset, err := models.LookupPreset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(model)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(synth.Write(f, preset, 1), f.Close()); err != nil {
		t.Fatal(err)
	}

	blocks := goBlock.FindAllSubmatch(readme, -1)
	if len(blocks) < 2 {
		t.Fatalf("%d Go blocks in the README, want at least 2", len(blocks))
	}
	for i, block := range require.Draw(t, len(blocks), blocks) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"go.mod":  "module example\n\ngo 1.26.0\n\n" + strings.Replace(lines, "../onebit", fmt.Sprintf("%q", root), 1),
				"go.sum":  string(sums),
				"main.go": string(block[1]),
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Link(model, filepath.Join(dir, "model.gguf")); err != nil {
				t.Fatal(err)
			}
			goCommand(t, dir, "mod", "tidy")
			goCommand(t, dir, "vet", ".")
			if out := goCommand(t, dir, "run", "."); strings.TrimSpace(out) == "" {
				t.Error("the program prints nothing")
			}
		})
	}
}

// goCommand runs the go command in a directory and returns what it printed.
func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// The README's map of packages and the overview in doc.go leave none out that others may
// import.
func TestPackageMaps(t *testing.T) {
	for name, row := range map[string]string{"README.md": "| `", "doc.go": "//"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, row) {
				for _, path := range packagePath.FindAllString(line, -1) {
					said[path] = true
				}
			}
		}
		for _, path := range packages(t) {
			if parent := filepath.ToSlash(filepath.Dir(path)); !said[path] && !(name == "doc.go" && said[parent]) {
				t.Errorf("%s does not say what %s is for", name, path)
			}
		}
	}
}

var packagePath = regexp.MustCompile(`[a-z0-9]+(/[a-z0-9]+)*`)

// packages are the module's, less commands and what is internal.
func packages(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, e os.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil || path == ".":
			return err
		case !e.IsDir():
			if dir := filepath.ToSlash(filepath.Dir(path)); dir != "." && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !slices.Contains(all, dir) {
				all = append(all, dir)
			}
			return nil
		case strings.HasPrefix(e.Name(), "_"), strings.HasPrefix(e.Name(), "."), e.Name() == "testdata", e.Name() == "internal", path == "cmd", path == "scripts":
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
