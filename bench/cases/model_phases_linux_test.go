package cases

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"onebit/internal/mmap"
)

// A phase that first fills anonymous memory and, once that is given back, maps
// a file has the peak of one of them. Its parts add up to that peak, which the
// largest anonymous and the largest file part do not.
func TestPartsOfPeakAddUp(t *testing.T) {
	const size = 48 << 20
	path := filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
	phase, err := measurePhase(func() error {
		heap, err := mmap.Alloc(size)
		if err != nil {
			return err
		}
		mmap.Touch(heap.Bytes())
		time.Sleep(5 * pollInterval)
		if err := heap.Free(); err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		file, err := mmap.Map(f)
		if err != nil {
			return err
		}
		file.Populate(0, size)
		time.Sleep(5 * pollInterval)
		return file.Close()
	})
	if err != nil {
		t.Skip("memory is not measured here: ", err)
	}
	if sum := phase.Anon + phase.File; sum > phase.Peak || sum < phase.Peak*9/10 {
		t.Errorf("anonymous %d and files %d are not the peak of %d", phase.Anon, phase.File, phase.Peak)
	}
	if phase.Peak < size || phase.Peak > 1<<30 {
		t.Errorf("the peak of %d MiB is %d MiB", size>>20, phase.Peak>>20)
	}
}
