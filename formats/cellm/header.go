package cellm

// Magic is what a file starts with.
const Magic = "CELLM"

const (
	version     = 1
	headerStart = len(Magic) + 1 + 4
	alignment   = 64
)

// A Header is what a file says about its model. Numbers are as they stand there:
// no more is checked than that they are of their kind.
type Header struct {
	ModelType        string  `json:"model_type"` // the architecture: "qwen3"
	VocabSize        uint32  `json:"vocab_size"`
	HiddenDim        uint32  `json:"hidden_dim"`
	IntermediateSize uint32  `json:"intermediate_size"`
	NumLayers        uint32  `json:"num_layers"`
	NumHeads         uint32  `json:"num_heads"`
	NumKVHeads       uint32  `json:"num_kv_heads"`
	HeadDim          *uint32 `json:"head_dim,omitempty"` // nil: HiddenDim/NumHeads
	RMSNormEps       float32 `json:"rms_norm_eps"`
	RopeTheta        float32 `json:"rope_theta"`
	BOS              *uint32 `json:"bos_token_id,omitempty"`
	EOS              *uint32 `json:"eos_token_id,omitempty"`
	MaxPositions     *uint32 `json:"max_position_embeddings,omitempty"`
	// Tied says that the embedding is the head. Nil: it is if there is no head.
	Tied *bool `json:"tie_word_embeddings,omitempty"`
	// RopeScaling is onebit's own; nil: none.
	RopeScaling *RopeScaling `json:"rope_scaling,omitempty"`
}

// RopeScaling has the names that config.json has at Hugging Face.
type RopeScaling struct {
	Type            string  `json:"rope_type"` // "linear" or "yarn"
	Factor          float32 `json:"factor"`
	OriginalContext uint32  `json:"original_max_position_embeddings,omitempty"`
}

// required are the keys that the original does not read a file without.
var required = []string{"model_type", "vocab_size", "hidden_dim", "intermediate_size", "num_layers",
	"num_heads", "num_kv_heads", "rms_norm_eps", "rope_theta", tensorsKey}

const tensorsKey = "tensors"
