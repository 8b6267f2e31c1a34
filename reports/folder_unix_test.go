//go:build linux || darwin

package reports_test

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"onebit/reports/doc"
	"onebit/reports/history"
	"onebit/reports/render"
)

// Two writers of a report's folder, each with a text that tells its runs apart. The
// page is the largest file of both, and comes last.
var folderWriters = map[string]func(t *testing.T, dir, text string) error{
	"plots": func(t *testing.T, dir, text string) error {
		return writeFormats(t, dir, render.FolderOptions{}, "a", text, strings.Repeat("long", 5000))
	},
	"table": func(t *testing.T, dir, text string) error {
		say := func(text string) func(io.Writer) error {
			return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
		}
		d := &doc.Document{Title: strings.Repeat(text, 1000), Files: []doc.File{{Name: history.HistoryCSV, Write: say(text)}}}
		return render.Folder(t.Context(), dir, d, render.FolderOptions{})
	},
}

// What TestFullDisk sets for a process of its own, which the system lets write no
// more than so many bytes of a file.
const fullDisk, fullFolder, fullWriter = "ONEBIT_TEST_FULL_DISK", "ONEBIT_TEST_FULL_FOLDER", "ONEBIT_TEST_FULL_WRITER"

// A report that finds the disk full leaves the one before as it was.
func TestFullDisk(t *testing.T) {
	if most := os.Getenv(fullDisk); most != "" {
		writeToFullDisk(t, most)
		return
	}
	for name, write := range folderWriters {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := write(t, dir, "old"); err != nil {
				t.Fatal(err)
			}
			before := contents(t, dir)
			for path, data := range before {
				if path != "index.html" && len(data) >= len(before["index.html"]) {
					t.Fatalf("%s has %d bytes, and the page %d", path, len(data), len(before["index.html"]))
				}
			}
			child := exec.Command(os.Args[0], "-test.run=^TestFullDisk$")
			child.Env = append(os.Environ(), fullDisk+"="+strconv.Itoa(len(before["index.html"])-1), fullFolder+"="+dir, fullWriter+"="+name)
			if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
				t.Fatalf("%v: %s", err, out)
			}
			after := contents(t, dir)
			for path := range after {
				if before[path] != after[path] {
					t.Errorf("%s is not what it was", path)
				}
			}
			if len(after) != len(before) {
				t.Errorf("%d files, and there were %d", len(after), len(before))
			}
		})
	}
}

func writeToFullDisk(t *testing.T, most string) {
	n, err := strconv.ParseUint(most, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = n
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv(fullFolder)
	err = folderWriters[os.Getenv(fullWriter)](t, dir, "new")
	if want := filepath.Join(dir, "index.html"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that names %s", err, want)
	}
}

// contents are the files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
