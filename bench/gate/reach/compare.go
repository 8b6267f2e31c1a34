package reach

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"regexp"
	"slices"
)

// A comparison holds one program beside another.
type comparison struct {
	of, with *program
	core     int   // bytes of a type's data that say how it is laid out
	named    []int // symbols with names, of packages that are not the same file on both sides
	memo     map[int32]bool
}

// typeLayout are the bytes of a type's data that say how it is laid out: two words
// of sizes, a hash and flags, two pointers, two offsets (internal/abi.Type).
func typeLayout(pointer int) int { return 4*pointer + 16 }

func compare(of, with *program, pointer int) *comparison {
	c := &comparison{of: of, with: with, core: typeLayout(pointer), memo: map[int32]bool{}}
	files := map[string]bool{}
	for _, a := range with.archives {
		files[a.file] = true
	}
	for i, o := range of.objects {
		if files[of.archives[of.pkg[i]].file] {
			continue
		}
		for k := range o.defined() {
			if n := of.first[i] + k; !of.anonymous(n) {
				c.named = append(c.named, n)
			}
		}
	}
	return c
}

// numbered matches names that the compiler numbers through a package, so that a
// new one renames others: such symbols go by their content.
var numbered = regexp.MustCompile(`\.\.(stmp_|gobytes\.|typeAssert\.|interfaceSwitch\.|embed)|\bglob\.\.func\d`)

// anonymous reports whether a symbol goes by its content rather than its name.
func (p *program) anonymous(n int) bool {
	i := p.of[n]
	o, k := p.objects[i], n-p.first[i]
	if first := o.counts[0]; k >= first && k < first+o.counts[1]+o.counts[2] {
		return true
	}
	return o.symbols[k].abi == abiStatic || numbered.MatchString(o.symbols[k].name)
}

// differs reports whether a symbol with a name is another in the other program,
// or is not there. Of a type that is in no interface only the layout counts.
func (c *comparison) differs(n int, inIface bool) bool {
	key := int32(n) << 1
	if inIface {
		key |= 1
	}
	d, ok := c.memo[key]
	if ok {
		return d
	}
	s := c.of.symbol(n)
	other, there := c.with.named[symbolKey(s.name, s.abi)]
	d = !there || c.of.archive(n).foreign != c.with.archive(int(other)).foreign ||
		c.digest(c.of, n, inIface) != c.digest(c.with, int(other), inIface)
	c.memo[key] = d
	return d
}

func (c *comparison) digest(p *program, n int, inIface bool) string {
	h := sha256.New()
	d := digest{program: p, Hash: h, core: c.core, within: map[int]bool{}}
	d.add(n, inIface)
	return string(h.Sum(nil))
}

// A digest is of what a symbol does: its bytes, and what they refer to, by name
// or, without one, by what that does.
type digest struct {
	*program
	hash.Hash
	core   int
	within map[int]bool // symbols that are being added: one that refers to itself ends there
}

func (d *digest) add(n int, inIface bool) {
	d.within[n] = true
	defer delete(d.within, n)
	s, data := d.symbol(n), d.data(n)
	isType := s.flags&flagType != 0
	limit := int32(1<<31 - 1)
	if isType {
		data = d.withoutMethods(n)
		if !inIface {
			data = data[:min(len(data), d.core)]
		}
		limit = int32(len(data))
	}
	d.number(int64(s.kind), int64(s.flags), int64(len(data)))
	if !isType {
		d.number(int64(s.size))
	}
	d.Write(data)
	for r := range d.relocs(n) {
		if r.kind == d.useType || r.kind == d.initOrder || isType && (r.kind&weak != 0 || r.offset >= limit) {
			continue
		}
		d.number(int64(r.offset), int64(r.size), int64(r.kind), r.add)
		to, name := d.target(n, r)
		switch {
		case to < 0:
			d.text(name)
		case d.anonymous(to) && !d.within[to]:
			d.add(to, true)
		default:
			t := d.symbol(to)
			d.text(symbolKey(t.name, t.abi))
		}
	}
}

// withoutMethods is a type's data without its methods, which are the end of it, and
// without their number: which of them are there to be called, the flood finds.
// The part before them (internal/abi.UncommonType) says how far away they are.
func (d *digest) withoutMethods(n int) []byte {
	data := d.data(n)
	end := len(data)
	for r := range d.relocs(n) {
		if r.kind == d.methodOff {
			end = min(end, int(r.offset)-4)
			break
		}
	}
	for at := end - 16; at >= d.core; at -= 4 {
		if binary.LittleEndian.Uint32(data[at+8:]) == uint32(end-at) {
			data = slices.Clone(data[:end])
			clear(data[at+4 : at+8])
			return data
		}
	}
	return data
}

func (d *digest) number(values ...int64) {
	var b [8]byte
	for _, v := range values {
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		d.Write(b[:])
	}
}

func (d *digest) text(s string) {
	d.number(int64(len(s)))
	d.Write([]byte(s))
}

// changed returns the first symbol that a flood reached and that differs; -1 if
// there is none. Functions come first, as they have names that people know.
func (c *comparison) changed(f *flood) int {
	found := -1
	for _, n := range c.named {
		if !f.reached[n] || !c.differs(n, f.inIface[n]) {
			continue
		}
		if c.of.text[c.of.symbol(n).kind] {
			return n
		}
		found = n
	}
	return found
}
