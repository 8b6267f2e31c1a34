package gguf

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A spec is a file in parts, each of which a test can spoil. It shares no
// code with Writer.
type spec struct {
	magic          string
	version        uint32
	tensors, pairs int64 // the counts, -1 for the true ones
	meta           []rawKV
	infos          []rawInfo
	align          int
	data           []byte
}

type rawKV struct {
	key  string
	kind uint32
	body []byte
}

type rawInfo struct {
	name   string
	dims   []uint64 // innermost first
	id     uint32
	offset uint64
}

// small is a valid file with two keys and two tensors.
func small() *spec {
	return &spec{
		magic: "GGUF", version: 3, tensors: -1, pairs: -1, align: 32,
		meta: []rawKV{
			{"general.architecture", 8, text("llama")},
			{"n", 4, u32(7)},
		},
		infos: []rawInfo{
			{"a", []uint64{4}, 0, 0},        // f32: 16 bytes
			{"b", []uint64{128, 2}, 41, 32}, // q1_0_g128: 36 bytes
		},
		data: make([]byte, 32+36),
	}
}

// one is a valid file with no keys and one tensor, whose data takes n bytes.
func one(id uint32, n int, dims ...uint64) *spec {
	return &spec{
		magic: "GGUF", version: 3, tensors: -1, pairs: -1, align: 32,
		infos: []rawInfo{{"w", dims, id, 0}}, data: make([]byte, n),
	}
}

func u32(x uint32) []byte { return binary.LittleEndian.AppendUint32(nil, x) }
func u64(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }
func text(s string) []byte {
	return join(u64(uint64(len(s))), s)
}

// build returns the file and where its parts begin: "version", "tensors",
// "pairs", then of each key i "key i", "kind i" and "value i", of each tensor
// "name i", "dims i", "id i" and "offset i", and "data" and "end".
func (s *spec) build() ([]byte, map[string]int) {
	at := map[string]int{}
	var b []byte
	put := func(mark string, parts ...any) {
		at[mark] = len(b)
		b = append(b, join(parts...)...)
	}
	put("magic", s.magic)
	put("version", u32(s.version))
	count := func(mark string, n int64, actual int) {
		if n == -1 {
			n = int64(actual)
		}
		put(mark, u64(uint64(n)))
	}
	count("tensors", s.tensors, len(s.infos))
	count("pairs", s.pairs, len(s.meta))
	for i, kv := range s.meta {
		put(fmt.Sprint("key ", i), text(kv.key))
		put(fmt.Sprint("kind ", i), u32(kv.kind))
		put(fmt.Sprint("value ", i), kv.body)
	}
	for i, t := range s.infos {
		put(fmt.Sprint("name ", i), text(t.name))
		put(fmt.Sprint("dims ", i), u32(uint32(len(t.dims))))
		for _, d := range t.dims {
			b = append(b, u64(d)...)
		}
		put(fmt.Sprint("id ", i), u32(t.id))
		put(fmt.Sprint("offset ", i), u64(t.offset))
	}
	b = append(b, make([]byte, (s.align-len(b)%s.align)%s.align)...)
	put("data", s.data)
	at["end"] = len(b)
	return slices.Clip(b), at
}
