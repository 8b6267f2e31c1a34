package reach

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// magic begins the objects of Go 1.20 and later.
const magic = "\x00go120ld"

// Blocks of an object, by their place in the header's offsets.
const (
	blockPackages   = 1
	blockSymbols    = 3
	blockRelocIndex = 11
	blockAuxIndex   = 12
	blockDataIndex  = 13
	blockRelocs     = 14
	blockAux        = 15
	blockData       = 16
	blocks          = 19
)

// Sizes of what the blocks hold.
const (
	symbolSize = 21
	relocSize  = 23
	auxSize    = 9
	stringSize = 8
)

// Packages of references that are no package's index.
const (
	ofNone     = 1<<31 - 1 - iota // names
	ofHashed64                    // content, short
	ofHashed                      // content
	ofBuiltin                     // the runtime's functions that the compiler knows
	ofSelf                        // the object's own
)

// fromAssembly is the object's flag that it comes of assembly.
const fromAssembly = 1 << 2

// Flags of symbols.
const (
	flagDupok         = 1 << 0
	flagReflectMethod = 1 << 5
	flagType          = 1 << 6
	flagUsedInIface   = 1 << 0 // of the second byte, as the next
	flagItab          = 1 << 1
)

// abiStatic is the ABI of a symbol that only its object knows.
const abiStatic = 0xffff

// An object is one object file: what the compiler made of a package, or the
// assembler of a file. Its symbols are numbered: those of the package, short and
// long content-addressed ones, those that go by a name alone.
type object struct {
	b        []byte
	offset   [blocks]uint32
	flags    uint32
	counts   [5]int // of symbols by block: package, hashed64, hashed, named, referenced
	symbols  []symbol
	packages []string
}

// symbol is a symbol's entry.
type symbol struct {
	name          string
	abi           uint16
	kind          uint8
	flags, flags2 uint8
	size          uint32
}

// reloc is a place in a symbol's data that another symbol decides.
type reloc struct {
	offset int32
	size   uint8
	kind   uint16
	add    int64
	of     uint32 // the package's index
	index  uint32
}

// errFormat says that an object is none of Go 1.20 or later.
var errFormat = errors.New("not an object file of a Go that is known")

// readObject checks an object's tables, so that no access to them can fail.
func readObject(b []byte) (*object, error) {
	const header = len(magic) + 8 + 4 + 4*blocks
	if len(b) < header || string(b[:len(magic)]) != magic {
		return nil, errFormat
	}
	o := &object{b: b, flags: binary.LittleEndian.Uint32(b[len(magic)+8:])}
	for i := range o.offset {
		o.offset[i] = binary.LittleEndian.Uint32(b[len(magic)+12+4*i:])
		if int64(o.offset[i]) > int64(len(b)) || i > 0 && o.offset[i] < o.offset[i-1] {
			return nil, errFormat
		}
	}
	defined := 0
	for i := range o.counts {
		o.counts[i] = int(o.offset[blockSymbols+i+1]-o.offset[blockSymbols+i]) / symbolSize
		if i < 4 {
			defined += o.counts[i]
		}
	}
	for index, table := range map[int]struct{ block, size int }{
		blockRelocIndex: {blockRelocs, relocSize}, blockAuxIndex: {blockAux, auxSize}, blockDataIndex: {blockData, 1},
	} {
		n := (o.offset[table.block+1] - o.offset[table.block]) / uint32(table.size)
		if !o.ascends(index, defined, n) {
			return nil, errFormat
		}
	}
	text := string(b[:o.offset[0]]) // strings lie before the blocks
	for i := range defined + o.counts[4] {
		at := o.symbolAt(i)
		e := b[at:]
		name, ok := stringIn(text, e)
		if !ok {
			return nil, errFormat
		}
		o.symbols = append(o.symbols, symbol{
			name: name, abi: binary.LittleEndian.Uint16(e[8:]), kind: e[10], flags: e[11], flags2: e[12],
			size: binary.LittleEndian.Uint32(e[13:]),
		})
	}
	for at := o.offset[blockPackages]; at+stringSize <= o.offset[blockPackages+1]; at += stringSize {
		path, ok := stringIn(text, b[at:])
		if !ok {
			return nil, errFormat
		}
		o.packages = append(o.packages, path)
	}
	return o, nil
}

// stringIn is the part of text that an entry's length and offset name.
func stringIn(text string, entry []byte) (string, bool) {
	n, from := uint64(binary.LittleEndian.Uint32(entry)), uint64(binary.LittleEndian.Uint32(entry[4:]))
	if n == 0 {
		return "", true
	}
	if from+n > uint64(len(text)) {
		return "", false
	}
	return text[from : from+n], true
}

// ascends reports whether a block holds an index of n entries and an end, which
// never falls and stays within limit.
func (o *object) ascends(block, n int, limit uint32) bool {
	if uint64(o.offset[block])+4*uint64(n+1) > uint64(o.offset[block+1]) {
		return false
	}
	last := uint32(0)
	for i := range n + 1 {
		v := binary.LittleEndian.Uint32(o.b[int(o.offset[block])+4*i:])
		if v < last || v > limit {
			return false
		}
		last = v
	}
	return true
}

// defined is how many symbols the object holds; references by name follow them.
func (o *object) defined() int { return o.counts[0] + o.counts[1] + o.counts[2] + o.counts[3] }

// symbolAt is where the entry of symbol i is: the five tables follow each other.
func (o *object) symbolAt(i int) uint32 {
	for block, n := range o.counts {
		if i < n {
			return o.offset[blockSymbols+block] + uint32(i)*symbolSize
		}
		i -= n
	}
	panic("reach: no such symbol")
}

// between returns the bounds of symbol i in a block that an index leads to.
func (o *object) between(index, i int) (from, to uint32) {
	at := int(o.offset[index]) + 4*i
	return binary.LittleEndian.Uint32(o.b[at:]), binary.LittleEndian.Uint32(o.b[at+4:])
}

func (o *object) data(i int) []byte {
	from, to := o.between(blockDataIndex, i)
	return o.b[o.offset[blockData]+from : o.offset[blockData]+to]
}

// relocs are the relocations of symbol i, in their order.
func (o *object) relocs(i int) iter.Seq[reloc] {
	from, to := o.between(blockRelocIndex, i)
	return func(yield func(reloc) bool) {
		for at := from; at < to && yield(o.reloc(at)); at++ {
		}
	}
}

func (o *object) reloc(at uint32) reloc {
	e := o.b[o.offset[blockRelocs]+at*relocSize:]
	return reloc{
		offset: int32(binary.LittleEndian.Uint32(e)), size: e[4], kind: binary.LittleEndian.Uint16(e[5:]),
		add: int64(binary.LittleEndian.Uint64(e[7:])), of: binary.LittleEndian.Uint32(e[15:]), index: binary.LittleEndian.Uint32(e[19:]),
	}
}

// auxFuncInfo is the kind of the auxiliary symbol that describes a function.
const auxFuncInfo = 1

// funcInfo is the symbol that describes the function i.
func (o *object) funcInfo(i int) (of, index uint32, ok bool) {
	from, to := o.between(blockAuxIndex, i)
	for at := from; at < to; at++ {
		if e := o.b[o.offset[blockAux]+at*auxSize:]; e[0] == auxFuncInfo {
			return binary.LittleEndian.Uint32(e[1:]), binary.LittleEndian.Uint32(e[5:]), true
		}
	}
	return 0, 0, false
}

// inlined calls f with what a function's description says was inlined into it: 16
// bytes, a list of files, and a list of nodes of six words, whose fourth and fifth
// refer to a function.
func inlined(info []byte, f func(of, index uint32)) {
	word := func(at uint64) uint64 {
		if at+4 > uint64(len(info)) {
			return 0
		}
		return uint64(binary.LittleEndian.Uint32(info[at:]))
	}
	at := 20 + 4*word(16)
	for n := word(at); n > 0 && at+28 <= uint64(len(info)); n-- {
		f(uint32(word(at+16)), uint32(word(at+20)))
		at += 24
	}
}

// local is the number of a symbol of the object that a reference names; a name
// that is defined elsewhere has one beyond those. It is -1 if there is none.
func (o *object) local(of, index uint32) int {
	first, limit := 0, 0
	switch of {
	case ofSelf:
		limit = o.counts[0]
	case ofHashed64:
		first, limit = o.counts[0], o.counts[1]
	case ofHashed:
		first, limit = o.counts[0]+o.counts[1], o.counts[2]
	case ofNone:
		first, limit = o.counts[0]+o.counts[1]+o.counts[2], o.counts[3]+o.counts[4]
	}
	if int64(index) >= int64(limit) {
		return -1
	}
	return first + int(index)
}

// readArchive reads what go build made of a package: objects of Go, bytes of
// others, such as cgo's, and the flags that cgo has for the linker of C.
func readArchive(b []byte) (objects []*object, foreign []byte, flags []string, err error) {
	const first, header = "!<arch>\n", 60
	if !bytes.HasPrefix(b, []byte(first)) {
		return nil, nil, nil, errors.New("not an archive of a Go package")
	}
	for b = b[len(first):]; len(b) > 0; {
		if len(b) < header {
			return nil, nil, nil, errors.New("the archive ends within an entry")
		}
		name := strings.TrimRight(string(b[:16]), " ")
		size, err := strconv.ParseUint(strings.TrimRight(string(b[48:58]), " "), 10, 31)
		if err != nil || size > uint64(len(b)-header) {
			return nil, nil, nil, fmt.Errorf("entry %q has no size, or one beyond the archive's end", name)
		}
		entry := b[header : header+size]
		b = b[header+min(size+size%2, uint64(len(b)-header)):]
		if name == "__.PKGDEF" {
			continue
		}
		text, code, ok := bytes.Cut(entry, []byte("\n!\n"))
		if !ok || !bytes.HasPrefix(text, []byte("go object ")) {
			foreign = append(foreign, entry...)
			continue
		}
		o, err := readObject(code)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("entry %q: %w", name, err)
		}
		objects = append(objects, o)
		found, err := linkerFlags(text)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("entry %q: %w", name, err)
		}
		flags = append(flags, found...)
	}
	if len(objects) == 0 {
		return nil, nil, nil, errors.New("the archive holds no object")
	}
	return objects, foreign, flags, nil
}

// linkerFlags reads the flags of #cgo LDFLAGS in the text before an object of Go's:
// a line of JSON for the linker (cmd/link/internal/ld/go.go).
func linkerFlags(text []byte) (flags []string, err error) {
	_, directives, ok := bytes.Cut(text, []byte("\n$$  // cgo\n"))
	if !ok {
		return nil, nil
	}
	directives, _, _ = bytes.Cut(directives, []byte("\n$$\n"))
	var all [][]string
	if err := json.Unmarshal(directives, &all); err != nil {
		return nil, fmt.Errorf("its part for cgo: %w", err)
	}
	for _, d := range all {
		if len(d) == 2 && d[0] == "cgo_ldflag" {
			flags = append(flags, d[1])
		}
	}
	return flags, nil
}
