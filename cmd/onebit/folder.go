package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"onebit/cmd/internal/cli"
	"onebit/reports/render"
)

// The files of a run in its folder.
const (
	resultsName = "results.txt"
	oldName     = "results.old.txt"     // results.txt of the run before
	partialName = "results.partial.txt" // of a run that has no sample yet
)

// A resultsFile is the results of a run in a folder that it has to itself. It
// is results.partial.txt until the first sample, which makes it results.txt:
// a run that ends before has nothing to replace another's results by.
type resultsFile struct {
	dir    string // its name when the run began
	folder *cli.Folder
	made   bool // the folder is this run's
	file   *os.File
	named  bool // results.txt
}

// takeFolder begins the results of a report's folder. That its page is not
// onebit's is said now, minutes before the page is written.
func takeFolder(dir string, force bool) (*resultsFile, error) {
	if !force {
		if err := render.Replaceable(dir); err != nil {
			return nil, err
		}
	}
	return createResults(dir)
}

func createResults(dir string) (*resultsFile, error) {
	made := !isDirectory(dir)
	folder, err := cli.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	file, err := folder.Create(partialName)
	if err != nil {
		return nil, errors.Join(cli.Unwritable(err), folder.Close())
	}
	return &resultsFile{dir: dir, folder: folder, made: made, file: file}, nil
}

// path is where the results are now.
func (f *resultsFile) path() string {
	if f.named {
		return filepath.Join(f.dir, resultsName)
	}
	return filepath.Join(f.dir, partialName)
}

// options are those of a report that goes beside the results.
func (f *resultsFile) options(force bool) render.FolderOptions {
	return render.FolderOptions{Force: force, Folder: f.folder.Root}
}

var samplePrefix = []byte("Benchmark")

func (f *resultsFile) Write(p []byte) (int, error) {
	if !f.named && (bytes.HasPrefix(p, samplePrefix) || bytes.Contains(p, append([]byte("\n"), samplePrefix...))) {
		if err := f.name(); err != nil {
			return 0, err
		}
	}
	return f.file.Write(p)
}

// name makes the file results.txt, and the one before results.old.txt. The page
// of the run before goes: its results render it again, and beside others' it
// would lie. Windows renames closed files only.
func (f *resultsFile) name() error {
	if err := f.file.Close(); err != nil {
		return err
	}
	if err := f.folder.Rename(resultsName, oldName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot keep the earlier results: %w", err)
	}
	if err := f.folder.Rename(partialName, resultsName); err != nil {
		return err
	}
	file, err := f.folder.OpenFile(resultsName, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	f.file, f.named = file, true
	return render.Remove(f.folder.Root)
}

// Close also lets other runs into the folder. A run that wrote nothing leaves
// nothing.
func (f *resultsFile) Close() error {
	info, err := f.file.Stat()
	empty := err == nil && info.Size() == 0
	err = errors.Join(err, f.file.Close())
	if empty {
		err = errors.Join(err, f.folder.Remove(filepath.Base(f.path())))
	}
	if empty && f.made {
		return errors.Join(err, f.folder.Discard(f.dir))
	}
	return errors.Join(err, f.folder.Close())
}
