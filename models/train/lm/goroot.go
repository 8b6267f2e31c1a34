package lm

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// GoDocumentation makes a corpus of the documentation in a Go installation: a
// document for each package below root/src, commands and vendored packages too,
// in the order of their paths. It has the package's import path and comment,
// then each declaration that has a comment, as go doc prints them:
//
//	func Cut(s, sep string) (before, after string, found bool)
//	    Cut slices s around the first instance of sep, …
//
// Tests and testdata are left out. So is a comment that came before, word for
// word: the systems' variants of a function share theirs, and text that was trained on
// must not be held out too.
func GoDocumentation(root string) (*Corpus, error) {
	src := filepath.Join(root, "src")
	if info, err := os.Stat(src); root == "" || err != nil || !info.IsDir() {
		return nil, errNoGo
	}
	name, err := DocumentationName(root)
	if err != nil {
		return nil, err
	}
	c := &Corpus{Name: name}
	seen := map[string]bool{}
	err = filepath.WalkDir(src, func(dir string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !e.IsDir():
			return nil
		case e.Name() == "testdata" || strings.HasPrefix(e.Name(), "_") || strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		}
		name, err := filepath.Rel(src, dir)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		text, err := packageText(dir, name, seen)
		if err == nil {
			c.add(Document{Name: name, Text: text})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, c.check()
}

// documentation begins the name of every corpus that GoDocumentation makes.
const documentation = "the documentation of "

// DocumentationName is the name of GoDocumentation's corpus, which takes no reading of
// the sources.
func DocumentationName(root string) (string, error) {
	version, err := os.ReadFile(filepath.Join(root, "VERSION"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	first, _, _ := strings.Cut(string(version), "\n")
	return strings.TrimSpace(documentation + first), nil
}

// IsDocumentation reports whether a corpus of that name is of GoDocumentation.
func IsDocumentation(name string) bool {
	return strings.HasPrefix(name, strings.TrimSpace(documentation))
}

// packageText returns a package's document; "" if nothing in it has a comment.
func packageText(dir, name string, seen map[string]bool) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	w := writer{seen: seen}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file := filepath.Join(dir, e.Name())
		source, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return "", fmt.Errorf("%s does not parse: %w", file, err)
		}
		w.file(set.File(parsed.FileStart), source, parsed, name)
	}
	if w.entries == 0 {
		return "", nil
	}
	return w.text.String(), nil
}

// A writer makes a package's document.
type writer struct {
	text    strings.Builder
	seen    map[string]bool
	entries int
	at      *token.File
	source  []byte
}

func (w *writer) file(at *token.File, source []byte, f *ast.File, name string) {
	w.at, w.source = at, source
	if f.Doc != nil {
		w.entry("package "+f.Name.Name+` // import "`+path.Clean(name)+`"`, f.Doc, "")
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			w.entry(w.signature(d), d.Doc, indent)
		case *ast.GenDecl:
			w.general(d)
		}
	}
}

// indent is that of a comment below its declaration.
const indent = "    "

func (w *writer) signature(d *ast.FuncDecl) string {
	end := d.End()
	if d.Body != nil {
		end = d.Body.Lbrace
	}
	return w.slice(d.Type.Pos(), end)
}

// general writes a declaration of types, constants or variables. One in
// parentheses has a comment for all and one for each.
func (w *writer) general(d *ast.GenDecl) {
	if d.Tok == token.IMPORT {
		return
	}
	for i, spec := range d.Specs {
		heading := d.Tok.String() + " " + oneLine(w.slice(spec.Pos(), spec.End()))
		if i == 0 {
			w.entry(heading, d.Doc, indent)
		}
		switch s := spec.(type) {
		case *ast.TypeSpec:
			w.entry(heading, s.Doc, indent)
			w.members(s.Type)
		case *ast.ValueSpec:
			w.entry(heading, s.Doc, indent)
		}
	}
}

// members writes the fields of a struct, or the methods of an interface, that
// have comments.
func (w *writer) members(t ast.Expr) {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return
	}
	for _, f := range fields.List {
		w.entry(indent+oneLine(w.slice(f.Pos(), f.End())), f.Doc, indent+indent)
	}
}

// slice returns source text.
func (w *writer) slice(from, end token.Pos) string {
	return strings.TrimSpace(string(w.source[w.at.Offset(from):w.at.Offset(end)]))
}

// oneLine is the first line of what may have more.
func oneLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// entry writes a heading and the comment below it.
func (w *writer) entry(heading string, doc *ast.CommentGroup, prefix string) {
	if doc == nil {
		return
	}
	text := strings.TrimRight(doc.Text(), "\n")
	if text == "" || w.seen[text] {
		return
	}
	w.seen[text] = true
	w.entries++
	if w.text.Len() > 0 {
		w.text.WriteString("\n")
	}
	w.text.WriteString(heading + "\n")
	if prefix == "" {
		w.text.WriteString("\n")
	}
	for line := range strings.Lines(text + "\n") {
		if line != "\n" {
			w.text.WriteString(prefix)
		}
		w.text.WriteString(line)
	}
}
