package asm

import (
	"bytes"
	"regexp"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// A Program is a file of assembly being written.
type Program struct {
	*build.Context
	prefetches int // calls of Prefetch, for its labels
}

// Func begins a function. The doc lines specify it, by the Go loop it equals.
// Its pointers do not escape, and it needs no stack.
func (p *Program) Func(name, signature string, doc ...string) {
	p.Function(name)
	p.Attributes(attr.NOSPLIT)
	p.SignatureExpr(signature)
	p.Doc(doc...)
	p.Pragma("noescape")
}

// Compile runs a generator and returns the assembly and its Go declarations,
// which belong to package pkg.
func Compile(pkg string, generate func(*Program)) (code, stubs []byte, err error) {
	p := &Program{Context: build.NewContext()}
	p.ConstraintExpr("!purego")
	generate(p)
	file, err := p.Result()
	if err != nil {
		return nil, nil, err
	}
	compile := pass.Concat(pass.Compile, pass.FunctionPass(checkVEX), pass.InstructionPass(encodeVEX))
	if err := compile.Execute(file); err != nil {
		return nil, nil, err
	}
	cfg := printer.Config{Name: "kernels/_asm", Pkg: pkg}
	if code, err = printer.NewGoAsm(cfg).Print(file); err != nil {
		return nil, nil, err
	}
	if stubs, err = printer.NewStubs(cfg).Print(file); err != nil {
		return nil, nil, err
	}
	code = withinFunction.ReplaceAll(code, []byte("\n$1"))
	return append(bytes.TrimRight(code, "\n"), '\n'), append(bytes.TrimRight(stubs, "\n"), '\n'), nil
}

// withinFunction is an empty line before a label or a comment in a function.
var withinFunction = regexp.MustCompile(`\n\n(\w+:|\t)`)
