package gguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"onebit/internal/term"
)

const (
	magic            = "GGUF"
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

// A place is where a tensor's description stands in the file, for errors.
type place struct{ dims, id, offset int }

func (f *File) parse(c *cursor, chosen choices) {
	tensors, pairs := f.parseHeader(c)
	if c.err != nil {
		return
	}
	f.parseMetadata(c, pairs)
	f.parseAlignment(c)
	if c.err != nil {
		return
	}
	if places := f.parseTensors(c, tensors); c.err == nil {
		f.dataOffset = align(int64(c.pos), f.alignment)
		f.placeTensors(c, places, chosen)
	}
}

// parseHeader reads up to the two counts.
func (f *File) parseHeader(c *cursor) (tensors, pairs int) {
	if why := notGGUF(c.data); why != "" {
		c.fail(0, "%s", why)
		return 0, 0
	}
	if len(c.data) < headerSize {
		c.fail(len(c.data), "the file ends in the header: it has %d bytes and a GGUF header has %d", len(c.data), headerSize)
		return 0, 0
	}
	c.take(len(magic), "the magic")
	at := c.pos
	f.version = c.uint32("the version")
	switch v := f.version; {
	case v == 2 || v == 3:
	case v == 1:
		c.fail(at, "GGUF version 1 is not supported; convert the model again with a present converter")
	case v != 0 && v&0xffff == 0:
		c.fail(at, "the file is big-endian (its version reads %#x); convert it with gguf_convert_endian.py of llama.cpp", v)
	default:
		c.fail(at, "GGUF version %d is not supported, only 2 and 3", v)
	}
	tensors = c.count(minTensor, "tensors")
	pairs = c.count(minKV, "metadata keys")
	return tensors, pairs
}

// notGGUF says what a file without GGUF's magic is, so that the user knows
// what to do about it.
func notGGUF(data []byte) string {
	if bytes.HasPrefix(data, []byte(magic)) {
		return ""
	}
	if len(data) == 0 {
		return "the file is empty"
	}
	// A safetensors file starts with the length of its JSON header.
	if len(data) > 8 && data[8] == '{' && binary.LittleEndian.Uint64(data) < uint64(len(data)) {
		return "the file is a safetensors file; give the directory that holds it, or convert it to GGUF"
	}
	for _, sign := range []struct{ prefix, is string }{
		{"FUGG", "a GGUF file with swapped bytes (big-endian); convert it with gguf_convert_endian.py of llama.cpp"},
		{"lmgg", "a GGML file from before GGUF; convert the model again"},
		{"fmgg", "a GGML file from before GGUF; convert the model again"},
		{"tjgg", "a GGJT file from before GGUF; convert the model again"},
		{"algg", "a GGML adapter, not a model"},
		{"CELLM", "a .cellm file; give it a name that ends in .cellm"},
		{"PK\x03\x04", "a zip archive (as PyTorch checkpoints are); unpack or convert it"},
		{"\x1f\x8b", "compressed with gzip; unpack it"},
		{"version https://git-lfs", "a git-lfs pointer, not the model; run git lfs pull"},
		{"<", "a web page, not the model; the download failed"},
		{"{", "JSON text, not a model"},
	} {
		if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte(sign.prefix)) {
			return "the file is " + sign.is
		}
	}
	return fmt.Sprintf("the file is not GGUF: it starts with %q, not %q", data[:min(len(data), len(magic))], magic)
}

func (f *File) parseMetadata(c *cursor, n int) {
	f.meta, f.keys = make([]KV, 0, n), make(map[string]int, n)
	for i := 0; i < n && c.err == nil; i++ {
		at := c.pos
		key := c.name("a metadata key")
		if c.err != nil {
			return
		}
		c.key = key
		if _, ok := f.keys[key]; ok {
			c.fail(at, "is there twice")
			return
		}
		v := c.value(c.kind("the kind of a value"), 0)
		f.keys[key] = len(f.meta)
		f.meta = append(f.meta, KV{key, v})
		if key == alignmentKey {
			f.checkAlignment(c, v)
		}
		c.key = ""
	}
}

// checkAlignment runs just behind the value, for the offset of its error.
func (f *File) checkAlignment(c *cursor, v Value) {
	if c.err != nil {
		return
	}
	at := c.pos - len(v.data)
	if v.kind != Uint32 {
		c.fail(at, "is of kind %v, want uint32", v.kind)
	} else if n, _ := v.Uint(); n == 0 || n&(n-1) != 0 {
		c.fail(at, "is %d, want a power of two", n)
	}
}

func (f *File) parseAlignment(c *cursor) {
	f.alignment = defaultAlignment
	if v, ok := f.Value(alignmentKey); ok && c.err == nil {
		n, _ := v.Uint()
		f.alignment = int64(n)
	}
}

// parseTensors reads the descriptions. Offset is left relative to the data,
// and what the type means is settled by placeTensors.
func (f *File) parseTensors(c *cursor, n int) []place {
	f.tensors, f.names = make([]TensorInfo, 0, n), make(map[string]int, n)
	places := make([]place, 0, n)
	for i := 0; i < n && c.err == nil; i++ {
		at := c.pos
		info := TensorInfo{Name: c.name("a tensor's name")}
		c.tensor = info.Name
		if _, ok := f.names[info.Name]; ok {
			c.fail(at, "is there twice")
		}
		var p place
		p.dims = c.pos
		info.Shape = c.shape()
		p.id = c.pos
		info.ID = c.uint32("a tensor's type")
		p.offset = c.pos
		offset := c.uint64("a tensor's offset")
		if c.err == nil && offset%uint64(f.alignment) != 0 {
			c.fail(p.offset, "its offset %d is not a multiple of the alignment %d", offset, f.alignment)
		}
		// Cut so that no sum overflows; no file is so long, and placeTensors
		// says so.
		info.Offset = int64(min(offset, maxElements))
		f.names[info.Name] = len(f.tensors)
		f.tensors = append(f.tensors, info)
		places = append(places, p)
		c.tensor = ""
	}
	return places
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

// placeTensors makes the offsets absolute, settles the types, and checks that
// every tensor lies within the file and over no other.
func (f *File) placeTensors(c *cursor, places []place, chosen choices) {
	size := int64(len(c.data))
	order := make([]int, len(f.tensors))
	for i := range f.tensors {
		order[i] = i
		t := &f.tensors[i]
		t.Offset += f.dataOffset
		if c.tensor = t.Name; t.Offset >= size {
			c.fail(places[i].offset, "its data starts at byte %d, beyond the end of the file (%d bytes): is it cut short?", t.Offset, size)
			return
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return int(f.tensors[a].Offset - f.tensors[b].Offset)
	})
	for k, i := range order {
		room := extent{bytes: size - f.tensors[i].Offset, align: f.alignment, atEnd: true, target: "end of the file"}
		if k+1 < len(order) {
			next := &f.tensors[order[k+1]]
			room = extent{bytes: next.Offset - f.tensors[i].Offset, align: f.alignment, target: "tensor " + term.QuoteAlways(next.Name)}
		}
		if f.settle(c, i, places[i], room, chosen); c.err != nil {
			return
		}
	}
}

// settle finds tensor i's type and size and checks them against its room.
func (f *File) settle(c *cursor, i int, p place, room extent, chosen choices) {
	t := &f.tensors[i]
	c.tensor = t.Name
	if room.bytes == 0 {
		c.fail(int(t.Offset), "its data starts where that of %s does", room.target)
		return
	}
	rows, cols := dims(t.Shape)
	l, n, err := chosen.resolve(t.ID, rows, cols, room)
	if err != nil {
		c.fail(p.id, "%v", err)
		return
	}
	t.Type, t.TypeName, t.Size = l.typ, l.name, int64(n)
	missing := t.Size - room.bytes
	switch {
	case missing <= 0:
	case room.atEnd:
		c.fail(int(t.Offset), "the file is cut short: %d of the tensor's %d bytes (%s) are missing", missing, t.Size, l.name)
	default:
		c.fail(int(t.Offset), "its %d bytes (%s) overlap those of %s by %d", t.Size, l.name, room.target, missing)
	}
}

func dims(shape []int) (rows, cols int) {
	rows = 1
	for _, n := range shape[:len(shape)-1] {
		rows *= n
	}
	return rows, shape[len(shape)-1]
}
