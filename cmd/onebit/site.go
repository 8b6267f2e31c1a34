package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports/doc"
	"onebit/reports/render"
	sitepage "onebit/reports/site"
)

func newSite() *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "site DIR",
		Short: "Make a static site of results that were shared",
		Long: `Read every .txt file in DIR and the folders in it, and write an index by CPU, format and model
with the files that it is made of. It opens from its folder, without a server.

A file is taken if it parses, names its CPU, has the machine's rate of reading, holds nothing
that is faster than that, and is no copy of another. The others are named, and the reason.
Results of emulated machines stand apart. Whole results files are condensed, as by share.`,
		Example: "  onebit site results -o site",
		Args:    cli.ExactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, unread, err := sharedFiles(cmd.Context(), args[0], out)
			if err != nil {
				return err
			}
			d, left, err := sitepage.Document(files, unread)
			for _, l := range left {
				fmt.Fprintf(cmd.ErrOrStderr(), "left out: %s: %s\n", term.Text(l.Path), term.Text(l.Why))
			}
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return writeSite(cmd, out, d, force)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "site", "`DIR` to write to")
	cmd.Flags().BoolVar(&force, "force", false, forceUsage)
	return cmd
}

// sharedFiles reads the results files below a folder, in the order of their names, but not those of the site there.
func sharedFiles(ctx context.Context, dir, site string) (files []sitepage.File, unread []sitepage.LeftOut, err error) {
	err = filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if sameFolder(file, site) || file != dir && strings.HasPrefix(e.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(e.Name()) != ".txt" {
			return nil
		}
		res, err := results.ReadFiles(ctx, file)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			unread = append(unread, sitepage.LeftOut{Path: file, Why: cli.WithoutPath(err, file).Error()})
		default:
			files = append(files, sitepage.File{Path: file, Results: res})
		}
		return nil
	})
	if err == nil && len(files)+len(unread) == 0 {
		err = fmt.Errorf("%s: there is no .txt file in it; onebit share makes them", dir)
	}
	return files, unread, err
}

func sameFolder(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return errX == nil && errY == nil && x == y
}

// writeSite writes a site into a folder, and removes the files of the one that was there.
func writeSite(cmd *cobra.Command, dir string, d *doc.Document, force bool) error {
	folder, err := cli.OpenFolder(dir)
	if err != nil {
		return err
	}
	err = render.Folder(cmd.Context(), dir, d, render.FolderOptions{Force: force, Folder: folder.Root})
	if err == nil {
		err = removeOthers(folder, d.Files)
	}
	if err := errors.Join(err, folder.Close()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "site: %s, %s\n", filepath.Join(dir, "index.html"), count.Of(len(d.Files), "file"))
	return nil
}

// removeOthers removes the results files that an earlier site had and this one has not.
func removeOthers(folder *cli.Folder, keep []doc.File) error {
	there, err := fs.Glob(folder.FS(), sitepage.Folder+"/*.txt")
	for _, name := range there {
		if !slices.ContainsFunc(keep, func(f doc.File) bool { return f.Name == name }) {
			err = errors.Join(err, folder.Remove(name))
		}
	}
	return err
}
