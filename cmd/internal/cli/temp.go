package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// tempPrefix is how the folders begin in which gates build and run programs.
const tempPrefix = "onebit-gate-"

// TempFolder makes a temporary folder of a gate, which holds a lock as long as its
// process lives, and removes the folders of gates that were killed.
func TempFolder() (dir string, remove func() error, err error) {
	removeAbandoned()
	// Another gate may take a new folder for an abandoned one before it is locked.
	for range 3 {
		if dir, err = os.MkdirTemp("", tempPrefix); err != nil {
			return "", nil, err
		}
		var unlock func() error
		if unlock, err = LockFolder(dir); err != nil {
			continue
		}
		if _, err = os.Stat(filepath.Join(dir, lockName)); err == nil {
			return dir, func() error { return errors.Join(unlock(), os.RemoveAll(dir)) }, nil
		}
		unlock()
	}
	return "", nil, fmt.Errorf("a temporary folder: %w", err)
}

// removeAbandoned removes the folders of gates whose lock nobody holds. A folder
// that cannot be removed is another user's.
func removeAbandoned() {
	locks, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*", lockName)) // a bad pattern finds nothing
	for _, path := range locks {
		lock := flock.New(path, flock.SetFlag(os.O_RDWR))
		if held, err := lock.TryLock(); err == nil && held {
			lock.Close()
			os.RemoveAll(filepath.Dir(path))
		}
	}
}
