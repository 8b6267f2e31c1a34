// Package verify tells whether another engine runs a model right, from what it
// answered: the distributions of next tokens that it gave for tokens.
//
// # Answers
//
// They come from llama.cpp's saved logits ([FromLogits]), from a server on this
// machine that gives the likeliest tokens ([Server]), or from a program on a pipe
// ([Program]):
//
//	stdin:   count   uint32, of the tokens of a text
//	         tokens  count × uint32, the first a BOS where the model wants one
//	stdout:  logits  count × vocabulary × float32, after each token, for the one to follow
//
// All numbers are little-endian. Texts follow one another, each from an empty
// context, until stdin ends. A program that writes anything else, such as its
// progress, writes it to stderr.
//
// # The verdict
//
// Each answer q is compared with the reference's distribution p by their divergence
// D = Σ p ln(p/q), in nats. Of an answer with the likeliest tokens alone, the others
// count as one, which never makes D larger.
//
// Rounding is no fault: activation schemes are variations of the reference that
// engines choose, and D of each of them from the reference is what it explains. An
// engine is right if its mean D is at most
//
//	limit = 4 · the largest that a scheme explains + 1e-4
//
// the latter for caches of 16 bits and saved logits, which round too. Else it is
// wrong, and [Variations] that are faults are tried, each as the reference: the one
// that the answers are nearest to is the likeliest cause, if they are as near to it as
// a right engine's are to the reference, or 10 times nearer than to the reference.
//
// The first position where they part is the first one whose D is above 10 limits.
// Answers are of the last layer: they do not tell in which block that began.
package verify
