// Package threads runs tasks on a fixed set of threads that spin between dispatches,
// and records what each thread does meanwhile.
//
//	Team      the caller and its workers; Run dispatches tasks to them
//	Claim     lets the caller steal a task from a worker that the system has stopped
//	Recorder  what each thread did, and when
//	Worth     whether tasks are long enough to be dispatched
//
// It knows nothing of what tasks do. [onebit/kernels.Pool] multiplies with it.
package threads
