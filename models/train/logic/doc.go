// Package logic asks what ternary networks make of Boolean functions: whether
// ternary neurons learn gates from random starts, how well the network of NanoLogic
// (github.com/mohamedhossammohamed/NanoLogic) predicts the state of SHA-256, and how
// large ternary models are in memory.
//
// # Gates
//
// A [Gate] is a Boolean function of few inputs. [Learn] trains a network of rounded
// or float weights on its whole truth table: bits are -1 and +1, an output is true where
// its logit is above 0. The functions Σ and σ of SHA-256 have 32 inputs, but each bit
// of them is the parity of three: a [Word] is such a function, wired, and one
// learned cell serves all of its bits.
//
// # The state of SHA-256
//
// A [Sparse] predicts the 256 bits of the state after a round from those before it. Six
// of the eight words are copies (b' = a, c' = b, d' = c, f' = e, g' = f, h' = g), so
// 192 bits can be known. The others are
//
//	T1 = h + Σ1(e) + Ch(e,f,g) + K[t] + W[t]     e' = d + T1
//	T2 = Σ0(a) + Maj(a,b,c)                      a' = T1 + T2
//
// and W[t] is no input. Given the state, e' is W[t] plus a constant modulo 2³², and so is
// a'. In the first 16 rounds W[t] is a word of the message, uniform and independent of
// all that came before, so each bit of a' and e' is 0 or 1 with probability 1/2,
// whatever the state. No predictor is right about them more often than half the time:
// in expectation at most (192 + 64/2)/256 = 87.5 % of the bits. (Only their difference
// a' - e' = T2 - d is known; it takes a bit of one to tell the other.)
//
// From round 16 on W[t] follows from the message. The state tells of the message only
// as much as eight words; that W[t] is as good as uniform then is what SHA-256 is built
// for, and not proved here.
package logic
