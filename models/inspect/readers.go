package inspect

import (
	"fmt"
	"slices"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/models/arch"
)

// readers says of a GGUF file in one of Prism's formats which generation it is,
// and who reads it: files of the wrong one load elsewhere and give nonsense. It is
// "" of others. Source: issues and loaders of PrismML-Eng/llama.cpp and
// ggml-org/llama.cpp up to October 2026.
func (r *Model) readers(rotation *arch.Rotation) string {
	has := func(types ...*formats.Type) bool {
		for _, f := range r.Formats {
			for _, t := range types {
				if f.Format == t.Name {
					return true
				}
			}
		}
		return false
	}
	foreign := slices.ContainsFunc(r.Formats, func(f Total) bool {
		return slices.ContainsFunc(gguf.Packings(formats.I2_S), func(t *formats.Type) bool { return t.Name == f.Format })
	})
	const prism, ggml = "PrismML-Eng/llama.cpp", "ggml-org/llama.cpp"
	switch {
	case foreign && has(formats.PQ2_0, formats.PTQ1_0, formats.Q2_0_g128, formats.Q2_0, formats.Q1_0_g128):
		return fmt.Sprintf("Prism's formats beside i2_s: onebit reads it, %s does not", ggml)
	case rotation != nil && has(formats.PQ2_0, formats.PTQ1_0):
		return fmt.Sprintf("Bonsai 2, rotated (%s): onebit and %s of September 2026 read it, %s does not", rotation, prism, ggml)
	case rotation != nil:
		return fmt.Sprintf("rotated (%s): onebit and %s of September 2026 read it, %s loads it and gives nonsense", rotation, prism, ggml)
	case has(formats.PQ2_0, formats.PTQ1_0):
		return fmt.Sprintf("Prism's types 142 and 143, not rotated: onebit and %s read it, %s does not", prism, ggml)
	case has(formats.Q2_0_g128):
		return fmt.Sprintf("legacy, type 42 in blocks of 128: onebit reads it, %s no longer, and %s takes it for blocks of 64", prism, ggml)
	case has(formats.Q2_0):
		return fmt.Sprintf("type 42 in blocks of 64: onebit, %s and %s read it", prism, ggml)
	case has(formats.Q1_0_g128):
		return fmt.Sprintf("type 41: onebit, %s and %s read it", prism, ggml)
	}
	return ""
}
