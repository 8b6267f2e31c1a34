package modeltest

import (
	"bytes"
	"fmt"
	"os"

	"onebit/formats/container"
	"onebit/formats/gguf"
)

// Split writes a file as n parts, PREFIX-00001-of-0000n.gguf and so on, as
// gguf-split does: the metadata is in the first.
func Split(f *gguf.File, prefix string, n int) error {
	tensors := f.Tensors()
	for no := range n {
		some := tensors[no*len(tensors)/n : (no+1)*len(tensors)/n]
		var meta []container.KV
		if no == 0 {
			meta = append(meta, f.Metadata()...)
		}
		meta = append(meta,
			container.KV{Key: "split.no", Value: container.Of(uint16(no))},
			container.KV{Key: "split.count", Value: container.Of(uint16(n))},
			container.KV{Key: "split.tensors.count", Value: container.Of(int32(len(tensors)))})
		var b bytes.Buffer
		w, err := gguf.NewWriter(&b, meta, some)
		if err != nil {
			return err
		}
		for _, t := range some {
			raw, err := f.Raw(t.Name)
			if err != nil {
				return err
			}
			if err := w.WriteTensor(t.Name, raw); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		if err := os.WriteFile(fmt.Sprintf("%s-%05d-of-%05d.gguf", prefix, no+1, n), b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}
