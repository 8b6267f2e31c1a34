package models

// The lengths of the runs of tokens that a draft is looked up by. A single token
// says too little about what follows.
const (
	shortestMatch = 2
	longestMatch  = 8
)

// mostPlaces is how many earlier places of the last two tokens a draft is looked for
// at: a pass is not to wait for a text that says the same two thousands of times.
const mostPlaces = 64

// A history is a text and, for each place in it, where the two tokens before it came
// up last: a draft is found without going through the text.
type history struct {
	text   []int
	latest map[[shortestMatch]int]int // behind the pair's last place so far
	before []int                      // by place: behind the pair's place before; 0: none

	looked, at, match int // the length that lookup has looked at, and what it found
}

func newHistory() *history {
	return &history{latest: map[[shortestMatch]int]int{}, before: []int{0}}
}

func (h *history) add(ids ...int) {
	for _, id := range ids {
		h.text = append(h.text, id)
		end, earlier := len(h.text), 0
		if end >= shortestMatch {
			pair := [shortestMatch]int(h.text[end-shortestMatch:])
			earlier = h.latest[pair]
			h.latest[pair] = end
		}
		h.before = append(h.before, earlier)
	}
}

// lookup returns where the text went on after the last place that ends as the
// text itself does, in as many tokens as possible up to longestMatch, and in how
// many that is; 0 if they are fewer than shortestMatch.
func (h *history) lookup() (at, match int) {
	if h.looked < len(h.text) {
		h.looked = len(h.text)
		h.at, h.match = h.search()
	}
	return h.at, h.match
}

// search is lookup, every time.
func (h *history) search() (at, match int) {
	end := h.before[len(h.text)]
	for range mostPlaces {
		if end == 0 || match == longestMatch {
			break
		}
		if n := sameEnd(h.text[:end], h.text); n > match {
			at, match = end, n
		}
		end = h.before[end]
	}
	return at, match
}

// sameEnd returns in how many tokens two texts end alike, up to longestMatch.
func sameEnd(a, b []int) (n int) {
	for n < min(longestMatch, len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// follow appends n tokens to draft: what comes in the text from one place on and,
// where that is too little, what has been appended, as a text that repeats itself
// would go on.
func (h *history) follow(draft []int, at, n int) []int {
	from := len(draft)
	for i := range n {
		if at+i < len(h.text) {
			draft = append(draft, h.text[at+i])
		} else {
			draft = append(draft, draft[from+at+i-len(h.text)])
		}
	}
	return draft
}
