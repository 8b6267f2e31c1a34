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
	fill(m[:page], 0)
	fill(m[page+room:], 0)
	return pages{m}, nil
}

func (p pages) usable() []byte {
	page := os.Getpagesize()
	return p.memory[page : len(p.memory)-page]
}

func (p pages) protect() error { return nil }

func (p pages) intact() (where string, ok bool) {
	page := os.Getpagesize()
	if _, ok := filled(p.memory[:page], 0); !ok {
		return "before", false
	}
	if _, ok := filled(p.memory[len(p.memory)-page:], 0); !ok {
		return "after", false
	}
	return "", true
}

func (p pages) free() error { return nil }
