package reports

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"

	"onebit/bench"
)

// Files of a report in its folder.
const (
	pageName    = "index.html"
	plotsFolder = "plots"
)

// WriteOptions say how a report is written.
type WriteOptions struct {
	Force bool // whether to replace an index.html that onebit did not write
}

// Write writes index.html and plots/*.png into dir, which is made if need be. Plots of the report that
// was there are removed; other files are left alone. The same results give the same bytes. A file that cannot be
// written whole, for instance to a full disk, is not there. It returns ctx's error as soon as the figure
// in hand is drawn.
//
// Results of onebit machine have a page of their own.
func Write(ctx context.Context, dir string, res *bench.Results, opt WriteOptions) error {
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
	if !opt.Force {
		if err := Replaceable(dir); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	drawn, err := page(&b)
	if err != nil {
		return err
	}
	plots := filepath.Join(dir, plotsFolder)
	if err := os.MkdirAll(plots, 0o777); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := writePNGFiles(ctx, plots, drawn.figures()); err != nil {
		_ = os.Remove(plots) // if it is empty
		return err
	}
	keep := make(map[string]bool)
	for _, f := range drawn.figures() {
		keep[f.name+".png"] = true
	}
	if err := removePlots(dir, ownPage(dir), keep); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, pageName), b.Bytes())
}

// A folderFile is a file of a report's folder.
type folderFile struct {
	name  string
	write func(io.Writer) error
}

// writeFiles writes the files of a page that has no figures of its own into dir, which is made if need
// be: nothing unless all of them can be rendered, and the page last.
func writeFiles(dir string, opt WriteOptions, page func(io.Writer) error, beside ...folderFile) error {
	if !opt.Force {
		if err := Replaceable(dir); err != nil {
			return err
		}
	}
	files := append(beside, folderFile{pageName, page})
	contents := make([]bytes.Buffer, len(files))
	for i, f := range files {
		if err := f.write(&contents[i]); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := removePlots(dir, ownPage(dir), nil); err != nil {
		return err
	}
	for i, f := range files {
		if err := writeFile(filepath.Join(dir, f.name), contents[i].Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// pageMark is by what a page is known to be onebit's.
const pageMark = `<meta name="generator" content="onebit">`

// ownPage returns the page in dir, nil if there is none or onebit did not write it.
func ownPage(dir string) []byte {
	path := filepath.Join(dir, pageName)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	page, err := os.ReadFile(path)
	// The mark is near the start: another page may quote it.
	if err != nil || !bytes.Contains(page[:min(len(page), 2048)], []byte(pageMark)) {
		return nil
	}
	return page
}

// Replaceable returns an error if dir has an index.html that onebit did not write. Whatever else is
// wrong with dir shows when it is written to.
func Replaceable(dir string) error {
	path := filepath.Join(dir, pageName)
	if _, err := os.Lstat(path); err != nil || ownPage(dir) != nil {
		return nil
	}
	return fmt.Errorf("%s is not a report of onebit: --force replaces it, or name another directory with -o", path)
}

// Remove removes the report in dir: index.html, if onebit wrote it, and the plots that it shows.
func Remove(dir string) error {
	page := ownPage(dir)
	if page == nil {
		return nil
	}
	return errors.Join(removePlots(dir, page, nil), os.Remove(filepath.Join(dir, pageName)))
}

var plotLink = regexp.MustCompile(`href="` + plotsFolder + `/([a-z0-9_-]+\.png)"`)

// removePlots removes what a page shows, but for what is to be kept.
func removePlots(dir string, page []byte, keep map[string]bool) error {
	for _, m := range plotLink.FindAllSubmatch(page, -1) {
		name := string(m[1])
		if keep[name] {
			continue
		}
		if err := os.Remove(filepath.Join(dir, plotsFolder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the plots of the earlier report: %w", err)
		}
	}
	return nil
}

// writePNGFiles draws on all processors: it is most of the work.
func writePNGFiles(ctx context.Context, dir string, figures []*figure) error {
	var next atomic.Int64
	errs := make([]error, len(figures))
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(figures)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(figures)); i = next.Add(1) - 1 {
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = writePNGFile(dir, figures[i])
				}
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
