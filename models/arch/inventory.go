package arch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"onebit/formats/container"
)

// A Mismatch is a tensor in which a file differs from its architecture.
type Mismatch struct {
	Tensor string
	Msg    string // "missing", "unexpected", or the shapes
}

func (m Mismatch) Error() string { return fmt.Sprintf("tensor %s: %s", m.Tensor, m.Msg) }

// CheckInventory compares the tensors of a file with those that a model of the
// configuration must have, by name and shape: what is missing or misshapen in
// the architecture's order, then what is unexpected in the file's.
func (t *Table) CheckInventory(c Config, tensors []container.TensorInfo) []Mismatch {
	extra := make(map[string][]int, len(tensors))
	for _, info := range tensors {
		extra[info.Name] = info.Shape
	}
	var out []Mismatch
	for _, want := range t.Tensors(c) {
		switch shape, ok := extra[want.Name]; {
		case !ok:
			out = append(out, Mismatch{want.Name, "missing"})
		case !slices.Equal(shape, want.Shape):
			out = append(out, Mismatch{want.Name, fmt.Sprintf("has shape %v, want %v", shape, want.Shape)})
		}
		delete(extra, want.Name)
	}
	for _, info := range tensors {
		if _, ok := extra[info.Name]; ok && !c.LeftAlone(info.Name) {
			out = append(out, Mismatch{info.Name, "unexpected"})
		}
	}
	return out
}

// LeftAlone reports whether a tensor is of the blocks that predict further
// tokens, which nothing here computes.
func (c Config) LeftAlone(tensor string) bool {
	rest, ok := strings.CutPrefix(tensor, "blk.")
	number, _, dot := strings.Cut(rest, ".")
	n, err := strconv.Atoi(number)
	return ok && dot && err == nil && n >= c.Layers && n < c.Layers+c.NextN
}
