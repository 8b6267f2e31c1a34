package safetensors_test

import (
	"bytes"
	"fmt"
	"log"

	"onebit/formats"
	"onebit/formats/safetensors"
)

func Example() {
	data := make([]byte, 8)
	if err := formats.F16.Matrix(data, 2, 2).Quantize([]float32{1, 2, 3, 4}); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	err := safetensors.Write(&file, []safetensors.Tensor{{Name: "lm_head.weight", DType: "F16", Shape: []int{2, 2}, Data: data}})
	if err != nil {
		log.Fatal(err)
	}
	f, err := safetensors.Parse(file.Bytes(), "example.safetensors")
	if err != nil {
		log.Fatal(err)
	}
	tensor, err := f.Tensor("lm_head.weight")
	if err != nil {
		log.Fatal(err)
	}
	weights, err := tensor.Floats()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.Type.Name, tensor.Shape, weights)
	// Output: f16 [2 2] [1 2 3 4]
}
