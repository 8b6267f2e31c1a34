// Command _asm writes the assembly of package kernels, its families, and packages formats and models/engine/cpu.
//
//	go -C kernels/_asm run . [NAME…]
//
// writes NAME_amd64.s, its declarations, NAME_stubs_amd64.go, and NAME_arm64.s in the family's
// package, for every generator, or for those named. A generator is a package here with functions
// Generate, on package asm, and GenerateNEON, on package neon, and a line in the list in main.go.
// go test ./... compares what the generators give with the files in the tree.
//
// This is a module of its own, so that package kernels does not depend on avo.
package main
