package formats_test

import (
	"fmt"

	"onebit/formats"
)

// Master weights go through absmean before a format that keeps signs only.
func Example() {
	const rows, cols = 4, 3
	w := []float32{
		0.9, -0.1, -1.2,
		0.0, 0.7, -0.3,
		-0.8, 1.1, 0.2,
		0.6, -0.9, 0.4,
	}
	if _, err := formats.Ternarize(w, w); err != nil {
		fmt.Println(err)
		return
	}
	f, err := formats.Lookup("i2_s_x4")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := f.NewMatrix(rows, cols)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.Quantize(w); err != nil {
		fmt.Println(err)
		return
	}
	row := make([]float32, cols)
	if err := m.DequantizeRows(row, 2, 3); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d bytes, row 2: %.1f\n", len(m.Data), row)
	m.Data[2] = 0xff
	fmt.Println(m.Validate())
	// Output:
	// 35 bytes, row 2: [-0.6 0.6 0.0]
	// i2_s_x4: code 3 has no meaning at row 0, column 2, byte 2
}
