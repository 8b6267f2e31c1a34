// Package q1 multiplies q1_0_g128, Bonsai's format of one bit per weight. It
// registers its variants with package kernels.
//
// # Packed layouts
//
//	bitplanes   16 rows × 128 columns in 288 bytes, no larger than
//	            native. Byte 4r+t (r = row in tile, t = 0..3) of a 64-byte
//	            vector v holds column 32v + 4j + t of row r at bit j:
//
//	            vector 0        vector 1        vector 2        vector 3        16 fp16 scales
//	            64 B: k 0…31    64 B: k 32…63   64 B: k 64…95   64 B: k 96…127  32 B
//
//	            Rows lie in dword lanes: a dot product of bytes leaves 16 row
//	            sums without a horizontal addition, and 16 scales convert at once.
//
//	rows64      64 rows × 128 columns in 1152 bytes. Byte p of vector v
//	            is columns 8v … 8v+7 of row 8·g + p mod 8, where g is number p/8 of
//	            0 4 1 5 2 6 3 7: bytes interleaved within 128 bits and widened
//	            are then rows in sequence.
//
//	            vector 0      …   vector 15          64 fp16 scales
//	            64 B: k 0…7       64 B: k 120…127    128 B
//
//	rows128     128 rows × 128 columns in 2304 bytes: 8 groups of four
//	            vectors. Vector v of a group has 16 columns of rows 32v … 32v+31
//	            as an int16 each, as the file has them; even ones are the first
//	            16 rows, which one VPMADDWD widens in sequence.
//
//	            group 0            …   group 7                128 fp16 scales
//	            4 × 64 B: k 0…15       4 × 64 B: k 112…127    256 B
package q1
