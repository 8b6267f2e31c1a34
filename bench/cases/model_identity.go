package cases

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"onebit/bench/results"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/source"
)

const (
	// wholeTensor is up to how many bytes all of a tensor are in its model's
	// digest; of a larger one there are so many pieces, spread over all of it.
	// Other weights differ everywhere, and to read all of a model of gigabytes
	// takes longer than to measure it.
	wholeTensor = 1 << 20
	pieces      = 256
	piece       = 4096

	digestDigits = 16
)

// weightsDigest tells models apart by their tensors: names, types, shapes and
// bytes, of which large tensors give a sample.
func weightsDigest(src source.Source) (string, error) {
	tensors := slices.Clone(src.Tensors())
	slices.SortFunc(tensors, func(a, b container.TensorInfo) int { return cmp.Compare(a.Name, b.Name) })
	sum := sha256.New()
	for _, t := range tensors {
		raw, err := src.Raw(t.Name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %s %v %08x\n", t.Name, t.TypeName, t.Shape, sampleSum(raw))
		if err := src.Release(t.Name); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:digestDigits], nil
}

// weightsOf is the digest of the model at path.
func weightsOf(path string, opt gguf.Options) (digest string, err error) {
	src, err := source.Open(path, opt)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	return weightsDigest(src)
}

func sampleSum(raw []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	if len(raw) <= wholeTensor {
		return crc32.Checksum(raw, table)
	}
	var sum uint32
	for i := range pieces {
		at := (len(raw) - piece) / (pieces - 1) * i
		if i == pieces-1 {
			at = len(raw) - piece
		}
		sum = crc32.Update(sum, table, raw[at:at+piece])
	}
	return sum
}

// modelsSetting says which weights models have, for the header.
func modelsSetting(subjects ...*subject) results.Setting {
	var words []string
	for _, sub := range subjects {
		words = append(words, sub.Name+"="+sub.weights)
	}
	return results.Setting{Key: results.ModelsKey, Value: strings.Join(words, " ")}
}

// tellApart gives models of one name and different weights names of their own.
func tellApart(subjects []*subject) {
	var models results.Namesakes
	for _, sub := range subjects {
		models.Add(sub.Name, sub.weights)
	}
	for _, sub := range subjects {
		if models.Of(sub.Name) != nil {
			sub.Name = results.ModelApart(sub.Name, sub.weights)
		}
	}
}
