package metal

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/internal/require"
)

// A mistake is a change of a file, or of all that a pattern matches, and the test that
// fails of it. Paths are those of the repository.
type mistake struct {
	name, file string
	old, new   string
	folder     string
	test       string
}

// Each mistake, made in a copy, makes the test fail that is named beside it. A few are
// drawn; each night all are made. docs/metal.md names what is not caught.
func TestMistakes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a GPU does not look for mistakes")
	}
	if testing.Short() {
		t.Skip("short: each mistake is compiled and tested")
	}
	require.Unraced(t, "the mistakes are made in a copy")
	require.Unplayed(t, "the mistakes are made in a copy")
	for _, tool := range []string{"g++", "clang"} {
		if _, err := exec.LookPath(tool); err != nil {
			require.Skip(t, tool, err.Error())
		}
	}
	copied := t.TempDir()
	for _, part := range []string{"go.mod", "go.sum", "metal", "models", "formats", "kernels", "internal"} {
		copyTree(t, filepath.Join("..", part), filepath.Join(copied, part))
	}
	for _, m := range require.Draw(t, 60, mistakes) {
		t.Run(m.name, func(t *testing.T) { m.try(t, copied) })
	}
}

// Each mistake has a place in the sources as they are.
func TestMistakesHavePlaces(t *testing.T) {
	for _, m := range mistakes {
		paths, err := filepath.Glob(filepath.Join("..", m.file))
		if err != nil {
			t.Fatal(err)
		}
		there := func(path string) bool {
			text, err := os.ReadFile(path)
			return err == nil && strings.Contains(string(text), m.old)
		}
		if !slices.ContainsFunc(paths, there) {
			t.Errorf("%s: %s has no place for it", m.name, m.file)
		}
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// try makes the mistake, runs the test, and takes the mistake back.
func (m mistake) try(t *testing.T, root string) {
	paths, err := filepath.Glob(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	planted := false
	for _, path := range paths {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		after := strings.ReplaceAll(string(before), m.old, m.new)
		if after == string(before) {
			continue
		}
		planted = true
		if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
			t.Fatal(err)
		}
		defer os.WriteFile(path, before, 0o644)
	}
	if !planted {
		t.Fatalf("%s has no place for it", m.file)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	defer stop()
	command := exec.CommandContext(ctx, "go", "test", "-trimpath", "-vet=off", "-count=1", "-run", "^"+m.test+"$", "./"+m.folder)
	command.Dir = root
	command.Env = append(os.Environ(), "ONEBIT_ALL=1")
	out, err := command.CombinedOutput()
	if err == nil {
		t.Fatalf("%s in %s passes", m.test, m.folder)
	}
	found := finding.Find(out)
	if found == nil {
		t.Fatalf("%s in %s did not find it, but something else happened:\n%s", m.test, m.folder, out)
	}
	t.Logf("%s: %s", m.test, bytes.TrimSpace(found))
}

// A finding is what a test that was run alone says first when it fails, or what the
// program ends with: memory that the GPU has faults where the host touches it.
var finding = regexp.MustCompile(`(?m)^ +\w+\.go:\d+: .*|^(fatal error|SIG[A-Z]+|panic): .*`)

var mistakes = []mistake{
	{"fast mathematics is on", "metal/library.go",
		"\"setFastMathEnabled:\", 0", "\"setFastMathEnabled:\", 1", "metal", "TestSafeMath"},
	{"fast mathematics is not turned off", "metal/library.go",
		"\t\to.send(options, \"setFastMathEnabled:\", 0)\n", "", "metal", "TestSafeMath"},
	{"buffers are private", "metal/buffer.go",
		"sharedStorage = 0 ", "sharedStorage = 2 << 4 ", "metal", "TestAllocationFails"},
	{"pages have 4096 bytes", "metal/mapping.go",
		"page, at := d.objc.page, addressOf(data)", "page, at := uintptr(4096), addressOf(data)", "metal", "TestAllocationFails"},
	{"GPU families are one too low", "metal/device.go",
		"Apple5 Family = 1005 + iota", "Apple5 Family = 1004 + iota", "metal", "TestConstants"},
	{"products and sums are contracted", "metal/shaders/*.metal",
		"#pragma METAL fp contract(off)", "//", "metal/shaders", "TestDeltaRule"},
	{"positions are of unequal width", "metal/shaders/heads.metal",
		"uint2 size  [[threads_per_threadgroup]]) {\n\tthreadgroup float4", "uint3 size  [[threads_per_threadgroup]]) {\n\tthreadgroup float4", "metal/shaders", "TestDense"},
	{"waitUntilCompleted is left out", "metal/commands.go",
		"\t\to.send(c.buffer, \"waitUntilCompleted\")\n", "", "metal", "TestCommandErrors"},
	{"a function is not released", "metal/library.go",
		"\tdefer o.release(&fn)\n", "", "metal", "TestAllocationFails"},
	{"the command buffer is not retained", "metal/commands.go",
		"o.retain(o.send(d.queue, \"commandBuffer\"))", "o.send(d.queue, \"commandBuffer\")", "metal", "TestAllocationFails"},
	{"endEncoding is left out", "metal/commands.go",
		"c.device.objc.pool(func() { c.device.objc.send(c.encoder, \"endEncoding\") })", "", "metal", "TestCommandErrors"},
	{"offset and index change places", "metal/commands.go",
		"uintptr(b.start+offset), uintptr(index)", "uintptr(index), uintptr(b.start+offset)", "metal", "TestCommandErrors"},
	{"threadgroups and threads change places", "metal/commands.go",
		"c.device.objc.sel(message), grid, threads", "c.device.objc.sel(message), threads, grid", "metal", "TestDispatchThreads"},
	{"Read does not wait", "models/engine/metal/stream.go",
		"func (s *stream) Read(b engine.Buffer) ([]float32, error) {\n\tif err := s.drain(); err != nil {\n\t\treturn nil, err\n\t}", "func (s *stream) Read(b engine.Buffer) ([]float32, error) {\n\ts.submit()", "models/engine/metal", "TestEngine"},
	{"a buffer's index is one too high", "metal/commands.go",
		"uintptr(b.start+offset), uintptr(index))", "uintptr(b.start+offset), uintptr(index+1))", "metal", "TestCommandErrors"},
	{"an argument's offset is not the buffer's", "metal/commands.go",
		"uintptr(b.start+offset)", "uintptr(offset)", "metal", "TestWrap"},
	{"bytes up to 8192 are copied", "metal/commands.go",
		"const maxBytes = 4096", "const maxBytes = 8192", "metal", "TestConstants"},
	{"there are 32 buffers", "metal/commands.go",
		"const maxIndex = 30", "const maxIndex = 31", "metal", "TestConstants"},
	{"a queue takes 65", "metal/commands.go",
		"const maxCommands = 64", "const maxCommands = 65", "metal", "TestConstants"},
	{"offsets are multiples of 2", "metal/buffer.go",
		"offsetUnit = 4", "offsetUnit = 2", "metal", "TestConstants"},
	{"a float constant is sent as half", "metal/library.go",
		"typeFloat = 3", "typeFloat = 16", "metal", "TestAllocationFails"},
	{"a uint constant is sent as int", "metal/library.go",
		"set(unsafe.Pointer(&v), typeUInt)", "set(unsafe.Pointer(&v), typeInt)", "metal", "TestConstantTypes"},
	{"a constant's index is ignored", "metal/library.go",
		"uintptr(v), dataType, uintptr(index))", "uintptr(v), dataType, 0)", "metal", "TestConstantTypes"},
	{"commands that failed are done", "metal/commands.go",
		"const statusCompleted = 4", "const statusCompleted = 5", "metal", "TestCommandErrors"},
	{"scheduled commands are done", "metal/commands.go",
		"const statusCompleted = 4", "const statusCompleted = 3", "metal", "TestCommandErrors"},
	{"a timeout is another error", "metal/errors.go",
		"codeTimeout       = 2", "codeTimeout       = 3", "metal", "TestCommandErrors"},
	{"memory that ran out is another error", "metal/errors.go",
		"codeOutOfMemory   = 8", "codeOutOfMemory   = 9", "metal", "TestCommandErrors"},
	{"a removed device is another error", "metal/errors.go",
		"codeDeviceRemoved = 11", "codeDeviceRemoved = 12", "metal", "TestCommandErrors"},
	{"text is taken for UTF-16", "metal/objc.go",
		"const encodingUTF8 = 4", "const encodingUTF8 = 10", "metal", "TestAllocationFails"},
	{"a BOOL is a word", "metal/objc.go",
		"words...)&0xff != 0", "words...) != 0", "metal", "TestFamilies"},
	{"the GPU's times change places", "metal/commands.go",
		"o.sel(\"GPUStartTime\")), o.sendFloat(c.buffer, o.sel(\"GPUEndTime\"))", "o.sel(\"GPUEndTime\")), o.sendFloat(c.buffer, o.sel(\"GPUStartTime\"))", "metal", "TestAdd"},
	{"a pool is never popped", "metal/objc.go",
		"\tdefer o.call(o.pop, pool)\n", "\t_ = pool\n", "metal", "TestAllocationFails"},
	{"a buffer is made without a pool", "metal/buffer.go",
		"\td.objc.pool(func() {\n\t\tobj = d.objc.send(d.device, \"newBufferWithLength:options:\", uintptr(n), sharedStorage)\n\t})", "\tobj = d.objc.send(d.device, \"newBufferWithLength:options:\", uintptr(n), sharedStorage)", "metal", "TestAllocationFails"},
	{"a pipeline is not released", "metal/library.go",
		"\t\tl.device.objc.release(&p.state)\n", "\t\t_ = p\n", "metal", "TestCommandErrors"},
	{"constants are not released", "metal/library.go",
		"\tdefer o.release(&values)\n", "", "metal", "TestAllocationFails"},
	{"the queue is not released", "metal/device.go",
		"\t\td.objc.release(&d.queue)\n", "", "metal", "TestAllocationFails"},
	{"the encoder is not released", "metal/commands.go",
		"\t\tc.device.objc.release(&c.encoder)\n", "\t\tc.encoder = 0\n", "metal", "TestCommandErrors"},
	{"options are released before their use", "metal/library.go",
		"defer o.release(&options)", "o.release(&options)", "metal", "TestAllocationFails"},
	{"commands are committed before the encoder's end", "metal/commands.go",
		"\tc.endEncoding()\n\tc.device.objc.pool(func() { c.device.objc.send(c.buffer, \"commit\") })", "\tc.device.objc.pool(func() { c.device.objc.send(c.buffer, \"commit\") })\n\tc.endEncoding()", "metal", "TestCommandErrors"},
	{"a selector is misspelled", "metal/library.go",
		"\"newComputePipelineStateWithFunction:error:\"", "\"newComputePipelineWithFunction:error:\"", "metal", "TestAllocationFails"},
	{"an argument of a message is missing", "metal/buffer.go",
		"first, length, sharedStorage, 0)", "first, length, sharedStorage)", "metal", "TestSelectors"},
	{"mapped memory ends with its data", "metal/mapping.go",
		"(at + uintptr(len(data)) + page - 1) / page * page", "at + uintptr(len(data))", "metal", "TestAllocationFails"},
	{"a mapped part begins with its page", "metal/buffer.go",
		"start: int(address - first)", "start: 0", "metal", "TestWrap"},
	{"parts go beyond the largest buffer", "metal/mapping.go",
		"to-first > uintptr(d.limits.Buffer)", "to-first > 2*uintptr(d.limits.Buffer)", "metal", "TestMap"},
	{"a threadgroup may be larger than the kernel takes", "metal/commands.go",
		"threads.Width*threads.Height*threads.Depth <= p.threads", "threads.Width*threads.Height*threads.Depth <= 1024", "metal", "TestPipelineLimits"},
	{"threads of all groups overflow", "metal/commands.go",
		"g > 0 && t > 0 && g <= math.MaxUint32/t", "g > 0 && t > 0", "metal", "TestCommandMisuse"},
	{"a pipeline's width is its threads", "metal/library.go",
		"width:   uint(o.send(state, \"threadExecutionWidth\"))", "width:   uint(o.send(state, \"maxTotalThreadsPerThreadgroup\"))", "metal", "TestAdd"},
	{"the largest buffer is the working set", "metal/device.go",
		"int(o.send(d.device, \"maxBufferLength\"))", "int(o.send(d.device, \"recommendedMaxWorkingSetSize\"))", "metal", "TestMap"},
	{"no pragma in operations", "metal/shaders/operations.metal",
		"#pragma METAL fp contract(off)", "//", "metal/shaders", "TestSources"},
	{"no pragma in heads", "metal/shaders/heads.metal",
		"#pragma METAL fp contract(off)", "//", "metal/shaders", "TestSources"},
	{"no pragma where activations are rounded", "metal/shaders/rounding.metal",
		"#pragma METAL fp contract(off)", "//", "metal/shaders", "TestMatVec"},
	{"no pragma in delta", "metal/shaders/delta.metal",
		"#pragma METAL fp contract(off)", "//", "metal/shaders", "TestDeltaRule"},
	{"no pragma in bytes", "metal/shaders/bytes.metal",
		"#pragma METAL fp contract(off)", "//", "metal/shaders", "TestSources"},
	{"no pragma in hadamard", "metal/shaders/hadamard.metal",
		"#pragma METAL fp contract(off)", "//", "metal/shaders", "TestSources"},
	{"an index twice", "metal/shaders/delta.metal",
		"constant Gates &g        [[buffer(4)]]", "constant Gates &g        [[buffer(3)]]", "metal/shaders", "TestConvolve"},
	{"a function that is not Metal's", "metal/shaders/rounding.metal",
		"rint(min(y, 127.0f))", "nearbyint(min(y, 127.0f))", "metal/shaders", "TestAttention"},
	{"a group takes too much threadgroup memory", "metal/shaders/hadamard.metal",
		"most_block = 4096", "most_block = 16384", "metal/shaders", "TestHadamard"},
	{"rounding away from zero", "metal/shaders/rounding.metal",
		"char(rint(min(y, 127.0f)))", "char(min(y + (y < 0 ? -0.5f : 0.5f), 127.0f))", "metal/shaders", "TestQuantizePlanes"},
	{"127 is left out", "metal/shaders/rounding.metal",
		"return Rounding{1 / scale, scheme", "return Rounding{126 / m, scheme", "metal/shaders", "TestAttention"},
	{"a scale is not rounded to fp16", "metal/shaders/rounding.metal",
		"scheme == q8_32 ? float(half(scale)) : scale", "scale", "metal/shaders", "TestQuantizePlanes"},
	{"a NaN is a number", "metal/shaders/rounding.metal",
		"if (most >= finite) return Rounding{0, as_type<float>(0x7fc00000u)};", "", "metal/shaders", "TestQuantizePlanes"},
	{"a bias of another format", "metal/shaders/bytes.metal",
		"code_bits == 6 ? 32 : 8", "code_bits == 6 ? 31 : 8", "metal/shaders", "TestBytes"},
	{"sums of squares without their low part", "metal/shaders/operations.metal",
		"return two_sum(s.high, s.low + a.low + b.low)", "return Pair{s.high, 0}", "metal/shaders", "TestNorm"},
	{"epsilon is outside the root", "metal/shaders/operations.metal",
		"1 / sqrt(mean + norm.epsilon)", "1 / (sqrt(mean) + norm.epsilon)", "metal/shaders", "TestNorm"},
	{"a rotation goes the other way", "metal/shaders/operations.metal",
		"x[0] = a * turn.x - b * turn.y", "x[0] = a * turn.x + b * turn.y", "metal/shaders", "TestRotate"},
	{"silu without its sign", "metal/shaders/operations.metal",
		"gate[i] / (1 + precise::exp(-gate[i]))", "gate[i] / (1 + precise::exp(gate[i]))", "metal/shaders", "TestGates"},
	{"attention looks one position too far", "metal/shaders/attention.metal",
		"attend_range(s, h, first_of(a, n), n, weights", "attend_range(s, h, first_of(a, n), n + 1, weights", "metal/shaders", "TestAttention"},
	{"a value of q8_0 without its scale", "metal/shaders/attention.metal",
		"float(((device const char *)cache)[at]) * float(scales[at / 32])", "float(((device const char *)cache)[at])", "metal/shaders", "TestAttention"},
	{"the window forgets its oldest", "metal/shaders/delta.metal",
		"k + 1 < past ? window[k + 1] : now", "now", "metal/shaders", "TestConvolve"},
	{"the delta rule does not decay", "metal/shaders/delta.metal",
		"s[i * d.value_dim] * shrink", "s[i * d.value_dim]", "metal/shaders", "TestDeltaRule"},
	{"codes are tiled with bits reversed", "metal/shaders/planes.go",
		"put(word, 1, evenBits(x>>1))", "put(word, 1, evenBits(x))", "metal/shaders", "TestPlanes"},
	{"a scale is another row's", "metal/shaders/planes.go",
		"copy(scales[(b*tileRows+r)*2:][:2], block[c.ScaleAt:])", "copy(scales[(b*tileRows+r)*2:][:2], row[c.ScaleAt:])", "metal/shaders", "TestPlanes"},
	{"an observer looks before the GPU is done", "models/engine/metal/stream.go",
		"\tif s.drain() == nil {\n\t\ts.report", "\ts.submit()\n\tif s.err == nil {\n\t\ts.report", "models/engine/metal", "TestEngine"},
	{"commands that are done are not closed", "models/engine/metal/queue.go",
		"\t\tq.closeBatch(c)\n\t}\n}", "\t}\n}", "models/engine/metal", "TestEngine"},
	{"weights are not closed", "models/engine/metal/engine.go",
		"\tfor _, b := range e.buffers {\n\t\tb.Close()\n\t}\n", "", "models/engine/metal", "TestEngine"},
	{"the processor writes what the GPU uses", "models/engine/metal/stream.go",
		"if !s.idle() && s.err == nil {", "if false {", "models/engine/metal", "TestEngine"},
	{"attention that is cut has the first part's position", "models/engine/metal/attention.go",
		"state.arguments(heads, s.position+from)", "state.arguments(heads, s.position)", "models/engine/metal", "TestWork"},
	{"planes are shared between formats", "models/engine/metal/activations.go",
		"\t\ta.format = m.packed\n", "", "models/engine/metal", "TestSiblings"},
	{"the scale of a tensor is left out", "models/engine/metal/kernels.go",
		"Scale: m.scale,", "Scale: 1,", "models/engine/metal", "TestEngine"},
	{"Truncate keeps the error", "models/engine/metal/stream.go",
		"s.position, s.sound, s.err = n, n, nil", "s.position, s.sound = n, n", "models/engine/metal", "TestAllocationsFail"},
	{"tokens of failed commands count", "models/engine/metal/stream.go",
		"if s.err == nil && s.idle() {", "if s.idle() {", "models/engine/metal", "TestFailedTokensAreNotKept"},
	{"a delta net forgets that a batch has begun", "models/engine/metal/operations.go",
		"\td.begun = true\n", "", "models/engine/metal", "TestCommandsFailInState"},
	{"angles begin at 0", "models/engine/metal/stream.go",
		"math.Sincos(float64(s.position+c) * f)", "math.Sincos(float64(c) * f)", "models/engine/metal", "TestEngine"},
	{"long commands are not cut", "models/engine/metal/queue.go",
		"if q.work > 0 && q.work+work > q.limit {", "if false {", "models/engine/metal", "TestCut"},
	{"an operation is not cut by columns", "models/engine/metal/operations.go",
		"most := max(1, s.limit/work)", "most := columns", "models/engine/metal", "TestCut"},
	{"any number is in flight", "models/engine/metal/queue.go",
		"\tq.wait(inFlight)\n", "", "models/engine/metal", "TestCut"},
	{"nobody asks for the width of simdgroups", "models/engine/metal/engine.go",
		"if n > 0 && p.SIMDWidth()%n != 0 {", "if false {", "models/engine/metal", "TestOtherSimdgroups"},
	{"nobody asks how many threads fit", "models/engine/metal/engine.go",
		"if err == nil && p.MaxThreads() < threads {", "if false {", "models/engine/metal", "TestFewThreads"},
	{"sums over simdgroups on an older GPU", "models/engine/metal/engine.go",
		"if reduces || !v.Simdgroups {", "if reduces || true {", "models/engine/metal", "TestOlderGPU"},
	{"a stream leaves its cache", "models/engine/metal/stream.go",
		"\tfor _, state := range s.states {\n\t\tstate.close()\n\t}\n\tcloseAll", "\tcloseAll", "models/engine/metal", "TestLongTextsWithoutMemory"},
	{"a mark does not copy", "models/engine/metal/states.go",
		"append(m.matrices[:0], d.matrices.Bytes()...)", "d.matrices.Bytes()", "models/engine/metal", "TestEngine"},
	{"a cache is one token short", "models/engine/metal/states.go",
		"heads := tokens * s.Heads", "heads := (tokens - 1) * s.Heads", "models/engine/metal", "TestLockstep"},
	{"values go where keys are", "models/engine/metal/attention.go",
		"s.append(state, values, state.values, state.valueScales, a)", "s.append(state, values, state.keys, state.valueScales, a)", "models/engine/metal", "TestEngine"},
	{"rotated keys are forgotten", "models/engine/metal/operations.go",
		"\t\ts.rotate(keys)\n", "", "models/engine/metal", "TestEngine"},
	{"heads that are halves turn side by side", "models/engine/metal/operations.go",
		"if s.rope.Adjacent {", "if !s.rope.Adjacent {", "models/engine/metal", "TestEngine"},
	{"activations are those of the product before", "models/engine/metal/operations.go",
		"if done[how] == nil {", "if len(done) == 0 {", "models/engine/metal", "TestEngine"},
	{"columns read one column's activations", "models/engine/metal/kernels.go",
		"at(in.values, from*in.valueBytes)", "at(in.values, 0)", "models/engine/metal", "TestFewThreads"},
	{"mapped weights begin with their buffer", "models/engine/metal/load.go",
		"m.codes = at(mapping.At(i))", "m.codes, _ = at(mapping.At(i)), i\n\t\tm.codes.offset = 0", "models/engine/metal", "TestInPlace"},
	{"a barrier is not put", "models/engine/metal/queue.go",
		"\t\tq.open.Barrier()\n", "", "models/engine/metal", "TestEncoded"},
	{"results are said to be read", "models/engine/metal/kernels.go",
		"bind(b.Results, out(", "bind(b.Results, at(", "models/engine/metal", "TestEncoded"},
	{"a cache is said to be read", "models/engine/metal/attention.go",
		"out(cache, 0), value(a))", "at(cache, 0), value(a))", "models/engine/metal", "TestEncoded"},
	{"dispatches are of no type", "metal/commands.go",
		"dispatchConcurrent = 1", "dispatchConcurrent = 2", "metal", "TestConstants"},
	{"a barrier is for textures", "metal/commands.go",
		"scopeBuffers = 1", "scopeBuffers = 2", "metal", "TestConstants"},
	{"samples of the clock are private", "metal/stamps.go",
		"modeShared = 0 ", "modeShared = 2 ", "metal", "TestConstants"},
	{"a span within an encoder has no end", "metal/stamps.go",
		"\t\tc.sample(c.stamps, 2*c.span+1)\n", "", "metal", "TestStamps"},
	{"operations are timed as the one before", "models/engine/metal/times.go",
		"len(b.ops) > 0 && b.ops[len(b.ops)-1] == t.now", "len(b.ops) > 0", "models/engine/metal", "TestTimes"},
	{"a window is all of the text", "models/engine/metal/states.go",
		"uint32(s.Window)}", "0}", "models/engine/metal", "TestEngine"},
	{"experts take each other's activations", "models/engine/metal/experts.go",
		"from, share := in, used", "from, share := in, 1", "models/engine/metal", "TestEngine"},
	{"experts of a cut read the first column", "models/engine/metal/experts.go",
		"at(in.values, column*in.valueBytes)", "at(in.values, 0)", "models/engine/metal", "TestWorkOfExperts"},
	{"matrices count a high bit once", "metal/shaders/matrices.metal",
		"? half(1) : half(-1)", "? half(0) : half(-1)", "metal/shaders", "TestMatrices"},
	{"matrices are not transposed", "metal/shaders/matrices.metal",
		"ulong2(0), true", "ulong2(0), false", "metal/shaders", "TestMatrices"},
	{"sums of matrices go on behind a term", "metal/shaders/matrices.metal",
		"\t\t\t\t\tsum[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);\n\t\t\t\t}", "\t\t\t\t}", "metal/shaders", "TestMatrices"},
	{"codes are expanded while others multiply", "metal/shaders/matrices.metal",
		"\t\tthreadgroup_barrier(mem_flags::mem_threadgroup); // before the next codes, and sums\n", "", "metal/shaders", "TestMatrices"},
	{"matrices write a row behind the last", "metal/shaders/matrices.metal",
		"if (row < s.rows && at", "if (at", "metal/shaders", "TestMatrices"},
}
