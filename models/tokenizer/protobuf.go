package tokenizer

import (
	"encoding/binary"
	"errors"
	"math"
)

var errProtobuf = errors.New("is no SentencePiece model: not a protocol buffer, or cut short")

// readPieces reads a tokenizer.model: a protocol buffer of type ModelProto.
// Source: google/sentencepiece src/sentencepiece_model.proto.
//
//	1 pieces           1 piece string, 2 score float, 3 type enum (as in GGUF)
//	2 trainer_spec     3 model_type: 1 unigram, 2 BPE
//	3 normalizer_spec  3 add_dummy_prefix bool
func readPieces(data []byte, src *hfSource) error {
	src.model = modelLlama
	modelType := uint64(1) // the default in the definition
	err := eachField(data, func(number int, _ uint64, bytes []byte) error {
		switch number {
		case 1:
			return readPiece(bytes, src)
		case 2:
			return eachField(bytes, func(number int, n uint64, _ []byte) error {
				if number == 3 {
					modelType = n
				}
				return nil
			})
		case 3:
			return eachField(bytes, func(number int, n uint64, _ []byte) error {
				if number == 3 {
					src.flags[keyAddPrefix] = n != 0
				}
				return nil
			})
		}
		return nil
	})
	if err == nil && modelType != 2 {
		err = keyErrorf(keyModel, "is %d, want 2, which is BPE", modelType)
	}
	return err
}

func readPiece(data []byte, src *hfSource) error {
	id := len(src.tokens)
	text, score, k := "", float32(0), uint64(normal)
	err := eachField(data, func(number int, n uint64, bytes []byte) error {
		switch number {
		case 1:
			text = string(bytes)
		case 2:
			score = math.Float32frombits(uint32(n))
		case 3:
			k = n
		}
		return nil
	})
	if err != nil {
		return err
	}
	if k < uint64(normal) || k > uint64(byteKind) {
		return keyErrorf(keyTypes, "the type of token %d is %d, want 1 to %d", id, k, byteKind)
	}
	if text == "" {
		return keyErrorf(keyTokens, "token %d is empty", id)
	}
	err = src.add(text, int64(id), kind(k))
	if err == nil {
		src.scores[id] = score
	}
	return err
}

// eachField calls f with the fields of a message: with bytes if they are
// that, with a number if not. Source: protobuf.dev, Encoding.
func eachField(data []byte, f func(number int, n uint64, bytes []byte) error) error {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 || tag>>3 == 0 || tag>>3 > math.MaxInt32 {
			return errProtobuf
		}
		data = data[n:]
		var value uint64
		var bytes []byte
		size := 0
		switch tag & 7 {
		case 0:
			value, size = binary.Uvarint(data)
		case 1:
			if size = 8; len(data) >= size {
				value = binary.LittleEndian.Uint64(data)
			}
		case 2:
			length, n := binary.Uvarint(data)
			if n <= 0 || length > uint64(len(data)-n) {
				return errProtobuf
			}
			size = n + int(length)
			bytes = data[n:size]
		case 5:
			if size = 4; len(data) >= size {
				value = uint64(binary.LittleEndian.Uint32(data))
			}
		}
		if size <= 0 || size > len(data) {
			return errProtobuf
		}
		data = data[size:]
		if err := f(int(tag>>3), value, bytes); err != nil {
			return err
		}
	}
	return nil
}
