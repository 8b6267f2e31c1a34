package names

import (
	"slices"
	"strconv"
	"strings"

	"onebit/bench/results"
)

// Kinds of tests of a model, in llama-bench's words where it has any.
const (
	Load   = "load" // opening the model until it is ready
	TTFT   = "ttft" // time to the first token, from the start of a process
	Prompt = "pp"   // taking in so many tokens
	Decode = "tg"   // making so many tokens
)

// TestKinds are all kinds, in the order of reports.
var TestKinds = []string{Load, TTFT, Prompt, Decode}

// A ModelTest is a test of a model: pp512 behind 4,096 tokens is
// {Prompt, 512, 4096}.
type ModelTest struct {
	Kind   string
	Tokens int // 0 for Load and TTFT
	Depth  int // tokens in the KV cache before
}

// Name is the value of the key Test: without the depth, which has a key of its
// own.
func (t ModelTest) Name() string { return t.Kind + number(t.Tokens) }

// String is the test in llama-bench's form: "tg128 @ d4096".
func (t ModelTest) String() string {
	if t.Depth == 0 {
		return t.Name()
	}
	return t.Name() + " @ d" + strconv.Itoa(t.Depth)
}

// TestOf is the test in a name; false if it has none that is known.
func TestOf(n results.Name) (ModelTest, bool) {
	name := n.Get(Test)
	t := ModelTest{Kind: strings.TrimRight(name, "0123456789"), Depth: count(n, Depth)}
	if !slices.Contains(TestKinds, t.Kind) {
		return ModelTest{}, false
	}
	t.Tokens, _ = strconv.Atoi(name[len(t.Kind):])
	return t, true
}
