package cli

import (
	"github.com/spf13/pflag"

	"onebit/models/train/lm"
)

// CorpusFlags adds the flags that say what text is trained on.
func CorpusFlags(flags *pflag.FlagSet, from *lm.Origin) {
	flags.StringVar(&from.File, "text", "", "train on the text in `FILE`, and not on Go's documentation")
	flags.StringVar(&from.GoRoot, "goroot", "", "train on the documentation of the Go installation in `DIR`, and not of this machine's")
}
