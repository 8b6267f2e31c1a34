package cases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/clock"
	"onebit/internal/sysinfo"
	"onebit/internal/threads"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/engine/metal"
	"onebit/models/forward"
)

// ProfileOptions say what is profiled.
type ProfileOptions struct {
	File   ModelFile
	Model  models.Options // of which Pool and Head are set here
	Cache  *formats.Type  // of keys and values; nil: the usual
	Prompt int            // tokens of the test pp; 0: no such test
	Tokens int            // tokens of the test tg; 0: no such test
	Depth  int            // tokens in the KV cache before a test

	// Passes is how many pairs of passes a test has, each once with and once
	// without observation; 0: what ProfileTime allows.
	Passes int
	// Check has what-ifs measured, as far as it is cheap.
	Check bool
	// Meter, if not nil, counts events of each operation, in passes of their own.
	Meter    bench.Meter
	Ceilings *Ceilings // measured before; nil: they are measured

	Host     sysinfo.Host
	Progress Progress
}

// Progress is told what is done next, of so many steps. Nil is told nothing.
type Progress func(doing string, done, total int)

func (p Progress) show(doing string, done, total int) {
	if p != nil {
		p(doing, done, total)
	}
}

const (
	// profileTime is about how long a test's passes take together.
	profileTime = 4 * time.Second

	// ceilingsTime is about how long the ceilings take.
	ceilingsTime = time.Second

	// leastPasses have a median with a 95% interval.
	leastPasses, mostPasses = 6, 200
)

// A Profiling is a model to be profiled: the suite measures it, after which
// Profile is what was found. It must be closed.
type Profiling struct {
	bench.Suite
	Profile *profile.Profile

	opt     ProfileOptions
	pool    *kernels.Pool
	model   *models.Model
	session *models.Session
	ids     []int
	memory  *profile.Memory
}

// NewProfiling opens the model, and has it take a prompt and decode tokens once,
// to see what memory each takes. Its suite has a study of the
// machine's ceilings, one for each test, and one for what-ifs.
func NewProfiling(ctx context.Context, opt ProfileOptions) (*Profiling, error) {
	threads := cpuOf(&opt.Model).Threads
	if onGPU(&opt.Model) {
		threads = 1 // which hands it the work
	}
	p := &Profiling{opt: opt, pool: kernels.NewPool(threads)}
	if err := p.open(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Profiling) open(ctx context.Context) error {
	gpu := onGPU(&p.opt.Model)
	if !gpu {
		on := cpuOf(&p.opt.Model)
		on.Pool = p.pool
		p.opt.Model.Engine = on
	}
	p.opt.Model.Head = p.opt.File.Head
	if len(p.tests()) == 0 {
		return errors.New("there is nothing to profile: neither a prompt nor tokens to decode")
	}
	weights, err := weightsOf(p.opt.File.Path, p.opt.Model.GGUF)
	if err != nil {
		return err
	}
	if err := p.opened(ctx); err != nil {
		return err
	}
	p.Profile = p.describe()
	p.Settings = []results.Setting{modelsSetting(&subject{ModelFile: ModelFile{Name: p.Profile.Model}, weights: weights})}
	switch {
	case gpu: // of which no ceiling is known
		p.Profile.Ceilings.Threads = 1
	case p.opt.Ceilings == nil:
		p.Studies = append(p.Studies, p.ceilingsStudy())
	default:
		if err := p.findCeilings(); err != nil {
			return err
		}
	}
	for _, t := range p.tests() {
		p.Studies = append(p.Studies, p.study(t))
		if t.Kind == names.Decode && !gpu {
			p.Studies = append(p.Studies, p.whatIfStudy(t))
		}
	}
	return nil
}

// newSession starts the session that is profiled.
func (p *Profiling) newSession() (err error) {
	for _, t := range p.tests() {
		if need := t.Depth + t.Tokens; need > p.model.Config.Context {
			return &ContextError{p.opt.File.Name, p.model.Config.Context, need, t.String()}
		}
	}
	room := p.opt.Depth + max(p.opt.Prompt, p.opt.Tokens)
	p.ids = randomTokens(p.model.Config.Vocab, room)
	p.session, err = p.model.NewSession(models.SessionOptions{Context: room, Cache: p.opt.Cache})
	return err
}

// Close frees the model.
func (p *Profiling) Close() error {
	var errs []error
	if p.session != nil {
		errs = append(errs, p.session.Close())
	}
	if p.model != nil {
		errs = append(errs, p.model.Close())
	}
	p.pool.Close()
	return errors.Join(errs...)
}

// Emulator names what plays the GPU, whose times say nothing then; "" if nothing does.
func (p *Profiling) Emulator() string {
	if e, ok := p.model.Engine().(*metal.Engine); ok && e.Device().Emulated() {
		return e.Device().Name()
	}
	return ""
}

// Operations lists the operations of the model, as one token shows them.
func (p *Profiling) Operations() (all []string, err error) {
	o := newOpObserver(p.model, p.pool.Threads())
	if _, err := p.observed(context.Background(), names.ModelTest{Kind: names.Decode, Tokens: 1}, o); err != nil {
		return nil, err
	}
	for _, op := range o.ops {
		if !slices.Contains(all, op.Name) {
			all = append(all, op.Name)
		}
	}
	return all, nil
}

// tests are the prompt and the decode test, those that were asked for.
func (p *Profiling) tests() (all []names.ModelTest) {
	for _, t := range []names.ModelTest{{Kind: names.Prompt, Tokens: p.opt.Prompt, Depth: p.opt.Depth}, {Kind: names.Decode, Tokens: p.opt.Tokens, Depth: p.opt.Depth}} {
		if t.Tokens > 0 {
			all = append(all, t)
		}
	}
	return all
}

// describe says what is profiled.
func (p *Profiling) describe() *profile.Profile {
	name := p.opt.File.Name
	if c := p.opt.Cache; c != nil && c != formats.F16 {
		name += "+kv_" + c.Name
	}
	out := &profile.Profile{ModelCase: p.modelCase(), Arch: p.model.Arch.Name, Blocks: p.model.Config.Layers}
	out.Model = name
	out.Memory = *p.memory
	for l := range linears(p.model) {
		if name := l.Kernel(); !slices.Contains(out.Types, name) {
			out.Types = append(out.Types, name)
		}
	}
	return out
}

// modelCase says what multiplies most of the weights, and how they lie.
func (p *Profiling) modelCase() names.ModelCase {
	main := mainLinear(p.model)
	kernel := strings.Split(main.Kernel(), "/") // format, variant, activation
	c := names.ModelCase{Variant: kernel[1], Act: kernel[2], Packing: names.Packed}
	if on, ok := p.opt.Model.Engine.(metal.Options); ok {
		if c.Engine = names.Metal; on.Native {
			c.Packing = names.Native
		}
		return c
	}
	c.Threads = p.pool.Threads()
	switch {
	case cpuOf(&p.opt.Model).Packing == cpu.Stream:
		c.Packing = names.Stream
	case main.Variant().Layout == kernels.Native:
		c.Packing = names.Native
	}
	return c
}

// linears yields the matrices of a model, the head last.
func linears(m *models.Model) func(yield func(*forward.Linear) bool) {
	return func(yield func(*forward.Linear) bool) {
		for _, b := range m.Blocks() {
			for _, l := range b.Linears() {
				if !yield(l) {
					return
				}
			}
		}
		yield(m.Head)
	}
}

// mainLinear is one in the format of most of the blocks' weights.
func mainLinear(m *models.Model) (main *forward.Linear) {
	weights := map[*formats.Type]int{}
	for _, b := range m.Blocks() {
		for _, l := range b.Linears() {
			weights[l.Type] += l.MultiplyAdds()
			if main == nil || weights[l.Type] > weights[main.Type] {
				main = l
			}
		}
	}
	return main
}

func (p *Profiling) caseOf(t names.ModelTest) names.ModelCase {
	c := p.Profile.ModelCase
	c.Test = t
	return c
}

// study is the study of a test.
func (p *Profiling) study(t names.ModelTest) bench.Study {
	return bench.Study{
		Name: p.caseOf(t).Operation("", ""), Group: p.Profile.Model + " " + t.String(), Time: profileTime,
		Run: func(ctx context.Context, emit func(results.Sample) error) error { return p.measure(ctx, t, emit) },
	}
}

// measure takes pairs of passes, with and without observation in turn before
// each other, after one of each that warms up.
func (p *Profiling) measure(ctx context.Context, t names.ModelTest, emit func(results.Sample) error) error {
	if err := fill(ctx, t, p.session, p.ids); err != nil {
		return err
	}
	observer := newOpObserver(p.model, p.pool.Threads())
	test := &profile.Test{ModelTest: t, Threads: p.pool.Threads()}
	plain, err := p.plain(ctx, t)
	if err != nil {
		return err
	}
	if _, err := p.observed(ctx, t, observer); err != nil {
		return err
	}
	test.Tensors = observer.tensors
	p.Profile.Tests = append(p.Profile.Tests, test)
	// The collector would run in some passes and not in others.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	n := p.passes(plain)
	p.Profile.Planned = max(p.Profile.Planned, n)
	for i := range n {
		p.opt.Progress.show(t.String(), i, n)
		pass, plain, err := p.pair(ctx, t, observer, i%2 == 0)
		if err != nil {
			return err
		}
		test.Add(pass, plain)
		if err := p.emit(test, emit); err != nil {
			return err
		}
	}
	if p.opt.Meter != nil {
		return p.count(ctx, test, emit)
	}
	return nil
}

// passes is how many pairs of passes a test has, of which one takes so long.
func (p *Profiling) passes(one time.Duration) int {
	if p.opt.Passes > 0 {
		return p.opt.Passes
	}
	return min(max(int(profileTime/(2*max(one, 1))), leastPasses), mostPasses)
}

func (p *Profiling) pair(ctx context.Context, t names.ModelTest, o *opObserver, observedFirst bool) (pass *profile.Pass, plain time.Duration, err error) {
	for i := range 2 {
		p.prepare()
		if observedFirst == (i == 0) {
			pass, err = p.observed(ctx, t, o)
		} else {
			plain, err = p.plain(ctx, t)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return pass, plain, nil
}

// prepare collects garbage, so that no pass does, and wakes all threads: those
// that are asleep would come late to the first operations.
func (p *Profiling) prepare() {
	runtime.GC()
	for start := clock.Now(); clock.Since(start) < settling; {
		p.pool.ForEach(p.pool.Threads(), func(int) {})
	}
}

// settling is longer than it takes to wake a thread.
const settling = 500 * time.Microsecond

// plain is how long a pass takes.
func (p *Profiling) plain(ctx context.Context, t names.ModelTest) (time.Duration, error) {
	start := clock.Now()
	err := perform(ctx, t, p.session, p.ids[:t.Depth+t.Tokens])
	return clock.Since(start), errors.Join(err, ctx.Err())
}

func (p *Profiling) observed(ctx context.Context, t names.ModelTest, o *opObserver) (*profile.Pass, error) {
	o.reset()
	p.session.Observe(o)
	p.pool.Record(o.recorder)
	defer func() {
		p.session.Observe(nil)
		p.pool.Record(nil)
	}()
	start := clock.Now()
	d, err := p.plain(ctx, t)
	if err != nil {
		return nil, err
	}
	return o.pass(start, d), nil
}

// emit writes the samples of the last pair: of the test without observation,
// and of each operation.
func (p *Profiling) emit(test *profile.Test, emit func(results.Sample) error) error {
	c := p.caseOf(test.ModelTest)
	last := len(test.Plain) - 1
	plain := test.Plain[last]
	samples := []results.Sample{passSample(c.String(), test, plain)}
	for _, cost := range test.Passes[last] {
		total := operationTotal{cost.Key, cost.Time, cost.Bytes, 1}
		samples = append(samples, total.sample(c))
	}
	for _, s := range samples {
		if err := emit(s); err != nil {
			return err
		}
	}
	return nil
}

// passSample is the time of a pass.
func passSample(name string, test *profile.Test, d time.Duration) results.Sample {
	return results.Sample{Name: results.ParseName(name), Iters: 1, Values: []results.Metric{
		{Unit: results.NsPerOp, Value: float64(d)}, {Unit: results.TokenRate, Value: float64(test.Tokens) / d.Seconds()},
	}}
}

// An opObserver keeps the operations of a pass, and what threads did meanwhile.
// It is an engine.TimeObserver: a GPU tells how long operations take that queue.
type opObserver struct {
	gpu      bool
	recorder *threads.Recorder
	ops      []engine.Op
	floats   map[string]bool // tensors that are multiplied in float32
	tensors  map[profile.Key][]string
	learned  bool // tensors: the operations of the first pass are those of all
}

func newOpObserver(m *models.Model, n int) *opObserver {
	_, gpu := m.Engine().(*metal.Engine)
	o := &opObserver{gpu: gpu, recorder: threads.NewRecorder(n), floats: map[string]bool{}, tensors: map[profile.Key][]string{}}
	for l := range linears(m) {
		o.floats[l.Name] = strings.HasSuffix(l.Kernel(), "/"+string(kernels.F32))
	}
	return o
}

// TimesOnly implements engine.TimeObserver.
func (*opObserver) TimesOnly() {}

func (o *opObserver) Observe(op engine.Op) {
	if !o.learned {
		o.learn(op)
	}
	op.Results = nil
	o.ops = append(o.ops, op)
}

// learn remembers what an operation multiplies.
func (o *opObserver) learn(op engine.Op) {
	var tensors []string
	for _, r := range op.Results {
		if _, ok := o.floats[r.Name]; ok {
			tensors = append(tensors, r.Name)
		}
	}
	o.tensors[profile.Key{Block: op.Block, Op: op.Name}] = tensors
}

func (o *opObserver) reset() {
	o.learned = len(o.ops) > 0
	o.ops = o.ops[:0]
	o.recorder.Reset()
}

// pass is what was observed of one that began at start.
func (o *opObserver) pass(start time.Time, d time.Duration) *profile.Pass {
	out := &profile.Pass{Duration: d, Spans: make([]profile.Span, len(o.ops)), Threads: make([][]profile.Mark, o.recorder.Threads())}
	for i, op := range o.ops {
		at := op.Start.Sub(start)
		key := profile.Key{Block: op.Block, Op: op.Name}
		out.Spans[i] = profile.Span{
			Key: key, Start: at, End: at + op.Duration,
			Work: profile.Work{Bytes: op.Bytes, Moved: op.Moved, MACs: op.MACs, Float: o.inFloat(key) && !op.Int8, Calls: 1},
		}
	}
	if o.gpu {
		out.Threads[0] = gpuMarks(out)
		return out
	}
	shift := o.recorder.Origin().Sub(start)
	for thread := range out.Threads {
		marks := o.recorder.Marks(thread)
		out.Threads[thread] = make([]profile.Mark, len(marks))
		for i, m := range marks {
			out.Threads[thread][i] = profile.Mark{At: m.At + shift, Dispatch: int(m.Dispatch), State: states[m.State], Product: int(m.Product)}
		}
	}
	return out
}

// gpuMarks puts the spans of a GPU in the order of time, none in another, and returns what
// it does as if it were a thread.
func gpuMarks(p *profile.Pass) (marks []profile.Mark) {
	slices.SortStableFunc(p.Spans, func(a, b profile.Span) int { return cmp.Compare(a.Start, b.Start) })
	var at time.Duration
	for i := range p.Spans {
		s := &p.Spans[i]
		s.Start = min(max(s.Start, at), p.Duration)
		s.End = min(max(s.End, s.Start), p.Duration)
		at = s.End
		marks = append(marks, profile.Mark{At: s.Start, Dispatch: i, State: profile.Dispatching},
			profile.Mark{At: s.Start, Dispatch: i, State: profile.Running}, profile.Mark{At: s.End, Dispatch: i, State: profile.Idle})
	}
	return marks
}

// inFloat reports whether an operation computes in float32: attention does unless it
// says otherwise, and what multiplies activations that are not quantized.
func (o *opObserver) inFloat(k profile.Key) bool {
	tensors := o.tensors[k]
	return len(tensors) == 0 || o.floats[tensors[0]]
}

var states = map[threads.State]profile.State{
	threads.Idle: profile.Idle, threads.Dispatching: profile.Dispatching, threads.Quantizing: profile.Quantizing,
	threads.Multiplying: profile.Multiplying, threads.Running: profile.Running, threads.Waiting: profile.Waiting,
}

// notMeasured is no figure.
var notMeasured = noise.Figure{Center: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}

// ceilingsStudy finds the ceilings that the machine has with the model's threads.
// It is a study, so that whoever disturbs it is noticed.
func (p *Profiling) ceilingsStudy() bench.Study {
	return bench.Study{
		Name: names.BaseBandwidth, Group: p.Profile.Model + " ceilings", Time: ceilingsTime,
		Run: func(ctx context.Context, _ func(results.Sample) error) error {
			p.opt.Progress.show("ceilings", 0, 1)
			return errors.Join(p.findCeilings(), ctx.Err())
		},
	}
}

func (p *Profiling) findCeilings() (err error) {
	p.Profile.Ceilings, err = p.ceilings(p.pool)
	return err
}

func (p *Profiling) ceilings(pool *kernels.Pool) (profile.Ceilings, error) {
	if p.opt.Ceilings != nil {
		return p.opt.Ceilings.of(pool.Threads())
	}
	c, err := measureCeilings(pool, p.opt.Host)
	if err != nil {
		err = fmt.Errorf("measuring what the machine can do: %w", err)
	}
	return c, err
}
