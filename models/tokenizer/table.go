package tokenizer

import (
	"runtime"
	"unsafe"

	"onebit/internal/mmap"
)

// A table finds numbers by hashes: open addressing with linear probing. A slot
// holds the upper 40 bits of a hash and 1 + its number, and the lower bits say
// where the search begins. Whoever fills one sees to it that no two hashes are
// the same to it; then the number that a hash finds is its own or, if it was
// not entered, with a chance of 2^-40 for each slot looked at, another's. Hashes
// are seeded, so that no file can be made to collide.
type table []uint64

// maxNumbers is more than any vocabulary has tokens or merges. It keeps their
// numbers in an int32, and with them what is computed of them.
const maxNumbers = 1<<24 - 1

// newTable makes one for n numbers, at most three quarters of its slots: larger
// tables cost more in memory that has to be touched than they save in probes.
func newTable(n int) table {
	size := 2
	for size < n+n/3+1 {
		size *= 2
	}
	return touched[uint64](size)
}

// touched makes a slice whose memory is there before it is written to: the pages of
// a vocabulary, some thousand, would wait for the system one by one.
func touched[T int32 | uint32 | uint64 | byte | kind | merge](n int) []T {
	s := make([]T, n)
	if n > 0 {
		mmap.Touch(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), n*int(unsafe.Sizeof(s[0]))))
	}
	return s
}

// fetched is how many slots are fetched at a time: as many as a core can wait for.
const fetched = 16

// fetch reads the slots that some hashes begin at. The searches that follow would
// wait for memory one after the other: a core looks ahead of none whose end it
// cannot guess.
func (t table) fetch(hashes []uint64) {
	mask, any := len(t)-1, uint64(0)
	for _, h := range hashes {
		any |= t[int(h)&mask]
	}
	runtime.KeepAlive(any)
}

// probe returns the number of a hash, or -1 and the slot to put it.
func (t table) probe(h uint64) (slot int, n int32) {
	mask := len(t) - 1
	for at := int(h) & mask; ; at = (at + 1) & mask {
		s := t[at]
		if s == 0 {
			return at, -1
		}
		if (s^h)&^maxNumbers == 0 {
			return at, int32(s&maxNumbers) - 1
		}
	}
}

func (t table) put(slot int, h uint64, n int32) { t[slot] = h&^maxNumbers | uint64(n+1) }
