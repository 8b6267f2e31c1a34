package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"
)

const (
	lockName = ".lock" // stays: removed, it would be no lock for a process that waits for it

	// pidOffset is where the lock holder's process id stands. Windows lets
	// nobody else read or write the byte before it, which is the locked one.
	pidOffset = 1
)

// A Folder is that of a run's results, with other runs kept out of it. Files
// are written there, whatever takes its name in the minutes of a run.
type Folder struct {
	*os.Root
	lock *flock.Flock
}

// OpenFolder makes the folder if need be, and locks it. The system releases the lock
// of a process that ends in any way.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, Unwritable(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, Unwritable(err)
	}
	f := &Folder{root, flock.New(filepath.Join(dir, lockName), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))}
	held, err := f.lock.TryLock()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return f, nil // a file system without locks
	case err != nil:
		return nil, errors.Join(Unwritable(err), f.Close())
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
func (f *Folder) Close() error { return errors.Join(f.lock.Close(), f.Root.Close()) }

// Discard closes the folder and removes it, if it holds nothing but the lock.
func (f *Folder) Discard(dir string) error {
	return errors.Join(f.lock.Close(), f.Root.Remove(lockName), f.Root.Close(), os.Remove(dir))
}

// LockFolder keeps other runs out of a folder, which is made if need be, until unlock.
func LockFolder(dir string) (unlock func() error, err error) {
	f, err := OpenFolder(dir)
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

// Unwritable says what can be done about a folder of results that cannot be written to.
func Unwritable(err error) error {
	return fmt.Errorf("cannot write the results: %w (-o names another directory)", err)
}
