package profile

// A Turn is how a thread spends a dispatch, in seconds, the mean of all of an operation.
type Turn struct {
	Begin    float64 // until the thread has its first task: the ramp-up; all of it for one that comes too late for any
	Quantize float64
	Work     float64 // in tasks: rows of products, or anything else
	Tail     float64 // without more tasks, while others still work
}

// Turns returns the caller's turn and the mean of the other threads', for operations
// that are shared among threads.
func (o Operation) Turns() (caller, others Turn, ok bool) {
	n := o.PerUnit(o.Dispatches)
	if n == 0 || len(o.Activities) < 2 {
		return caller, others, false
	}
	rest := float64(len(o.Activities) - 1)
	for thread, activities := range o.Activities {
		if thread == 0 {
			caller.add(activities, 1/n)
		} else {
			others.add(activities, 1/(n*rest))
		}
	}
	return caller, others, true
}

func (t *Turn) add(activities [Activities]float64, scale float64) {
	t.Begin += scale * activities[Dispatch]
	t.Quantize += scale * activities[Quantize]
	t.Work += scale * (activities[Multiply] + activities[Other])
	t.Tail += scale * activities[Wait]
}
