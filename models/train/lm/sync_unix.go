//go:build unix

package lm

import (
	"errors"
	"os"
)

// syncFolder makes sure that a new name is on the disk.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
