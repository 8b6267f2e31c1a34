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

func (f *File) fail(offset int, tensor, format string, args ...any) *FormatError {
	return &FormatError{File: f.name, Offset: int64(offset), Tensor: tensor, Msg: fmt.Sprintf(format, args...)}
}

func (f *File) parse() error {
	header, err := f.header()
	if err != nil {
		return err
	}
	if err := f.parseHeader(header); err != nil {
		return err
	}
	return f.checkCover(lengthBytes + len(header))
}

// header returns the JSON.
func (f *File) header() ([]byte, error) {
	if why := notSafetensors(f.data); why != "" {
		return nil, f.fail(0, "", "%s", why)
	}
	n := binary.LittleEndian.Uint64(f.data)
	switch {
	case n > maxHeader:
		return nil, f.fail(0, "", "a header of %d bytes is more than %d; this is no safetensors file, or a broken one", n, maxHeader)
	case n > uint64(len(f.data)-lengthBytes):
		return nil, f.fail(0, "", "the header has %d bytes, and %d are left: is the file cut short?", n, len(f.data)-lengthBytes)
	}
	return f.data[lengthBytes : lengthBytes+int(n)], nil
}

// notSafetensors says what a file that cannot be one is, so that the user
// knows what to do about it.
func notSafetensors(data []byte) string {
	if len(data) == 0 {
		return "the file is empty"
	}
	for _, sign := range []struct{ prefix, is string }{
		{"GGUF", "a GGUF file, not safetensors"},
		{"PK\x03\x04", "a zip archive (as PyTorch checkpoints are), not safetensors; convert it"},
		{"version https://git-lfs", "a git-lfs pointer, not the model; run git lfs pull"},
		{"<!", "a web page, not the model; the download failed"},
	} {
		if bytes.HasPrefix(data, []byte(sign.prefix)) {
			return "the file is " + sign.is
		}
	}
	if len(data) < lengthBytes {
		return fmt.Sprintf("the file has %d bytes, and the length of the header alone has %d", len(data), lengthBytes)
	}
	return ""
}

// A headerParser reads the JSON token by token, so that errors have a place
// and a name that comes twice is noticed.
type headerParser struct {
	*File
	dec  *json.Decoder
	data int // where tensor data starts in the file
}

func (f *File) parseHeader(header []byte) error {
	p := &headerParser{File: f, dec: json.NewDecoder(bytes.NewReader(header)), data: lengthBytes + len(header)}
	if t, err := p.dec.Token(); err != nil || t != json.Delim('{') {
		return f.fail(lengthBytes, "", "the header is not a JSON object")
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
		return f.fail(p.at(), "", "the header goes on behind its JSON object")
	}
	return nil
}

// at is the byte of the file that the parser has come to.
func (p *headerParser) at() int { return lengthBytes + int(p.dec.InputOffset()) }

func (p *headerParser) broken(tensor string, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	e := p.fail(p.at(), tensor, "the header's JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	e.Err = err
	return e
}

func (p *headerParser) entry() error {
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
	switch _, twice := p.names[name]; {
	case name == "":
		return p.fail(at, "", "a tensor's name is empty")
	case twice:
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
	if end := *e.Offsets[1]; end > uint64(len(p.File.data)-p.data) {
		return p.fail(at, name, "its data ends at offset %d, and there are %d bytes: is the file cut short?", end, len(p.File.data)-p.data)
	}
	info.Name = name
	info.Offset += int64(p.data)
	p.names[name] = len(p.tensors)
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
func (e entry) info() (TensorInfo, error) {
	switch {
	case e.DType == nil || e.Shape == nil:
		return TensorInfo{}, errors.New("want dtype, shape and data_offsets")
	case len(e.Offsets) != 2 || e.Offsets[0] == nil || e.Offsets[1] == nil:
		return TensorInfo{}, errors.New("want data_offsets of two numbers")
	}
	d, ok := dtypes[*e.DType]
	if !ok {
		return TensorInfo{}, fmt.Errorf("has dtype %s, which safetensors does not have", term.QuoteAlways(*e.DType))
	}
	shape, elements, err := checkShape(*e.Shape)
	if err != nil {
		return TensorInfo{}, err
	}
	size := uint64(elements*d.bits+7) / 8
	begin, end := *e.Offsets[0], *e.Offsets[1]
	if begin > end || end-begin != size {
		return TensorInfo{}, fmt.Errorf("its data goes from offset %d to %d, and shape %v of %s has %d bytes", begin, end, shape, *e.DType, size)
	}
	return TensorInfo{DType: *e.DType, Type: d.typ, Shape: shape, Offset: int64(begin), Size: int64(size)}, nil
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
func (f *File) checkCover(data int) error {
	slices.SortFunc(f.tensors, func(a, b TensorInfo) int {
		// An empty tensor comes before the one that starts where it does.
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Size, b.Size))
	})
	end := int64(data)
	for i, t := range f.tensors {
		f.names[t.Name] = i
		switch {
		case t.Offset < end:
			return f.fail(int(t.Offset), t.Name, "its data overlaps that of tensor %s by %d bytes", term.QuoteAlways(f.tensors[i-1].Name), end-t.Offset)
		case t.Offset > end:
			return f.fail(int(end), t.Name, "%d bytes before its data belong to no tensor", t.Offset-end)
		}
		end += t.Size
	}
	if rest := int64(len(f.data)) - end; rest > 0 {
		return f.fail(int(end), "", "the last %d bytes of the file belong to no tensor", rest)
	}
	return nil
}
