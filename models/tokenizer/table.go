package tokenizer

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
	return make(table, size)
}

// clear empties the table. Written to before it is read, memory that is new is
// mapped once, not as a page of zeros first.
func (t table) clear() { clear(t) }

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
