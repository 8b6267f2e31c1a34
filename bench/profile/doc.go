// Package profile says where the time, the bytes and the multiply-adds of a
// model's tests go, and what bounds each operation. It is data and arithmetic:
// it knows neither models nor clocks.
//
// # From marks to costs
//
// A [Pass] is one performance of a test: the [Span] of each operation, and the
// marks of each thread. [Pass.Timeline] turns them into a line of segments for
// each thread, without gaps, and [Pass.Costs] adds the segments up by operation.
// A thread's activities add up to the pass:
//
//	quantize   makes activations ready for a product
//	multiply   computes rows of a product
//	other      computes something else that is shared among threads: attention, norms of a prompt
//	dispatch   the caller hands tasks out, another thread has not begun yet: the ramp-up
//	wait       finds no more tasks while others still work: the tail
//	serial     the caller computes by itself, another thread has nothing to do
//
// # Bounds
//
// The least time of an operation follows from what the machine does at most
// ([Ceilings]): the longest of
//
//	Bytes ÷ read rate of the level of memory that holds all that a token reads
//	Moved ÷ read rate of the cache that holds a thread's part of the activations
//	MACs ÷ peak of int8, or of float32 where the operation computes in it
//	Dispatches × time of an empty dispatch
//
// The longest is the operation's [Bound]. The operation's time beyond it
// could be won. The parts overlap in a perfect program; a program in which
// they follow each other takes up to their sum.
//
// # What if
//
// [Test.Predict] computes the time of a token if something were different: an
// operation's time changes by as much as its bound does, because what it loses
// beside that it goes on to lose; with more threads, what is shared among them
// is shared by more, and takes no less than the bound.
package profile
