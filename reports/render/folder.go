package render

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"onebit/reports/doc"
)

// Files of a report in its folder.
const (
	pageName    = "index.html"
	plotsFolder = "plots"
)

// FolderOptions say how a report is written.
type FolderOptions struct {
	Force  bool       // whether to replace an index.html that onebit did not write
	Folder *os.Root   // the folder, if it is open: nothing is written to what has taken its name since
	Beside []doc.File // more to write beside the page
}

// Folder writes a document's page and files, and plots/*.png of its figures that have names, into dir, which is made if
// need be. Plots of the report that was there are removed; other files are left alone. If anything cannot be written
// whole, for instance to a full disk, the folder is as it was. It returns ctx's error as soon as the figure in hand is
// drawn.
func Folder(ctx context.Context, dir string, d *doc.Document, opt FolderOptions) error {
	if err := opt.replaceable(dir); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := until(ctx, &page, func(w io.Writer) error { return printPage(ctx, w, d, plotsFolder) }); err != nil {
		return err
	}
	files, err := plotsOf(ctx, d.Figures())
	if err != nil {
		return err
	}
	for _, f := range slices.Concat(opt.Beside, d.Files) {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			return err
		}
		files = append(files, rendered{f.Name, b.Bytes()})
	}
	return opt.put(dir, append(files, rendered{pageName, page.Bytes()}))
}

// plotsOf draws the figures that have names, on all processors: it is most of the work.
func plotsOf(ctx context.Context, all []*doc.Figure) ([]rendered, error) {
	figures := slices.DeleteFunc(slices.Clone(all), func(f *doc.Figure) bool { return f.Name == "" })
	var next atomic.Int64
	files, errs := make([]rendered, len(figures)), make([]error, len(figures))
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(figures)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(figures)); i = next.Add(1) - 1 {
				if errs[i] = ctx.Err(); errs[i] == nil {
					var b bytes.Buffer
					if err := figures[i].WritePNG(&b); err != nil {
						errs[i] = fmt.Errorf("drawing %s: %w", figures[i].Name, err)
					}
					files[i] = rendered{path.Join(plotsFolder, figures[i].Name+".png"), b.Bytes()}
				}
			}
		})
	}
	workers.Wait()
	return files, cmp.Or(errs...)
}

// A rendered file has a name within a folder, with slashes.
type rendered struct {
	name string
	data []byte
}

// put puts the files of a report into dir, all or none, and removes the plots that only the report before showed.
func (o FolderOptions) put(dir string, files []rendered) error {
	folder := o.Folder
	if folder == nil {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		var err error
		if folder, err = os.OpenRoot(dir); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		defer folder.Close()
	}
	old := ownPage(folder)
	if err := putAll(folder, files); err != nil {
		return err
	}
	return removePlots(folder, old, files)
}

// putAll writes files into a folder, all or none: each is whole, under a name of its own, before any takes the
// place of the one before.
func putAll(folder *os.Root, files []rendered) (err error) {
	defer func() {
		if err != nil {
			for _, f := range files {
				_ = folder.Remove(f.partial())
			}
			_ = folder.Remove(plotsFolder) // if it is empty
		}
	}()
	for _, f := range files {
		if err := f.stage(folder); err != nil {
			return fmt.Errorf("writing the report: %s: %w", filepath.Join(folder.Name(), filepath.FromSlash(f.name)), causeOf(err))
		}
	}
	for _, f := range files {
		if err := folder.Rename(f.partial(), f.name); err != nil {
			return fmt.Errorf("writing the report: %s: %w", filepath.Join(folder.Name(), filepath.FromSlash(f.name)), causeOf(err))
		}
	}
	return nil
}

// partial is where a file is until all are whole.
func (f rendered) partial() string {
	return path.Join(path.Dir(f.name), "."+path.Base(f.name)+".partial")
}

// stage writes a file under its name for the time being, if it can have its own later.
func (f rendered) stage(folder *os.Root) error {
	if info, err := folder.Lstat(f.name); err == nil && info.IsDir() {
		return errors.New("is a directory")
	}
	if err := folder.MkdirAll(path.Dir(f.name), 0o777); err != nil {
		return err
	}
	if err := folder.Remove(f.partial()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := folder.OpenFile(f.partial(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = out.Write(f.data)
	return cmp.Or(err, out.Close())
}

// causeOf is an error without the path within a folder, which says little.
func causeOf(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// pageMark is by what a page is known to be onebit's.
const pageMark = `<meta name="generator" content="onebit">`

// ownPage returns the page in a folder, nil if there is none or onebit did not write it.
func ownPage(folder *os.Root) []byte {
	info, err := folder.Lstat(pageName)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	page, err := folder.ReadFile(pageName)
	// The mark is near the start: another page may quote it.
	if err != nil || !bytes.Contains(page[:min(len(page), 2048)], []byte(pageMark)) {
		return nil
	}
	return page
}

// Replaceable returns an error if dir has an index.html that onebit did not write. Whatever else is
// wrong with dir shows when it is written to.
func Replaceable(dir string) error {
	folder, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	return replaceable(folder, dir)
}

func replaceable(folder *os.Root, dir string) error {
	if _, err := folder.Lstat(pageName); err != nil || ownPage(folder) != nil {
		return nil
	}
	return fmt.Errorf("%s is not a report of onebit: --force replaces it, or name another directory with -o", filepath.Join(dir, pageName))
}

// replaceable is Replaceable of the folder that is open, and nothing with Force.
func (o FolderOptions) replaceable(dir string) error {
	switch {
	case o.Force:
		return nil
	case o.Folder != nil:
		return replaceable(o.Folder, dir)
	}
	return Replaceable(dir)
}

// Remove removes the report in a folder: index.html, if onebit wrote it, and the plots that it shows.
func Remove(folder *os.Root) error {
	page := ownPage(folder)
	if page == nil {
		return nil
	}
	return errors.Join(removePlots(folder, page, nil), folder.Remove(pageName))
}

var plotLink = regexp.MustCompile(`href="(` + plotsFolder + `/[a-z0-9_-]+\.png)"`)

// removePlots removes what a page shows, but for what is to be kept.
func removePlots(folder *os.Root, page []byte, keep []rendered) error {
	for _, m := range plotLink.FindAllSubmatch(page, -1) {
		name := string(m[1])
		if slices.ContainsFunc(keep, func(f rendered) bool { return f.name == name }) {
			continue
		}
		if err := folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the plots of the earlier report: %w", err)
		}
	}
	return nil
}
