// Command _asm writes the amd64 assembly of package kernels and its families.
//
//	go -C kernels/_asm run . [NAME…]
//
// writes NAME_amd64.s and its declarations, NAME_stubs_amd64.go, in the family's
// package, for every generator, or for those named. A generator is a package here with a
// function Generate, and a line in the list in main.go. go test ./... compares
// what the generators give with the files in the tree.
//
// This is a module of its own, so that package kernels does not depend on avo.
package main
