// Package dl opens shared libraries of C and calls them, without cgo. It is
// apart from package metal because of what it costs on Linux: a program that
// links it is linked dynamically, whether it opens a library or not.
package dl
