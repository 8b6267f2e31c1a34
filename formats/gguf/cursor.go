package gguf

import (
	"encoding/binary"
	"fmt"

	"onebit/formats/container"
)

const (
	// maxDepth is how deep arrays may nest. No writer nests them at all; a
	// level costs a file 12 bytes, so without a limit a small file could
	// exhaust the stack.
	maxDepth = 8
	// maxName bounds keys and tensor names, which are copied and quoted. The
	// GGUF specification gives keys 65535 bytes and names 64.
	maxName = 1<<16 - 1
)

// A cursor reads a file's header. After the first failure it stands still and
// reads return zero, so that callers check err where it matters: in loops and
// before they allocate.
type cursor struct {
	data   []byte
	pos    int
	file   string
	tensor string // what is being read, for errors
	key    string
	err    *container.FormatError
}

// fail records the first error.
func (c *cursor) fail(offset int, format string, args ...any) {
	if c.err == nil {
		c.err = &container.FormatError{File: c.file, Offset: int64(offset), Tensor: c.tensor, Key: c.key, Msg: fmt.Sprintf(format, args...)}
	}
}

func (c *cursor) left() int { return len(c.data) - c.pos }

// take returns the next n bytes, or nil.
func (c *cursor) take(n int, what string) []byte {
	if c.err == nil && n > c.left() {
		c.fail(c.pos, "the file ends in %s: %d bytes wanted, %d left", what, n, c.left())
	}
	if c.err != nil {
		return nil
	}
	c.pos += n
	return c.data[c.pos-n : c.pos : c.pos]
}

func (c *cursor) uint32(what string) uint32 {
	if b := c.take(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64(what string) uint64 {
	if b := c.take(8, what); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads a number of things that take at least size bytes each. Every
// loop and allocation over a number from the file goes through it.
func (c *cursor) count(size int, what string) int {
	at := c.pos
	n := c.uint64("a count")
	if n > uint64(c.left()/size) {
		c.fail(at, "%d %s cannot be in the %d bytes left: is the file cut short?", n, what, c.left())
		return 0
	}
	return int(n)
}

// text reads a string: its length, then its bytes.
func (c *cursor) text(what string) []byte {
	at := c.pos
	n := c.uint64("a length")
	if n > uint64(c.left()) {
		c.fail(at, "%s has length %d, and %d bytes are left", what, n, c.left())
		return nil
	}
	return c.take(int(n), what)
}

// name reads a key or a tensor's name.
func (c *cursor) name(what string) string {
	at := c.pos
	b := c.text(what)
	switch {
	case c.err != nil:
		return ""
	case len(b) == 0:
		c.fail(at, "%s is empty", what)
	case len(b) > maxName:
		c.fail(at, "%s has length %d, more than %d", what, len(b), maxName)
		return ""
	}
	return string(b)
}

// kind reads the type of a value.
func (c *cursor) kind(what string) container.Kind {
	at := c.pos
	k := container.Kind(c.uint32(what))
	if k >= container.Kinds {
		c.fail(at, "%s is %d, and GGUF has 0 to %d", what, uint32(k), container.Kinds-1)
		return container.Uint8
	}
	return k
}

// value reads one value of a kind; depth is how many arrays it is in.
func (c *cursor) value(k container.Kind, depth int) container.Value {
	switch k {
	case container.String:
		return container.Stored(k, 0, 0, c.text("a string"))
	case container.Array:
		return c.array(depth + 1)
	}
	at := c.pos
	data := c.take(k.Size(), "a value")
	c.checkBools(at, k, data)
	return container.Stored(k, 0, 0, data)
}

func (c *cursor) array(depth int) container.Value {
	at := c.pos
	if depth > maxDepth {
		c.fail(at, "arrays are nested more than %d deep", maxDepth)
		return container.Value{}
	}
	elem := c.kind("the kind of an array's elements")
	n := c.count(minSize(elem), "array elements")
	at = c.pos
	switch size := elem.Size(); {
	case size > 0:
		c.take(n*size, "an array")
	case elem == container.String:
		c.skipStrings(n)
	default:
		for i := 0; i < n && c.err == nil; i++ {
			c.value(elem, depth)
		}
	}
	data := c.data[at:c.pos:c.pos]
	c.checkBools(at, elem, data)
	return container.Stored(container.Array, elem, n, data)
}

// minSize is the least number of bytes that a value takes in an array.
func minSize(k container.Kind) int {
	switch k {
	case container.String:
		return 8 // its length
	case container.Array:
		return 12 // its kind and count
	}
	return k.Size()
}

// skipStrings is text for n strings: most of what there is to parse in a file
// are the tokens and merges of its vocabulary.
func (c *cursor) skipStrings(n int) {
	rest := c.data[c.pos:]
	for range n {
		if len(rest) < 8 || binary.LittleEndian.Uint64(rest) > uint64(len(rest)-8) {
			c.pos = len(c.data) - len(rest)
			c.text("a string") // fails, and says how
			return
		}
		rest = rest[8+binary.LittleEndian.Uint64(rest):]
	}
	c.pos = len(c.data) - len(rest)
}

// checkBools refuses bools other than 0 and 1. The GGUF specification takes
// them for a sign of a broken file or reader.
func (c *cursor) checkBools(at int, k container.Kind, data []byte) {
	if k != container.Bool {
		return
	}
	for i, b := range data {
		if b > 1 {
			c.fail(at+i, "a bool is %d, not 0 or 1", b)
			return
		}
	}
}
