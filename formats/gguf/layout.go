package gguf

import (
	"fmt"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/formats/container"
)

// A layout is one meaning of a tensor type id.
type layout struct {
	id   uint32
	name string
	// typ decodes it. Nil: onebit only knows its size.
	typ *formats.Type
	// size returns the bytes of a matrix of a shape that blockLen divides;
	// only used where typ is nil.
	size     func(rows, cols int) int
	blockLen int
	// chosen means that nothing in a file tells this layout from another one
	// of the same size: it is never taken unless Options.Types names it.
	chosen bool
	// why adds to the error for a tensor that cannot be decoded.
	why string
}

func known(id uint32, t *formats.Type) *layout {
	return &layout{id: id, name: t.Name, typ: t}
}

func chosen(id uint32, t *formats.Type) *layout {
	return &layout{id: id, name: t.Name, typ: t, chosen: true}
}

func blocks(id uint32, name string, blockLen, blockBytes int) *layout {
	size := func(rows, cols int) int { return rows * cols / blockLen * blockBytes }
	return &layout{id: id, name: name, size: size, blockLen: blockLen}
}

func tables(id uint32, name string, size func(rows, cols int) int) *layout {
	return &layout{id: id, name: name, size: size, blockLen: 1, why: " (bitnet.cpp's lookup-table layout, whose order depends on the machine that wrote it; convert from the original weights)"}
}

// sherry has no id of its own: builds of its authors took 42, and 43 later.
func sherry(id uint32, name string) *layout {
	l := blocks(id, name, 256, 42)
	l.why = " (Tencent's Sherry, which only its authors' llama.cpp reads; take the model's file of another type, or convert from the original weights)"
	return l
}

// layouts holds every id that a file in use may contain; doc.go draws the ids
// that mean several things. Sources: ggml-org/ggml include/ggml.h, src/ggml.c
// and src/ggml-common.h; for 36 to 39 also Eddie-Wang1120/llama.cpp (branch
// merge-dev, bitnet.cpp's submodule) ggml/src/ggml.c, ggml_nbytes; for 40, 42,
// 142 and 143 also PrismML-Eng/llama.cpp; for stq1_0 ggml-org/llama.cpp pull
// request 22836.
var layouts = []*layout{
	known(0, formats.F32),
	known(1, formats.F16),
	known(2, formats.Q4_0),
	blocks(3, "q4_1", 32, 20),
	known(6, formats.Q5_0),
	blocks(7, "q5_1", 32, 24),
	known(8, formats.Q8_0),
	blocks(9, "q8_1", 32, 36),
	blocks(10, "q2_k", 256, 84),
	blocks(11, "q3_k", 256, 110),
	known(12, formats.Q4_K),
	blocks(13, "q5_k", 256, 176),
	known(14, formats.Q6_K),
	blocks(15, "q8_k", 256, 292),
	blocks(16, "iq2_xxs", 256, 66),
	blocks(17, "iq2_xs", 256, 74),
	blocks(18, "iq3_xxs", 256, 98),
	blocks(19, "iq1_s", 256, 50),
	known(20, formats.IQ4_NL),
	blocks(21, "iq3_s", 256, 110),
	blocks(22, "iq2_s", 256, 82),
	blocks(23, "iq4_xs", 256, 136),
	blocks(24, "i8", 1, 1),
	blocks(25, "i16", 1, 2),
	blocks(26, "i32", 1, 4),
	blocks(27, "i64", 1, 8),
	blocks(28, "f64", 1, 8),
	blocks(29, "iq1_m", 256, 56),
	known(30, formats.BF16),
	blocks(31, "q4_0_4_4", 32, 18),
	blocks(32, "q4_0_4_8", 32, 18),
	blocks(33, "q4_0_8_8", 32, 18),
	known(34, formats.TQ1_0),
	known(35, formats.TQ2_0),
	known(36, formats.I2_S),
	chosen(36, formats.I2_S_ARM),
	chosen(36, formats.I2_S_X4),
	blocks(36, "iq4_nl_4_4", 32, 18),
	blocks(37, "iq4_nl_4_8", 32, 18),
	blocks(37, "i8_s", 1, 1),
	blocks(38, "iq4_nl_8_8", 32, 18),
	tables(38, "tl1", func(rows, cols int) int { return rows*cols/4 + 32 }),
	blocks(39, "mxfp4", 32, 17),
	tables(39, "tl2", sizeTL2),
	blocks(40, "nvfp4", 64, 36),
	blocks(40, "q1_0_g32", 32, 6),
	known(41, formats.Q1_0_g128),
	known(42, formats.Q2_0),
	known(42, formats.Q2_0_g128),
	sherry(42, "stq1_0 (id 42)"),
	sherry(43, "stq1_0"),
	known(142, formats.PQ2_0),
	known(143, formats.PTQ1_0),
}

// sizeTL2: all but 256 columns take 5 bits per 3 weights, the last 256 take 4
// bits per 2, and the scale's 32 bytes start on a multiple of 32.
func sizeTL2(rows, cols int) int {
	if cols < 256 {
		return 0
	}
	n := (cols-256)*rows/3*5/8 + 256*rows/2*4/8
	return int(container.Align(int64(n), 32)) + 32
}

func layoutNamed(name string) *layout {
	for _, l := range layouts {
		if l.name == name {
			return l
		}
	}
	return nil
}

// Packings returns the types that a tensor may be in whose type id is t's where
// no file tells them apart: t alone, or the one that is taken and those that
// Options.Types has to name. It returns none if GGUF has no id for t.
func Packings(t *formats.Type) []*formats.Type {
	own := layoutNamed(t.Name)
	if own == nil {
		return nil
	}
	var out []*formats.Type
	for _, l := range layouts {
		if l.id == own.id && l.typ != nil && (l == own || l.chosen || own.chosen) {
			out = append(out, l.typ)
		}
	}
	return out
}

// bytes returns the size of a matrix, or why the layout cannot hold it.
func (l *layout) bytes(rows, cols int) (int, error) {
	if l.typ != nil {
		return l.typ.Bytes(rows, cols)
	}
	if cols%l.blockLen != 0 {
		return 0, fmt.Errorf("%s: %d columns do not fill blocks of %d", l.name, cols, l.blockLen)
	}
	n := l.size(rows, cols)
	if n == 0 {
		return 0, fmt.Errorf("%s: %d columns are too few", l.name, cols)
	}
	return n, nil
}

// An extent is the room that a file gives a tensor.
type extent struct {
	bytes  int64 // up to the next tensor or the end of the file
	align  int64 // what tensors are padded to
	atEnd  bool  // no tensor follows, so padding may be absent
	target string
}

// holds reports whether a tensor of n bytes, with the padding that writers put
// behind it, takes exactly this room.
func (e extent) holds(n int64) bool {
	return e.bytes == container.Align(n, e.align) || e.atEnd && e.bytes == n
}

// choices is Options.Types by id.
type choices map[uint32]*layout

func newChoices(names []string) (choices, error) {
	c := choices{}
	for _, name := range names {
		l := layoutNamed(name)
		if l == nil {
			return nil, fmt.Errorf("unknown tensor type %q among the chosen ones", name)
		}
		if other := c[l.id]; other != nil && other != l {
			return nil, fmt.Errorf("tensor types %s and %s are both chosen for id %d", other.name, name, l.id)
		}
		c[l.id] = l
	}
	return c, nil
}

// resolve returns what an id means for a rows × cols tensor in that room, and
// its size. With one meaning the size may exceed the room, which the caller
// reports; among several only one that takes the room exactly will do.
func (c choices) resolve(id uint32, rows, cols int, room extent) (*layout, int, error) {
	candidates := c.meanings(id)
	switch len(candidates) {
	case 0:
		return nil, 0, fmt.Errorf("type id %d is not one that onebit knows", id)
	case 1:
		n, err := candidates[0].bytes(rows, cols)
		return candidates[0], n, err
	}
	var fits []*layout
	var size int
	for _, l := range candidates {
		if n, err := l.bytes(rows, cols); err == nil && room.holds(int64(n)) {
			fits, size = append(fits, l), n
		}
	}
	if len(fits) != 1 {
		return nil, 0, undecided(id, rows, cols, room, candidates, len(fits))
	}
	return fits[0], size, nil
}

// meanings returns the layouts to consider for an id.
func (c choices) meanings(id uint32) []*layout {
	if l := c[id]; l != nil {
		return []*layout{l}
	}
	var out []*layout
	for _, l := range layouts {
		if l.id == id && !l.chosen {
			out = append(out, l)
		}
	}
	return out
}

func undecided(id uint32, rows, cols int, room extent, candidates []*layout, fits int) error {
	var sizes, names []string
	for _, l := range candidates {
		names = append(names, l.name)
		n, err := l.bytes(rows, cols)
		if err != nil {
			sizes = append(sizes, err.Error())
			continue
		}
		size := fmt.Sprintf("%s: %d bytes", l.name, n)
		if missing := int64(n) - room.bytes; missing > 0 {
			size += fmt.Sprintf(" of which %d missing", missing)
		}
		sizes = append(sizes, size)
	}
	for _, l := range layouts {
		if l.id == id && !slices.Contains(names, l.name) {
			names = append(names, l.name)
		}
	}
	found := "none of them fits"
	if fits > 1 {
		found = "more than one of them fits"
	}
	return fmt.Errorf("type id %d has several meanings (%s), and %s the %d bytes up to the %s; choose one of %s in Options.Types",
		id, strings.Join(sizes, "; "), found, room.bytes, room.target, strings.Join(names, ", "))
}
