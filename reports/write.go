package reports

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"onebit/bench"
)

// Write writes index.html and plots/*.png into dir, which is made if need be. Files of the same names
// are replaced; others are left alone. The same results give the same bytes. A file that cannot be
// written whole, for instance to a full disk, is not there.
func Write(dir string, res *bench.Results) error {
	plots := filepath.Join(dir, "plots")
	if err := os.MkdirAll(plots, 0o777); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	d := newDigest(res)
	drawn, err := drawCharts(d)
	if err != nil {
		return err
	}
	if err := writePNGFiles(plots, drawn); err != nil {
		_ = os.Remove(plots) // if it is empty
		return err
	}
	var b bytes.Buffer
	if err := writePage(&b, d, drawn, "plots/"); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "index.html"), b.Bytes())
}

// writePNGFiles draws on all processors: it is most of the work.
func writePNGFiles(dir string, drawn []drawnChart) error {
	var figures []*figure
	for _, c := range drawn {
		for _, f := range c.figures {
			figures = append(figures, f.figure)
		}
	}
	var next atomic.Int64
	errs := make([]error, len(figures))
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(figures)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(figures)); i = next.Add(1) - 1 {
				errs[i] = writePNGFile(dir, figures[i])
			}
		})
	}
	workers.Wait()
	return cmp.Or(errs...)
}

func writePNGFile(dir string, f *figure) error {
	var b bytes.Buffer
	if err := f.writePNG(&b); err != nil {
		return fmt.Errorf("drawing %s: %w", f.name, err)
	}
	return writeFile(filepath.Join(dir, f.name+".png"), b.Bytes())
}

// writeFile leaves nothing behind if it fails half way.
func writeFile(path string, data []byte) error {
	f, err := os.Create(path)
	if err == nil {
		_, err = f.Write(data)
		if err = cmp.Or(err, f.Close()); err != nil {
			_ = os.Remove(path)
		}
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
