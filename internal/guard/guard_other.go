//go:build !unix

package guard

import (
	"os"
	"unsafe"
)

const enforced = false

// pages is plain memory whose first and last page hold canaries.
type pages struct{ memory []byte }

func reserve(room int) (pages, error) {
	page := os.Getpagesize()
	m := make([]byte, room+3*page)
	start := int(-uintptr(unsafe.Pointer(&m[0])) % uintptr(page))
	m = m[start : start+room+2*page]
	for i := range page {
		m[i], m[page+room+i] = canary(i), canary(i)
	}
	return pages{m}, nil
}

func (p pages) usable() []byte {
	page := os.Getpagesize()
	return p.memory[page : len(p.memory)-page]
}

func (p pages) protect() error { return nil }

func (p pages) intact() (where string, ok bool) {
	page := os.Getpagesize()
	for i := range page {
		switch {
		case p.memory[i] != canary(i):
			return "before", false
		case p.memory[len(p.memory)-page+i] != canary(i):
			return "after", false
		}
	}
	return "", true
}

func (p pages) free() error { return nil }
