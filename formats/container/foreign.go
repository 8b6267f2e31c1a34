package container

import (
	"bytes"
	"encoding/binary"
)

// signs are the first bytes of files that are taken for models.
var signs = []struct{ prefix, is string }{
	{"GGUF", "a GGUF file"},
	{"FUGG", "a GGUF file with swapped bytes (big-endian); convert it with gguf_convert_endian.py of llama.cpp"},
	{"lmgg", "a GGML file from before GGUF; convert the model again"},
	{"fmgg", "a GGML file from before GGUF; convert the model again"},
	{"tjgg", "a GGJT file from before GGUF; convert the model again"},
	{"algg", "a GGML adapter, not a model"},
	{"CELLM", "a .cellm file"},
	{"PK\x03\x04", "a zip archive (as PyTorch checkpoints are); unpack or convert it"},
	{"\x1f\x8b", "compressed with gzip; unpack it"},
	{"version https://git-lfs", "a git-lfs pointer, not the model; run git lfs pull"},
	{"<", "a web page, not the model; the download failed"},
	{"{", "JSON text, not a model"},
}

// Foreign says what a file is that is not in the container that it was taken
// for, so that the user knows what to do about it. It returns "" if it cannot
// tell.
func Foreign(data []byte) string {
	switch {
	case len(data) == 0:
		return "the file is empty"
	case IsSafetensors(data) && binary.LittleEndian.Uint64(data) < uint64(len(data)):
		return "the file is a safetensors file; give the directory that holds it, or convert it to GGUF"
	}
	for _, sign := range signs {
		if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte(sign.prefix)) {
			return "the file is " + sign.is
		}
	}
	return ""
}

// IsSafetensors reports whether JSON follows 8 bytes, which are its length then.
func IsSafetensors(data []byte) bool { return len(data) > 8 && data[8] == '{' }
