package kernels

// A Scratch is what a kernel works in and keeps from one call to the next: a T
// for each thread. It is a variable of the kernel's package.
type Scratch[T any] struct{ _ byte }

// Of returns the T of the thread that multiplies with a.
func (s *Scratch[T]) Of(a *Activations) *T {
	if a.scratch == nil {
		a.scratch = scratches{}
	}
	if t, ok := a.scratch[s]; ok {
		return t.(*T)
	}
	t := new(T)
	a.scratch[s] = t
	return t
}

// scratches are a thread's, by the *Scratch they are of.
type scratches map[any]any
