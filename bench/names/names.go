package names

import (
	"slices"
	"strconv"
	"strings"

	"onebit/bench/results"
)

// The base names of cases and studies.
const (
	BaseMatVec   = "MatVec"   // a product of one matrix with one vector
	BaseKernel   = "Kernel"   // the product alone, of activations that are quantized already
	BaseRead     = "Read"     // reading as many bytes: the divisor of %roof
	BaseDotPeak  = "DotPeak"  // multiplying int8 in registers: the divisor of %peak
	BaseModel    = "Model"    // a test of a whole model
	BaseOp       = "Op"       // one operation of a test, in one block
	BaseWhatIf   = "WhatIf"   // a test of a whole model if something were different
	BaseLockstep = "Lockstep" // the error of one tensor in one block
	BaseLogits   = "Logits"   // the error of a model's predictions
	BaseHead     = "Head"     // what an output head in some format gives and costs

	// Those of onebit machine.
	BaseBandwidth = "Bandwidth" // reading, writing or copying memory
	BaseLatency   = "Latency"   // a load that waits for the one before
	BaseRoundTrip = "RoundTrip" // of a cache line between two CPUs
	BaseDispatch  = "Dispatch"  // handing each thread of a pool a task of no work
	BaseGather    = "Gather"    // the same, and waiting until all have begun theirs
	BaseTimer     = "Timer"     // reading the clock
	BaseFrequency = "Frequency" // of the CPUs' clock
)

// The keys, in the order in which names have them.
const (
	Format  = "format"  // of the weights, such as q1_0_g128
	Model   = "model"   // whose, such as bonsai-1.7b; with +q8_0 where the head is converted
	Engine  = "engine"  // that runs the model, such as metal; none: cpu
	Variant = "variant" // which kernel multiplies
	Act     = "act"     // the activation scheme: f32, q8_row, q8_128 or q8_32
	Packing = "packing" // one of Packings
	ISA     = "isa"     // the instructions of a DotPeak
	Rows    = "rows"    // of the matrix
	Cols    = "cols"
	Bytes   = "bytes"   // that a Read reads
	Test    = "test"    // load, ttft, pp512, tg128; see ModelTest
	Depth   = "depth"   // tokens in the KV cache before the test; none: 0
	Texts   = "texts"   // that are decoded together; none: one
	Text    = "text"    // which real one a test goes on from; none: random tokens
	Drafts  = "drafts"  // most tokens that are drafted for a pass; none: nothing is
	Threads = "threads" // that work
	Cache   = "cache"   // Warm or Cold; none where caches hold a part of what is read
	Change  = "change"  // what is different in a WhatIf, one of Changes, or Unchanged
	Input   = "input"   // of a lockstep: Isolated or Accumulated
	Block   = "block"   // a transformer block's number, or Outside
	Op      = "op"      // one of Operations
	Tensor  = "tensor"  // one of Tensors, BlockOutput or LogitsOutput
	Weights = "weights" // RandomWeights where predictions mean nothing; none: a trained model's
	Tokens  = "tokens"  // that were compared
	Head    = "head"    // the format of an output head that was tried, or the file's
	Access  = "access"  // one of Accesses
	Level   = "level"   // one of Levels; none where a size stands for itself
	Pages   = "pages"   // that memory lies on: huge or small
	Type    = "type"    // of what a DotPeak multiplies: Int8, f32 or bf16; none: int8
	From    = "from"    // a CPU's number
	To      = "to"      // another one's
)

// Values of Access.
const (
	ReadAccess  = "read"
	WriteAccess = "write"
	CopyAccess  = "copy" // counts what it reads and what it writes
)

// Accesses are all values of Access.
var Accesses = []string{ReadAccess, WriteAccess, CopyAccess}

// Levels are the values of Level, from the core outwards.
var Levels = []string{"l1d", "l2", "l3", DRAM}

// DRAM is the level behind all caches.
const DRAM = "dram"

// Int8 is a value of Type. The others are roofline's.
const Int8 = "int8"

// RandomWeights is the value of Weights of a model made by package models/synth.
const RandomWeights = "random"

// Values of Cache.
const (
	Warm = "warm" // the same weights again and again
	Cold = "cold" // the weights come from memory
)

// Values of Packing.
const (
	Packed = "packed" // in the variant's own layout
	Native = "native" // the file's bytes
	Stream = "stream" // the file's bytes, let go of block by block
)

// Packings are all values of Packing.
var Packings = []string{Packed, Native, Stream}

// Values of Input.
const (
	Isolated    = "isolated"    // each projection gets the reference's own input
	Accumulated = "accumulated" // the variant goes its own way
)

// Inputs are both values of Input, in the order of reports.
var Inputs = []string{Isolated, Accumulated}

// Values of Block and Tensor that are no block and no projection.
const (
	Outside      = "outside" // Block: the embedding and the output
	BlockOutput  = "block"   // Tensor: the residual stream behind a block
	LogitsOutput = "output"  // Tensor: the logits
)

// Unchanged is the value of Change of passes as they are, taken in turn with
// those of a what-if: each pair of samples, one after the other, is of the same
// moment.
const Unchanged = "none"

// Changes are the other values of Change.
var Changes = []string{ChangeHead, ChangeCache, ChangeNative, ChangePacked, ChangeThread}

// Values of Change.
const (
	ChangeHead   = "head-q8_0"   // the head in q8_0
	ChangeCache  = "cache-q8_0"  // keys and values in q8_0
	ChangeNative = "native"      // weights in place
	ChangePacked = "packed"      // weights packed
	ChangeThread = "thread-more" // one thread more
)

// Metal is the value of Engine of Apple's GPUs, and what the values of Variant of
// their kernels begin with.
const Metal = "metal"

// LlamaBench is the value of Variant of llama.cpp's own program.
const LlamaBench = "llama-bench"

// Operations are the values of Op in the order of a token's way through a
// model. What package models calls its operations must be here; a test in
// bench/cases sees to it.
var Operations = []string{
	"token_embd", "token_embd_hadamard", "token_embd_scale",
	"attn_norm", "hadamard", "attn_qkv", "attn_q", "attn_gate", "attn_q_norm", "attn_k_norm", "rope", "attn", "attn_gated", "attn_sub_norm", "attn_output",
	"ssm_in", "ssm_control", "ssm_conv", "ssm_q", "ssm_k", "ssm_v", "ssm_q_norm", "ssm_k_norm", "ssm_gates", "ssm_delta", "ssm_norm", "ssm_gated", "ssm_out",
	"residual_scale", "attn_residual",
	"ffn_norm", "ffn_gate_up", "ffn_act", "ffn_sub_norm", "ffn_down", "ffn_residual",
	"output_norm", "logit_scale", "output",
	Unattributed,
}

// Unattributed is the operation that is none: what a pass spent between the
// others, the observing included. With it, operations add up to the pass.
const Unattributed = "unattributed"

// Tensors are the values of Tensor that are projections, in the order of a
// block's work.
var Tensors = []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}

// A key is one key=value of a name; an empty value leaves it out.
type key struct{ name, value string }

func join(base string, keys ...key) string {
	var b strings.Builder
	b.WriteString(base)
	for _, k := range keys {
		if k.value != "" {
			b.WriteString("/" + k.name + "=" + k.value)
		}
	}
	return b.String()
}

// number is "" for 0, which no key but Depth means, and Depth leaves out.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// A MatVec is the name of a product. Fields that are empty or 0 are left out.
type MatVec struct {
	Format, Variant, Act string
	Rows, Cols, Threads  int
	Cache                string
}

func (m MatVec) String() string {
	return join(BaseMatVec, key{Format, m.Format}, key{Variant, m.Variant}, key{Act, m.Act},
		key{Rows, number(m.Rows)}, key{Cols, number(m.Cols)}, key{Threads, number(m.Threads)}, key{Cache, m.Cache})
}

// A Kernel is the name of a product alone, whose weights come from a level of
// memory.
type Kernel struct {
	Format, Variant, Act string
	Rows, Cols, Threads  int
	Level                string
}

func (k Kernel) String() string {
	return join(BaseKernel, key{Format, k.Format}, key{Variant, k.Variant}, key{Act, k.Act},
		key{Rows, number(k.Rows)}, key{Cols, number(k.Cols)}, key{Threads, number(k.Threads)}, key{Level, k.Level})
}

// A Read is the name of a ceiling of bytes: of a matrix's, which has Format,
// Rows and Cols, or of a model's.
type Read struct {
	Format     string
	Rows, Cols int
	Model      string
	Bytes      int
	Threads    int
	Cache      string
}

func (r Read) String() string {
	return join(BaseRead, key{Format, r.Format}, key{Rows, number(r.Rows)}, key{Cols, number(r.Cols)}, key{Model, r.Model},
		key{Bytes, number(r.Bytes)}, key{Threads, number(r.Threads)}, key{Cache, r.Cache})
}

// A DotPeak is the name of a ceiling of multiply-adds.
type DotPeak struct {
	Model, Type, ISA string
	Threads          int
}

func (d DotPeak) String() string {
	return join(BaseDotPeak, key{Model, d.Model}, key{Type, d.Type}, key{ISA, d.ISA}, key{Threads, number(d.Threads)})
}

// A Bandwidth is the name of how fast memory is read, written or copied.
type Bandwidth struct {
	Access, Level string
	Bytes         int // of all threads together
	Pages         string
	Threads       int
}

func (b Bandwidth) String() string {
	return join(BaseBandwidth, key{Access, b.Access}, key{Level, b.Level}, key{Bytes, number(b.Bytes)}, key{Pages, b.Pages}, key{Threads, number(b.Threads)})
}

// A Latency is the name of how long a load from so many bytes takes.
type Latency struct {
	Bytes int
	Pages string
}

func (l Latency) String() string {
	return join(BaseLatency, key{Bytes, number(l.Bytes)}, key{Pages, l.Pages})
}

// RoundTrip is the name of a cache line's way between two CPUs.
func RoundTrip(from, to int) string {
	return join(BaseRoundTrip, key{From, strconv.Itoa(from)}, key{To, strconv.Itoa(to)})
}

// Dispatch is the name of what it costs to hand so many threads work.
func Dispatch(threads int) string { return join(BaseDispatch, key{Threads, number(threads)}) }

// Gather is the name of what it costs until so many threads have begun a task and all
// have ended theirs.
func Gather(threads int) string { return join(BaseGather, key{Threads, number(threads)}) }

// Frequency is the name of the clock of so many threads.
func Frequency(threads int) string { return join(BaseFrequency, key{Threads, number(threads)}) }

// A ModelCase is the name of a model's test.
type ModelCase struct {
	Model, Engine, Variant, Act, Packing string
	Test                                 ModelTest
	Threads                              int

	Texts  int    // decoded together; 0: one
	Text   string // a real one; "": random tokens
	Drafts int    // most tokens of a draft; 0: none
}

func (m ModelCase) keys() []key {
	return []key{{Model, m.Model}, {Engine, m.Engine}, {Variant, m.Variant}, {Act, m.Act}, {Packing, m.Packing},
		{Test, m.Test.Name()}, {Depth, number(m.Test.Depth)},
		{Texts, number(m.Texts)}, {Text, m.Text}, {Drafts, number(m.Drafts)}, {Threads, number(m.Threads)}}
}

func (m ModelCase) String() string { return join(BaseModel, m.keys()...) }

// Operation is the name of an operation's part of the test. Block and op are
// left out where empty: that is the name of the study of them all.
func (m ModelCase) Operation(block, op string) string {
	return join(BaseOp, append(m.keys(), key{Block, block}, key{Op, op})...)
}

// WhatIf is the name of the test if something were different: one of Changes.
func (m ModelCase) WhatIf(change string) string {
	return join(BaseWhatIf, append(m.keys(), key{Change, change})...)
}

// A Lockstep is the name of a tensor's error, or of the study of all of them.
type Lockstep struct{ Model, Engine, Variant, Act, Input, Block, Tensor string }

func (l Lockstep) String() string {
	return join(BaseLockstep, key{Model, l.Model}, key{Engine, l.Engine}, key{Variant, l.Variant}, key{Act, l.Act},
		key{Input, l.Input}, key{Block, l.Block}, key{Tensor, l.Tensor})
}

// A Logits is the name of the error of predictions.
type Logits struct {
	Model, Engine, Variant, Act, Weights string
	Tokens                               int
}

func (l Logits) String() string {
	return join(BaseLogits, key{Model, l.Model}, key{Engine, l.Engine}, key{Variant, l.Variant}, key{Act, l.Act}, key{Weights, l.Weights}, key{Tokens, number(l.Tokens)})
}

// A HeadCase is the name of a head's trial, or of the study of them all.
type HeadCase struct {
	Model, Variant, Act, Packing string
	Threads                      int
	Head                         string
}

func (h HeadCase) String() string {
	return join(BaseHead, key{Model, h.Model}, key{Variant, h.Variant}, key{Act, h.Act}, key{Packing, h.Packing}, key{Threads, number(h.Threads)}, key{Head, h.Head})
}

// BlockOf is the number of a name's transformer block; false where it has
// none or is outside them.
func BlockOf(n results.Name) (int, bool) {
	i, err := strconv.Atoi(n.Get(Block))
	return i, err == nil && i >= 0
}

// ThreadsOf is the number of threads in a name; 0 where it has none.
func ThreadsOf(n results.Name) int { return count(n, Threads) }

// OnGPU reports whether a GPU does the work of a name, which has no threads then.
func OnGPU(n results.Name) bool {
	family, _, _ := strings.Cut(n.Get(Variant), "-")
	return n.Get(Engine) == Metal || family == Metal
}

// count is a key's value as a number; 0 if it is none.
func count(n results.Name, key string) int {
	i, err := strconv.Atoi(n.Get(key))
	if err != nil || i < 0 {
		return 0
	}
	return i
}

// SubjectOf is what a name is about: a format or a model; "" if neither.
func SubjectOf(n results.Name) string {
	if f := n.Get(Format); f != "" {
		return f
	}
	return n.Get(Model)
}

// IsCeiling reports whether a name is that of a ceiling.
func IsCeiling(n results.Name) bool { return n.Base == BaseRead || n.Base == BaseDotPeak }

// IsMachine reports whether a name is one of onebit machine's.
func IsMachine(n results.Name) bool {
	return slices.Contains([]string{BaseBandwidth, BaseLatency, BaseRoundTrip, BaseDispatch, BaseGather, BaseTimer, BaseFrequency}, n.Base) ||
		n.Base == BaseDotPeak && n.Get(Type) != ""
}

// CPUsOf are the two CPUs of a RoundTrip; false where a name has none.
func CPUsOf(n results.Name) (from, to int, ok bool) {
	from, err1 := strconv.Atoi(n.Get(From))
	to, err2 := strconv.Atoi(n.Get(To))
	return from, to, err1 == nil && err2 == nil && from >= 0 && to >= 0
}

// BytesOf is the number of bytes in a name; 0 where it has none.
func BytesOf(n results.Name) int { return count(n, Bytes) }

// IsPartOfModel reports whether a name tells of a part of a model or of its
// errors, and not of a test.
func IsPartOfModel(n results.Name) bool {
	return slices.Contains([]string{BaseOp, BaseLockstep, BaseLogits, BaseHead}, n.Base)
}
