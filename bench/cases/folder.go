package cases

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
)

// A folder is where the processes of a run leave each other what one of them is enough to find out. Without
// one ("") each finds out all.
type folder string

// once returns what find does, and what it once did where an earlier process asked under the same name: its bytes
// are held to their digest.
func (f folder) once(name string, find func() ([]byte, error)) ([]byte, error) {
	if f == "" {
		return find()
	}
	path := filepath.Join(string(f), name)
	if left, err := os.ReadFile(path); err == nil && len(left) >= sha256.Size {
		found, want := slices.Clip(left[:len(left)-sha256.Size]), left[len(left)-sha256.Size:]
		if got := sha256.Sum256(found); bytes.Equal(got[:], want) {
			return found, nil
		}
	}
	found, err := find()
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(found)
	// Where it can't be left, as on a full disk, the others find out by themselves.
	_ = os.WriteFile(path, slices.Concat(found, digest[:]), 0o600)
	return found, nil
}
