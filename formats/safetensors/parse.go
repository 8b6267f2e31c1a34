package safetensors

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

	"onebit/formats/container"
	"onebit/internal/term"
)

const (
	lengthBytes = 8
	// maxHeader is what the original reader accepts: MAX_HEADER_SIZE in
	// huggingface/safetensors safetensors/src/tensor.rs.
	maxHeader = 100_000_000
	// maxElements bounds a tensor as formats.Type does: no real one comes
	// near, and no size computed from it overflows.
	maxElements = 1 << 40
	maxDims     = 8
	metadataKey = "__metadata__"
)

// A parser reads a header's JSON token by token, so that errors have a place
// and a name that comes twice is noticed.
type parser struct {
	name     string // of the file
	file     []byte
	data     int // where tensor data starts in the file
	dec      *json.Decoder
	tensors  []container.TensorInfo
	seen     map[string]bool
	metadata map[string]string
}

func (p *parser) fail(offset int, tensor, format string, args ...any) *container.FormatError {
	return &container.FormatError{File: p.name, Offset: int64(offset), Tensor: tensor, Msg: fmt.Sprintf(format, args...)}
}

// parse is a container.Parser.
func (p *parser) parse(data []byte) ([]container.TensorInfo, error) {
	p.file, p.seen = data, map[string]bool{}
	header, err := p.header()
	if err != nil {
		return nil, err
	}
	p.data = lengthBytes + len(header)
	if err := p.parseHeader(header); err != nil {
		return nil, err
	}
	return p.tensors, p.checkCover()
}

// header returns the JSON. What cannot be a length may be the first bytes of
// another container.
func (p *parser) header() ([]byte, error) {
	left := len(p.file) - lengthBytes
	var n uint64
	if left >= 0 {
		n = binary.LittleEndian.Uint64(p.file)
	}
	if left < 0 || n > uint64(min(left, maxHeader)) && !container.IsSafetensors(p.file) {
		if why := container.Foreign(p.file); why != "" {
			return nil, p.fail(0, "", "%s", why)
		}
	}
	switch {
	case left < 0:
		return nil, p.fail(0, "", "the file has %d bytes, and the length of the header alone has %d", len(p.file), lengthBytes)
	case n > maxHeader:
		return nil, p.fail(0, "", "a header of %d bytes is more than %d; this is no safetensors file, or a broken one", n, maxHeader)
	case n > uint64(left):
		return nil, p.fail(0, "", "the header has %d bytes, and %d are left: is the file cut short?", n, left)
	}
	return p.file[lengthBytes : lengthBytes+int(n)], nil
}

func (p *parser) parseHeader(header []byte) error {
	p.dec = json.NewDecoder(bytes.NewReader(header))
	if t, err := p.dec.Token(); err != nil || t != json.Delim('{') {
		return p.fail(lengthBytes, "", "the header is not a JSON object")
	}
	for p.dec.More() {
		if err := p.entry(); err != nil {
			return err
		}
	}
	if _, err := p.dec.Token(); err != nil {
		return p.broken("", err)
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return p.fail(p.at(), "", "the header goes on behind its JSON object")
	}
	return nil
}

// at is the byte of the file that the parser has come to.
func (p *parser) at() int { return lengthBytes + int(p.dec.InputOffset()) }

func (p *parser) broken(tensor string, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	e := p.fail(p.at(), tensor, "the header's JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	e.Err = err
	return e
}

func (p *parser) entry() error {
	at := p.at()
	t, err := p.dec.Token()
	if err != nil {
		return p.broken("", err)
	}
	name, _ := t.(string) // keys of objects are strings
	if name == metadataKey {
		if p.metadata != nil {
			return p.fail(at, "", "%s is there twice", metadataKey)
		}
		p.metadata = map[string]string{}
		if err := p.dec.Decode(&p.metadata); err != nil {
			return p.broken("", fmt.Errorf("%s: %w", metadataKey, err))
		}
		return nil
	}
	switch {
	case name == "":
		return p.fail(at, "", "a tensor's name is empty")
	case p.seen[name]:
		return p.fail(at, name, "is there twice")
	}
	at = p.at()
	var e entry
	if err := p.dec.Decode(&e); err != nil {
		return p.broken(name, err)
	}
	info, err := e.info()
	if err != nil {
		return p.fail(at, name, "%v", err)
	}
	if end := *e.Offsets[1]; end > uint64(len(p.file)-p.data) {
		return p.fail(at, name, "its data ends at offset %d, and there are %d bytes: is the file cut short?", end, len(p.file)-p.data)
	}
	info.Name = name
	info.Offset += int64(p.data)
	p.seen[name] = true
	p.tensors = append(p.tensors, info)
	return nil
}

// An entry is a tensor in the header.
type entry struct {
	DType   *string
	Shape   *[]uint64
	Offsets []*uint64 `json:"data_offsets"`
}

// info checks the entry in itself. The offset is relative to the data.
func (e entry) info() (container.TensorInfo, error) {
	switch {
	case e.DType == nil || e.Shape == nil:
		return container.TensorInfo{}, errors.New("want dtype, shape and data_offsets")
	case len(e.Offsets) != 2 || e.Offsets[0] == nil || e.Offsets[1] == nil:
		return container.TensorInfo{}, errors.New("want data_offsets of two numbers")
	}
	d, ok := dtypes[*e.DType]
	if !ok {
		return container.TensorInfo{}, fmt.Errorf("has dtype %s, which safetensors does not have", term.QuoteAlways(*e.DType))
	}
	shape, elements, err := checkShape(*e.Shape)
	if err != nil {
		return container.TensorInfo{}, err
	}
	size := uint64(elements*d.bits+7) / 8
	begin, end := *e.Offsets[0], *e.Offsets[1]
	if begin > end || end-begin != size {
		return container.TensorInfo{}, fmt.Errorf("its data goes from offset %d to %d, and shape %v of %s has %d bytes", begin, end, shape, *e.DType, size)
	}
	return container.TensorInfo{TypeName: *e.DType, Type: d.typ, Shape: shape, Offset: int64(begin), Size: int64(size)}, nil
}

func checkShape(dims []uint64) (shape []int, elements int, err error) {
	if len(dims) > maxDims {
		return nil, 0, fmt.Errorf("has %d dimensions, want at most %d", len(dims), maxDims)
	}
	elements = 1
	for _, d := range dims {
		if d > maxElements || elements > 0 && d > uint64(maxElements/elements) {
			return nil, 0, fmt.Errorf("shape %v is absurd", dims)
		}
		shape = append(shape, int(d))
		elements *= int(d)
	}
	return shape, elements, nil
}

// checkCover sorts the tensors by their data, and finds bytes that two have or
// none.
func (p *parser) checkCover() error {
	slices.SortFunc(p.tensors, func(a, b container.TensorInfo) int {
		// An empty tensor comes before the one that starts where it does.
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Size, b.Size))
	})
	end := int64(p.data)
	for i, t := range p.tensors {
		switch {
		case t.Offset < end:
			return p.fail(int(t.Offset), t.Name, "its data overlaps that of tensor %s by %d bytes", term.QuoteAlways(p.tensors[i-1].Name), end-t.Offset)
		case t.Offset > end:
			return p.fail(int(end), t.Name, "%d bytes before its data belong to no tensor", t.Offset-end)
		}
		end += t.Size
	}
	if rest := int64(len(p.file)) - end; rest > 0 {
		return p.fail(int(end), "", "the last %d bytes of the file belong to no tensor", rest)
	}
	return nil
}
