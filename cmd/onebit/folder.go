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

// A folder is that of a run's results, with other runs kept out of it. What is
// written goes there, whatever takes its name in the minutes of a run.
type folder struct {
	*os.Root
	lock *flock.Flock
}

// openFolder makes the folder if need be, and locks it. The system releases the lock
// of a process that ends in any way.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, unwritable(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unwritable(err)
	}
	f := &folder{root, flock.New(filepath.Join(dir, lockName), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))}
	held, err := f.lock.TryLock()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return f, nil // a file system without locks
	case err != nil:
		return nil, errors.Join(unwritable(err), f.Close())
	case !held:
		err = fmt.Errorf("%s is in use by another onebit%s: wait for its end, or name another directory with -o", dir, lockHolder(root))
		return nil, errors.Join(err, f.Close())
	}
	// Without the number the lock still holds.
	if out, err := root.OpenFile(lockName, os.O_WRONLY, 0); err == nil {
		out.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), pidOffset)
		out.Close()
	}
	return f, nil
}

// Close also lets other runs into the folder.
func (f *folder) Close() error { return errors.Join(f.lock.Close(), f.Root.Close()) }

// lockFolder keeps other runs out of a folder, which is made if need be, until unlock.
func lockFolder(dir string) (unlock func() error, err error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}

// lockHolder says which process holds a folder's lock, "" if it isn't known.
func lockHolder(root *os.Root) string {
	f, err := root.Open(lockName)
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
	dir    string // its name when the run began
	folder *folder
	made   bool // the folder is this run's
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
	folder, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	file, err := folder.Create(partialName)
	if err != nil {
		return nil, errors.Join(unwritable(err), folder.Close())
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
func (f *resultsFile) options(force bool) reports.WriteOptions {
	return reports.WriteOptions{Force: force, Folder: f.folder.Root}
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
	return reports.Remove(f.folder.Root)
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
		err = errors.Join(err, f.folder.lock.Close(), f.folder.Remove(lockName), f.folder.Close(), os.Remove(f.dir))
	}
	return errors.Join(err, f.folder.Close())
}
