package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"onebit/bench/names"
	"onebit/bench/results"
)

// llmSpeed is the report of llm-speed, RunReport in cli/types.py of
// meadow-kun/llm-speed: for each workload of a backend how fast a prompt was taken in
// and tokens were made.
var llmSpeed = Kind{"llm-speed, JSON", isLLMSpeed, readLLMSpeed}

func isLLMSpeed(data []byte) bool {
	return hasFields(data, "suite_version", "cli_version", "fingerprint", "results")
}

type llmSpeedReport struct {
	Suite       string `json:"suite_version"`
	Version     string `json:"cli_version"`
	Started     string `json:"started_at"`
	Fingerprint struct {
		CPU   string `json:"cpu_model"`
		Cores int    `json:"cpu_cores"`
		GPUs  []struct {
			Name string `json:"name"`
		} `json:"gpus"`
	} `json:"fingerprint"`
	Results []struct {
		Workload string `json:"workload"`
		Backend  string `json:"backend"`
		Version  string `json:"backend_version"`
		Model    struct {
			Name       string `json:"name"`
			Identifier string `json:"identifier"`
			Quant      string `json:"quant"`
		} `json:"model"`
		Prefill *float64 `json:"prefill_tps"`
		Decode  *float64 `json:"decode_tps"`
		Prompt  int      `json:"prompt_tokens"`
		Output  int      `json:"output_tokens"`
		Batch   int      `json:"batch_size"`
		Context int      `json:"context_tokens"`
		Error   string   `json:"error"`
	} `json:"results"`
}

func readLLMSpeed(data []byte) (*results.Set, error) {
	var file llmSpeedReport
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, at(err)
	}
	gpu := ""
	if len(file.Fingerprint.GPUs) > 0 {
		gpu = file.Fingerprint.GPUs[0].Name
	}
	r := &results.Set{Warnings: []string{onlyMeans, fromRates}, Settings: header(
		"cpu", file.Fingerprint.CPU, "started", file.Started,
		"llm-speed", file.Version+", suite "+file.Suite,
		"cpus-usable", strconv.Itoa(file.Fingerprint.Cores), "gpu", gpu,
	)}
	for i, res := range file.Results {
		more := []key{{"workload", res.Workload}}
		if res.Batch > 1 {
			more = append(more, key{names.Texts, strconv.Itoa(res.Batch)})
		}
		variant, model := cmp.Or(res.Backend, "unknown"), cmp.Or(res.Model.Name, res.Model.Identifier, "model")
		if res.Model.Quant != "" {
			model += "-" + res.Model.Quant
		}
		if res.Error != "" {
			keys := append([]key{{names.Model, model}, {names.Variant, variant}}, more...)
			r.Failures = append(r.Failures, results.Failure{Name: results.ParseName(name(names.BaseModel, keys...)), Reason: res.Error})
			continue
		}
		for _, test := range []struct {
			kind          string
			perSecond     *float64
			tokens, depth int
		}{{names.Prompt, res.Prefill, res.Prompt, 0}, {names.Decode, res.Decode, res.Output, max(res.Prompt, res.Context)}} {
			if test.perSecond == nil || test.tokens == 0 {
				continue
			}
			if err := (rate{model: model, variant: variant, kind: test.kind, tokens: test.tokens, depth: test.depth, perSecond: *test.perSecond, more: more}).addTo(r); err != nil {
				return nil, fmt.Errorf("result %d: %w", i+1, err)
			}
		}
	}
	return r, nil
}
