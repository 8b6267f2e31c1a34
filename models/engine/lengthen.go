package engine

// A Lengthener is a Stream whose text can be made longer without being computed,
// to measure what comes behind it.
type Lengthener interface {
	Stream
	// Lengthen makes the text one of n tokens: keys and values of those that came
	// are repeated, and what blocks keep without positions stays as it is. An error
	// leaves the text alone; one is that its tokens so far are no multiple of the
	// engine's step.
	Lengthen(n int) error
}
