package dense

// A Matrix is a view of float32s: row r begins at Data[r·Stride]. Its transpose is a
// view of the same floats.
type Matrix struct {
	data       []float32
	rows, cols int // as it is seen
	stride     int // floats between rows, or between columns if transposed
	transposed bool
}

// Of returns the rows × cols matrix that lies in data row after row.
func Of(data []float32, rows, cols int) Matrix { return Strided(data, rows, cols, cols) }

// Strided returns the rows × cols matrix whose rows begin stride floats apart.
// It panics if data is too short.
func Strided(data []float32, rows, cols, stride int) Matrix {
	if rows < 0 || cols < 0 || stride < cols {
		panic("dense: a matrix of negative size, or whose rows overlap")
	}
	if rows > 0 && cols > 0 && (len(data) < cols || (len(data)-cols)/max(stride, 1) < rows-1) {
		panic("dense: data is too short for the matrix")
	}
	return Matrix{data: data, rows: rows, cols: cols, stride: stride}
}

// Rows returns the number of rows.
func (m Matrix) Rows() int { return m.rows }

// Cols returns the number of columns.
func (m Matrix) Cols() int { return m.cols }

// Data returns the floats that m is a view of, from its first element on.
func (m Matrix) Data() []float32 { return m.data }

// T returns the transpose of m, a view.
func (m Matrix) T() Matrix {
	m.rows, m.cols, m.transposed = m.cols, m.rows, !m.transposed
	return m
}

// Block returns the rows × cols view of m whose first element is at (row, col).
func (m Matrix) Block(row, col, rows, cols int) Matrix {
	if row < 0 || col < 0 || rows < 0 || cols < 0 || row > m.rows-rows || col > m.cols-cols {
		panic("dense: block is outside the matrix")
	}
	if rows == 0 || cols == 0 {
		m.data = nil
	} else {
		m.data = m.data[m.at(row, col):]
	}
	m.rows, m.cols = rows, cols
	return m
}

// at returns where in data an element is.
func (m Matrix) at(row, col int) int {
	if m.transposed {
		row, col = col, row
	}
	return row*m.stride + col
}
