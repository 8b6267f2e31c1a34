package tokenizer

// A symbol is a piece of a word. The symbols of a word are a linked list by
// index, so that joining two of them costs the same in a word of any length.
type symbol struct {
	end        int   // its last byte + 1; its first is the end of the one before
	prev, next int32 // -1 at the ends
	id         int32 // the token of this text; none if negative
}

// gone marks a symbol that was joined to the one before it.
const gone = -2

// A candidate is a pair of neighbours that may be joined. It is stale when one
// of them has changed since: a symbol that grows changes its id.
type candidate struct {
	key             uint64 // its order above, the index of its left symbol below: ties go to the left
	right           int32
	leftID, rightID int32
	joined          int32
}

// A word is the scratch space in which words are merged one after another.
type word struct {
	symbols []symbol
	queue   []candidate // a binary heap, the least key first
}

func (w *word) reset() { w.symbols, w.queue = w.symbols[:0], w.queue[:0] }

// add appends a symbol that ends at a byte of the text.
func (w *word) add(end int, id int32) {
	n := int32(len(w.symbols))
	if n > 0 {
		w.symbols[n-1].next = n
	}
	w.symbols = append(w.symbols, symbol{end: end, prev: n - 1, next: -1, id: id})
}

// start is the first byte of a symbol.
func (w *word) start(s int32) int {
	if prev := w.symbols[s].prev; prev >= 0 {
		return w.symbols[prev].end
	}
	return 0
}

// merge joins neighbours until none can be joined: always the pair of least
// order, of equals the leftmost. join gives the token that two symbols make,
// negative if none, and the order. It takes O(n log n) for n symbols, because
// every join leaves one symbol fewer and adds two candidates.
func (w *word) merge(join func(left, right int32) (id int32, order uint32)) {
	consider := func(left, right int32) {
		if left < 0 || right < 0 {
			return
		}
		if id, order := join(left, right); id >= 0 {
			w.push(candidate{
				key: uint64(order)<<32 | uint64(left), right: right,
				leftID: w.symbols[left].id, rightID: w.symbols[right].id, joined: id,
			})
		}
	}
	for i := 1; i < len(w.symbols); i++ {
		consider(int32(i-1), int32(i))
	}
	for len(w.queue) > 0 {
		c := w.pop()
		left := int32(uint32(c.key))
		l, r := &w.symbols[left], &w.symbols[c.right]
		if l.id != c.leftID || r.id != c.rightID || l.next != c.right {
			continue
		}
		l.end, l.next, l.id = r.end, r.next, c.joined
		r.id = gone
		if l.next >= 0 {
			w.symbols[l.next].prev = left
		}
		consider(l.prev, left)
		consider(left, l.next)
	}
}

// push and pop are those of container/heap without its interface, which would
// put every candidate on the garbage collector's heap.
func (w *word) push(c candidate) {
	q := append(w.queue, c)
	i := len(q) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if q[parent].key <= c.key {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = c
	w.queue = q
}

func (w *word) pop() candidate {
	q := w.queue
	least, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	w.queue = q
	if len(q) == 0 {
		return least
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1].key < q[child].key {
			child++
		}
		if last.key <= q[child].key {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = last
	return least
}
