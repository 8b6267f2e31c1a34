package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"

	"onebit/reports"
)

const (
	lockName = ".lock" // stays: to remove it would take it from whoever waits for it

	// pidOffset is where the lock holder's process id stands. Windows lets
	// nobody else read or write the byte before it, which is the locked one.
	pidOffset = 1
)

// lockFolder makes the folder of a run's results if need be and keeps other runs
// out of it until unlock. The system releases the lock of a process that ends in any way.
func lockFolder(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, unwritable(err)
	}
	path := filepath.Join(dir, lockName)
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))
	held, err := lock.TryLock()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return func() error { return nil }, nil // a file system without locks
	case err != nil:
		return nil, unwritable(err)
	case !held:
		return nil, fmt.Errorf("%s is in use by another onebit%s: wait for its end, or name another directory with -o", dir, lockHolder(path))
	}
	// Without the number the lock still holds.
	if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
		f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), pidOffset)
		f.Close()
	}
	return lock.Close, nil
}

// lockHolder says which process holds a lock, "" if it isn't known.
func lockHolder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text := make([]byte, 20)
	n, _ := f.ReadAt(text, pidOffset)
	line, _, _ := bytes.Cut(text[:n], []byte("\n"))
	if pid, err := strconv.Atoi(string(line)); err == nil {
		return fmt.Sprintf(" (process %d)", pid)
	}
	return ""
}

func unwritable(err error) error {
	return fmt.Errorf("cannot write the results: %w (-o names another directory)", err)
}

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
	dir    string
	made   bool // the folder is this run's
	unlock func() error
	file   *os.File
	named  bool // results.txt
}

// takeFolder begins the results of a report's folder. That its page is not
// onebit's is said now, minutes before the page is written.
func takeFolder(dir string, force bool) (*resultsFile, error) {
	if !force {
		if err := reports.Replaceable(dir); err != nil {
			return nil, err
		}
	}
	return createResults(dir)
}

func createResults(dir string) (*resultsFile, error) {
	made := !isDirectory(dir)
	unlock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(dir, partialName))
	if err != nil {
		return nil, errors.Join(unwritable(err), unlock())
	}
	return &resultsFile{dir: dir, made: made, unlock: unlock, file: file}, nil
}

// path is where the results are now.
func (f *resultsFile) path() string { return f.file.Name() }

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
	partial, path := f.path(), filepath.Join(f.dir, resultsName)
	if err := f.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(path, filepath.Join(f.dir, oldName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot keep the earlier results: %w", err)
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	f.file, f.named = file, true
	return reports.Remove(f.dir)
}

// Close also lets other runs into the folder. A run that wrote nothing leaves
// nothing.
func (f *resultsFile) Close() error {
	path := f.path()
	info, err := f.file.Stat()
	empty := err == nil && info.Size() == 0
	err = errors.Join(err, f.file.Close())
	if empty {
		err = errors.Join(err, os.Remove(path))
	}
	err = errors.Join(err, f.unlock())
	if empty && f.made {
		err = errors.Join(err, os.Remove(filepath.Join(f.dir, lockName)), os.Remove(f.dir))
	}
	return err
}
