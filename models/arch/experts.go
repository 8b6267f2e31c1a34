package arch

// Experts are the numbers of a feed-forward network that is many, of which a router
// chooses some for each token (Shazeer et al., arXiv:1701.06538).
type Experts struct {
	Count, Used int
	// Sigmoid says that a router's logits become weights each by itself, and not
	// together by softmax.
	Sigmoid bool
	// Normalized says that the weights of those chosen are divided by their sum.
	Normalized bool
	Scale      float32 // by which weights are multiplied; 0: none
}

func (e Experts) check() *Violation {
	switch {
	case e == Experts{}:
		return nil
	case e.Count < 1 || e.Count > maxExperts:
		return violationf(KeyExpertCount, "%d is not between 1 and %d", e.Count, maxExperts)
	case e.Used < 1 || e.Used > e.Count:
		return violationf(KeyExpertUsed, "%d is not between 1 and the %d experts", e.Used, e.Count)
	case e.Scale != 0 && !positive(e.Scale):
		return violationf(KeyExpertScale, "%v is not positive and finite", e.Scale)
	}
	return nil
}

// maxExperts is above any model, and its numbers are exact in float32.
const maxExperts = 1 << 16

// Sliding says which blocks look at the last positions of a text only (Beltagy et al.,
// arXiv:2004.05150).
type Sliding struct {
	Window   int // positions, a token's own included
	Interval int // of so many blocks in a row, the last looks at all; 0: none does
}

// Window returns how many positions a block looks at; 0: all.
func (c Config) Window(block int) int {
	if s := c.Sliding; s.Interval > 0 && (block+1)%s.Interval == 0 {
		return 0
	}
	return c.Sliding.Window
}

func (s Sliding) check() *Violation {
	switch {
	case s == Sliding{}:
		return nil
	case s.Window < 1 || s.Window > maxCount:
		return violationf(KeySlidingWindow, "%d is not between 1 and %d", s.Window, maxCount)
	case s.Interval < 0 || s.Interval == 1 || s.Interval > maxCount:
		return violationf(KeySlidingPattern, "every %d. block looks at the whole text, which is no pattern", s.Interval)
	}
	return nil
}

// keyFFN is the key of the width of a feed-forward network.
func (c Config) keyFFN() string {
	if c.Experts.Count > 0 {
		return KeyExpertFFN
	}
	return KeyFeedForwardLength
}
