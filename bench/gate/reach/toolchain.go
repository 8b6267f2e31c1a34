package reach

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
)

// A toolchain is what a release of Go calls the numbers of its objects. They
// change from release to release, so they are read from its own source.
type toolchain struct {
	methodOff, useType, useIface, useIfaceMethod, useNamedMethod, initOrder uint16

	text, writable map[uint8]bool // kinds of symbols: functions, variables
	pointing       map[uint8]bool // variables that may hold pointers
	builtins       []string       // functions of the runtime that references name by number
}

// weak is the bit of a relocation that makes nothing reachable.
const weak = 1 << 15

// readToolchain reads the numbers of the toolchain in goroot.
func readToolchain(goroot string) (*toolchain, error) {
	source := filepath.Join(goroot, "src", "cmd", "internal")
	relocs, err := enumeration(filepath.Join(source, "objabi", "reloctype.go"), "R_ADDR")
	if err != nil {
		return nil, err
	}
	kinds, err := enumeration(filepath.Join(source, "objabi", "symkind.go"), "Sxxx")
	if err != nil {
		return nil, err
	}
	t := &toolchain{text: map[uint8]bool{}, writable: map[uint8]bool{}, pointing: map[uint8]bool{}}
	for name, number := range map[string]*uint16{
		"R_METHODOFF": &t.methodOff, "R_USETYPE": &t.useType, "R_USEIFACE": &t.useIface,
		"R_USEIFACEMETHOD": &t.useIfaceMethod, "R_USENAMEDMETHOD": &t.useNamedMethod, "R_INITORDER": &t.initOrder,
	} {
		at, ok := relocs[name]
		if !ok {
			return nil, fmt.Errorf("%s knows no %s", source, name)
		}
		*number = uint16(at + 1) // R_ADDR is 1
	}
	for name, at := range kinds {
		switch name {
		case "STEXT", "STEXTFIPS":
			t.text[uint8(at)] = true
		case "SNOPTRDATA", "SNOPTRDATAFIPS", "SDATA", "SDATAFIPS", "SBSS", "SNOPTRBSS", "STLSBSS":
			t.writable[uint8(at)] = true
		}
		if slices.Contains([]string{"SDATA", "SDATAFIPS", "SBSS"}, name) {
			t.pointing[uint8(at)] = true
		}
	}
	t.builtins, err = builtins(filepath.Join(source, "goobj", "builtinlist.go"))
	return t, err
}

// enumeration returns the places of the constants in the group that begins with
// first, from 0.
func enumeration(file, first string) (map[string]int, error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return nil, fmt.Errorf("the toolchain's source: %w", err)
	}
	for _, d := range f.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST || group.Specs[0].(*ast.ValueSpec).Names[0].Name != first {
			continue
		}
		places := map[string]int{}
		for i, spec := range group.Specs {
			v := spec.(*ast.ValueSpec)
			if i > 0 && len(v.Values) > 0 { // what follows is counted otherwise
				break
			}
			places[v.Names[0].Name] = i
		}
		return places, nil
	}
	return nil, fmt.Errorf("%s has no constants that begin with %s", file, first)
}

// builtins returns the names in goobj's table, in its order.
func builtins(file string) (names []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return nil, fmt.Errorf("the toolchain's source: %w", err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if entry, ok := n.(*ast.CompositeLit); ok && entry.Type == nil && len(entry.Elts) == 2 {
			if text, ok := entry.Elts[0].(*ast.BasicLit); ok {
				name, _ := strconv.Unquote(text.Value)
				names = append(names, name)
			}
		}
		return true
	})
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no table of functions", file)
	}
	return names, nil
}
