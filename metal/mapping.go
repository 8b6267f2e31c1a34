package metal

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"
)

// A Mapping is parts of a mapped file, its tensors, as buffers: each part is whole
// in one of them.
type Mapping struct {
	buffers []*Buffer
	parts   []place // of the caller's parts, in their order
}

// A place is where a part lies.
type place struct {
	buffer *Buffer
	offset int
}

// A PartError says which part could not be mapped.
type PartError struct {
	Part int // its number
	Err  error
}

func (e *PartError) Error() string { return fmt.Sprintf("part %d: %v", e.Part, e.Err) }
func (e *PartError) Unwrap() error { return e.Err }

// Map makes buffers of parts of one mapped file, as Wrap does: Metal takes no
// buffer over two mappings. Parts on pages that touch share a buffer as long as
// the device has one so large: a file may be larger, a part may not. Pages
// between parts are in no buffer. The error is a [*PartError].
func (d *Device) Map(parts [][]byte) (*Mapping, error) {
	for i, p := range parts {
		if err := d.checkLength(len(p)); err != nil {
			return nil, &PartError{i, err}
		}
	}
	m := &Mapping{parts: make([]place, len(parts))}
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(addressOf(parts[a]), addressOf(parts[b])) })
	for len(order) > 0 {
		n := d.together(parts, order)
		if err := m.add(d, parts, order[:n]); err != nil {
			m.Close()
			return nil, err
		}
		order = order[n:]
	}
	return m, nil
}

func addressOf(data []byte) uintptr { return uintptr(unsafe.Pointer(&data[0])) }

// pages returns the first byte of the first page that data lies in, and the
// first behind the last.
func (d *Device) pages(data []byte) (first, end uintptr) {
	page, at := d.objc.page, addressOf(data)
	return at / page * page, (at + uintptr(len(data)) + page - 1) / page * page
}

// together returns how many parts, in the order of their addresses, fit into one
// buffer: 1 at least.
func (d *Device) together(parts [][]byte, order []int) int {
	first, end := d.pages(parts[order[0]])
	if addressOf(parts[order[0]])%offsetUnit != 0 {
		return 1
	}
	for n, i := range order[1:] {
		from, to := d.pages(parts[i])
		to = max(to, end)
		if from > end || to-first > uintptr(d.limits.Buffer) || addressOf(parts[i])%offsetUnit != 0 {
			return n + 1
		}
		end = to
	}
	return len(order)
}

// add makes one buffer of parts that fit together or, where the system refuses
// that, one of each.
func (m *Mapping) add(d *Device, parts [][]byte, order []int) error {
	first := parts[order[0]]
	end := addressOf(first)
	for _, i := range order {
		end = max(end, addressOf(parts[i])+uintptr(len(parts[i])))
	}
	if b := d.inPlace(unsafe.Slice(&first[0], end-addressOf(first))); b != nil {
		m.buffers = append(m.buffers, b)
		for _, i := range order {
			m.parts[i] = place{b, int(addressOf(parts[i]) - addressOf(first))}
		}
		return nil
	}
	for _, i := range order {
		b, err := d.Wrap(parts[i])
		if err != nil {
			return &PartError{i, err}
		}
		m.buffers = append(m.buffers, b)
		m.parts[i] = place{b, 0}
	}
	return nil
}

// At returns the buffer of a part, and where in it the part begins.
func (m *Mapping) At(part int) (b *Buffer, offset int) {
	return m.parts[part].buffer, m.parts[part].offset
}

// Buffers returns all buffers.
func (m *Mapping) Buffers() []*Buffer { return m.buffers }

// Close lets go of all buffers.
func (m *Mapping) Close() error {
	for _, b := range m.buffers {
		b.Close()
	}
	return nil
}
