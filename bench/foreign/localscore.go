package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
)

// localScore is LocalScore's: what Mozilla-Ocho/llamafile's localscore writes and sends
// (get_fields of its benchmark), and what the site gives of a run (src/db/schema.ts of
// cjpais/LocalScore). A test takes in a prompt and then makes tokens.
var localScore = Kind{"LocalScore, JSON", isLocalScore, readLocalScore}

func isLocalScore(data []byte) bool {
	var file localFile
	return json.Unmarshal(data, &file) == nil && len(file.Results) > 0 && file.Results[0].Prompt > 0 && file.Results[0].PromptRate > 0
}

type localFile struct {
	Runtime struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Commit  string `json:"commit"`
	} `json:"runtime_info"`
	System struct {
		CPU string `json:"cpu_name"`
	} `json:"system_info"`
	Accelerator struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"accelerator_info"`
	Results []localResult `json:"results"`
}

type localResult struct {
	Name       string  `json:"name"`
	Model      string  `json:"model_name"`
	Quant      string  `json:"model_quant_str"`
	File       string  `json:"model_filename"`
	Prompt     int     `json:"n_prompt"`
	Gen        int     `json:"n_gen"`
	PromptRate float64 `json:"prompt_tps"`
	GenRate    float64 `json:"gen_tps"`
}

func readLocalScore(data []byte) (*results.Set, error) {
	var file localFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, at(err)
	}
	r := &results.Set{Warnings: []string{onlyMeans, fromRates}, Settings: header(
		"cpu", file.System.CPU, "gpu", gpuOf(file),
		"localscore", strings.TrimSpace(file.Runtime.Name+" "+file.Runtime.Version+" "+file.Runtime.Commit),
	)}
	for i, res := range file.Results {
		model := cmp.Or(strings.TrimSuffix(path.Base(strings.ReplaceAll(res.File, `\`, "/")), ".gguf"), "")
		if model == "." || model == "" {
			model = cmp.Or(strings.TrimSpace(res.Model+" "+res.Quant), "model")
		}
		for _, test := range []rate{
			{kind: names.Prompt, tokens: res.Prompt, perSecond: res.PromptRate},
			{kind: names.Decode, tokens: res.Gen, perSecond: res.GenRate, depth: res.Prompt},
		} {
			if test.tokens == 0 {
				continue
			}
			// A prompt of one length goes before several numbers of tokens: the pair tells them apart.
			test.model, test.variant, test.more = model, "localscore", []key{{"pair", fmt.Sprintf("pp%d+tg%d", res.Prompt, res.Gen)}}
			if err := test.addTo(r); err != nil {
				return nil, fmt.Errorf("test %d: %w", i+1, err)
			}
		}
	}
	return r, nil
}

// gpuOf is the accelerator, unless that is the CPU.
func gpuOf(file localFile) string {
	if strings.EqualFold(file.Accelerator.Type, "CPU") {
		return ""
	}
	return file.Accelerator.Name
}
