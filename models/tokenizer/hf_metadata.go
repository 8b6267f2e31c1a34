package tokenizer

import (
	"slices"

	"onebit/formats/container"
	"onebit/models/arch"
)

// HFMetadata returns the tokenizer of a Hugging Face directory as metadata of
// a GGUF file, of which [FromGGUF] makes the tokenizer that [FromHF] makes of
// the directory. GGUF has room for one end of generation beside eos; those
// that every tokenizer knows by name are found without.
func HFMetadata(dir string, text arch.Text) ([]container.KV, error) {
	src, file, err := readHF(dir, text)
	if err == nil {
		_, err = src.tokenizer() // what it refuses is not worth writing
	}
	if err != nil {
		return nil, inFile(file, err)
	}
	types := make([]int32, len(src.kinds))
	for id, k := range src.kinds {
		types[id] = int32(k)
	}
	out := []container.KV{
		{Key: keyModel, Value: container.Of(src.model)},
		{Key: keyTokens, Value: container.ArrayOf(src.tokens)},
		{Key: keyTypes, Value: container.ArrayOf(types)},
	}
	if src.model == modelGPT2 {
		out = append(out, container.KV{Key: keyPre, Value: container.Of(src.pre)}, container.KV{Key: keyMerges, Value: container.ArrayOf(src.merges)})
	} else {
		out = append(out, container.KV{Key: keyScores, Value: container.ArrayOf(src.scores)})
	}
	for _, id := range src.ends {
		if _, ok := src.ids[keyEOT]; !ok && id != src.ids[keyEOS] && !slices.Contains(endTokens, src.tokens[id]) {
			src.ids[keyEOT] = id
		}
	}
	for _, key := range []string{keyBOS, keyEOS, keyEOT, keyPadding} {
		if id, ok := src.ids[key]; ok {
			out = append(out, container.KV{Key: key, Value: container.Of(uint32(id))})
		}
	}
	for _, key := range []string{keyAddBOS, keyAddEOS, keyAddPrefix} {
		if add, ok := src.flags[key]; ok {
			out = append(out, container.KV{Key: key, Value: container.Of(add)})
		}
	}
	if src.template != "" {
		out = append(out, container.KV{Key: keyTemplate, Value: container.Of(src.template)})
	}
	return out, nil
}
