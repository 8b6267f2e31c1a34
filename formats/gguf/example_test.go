package gguf_test

import (
	"bytes"
	"fmt"
	"log"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
)

func Example() {
	weights := []float32{1, 2, 3, 4}
	data := make([]byte, 8)
	if err := formats.F16.Matrix(data, 2, 2).Quantize(weights); err != nil {
		log.Fatal(err)
	}

	var file bytes.Buffer
	w, err := gguf.NewWriter(&file,
		[]container.KV{{Key: "general.architecture", Value: container.Of("qwen3")}},
		[]container.TensorInfo{{Name: "output.weight", Type: formats.F16, Shape: []int{2, 2}}})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.WriteTensor("output.weight", data); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	f, err := gguf.Parse(file.Bytes(), "example.gguf", gguf.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, kv := range f.Metadata() {
		fmt.Println(kv.Key, "=", kv.Value)
	}
	for _, t := range f.Tensors() {
		fmt.Println(t.Name, t.TypeName, t.Shape, "at byte", t.Offset)
	}
	_, err = f.Uint("general.alignment")
	fmt.Println(err)
	// Output:
	// general.architecture = "qwen3"
	// output.weight f16 [2 2] at byte 128
	// example.gguf: key "general.alignment": is missing
}
