//go:build !purego

package tiles

// Four returns the tile whose n last rows are those from row r: 4 rows
// from a row on, stride bytes apart. If the matrix up to r1 has fewer, it is
// row r four times.
func Four(r, r1, rowBytes int) (from, n, stride int) {
	switch {
	case r+4 <= r1:
		return r, 4, rowBytes
	case r1 >= 4:
		return r1 - 4, r1 - r, rowBytes
	}
	return r, 1, 0
}
