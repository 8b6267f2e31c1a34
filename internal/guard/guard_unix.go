//go:build unix

package guard

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const enforced = true

// pages is a mapping whose first and last page are inaccessible.
type pages struct{ mapping []byte }

func reserve(room int) (pages, error) {
	page := os.Getpagesize()
	m, err := unix.Mmap(-1, 0, room+2*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return pages{}, err
	}
	if err := unix.Mprotect(m[page:page+room], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return pages{}, errors.Join(err, unix.Munmap(m))
	}
	return pages{m}, nil
}

func (p pages) usable() []byte {
	page := os.Getpagesize()
	return p.mapping[page : len(p.mapping)-page]
}

func (p pages) protect() error { return unix.Mprotect(p.usable(), unix.PROT_READ) }

// intact has nothing to compare: the pages around the buffer fault by
// themselves.
func (p pages) intact() (where string, ok bool) { return "", true }

func (p pages) free() error { return unix.Munmap(p.mapping) }
