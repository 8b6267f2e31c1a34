package reports

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"onebit/bench/results"
)

// Files of a report in its folder.
const (
	pageName    = "index.html"
	plotsFolder = "plots"
)

// WriteOptions say how a report is written.
type WriteOptions struct {
	Force  bool     // whether to replace an index.html that onebit did not write
	Folder *os.Root // the folder, if it is open: nothing is written to what has taken its name since
	Beside []File   // more to write beside a page without figures
}

// A File is one of a report's folder.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// Write writes index.html and plots/*.png into dir, which is made if need be. Plots of the report that
// was there are removed; other files are left alone. The same results give the same bytes. If anything cannot be
// written whole, for instance to a full disk, the folder is as it was. It returns ctx's error as soon as the
// figure in hand is drawn.
//
// Results of onebit machine have a page of their own.
func Write(ctx context.Context, dir string, res *results.Set, opt WriteOptions) error {
	if IsMachine(res) {
		return WriteMachines(dir, []Machine{{Results: res}}, opt)
	}
	return writeFolder(ctx, dir, opt, func(w io.Writer) (drawing, error) {
		d := newDigest(res)
		drawn, err := drawCharts(ctx, d)
		if err != nil {
			return drawn, err
		}
		return drawn, writePage(w, d, drawn, plotsFolder+"/")
	})
}

// writeFolder writes a page, and the figures that it shows.
func writeFolder(ctx context.Context, dir string, opt WriteOptions, page func(io.Writer) (drawing, error)) error {
	if err := opt.replaceable(dir); err != nil {
		return err
	}
	var b bytes.Buffer
	var drawn drawing
	if err := until(ctx, &b, func(w io.Writer) (err error) { drawn, err = page(w); return err }); err != nil {
		return err
	}
	files, err := drawPNGs(ctx, drawn.figures())
	if err != nil {
		return err
	}
	for i := range files {
		files[i].name = path.Join(plotsFolder, files[i].name)
	}
	return opt.put(dir, append(files, rendered{pageName, b.Bytes()}))
}

// writeFiles writes the files of a page that has no figures of its own into dir, which is made if need
// be, the page last.
func writeFiles(dir string, opt WriteOptions, page func(io.Writer) error, beside ...File) error {
	if err := opt.replaceable(dir); err != nil {
		return err
	}
	var files []rendered
	for _, f := range slices.Concat(opt.Beside, beside, []File{{pageName, page}}) {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			return err
		}
		files = append(files, rendered{f.Name, b.Bytes()})
	}
	return opt.put(dir, files)
}

// drawPNGs draws on all processors: it is most of the work.
func drawPNGs(ctx context.Context, figures []*figure) ([]rendered, error) {
	var next atomic.Int64
	files, errs := make([]rendered, len(figures)), make([]error, len(figures))
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(figures)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(figures)); i = next.Add(1) - 1 {
				if errs[i] = ctx.Err(); errs[i] == nil {
					files[i], errs[i] = figures[i].png()
				}
			}
		})
	}
	workers.Wait()
	return files, cmp.Or(errs...)
}

func (f *figure) png() (rendered, error) {
	var b bytes.Buffer
	if err := f.writePNG(&b); err != nil {
		return rendered{}, fmt.Errorf("drawing %s: %w", f.name, err)
	}
	return rendered{f.name + ".png", b.Bytes()}, nil
}
