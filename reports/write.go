package reports

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"onebit/bench"
)

// Write writes index.html and plots/*.png into dir, which is made if need be. Files of the same names
// are replaced; others are left alone. The same results give the same bytes.
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
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, c := range drawn {
		for _, f := range c.figures {
			group.Go(func() error { return writePNGFile(plots, f.figure) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := writePage(&b, d, drawn); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "index.html"), b.Bytes())
}

func writePNGFile(dir string, f *figure) error {
	var b bytes.Buffer
	if err := f.writePNG(&b); err != nil {
		return fmt.Errorf("drawing %s: %w", f.name, err)
	}
	return writeFile(filepath.Join(dir, f.name+".png"), b.Bytes())
}

func writeFile(path string, data []byte) error {
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
