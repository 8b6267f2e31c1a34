package cases

import (
	"fmt"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/models/source"
)

// ModelOptions are explicit choices that a model file leaves open.
type ModelOptions = gguf.Options

// OpenModel returns a Source for each distinct format and shape among the
// matrices of a GGUF file or Hugging Face directory, the first tensor of its
// kind. Closing the model ends the sources.
func OpenModel(path string, opt ModelOptions) (source.Source, []Source, error) {
	f, err := source.Open(path, opt)
	if err != nil {
		return nil, nil, err
	}
	var out []Source
	type kind struct {
		t          *formats.Type
		rows, cols int
	}
	seen := map[kind]bool{}
	for _, info := range f.Tensors() {
		if info.Type == nil || len(info.Shape) < 2 {
			continue
		}
		rows, cols := formats.Dims(info.Shape)
		if k := (kind{info.Type, rows, cols}); !seen[k] {
			seen[k] = true
			out = append(out, Source{Format: info.Type, Rows: rows, Cols: cols, Tensor: func() (*formats.Tensor, error) {
				t, err := f.Tensor(info.Name)
				return &t, err
			}})
		}
	}
	if len(out) == 0 {
		f.Close()
		return nil, nil, fmt.Errorf("%s: no tensor is a matrix in a known format", path)
	}
	return f, out, nil
}
