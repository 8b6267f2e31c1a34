package gguf

import (
	"bytes"
	"fmt"
	"slices"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/term"
)

// Magic is what a file starts with.
const Magic = "GGUF"

const (
	headerSize       = 24
	defaultAlignment = 32
	alignmentKey     = "general.alignment"
	maxDims          = 4
	// maxElements bounds a tensor as formats.Type does: no real one comes near,
	// and no size computed from it overflows.
	maxElements = 1 << 40
	// The least bytes that a key with its value and a tensor's description
	// take: lengths 8, one character, and kind 4 and value 1, or dimension
	// count 4, dimension 8, type 4 and offset 8.
	minKV     = 8 + 1 + 4 + 1
	minTensor = 8 + 1 + 4 + 8 + 4 + 8
)

// A parser reads a header.
type parser struct {
	cursor
	*File        // what it fills in
	tensors      []container.TensorInfo
	descriptions []description // of the tensors
}

// A description is what a file says of a tensor beyond its TensorInfo, and where,
// for errors.
type description struct {
	id             uint32 // the type's number
	idAt, offsetAt int
}

func (p *parser) parse(chosen choices) {
	tensors, pairs := p.parseHeader()
	if p.err != nil {
		return
	}
	p.parseMetadata(pairs)
	p.parseAlignment()
	if p.err != nil {
		return
	}
	if p.parseTensors(tensors); p.err == nil {
		p.dataOffset = container.Align(int64(p.pos), p.alignment)
		p.placeTensors(chosen)
	}
}

// parseHeader reads up to the two counts.
func (p *parser) parseHeader() (tensors, pairs int) {
	if why := notGGUF(p.data); why != "" {
		p.fail(0, "%s", why)
		return 0, 0
	}
	if len(p.data) < headerSize {
		p.fail(len(p.data), "the file ends in the header: it has %d bytes and a GGUF header has %d", len(p.data), headerSize)
		return 0, 0
	}
	p.take(len(Magic), "the magic")
	at := p.pos
	p.version = p.uint32("the version")
	switch v := p.version; {
	case v == 2 || v == 3:
	case v == 1:
		p.fail(at, "GGUF version 1 is not supported; convert the model again with a present converter")
	case v != 0 && v&0xffff == 0:
		p.fail(at, "the file is big-endian (its version reads %#x); convert it with gguf_convert_endian.py of llama.cpp", v)
	default:
		p.fail(at, "GGUF version %d is not supported, only 2 and 3", v)
	}
	tensors = p.count(minTensor, "tensors")
	pairs = p.count(minKV, "metadata keys")
	return tensors, pairs
}

// notGGUF says what a file without GGUF's magic is.
func notGGUF(data []byte) string {
	if bytes.HasPrefix(data, []byte(Magic)) {
		return ""
	}
	if why := container.Foreign(data); why != "" {
		return why
	}
	return fmt.Sprintf("the file is not GGUF: it starts with %q, not %q", data[:min(len(data), len(Magic))], Magic)
}

func (p *parser) parseMetadata(n int) {
	meta, seen := make([]container.KV, 0, n), make(map[string]bool, n)
	for i := 0; i < n && p.err == nil; i++ {
		at := p.pos
		key := p.name("a metadata key")
		if p.err != nil {
			return
		}
		p.key = key
		if seen[key] {
			p.fail(at, "is there twice")
			return
		}
		kind := p.kind("the kind of a value")
		at = p.pos
		v := p.value(kind, 0)
		seen[key] = true
		meta = append(meta, container.KV{Key: key, Value: v})
		if key == alignmentKey {
			p.checkAlignment(at, v)
		}
		p.key = ""
	}
	p.Keys = container.NewKeys(p.file, meta)
}

// checkAlignment checks the value that stands at that byte.
func (p *parser) checkAlignment(at int, v container.Value) {
	if p.err != nil {
		return
	}
	if v.Kind() != container.Uint32 {
		p.fail(at, "is of kind %v, want uint32", v.Kind())
	} else if n, _ := v.Uint(); n == 0 || n&(n-1) != 0 {
		p.fail(at, "is %d, want a power of two", n)
	}
}

func (p *parser) parseAlignment() {
	p.alignment = defaultAlignment
	if v, ok := p.Value(alignmentKey); ok && p.err == nil {
		n, _ := v.Uint()
		p.alignment = int64(n)
	}
}

// parseTensors reads the descriptions. Offset is left relative to the data,
// and what the type means is decided by placeTensors.
func (p *parser) parseTensors(n int) {
	p.tensors, p.descriptions = make([]container.TensorInfo, 0, n), make([]description, 0, n)
	seen := make(map[string]bool, n)
	for i := 0; i < n && p.err == nil; i++ {
		at := p.pos
		info := container.TensorInfo{Name: p.name("a tensor's name")}
		p.tensor = info.Name
		if seen[info.Name] {
			p.fail(at, "is there twice")
		}
		seen[info.Name] = true
		info.Shape = p.shape()
		var d description
		d.idAt = p.pos
		d.id = p.uint32("a tensor's type")
		d.offsetAt = p.pos
		offset := p.uint64("a tensor's offset")
		if p.err == nil && offset%uint64(p.alignment) != 0 {
			p.fail(d.offsetAt, "its offset %d is not a multiple of the alignment %d", offset, p.alignment)
		}
		// Cut so that no sum overflows; no file is so long, and placeTensors
		// says so.
		info.Offset = int64(min(offset, maxElements))
		p.tensors = append(p.tensors, info)
		p.descriptions = append(p.descriptions, d)
		p.tensor = ""
	}
}

// shape reads a tensor's dimensions, and returns them outermost first.
func (c *cursor) shape() []int {
	at := c.pos
	n := c.uint32("the number of dimensions")
	if c.err == nil && (n == 0 || n > maxDims) {
		c.fail(at, "it has %d dimensions, want 1 to %d", n, maxDims)
		return nil
	}
	shape := make([]int, n)
	elements := 1
	for i := int(n) - 1; i >= 0 && c.err == nil; i-- {
		at := c.pos
		d := c.uint64("a dimension")
		if c.err != nil {
			break
		}
		if d == 0 || d > uint64(maxElements/elements) {
			c.fail(at, "a dimension of %d makes the tensor empty or absurdly large", d)
			break
		}
		shape[i] = int(d)
		elements *= int(d)
	}
	return shape
}

// placeTensors makes the offsets absolute, resolves the types, and checks that
// every tensor lies within the file and over no other.
func (p *parser) placeTensors(chosen choices) {
	size := int64(len(p.data))
	order := make([]int, len(p.tensors))
	for i := range p.tensors {
		order[i] = i
		t := &p.tensors[i]
		t.Offset += p.dataOffset
		if p.tensor = t.Name; t.Offset >= size {
			p.fail(p.descriptions[i].offsetAt, "its data starts at byte %d, beyond the end of the file (%d bytes): is it cut short?", t.Offset, size)
			return
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return int(p.tensors[a].Offset - p.tensors[b].Offset)
	})
	for k, i := range order {
		room := extent{bytes: size - p.tensors[i].Offset, align: p.alignment, atEnd: true, target: "end of the file"}
		if k+1 < len(order) {
			next := &p.tensors[order[k+1]]
			room = extent{bytes: next.Offset - p.tensors[i].Offset, align: p.alignment, target: "tensor " + term.QuoteAlways(next.Name)}
		}
		if p.resolveType(i, room, chosen); p.err != nil {
			return
		}
	}
}

// resolveType finds tensor i's type and size and checks them against its room.
func (p *parser) resolveType(i int, room extent, chosen choices) {
	t, d := &p.tensors[i], p.descriptions[i]
	p.tensor = t.Name
	if room.bytes == 0 {
		p.fail(int(t.Offset), "its data starts where that of %s does", room.target)
		return
	}
	rows, cols := formats.Dims(t.Shape)
	l, n, err := chosen.resolve(d.id, rows, cols, room)
	if err != nil {
		p.fail(d.idAt, "%v", err)
		return
	}
	t.Type, t.TypeName, t.Size = l.typ, l.name, int64(n)
	missing := t.Size - room.bytes
	switch {
	case missing <= 0:
	case room.atEnd:
		p.fail(int(t.Offset), "the file is cut short: %d of the tensor's %d bytes (%s) are missing", missing, t.Size, l.name)
	default:
		p.fail(int(t.Offset), "its %d bytes (%s) overlap those of %s by %d", t.Size, l.name, room.target, missing)
	}
}
