package cellm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/term"
)

const (
	// maxHeader bounds the JSON: that of a model with a thousand blocks has a few
	// megabytes.
	maxHeader = 100_000_000
	// maxElements bounds a tensor as formats.Type does: no real one comes near,
	// and no size computed from it overflows.
	maxElements = 1 << 40
	maxDims     = 8
)

// dtypes are what the container has names for; those without a Type have so many
// bits a weight.
var dtypes = map[string]struct {
	typ  *formats.Type
	bits int
}{
	"f16": {typ: formats.F16}, "q1_0_g128": {typ: formats.Q1_0_g128},
	"i8": {bits: 8}, "f8e4m3": {bits: 8}, "i4": {bits: 4}, "i2": {bits: 2},
}

// A parser reads the JSON token by token, so that errors have a place and a name
// that comes twice is noticed.
type parser struct {
	name    string // of the file
	file    []byte
	dec     *json.Decoder
	end     int // of the JSON
	header  Header
	keys    map[string]bool
	tensors []container.TensorInfo
	seen    map[string]bool // tensors
}

func (p *parser) fail(offset int, tensor, key, format string, args ...any) *container.FormatError {
	return &container.FormatError{File: p.name, Offset: int64(offset), Tensor: tensor, Key: key, Msg: fmt.Sprintf(format, args...)}
}

// parse is a container.Parser.
func (p *parser) parse(data []byte) ([]container.TensorInfo, error) {
	p.file, p.keys, p.seen = data, map[string]bool{}, map[string]bool{}
	text, err := p.text()
	if err != nil {
		return nil, err
	}
	p.end = headerStart + len(text)
	if err := p.readObject(text); err != nil {
		return nil, err
	}
	if err := p.readHeader(text); err != nil {
		return nil, err
	}
	return p.tensors, p.checkPlaces()
}

// text returns the JSON.
func (p *parser) text() ([]byte, error) {
	if !bytes.HasPrefix(p.file, []byte(Magic)) {
		if why := container.Foreign(p.file); why != "" {
			return nil, p.fail(0, "", "", "%s", why)
		}
		return nil, p.fail(0, "", "", "the file is not .cellm: it starts with %q, not %q", p.file[:min(len(p.file), len(Magic))], Magic)
	}
	if len(p.file) < headerStart {
		return nil, p.fail(len(p.file), "", "", "the file ends before its header: it has %d bytes", len(p.file))
	}
	if v := p.file[len(Magic)]; v != version {
		return nil, p.fail(len(Magic), "", "", ".cellm version %d is not supported, only %d", v, version)
	}
	n := binary.LittleEndian.Uint32(p.file[len(Magic)+1:])
	switch left := len(p.file) - headerStart; {
	case n > maxHeader:
		return nil, p.fail(len(Magic)+1, "", "", "a header of %d bytes is more than %d; the file is broken", n, maxHeader)
	case int(n) > left:
		return nil, p.fail(len(Magic)+1, "", "", "the header has %d bytes, and %d are left: is the file cut short?", n, left)
	}
	return p.file[headerStart : headerStart+int(n)], nil
}

// at is the byte of the file that the decoder has come to.
func (p *parser) at() int { return headerStart + int(p.dec.InputOffset()) }

func (p *parser) broken(tensor, key string, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	e := p.fail(p.at(), tensor, key, "the header's JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	e.Err = err
	return e
}

// readObject goes through all keys, and reads the tensors.
func (p *parser) readObject(text []byte) error {
	p.dec = json.NewDecoder(bytes.NewReader(text))
	if t, err := p.dec.Token(); err != nil || t != json.Delim('{') {
		return p.fail(headerStart, "", "", "the header is not a JSON object")
	}
	for p.dec.More() {
		at := p.at()
		t, err := p.dec.Token()
		if err != nil {
			return p.broken("", "", err)
		}
		key, _ := t.(string) // keys of objects are strings
		if p.keys[key] {
			return p.fail(at, "", key, "is there twice")
		}
		p.keys[key] = true
		if key == tensorsKey {
			err = p.readTensors()
		} else if err = p.dec.Decode(new(json.RawMessage)); err != nil {
			err = p.broken("", key, err)
		}
		if err != nil {
			return err
		}
	}
	if _, err := p.dec.Token(); err != nil {
		return p.broken("", "", err)
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return p.fail(p.at(), "", "", "the header goes on behind its JSON object")
	}
	return nil
}

// readHeader reads all keys but the tensors, in JSON that is in order.
func (p *parser) readHeader(text []byte) error {
	for _, key := range required {
		if !p.keys[key] {
			e := p.fail(headerStart, "", key, "%v", container.ErrMissing)
			e.Err = container.ErrMissing
			return e
		}
	}
	err := json.Unmarshal(text, &p.header)
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return p.fail(headerStart+int(bad.Offset), "", bad.Field, "is a %s, want %v", bad.Value, bad.Type)
	}
	if err != nil {
		return p.fail(headerStart, "", "", "the header's JSON: %v", err)
	}
	return nil
}

func (p *parser) readTensors() error {
	at := p.at()
	if t, err := p.dec.Token(); err != nil || t != json.Delim('[') {
		return p.fail(at, "", tensorsKey, "is not a list")
	}
	for p.dec.More() {
		at := p.at()
		var e entry
		if err := p.dec.Decode(&e); err != nil {
			return p.broken("", tensorsKey, err)
		}
		info, err := e.info()
		if err != nil {
			return p.fail(at, info.Name, "", "%v", err)
		}
		if p.seen[info.Name] {
			return p.fail(at, info.Name, "", "is there twice")
		}
		if err := p.checkPlace(info); err != "" {
			return p.fail(at, info.Name, "", "%s", err)
		}
		p.seen[info.Name] = true
		p.tensors = append(p.tensors, info)
	}
	if _, err := p.dec.Token(); err != nil {
		return p.broken("", tensorsKey, err)
	}
	return nil
}

// An entry is a tensor in the header.
type entry struct {
	Name   string    `json:"name"`
	Offset *uint64   `json:"offset_bytes"`
	Bytes  *uint64   `json:"nbytes"`
	Shape  *[]uint64 `json:"shape"`
	DType  *string   `json:"dtype"`
}

// info checks the entry in itself. With an error it has the name.
func (e entry) info() (container.TensorInfo, error) {
	info := container.TensorInfo{Name: e.Name}
	switch {
	case e.Name == "":
		return info, errors.New("a tensor's name is missing or empty")
	case e.Offset == nil || e.Bytes == nil || e.Shape == nil || e.DType == nil:
		return info, errors.New("want name, offset_bytes, nbytes, shape and dtype")
	}
	d, ok := dtypes[*e.DType]
	if !ok {
		return info, fmt.Errorf("has dtype %s, which .cellm version %d does not have", term.QuoteAlways(*e.DType), version)
	}
	shape, err := checkShape(*e.Shape)
	if err != nil {
		return info, err
	}
	rows, cols := formats.Dims(shape)
	size := (cols*d.bits + 7) / 8 * rows
	if d.typ != nil {
		if size, err = d.typ.Bytes(rows, cols); err != nil {
			return info, err
		}
	}
	switch offset := *e.Offset; {
	case *e.Bytes != uint64(size):
		return info, fmt.Errorf("has nbytes %d, and shape %v of %s has %d bytes", *e.Bytes, shape, *e.DType, size)
	case offset%alignment != 0:
		return info, fmt.Errorf("its offset_bytes %d is no multiple of %d", offset, alignment)
	case offset > maxElements:
		return info, fmt.Errorf("its offset_bytes %d is absurd", offset)
	}
	info.Type, info.TypeName, info.Shape = d.typ, *e.DType, shape
	info.Offset, info.Size = int64(*e.Offset), int64(size)
	return info, nil
}

func checkShape(dims []uint64) ([]int, error) {
	if len(dims) == 0 || len(dims) > maxDims {
		return nil, fmt.Errorf("has %d dimensions, want 1 to %d", len(dims), maxDims)
	}
	var shape []int
	elements := 1
	for _, d := range dims {
		if d == 0 || d > uint64(maxElements/elements) {
			return nil, fmt.Errorf("shape %v is empty or absurd", dims)
		}
		shape = append(shape, int(d))
		elements *= int(d)
	}
	return shape, nil
}

// checkPlace says what is wrong with where a tensor lies, "" if nothing is.
func (p *parser) checkPlace(t container.TensorInfo) string {
	size := int64(len(p.file))
	switch end := t.Offset + t.Size; {
	case t.Offset < int64(p.end):
		return fmt.Sprintf("its data at byte %d lies in the header, which ends at byte %d", t.Offset, p.end)
	case end > size:
		return fmt.Sprintf("its data ends at byte %d, and the file has %d bytes: is it cut short?", end, size)
	}
	return ""
}

// checkPlaces finds bytes that two tensors have, or none, beyond padding.
func (p *parser) checkPlaces() error {
	order := slices.SortedStableFunc(slices.Values(p.tensors), func(a, b container.TensorInfo) int { return cmp.Compare(a.Offset, b.Offset) })
	end, before := int64(p.end), ""
	for _, t := range order {
		switch {
		case t.Offset < end:
			return p.fail(int(t.Offset), t.Name, "", "its data overlaps that of tensor %s by %d bytes", term.QuoteAlways(before), end-t.Offset)
		case t.Offset-end >= alignment:
			return p.fail(int(end), t.Name, "", "%d bytes before its data belong to no tensor", t.Offset-end)
		}
		end, before = t.Offset+t.Size, t.Name
	}
	if rest := int64(len(p.file)) - end; rest >= alignment {
		return p.fail(int(end), "", "", "the last %d bytes of the file belong to no tensor", rest)
	}
	return p.checkPadding()
}

// checkPadding looks at what lies between the JSON and the next multiple of 64:
// the other padding has weights around it, which stay unread.
func (p *parser) checkPadding() error {
	end := min(len(p.file), int(container.Align(int64(p.end), alignment)))
	for i, b := range p.file[p.end:end] {
		if b != 0 {
			return p.fail(p.end+i, "", "", "the padding behind the header has a byte %#02x, want zeros", b)
		}
	}
	return nil
}
