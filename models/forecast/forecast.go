package forecast

import (
	"errors"
	"fmt"
	"slices"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/forward"
)

// An Interval is a figure with its uncertainty.
type Interval struct {
	Center float64 `json:"center"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// inverse returns the interval of 1/x.
func (i Interval) inverse() Interval { return Interval{1 / i.Center, 1 / i.High, 1 / i.Low} }

// wider adds a relative error on both sides.
func (i Interval) wider(by float64) Interval {
	return Interval{i.Center, i.Low * (1 - by), i.High * (1 + by)}
}

// A Rate is what the products of one format do on a machine.
type Rate struct {
	Kernel string   `json:"kernel"`  // the variant that multiplies
	Fixed  float64  `json:"fixed_s"` // seconds of a product with one column, whatever its size
	Decode Interval `json:"decode"`  // weights a second of a product with one column, from memory
	Share  float64  `json:"share"`   // of the bytes that memory has at most, those of Decode
	Prompt Interval `json:"prompt"`  // multiply-adds a second of a product with 128 columns
	Long   Interval `json:"long"`    // the same where rows are longer than LongRow
	NMSE   float64  `json:"nmse"`    // of a product, which rounds activations
}

// A Machine is what was measured of one.
type Machine struct {
	Threads   int             `json:"threads"`
	Read      Interval        `json:"read_bytes_per_s"` // from memory, with all threads
	RoundTrip Interval        `json:"roundtrip_ns"`     // of a cache line between two threads meanwhile; 0: not known
	Int8      float64         `json:"int8_macs_per_s"`
	Float32   float64         `json:"float32_macs_per_s"`
	Available int64           `json:"available,omitempty"` // bytes of memory for a model; 0: not known
	Formats   map[string]Rate `json:"formats"`
}

const (
	// ElementTime is the seconds of a number that is no product's: 5 % of a token of
	// Bonsai 1.7B, which one thread spends on norms, gates and residuals (docs/profile.md).
	ElementTime = 0.5e-9
	// AttentionShare is how much of the float32 peak attention reaches in a prompt.
	AttentionShare = 0.35
	// LongRow is the weights of a row beyond which a batch's activations no longer fit the
	// cache of a core (docs/models.md).
	LongRow = 8192
	// ModelError is how far predictions are off (docs/models.md).
	ModelError = 0.1

	// PromptTokens is the length of the prompt that is predicted, pp512 of llama-bench.
	PromptTokens = 512
	// DecodeDepth is the tokens before those that are decoded, half of tg128's.
	DecodeDepth = 64
)

// Contexts are those that memory is predicted for.
var Contexts = []int{4096, 32768}

// A Forecast is about one edition of a model.
type Forecast struct {
	Preset  *arch.Preset
	Edition arch.Edition
	Bytes   int64         // of its tensors
	Weights *formats.Type // of its projections
	Decode  Figure        // tokens a second
	Prompt  Figure
	Kernel  string  // that multiplies Weights
	NMSE    float64 // of a product of Weights with activations as they are rounded
	Memory  []Memory
}

// A Figure is predicted, or was measured.
type Figure struct {
	Interval
	Measured bool `json:"measured,omitempty"`
}

// Memory is what a context takes with everything else, keys and values in f16.
type Memory struct {
	Context int   `json:"context"`
	Bytes   int64 `json:"bytes"`
}

// Fits reports whether the shortest context fits a machine's memory. Where that is not
// known, it does.
func (f *Forecast) Fits(m *Machine) bool {
	return len(f.Memory) > 0 && (m.Available == 0 || f.Memory[0].Bytes <= m.Available)
}

// Formats returns the formats of all matrices of published models: those whose rates a
// Machine needs.
func Formats() (out []*formats.Type) {
	for _, p := range arch.Presets() {
		for _, e := range p.Published {
			for _, t := range p.TensorsOf(e) {
				if multiplied(p, t) && !slices.Contains(out, t.Type) {
					out = append(out, t.Type)
				}
			}
		}
	}
	return out
}

// multiplied reports whether a token is multiplied with a tensor. A tied head is the
// embedding.
func multiplied(p *arch.Preset, t arch.TensorSpec) bool {
	return t.Role.Multiplies() || t.Role == arch.Head || t.Role == arch.Embedding && p.Config.TiedHead
}

// All returns the forecasts of every edition of every published model, the fastest to
// decode first, and behind them those that don't fit.
func All(m *Machine) (out []*Forecast, err error) {
	for _, p := range arch.Presets() {
		for _, e := range p.Published {
			f, err := Of(p, e, m)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", p.Name, e.Format, err)
			}
			out = append(out, f)
		}
	}
	Sort(out, m)
	return out, nil
}

// Elements returns how many weights the model has, which is what it is called by.
func (f *Forecast) Elements() (n float64) {
	for _, t := range f.Preset.TensorsOf(f.Edition) {
		rows, cols := t.Dims()
		n += float64(rows) * float64(cols)
	}
	return n
}

// Sort sorts as All does.
func Sort(all []*Forecast, m *Machine) {
	slices.SortStableFunc(all, func(a, b *Forecast) int {
		switch fits := a.Fits(m); {
		case fits != b.Fits(m) && fits:
			return -1
		case fits != b.Fits(m):
			return 1
		case a.Decode.Center > b.Decode.Center:
			return -1
		case a.Decode.Center < b.Decode.Center:
			return 1
		}
		return 0
	})
}

// Of predicts an edition of a preset.
func Of(p *arch.Preset, e arch.Edition, m *Machine) (*Forecast, error) {
	f := &Forecast{Preset: p, Edition: e}
	var decode, prompt Interval // seconds a token
	for _, t := range p.TensorsOf(e) {
		bytes, err := t.Bytes()
		if err != nil {
			return nil, err
		}
		f.Bytes += int64(bytes)
		if !multiplied(p, t) {
			continue
		}
		rate, ok := m.Formats[t.Type.Name]
		if !ok {
			return nil, fmt.Errorf("the rate of products in %s was not measured", t.Type.Name)
		}
		if t.Role == arch.Projection {
			f.Weights, f.Kernel, f.NMSE = t.Type, rate.Kernel, rate.NMSE
		}
		rows, cols := t.Dims()
		weights := float64(rows) * float64(cols)
		if t.Role == arch.Expert {
			weights *= float64(p.Config.Experts.Used) / float64(p.Config.Experts.Count)
		}
		decode.add(rate.Decode.inverse(), weights, rate.Fixed/siblings)
		if !t.Role.Multiplies() { // the head is for the prompt's last token alone
			weights /= PromptTokens
		}
		batch := rate.Prompt
		if cols > LongRow {
			batch = rate.Long
		}
		prompt.add(batch.inverse(), weights, 0)
	}
	rest := elements(p.Config) * ElementTime
	state := stateBytes(p, DecodeDepth) / m.Read.Center
	decode.add(Interval{}, 0, rest+state)
	prompt.add(Interval{}, 0, rest/float64(m.Threads)+attention(p.Config)/(m.Float32*AttentionShare))
	f.Decode = Figure{Interval: decode.inverse().wider(ModelError)}
	f.Prompt = Figure{Interval: prompt.inverse().wider(ModelError)}
	var err error
	f.Memory, err = memory(p, e, m.Threads)
	return f, err
}

// siblings is how many matrices a submission has on average: queries, keys and values are
// one, and so are gate and up.
const siblings = 7.0 / 4

// add adds the time of some work at seconds for each piece of it.
func (i *Interval) add(each Interval, work, fixed float64) {
	i.Center += each.Center*work + fixed
	i.Low += each.Low*work + fixed
	i.High += each.High*work + fixed
}

// elements is the numbers of a token that norms, gates, rotary embedding and residuals
// go through.
func elements(c arch.Config) float64 {
	return float64(c.Layers) * float64(4*c.Hidden+c.FFN*max(1, c.Experts.Used)+c.Heads*c.HeadDim+2*c.KVHeads*c.HeadDim)
}

// stateBytes is what a token reads, and writes, of keys, values and states.
func stateBytes(p *arch.Preset, depth int) (bytes float64) {
	for _, s := range forward.Of(p.Table).States(p.Config) {
		depth := depth
		switch s := s.(type) {
		case engine.KV:
			if s.Window > 0 {
				depth = min(depth, s.Window)
			}
			bytes += float64(depth) * 2 * 2 * float64(s.Heads*s.Dim) // f16
		case engine.Delta:
			bytes += 2 * 4 * (float64(s.ValueHeads*s.KeyDim*s.ValueDim) + float64(s.Channels*(s.Taps-1)))
		}
	}
	return bytes
}

// attention is the multiply-adds of a token in the middle of a prompt.
func attention(c arch.Config) float64 {
	layers := 0
	for b := range c.Layers {
		if c.Attends(b) {
			layers++
		}
	}
	return float64(layers) * PromptTokens / 2 * 2 * float64(c.Heads*c.HeadDim)
}

// memory plans for the contexts that the model has.
func memory(p *arch.Preset, e arch.Edition, threads int) (out []Memory, err error) {
	plan, err := models.NewPlan(inventory{p, e}, models.Options{Engine: cpu.Options{Threads: threads}})
	if err != nil {
		return nil, err
	}
	for i, context := range Contexts {
		if i == 0 {
			context = min(context, plan.Context())
		}
		if context > plan.Context() {
			break
		}
		f, err := plan.Footprint(models.SessionOptions{Context: context})
		if err != nil {
			return nil, err
		}
		out = append(out, Memory{context, f.Total()})
	}
	return out, nil
}

// An inventory is an edition's tensors without a file.
type inventory struct {
	preset  *arch.Preset
	edition arch.Edition
}

func (i inventory) Name() string { return i.preset.Name }
func (i inventory) Config() (*arch.Table, arch.Config, error) {
	return i.preset.Table, i.preset.Config, nil
}

func (i inventory) Rotation() (*arch.Rotation, error) {
	if i.preset.Rotation == 0 {
		return nil, nil
	}
	return &arch.Rotation{Block: i.preset.Rotation}, nil
}

func (i inventory) Tensors() (out []container.TensorInfo) {
	for _, t := range i.preset.TensorsOf(i.edition) {
		bytes, err := t.Bytes()
		if err != nil {
			return nil
		}
		out = append(out, container.TensorInfo{Name: t.Name, Type: t.Type, Shape: t.Shape, Size: int64(bytes)})
	}
	return out
}

func (i inventory) InPlace() bool { return true }

func (i inventory) Fault(tensor string, err error) error {
	return errors.Join(fmt.Errorf("%s: %s", i.preset.Name, tensor), err)
}
