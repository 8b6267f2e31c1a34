// Package forecast predicts how fast a model decodes and takes in a prompt on a
// machine, and what memory it takes, before its file is there.
//
// A token's time is the sum over the model's matrices of
//
//	Fixed + weights / Decode
//
// both of the matrix's format, by two shapes whose products were timed here with weights
// from memory, by turns with reading alone; and of what is no product: keys, values and
// states at the rate at which memory is read, and ElementTime for each number of a norm, a
// gate or a residual. A prompt's is that of its multiply-adds at the rate of products with
// 128 columns, which is another for rows longer than LongRow, and of attention at
// AttentionShare of the float32 peak.
//
// The interval is of the products' scatter, of memory's rate meanwhile and of ModelError, by
// which predictions were off where models were measured: docs/models.md has them side by
// side. Decoding follows memory's rate, which changes where the system moves threads: a
// prediction holds for the state in which it was made, and RoundTrip names that.
//
// Package cases measures a [Machine]. The published models are the presets of package
// arch that have editions.
package forecast
