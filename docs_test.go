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
	"onebit/models/arch"
	"onebit/models/synth"
)

const libraryPage = "docs/library.md"

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestLibraryPrograms runs the Go blocks of docs/library.md as pasted, each the main
// program of a module of its own with that page's lines in its go.mod, on a
// small model; by default a drawn one of them.
func TestLibraryPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		require.Skip(t, "go", "there is no go command")
	}
	page, err := os.ReadFile(libraryPage)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	const lines = "require onebit v0.0.0\nreplace onebit => ../onebit\n"
	if !strings.Contains(string(page), "```\n"+lines+"```\n") {
		t.Fatalf("%s does not give the lines of go.mod:\n%s", libraryPage, lines)
	}
	// What go mod tidy must not ask the network for is in our go.sum.
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	model := filepath.Join(work, "model.gguf")
	preset, err := arch.LookupPreset("tiny")
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

	blocks := goBlock.FindAllSubmatch(page, -1)
	if len(blocks) < 2 {
		t.Fatalf("%d Go blocks in %s, want at least 2", len(blocks), libraryPage)
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

// The map of packages in docs/library.md and the overview in doc.go leave none out that
// others may import.
func TestPackageMaps(t *testing.T) {
	for name, row := range map[string]string{libraryPage: "| `", "doc.go": "//"} {
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

var (
	markdownLink    = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#([^)]*))?\)`)
	markdownHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor     = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the names of a page's headings, as GitHub has them.
func anchors(page []byte) (all []string) {
	for _, m := range markdownHeading.FindAllSubmatch(page, -1) {
		name := notInAnchor.ReplaceAllString(strings.ToLower(string(m[1])), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

// A page of measurements says by what, of which commit, when, and whether they still hold.
func TestMeasurementPages(t *testing.T) {
	pages, err := filepath.Glob(filepath.FromSlash("docs/measurements/*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%v, %v", pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		head := strings.Split(string(text), "\n\n")[1]
		for _, word := range []string{"Machine:", "Commit:", "Day:", "State:"} {
			if !strings.Contains(head, word) {
				t.Errorf("%s does not begin with its %s", page, strings.ToLower(strings.TrimSuffix(word, ":")))
			}
		}
	}
}

// Links between the documents lead to files and headings that exist, and docs/README.md
// leaves no page out.
func TestDocumentLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/measurements/*.md"} {
		found, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		pages = append(pages, found...)
	}
	index := filepath.Join("docs", "README.md")
	listed := map[string]bool{index: true}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range markdownLink.FindAllSubmatch(text, -1) {
			target := filepath.Join(filepath.Dir(page), filepath.FromSlash(string(link[1])))
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, link[1], err)
			} else if anchor := string(link[2]); anchor != "" {
				there, err := os.ReadFile(target)
				if err != nil || !slices.Contains(anchors(there), anchor) {
					t.Errorf("%s links to %s, which has no heading %q (%v)", page, link[1], anchor, err)
				}
			}
			if page == index {
				listed[target] = true
			}
		}
	}
	for _, page := range pages {
		if filepath.Dir(page) != "." && !listed[page] {
			t.Errorf("%s does not list %s", index, page)
		}
	}
}
