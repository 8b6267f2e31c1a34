package foreign

import (
	"fmt"
	"strconv"

	"onebit/bench/names"
	"onebit/bench/results"
)

// sweepBench is what examples/sweep-bench of ikawrakow/ik_llama.cpp writes with
// --output-format jsonl: for each depth how fast a batch was taken in and tokens made.
var sweepBench = Kind{"sweep-bench of ik_llama.cpp, JSON lines", isSweepBench, readSweepBench}

func isSweepBench(data []byte) bool { return hasFields(data, "n_kv", "speed_pp", "speed_tg") }

type sweepRow struct {
	Prompt  int      `json:"pp"`
	Gen     int      `json:"tg"`
	Depth   int      `json:"n_kv"`
	Threads int      `json:"n_threads"`
	Batch   int      `json:"n_batch"`
	UBatch  int      `json:"n_ubatch"`
	Flash   int      `json:"flash_attn"`
	Layers  int      `json:"n_gpu_layers"`
	PP      float64  `json:"speed_pp"`
	TG      float64  `json:"speed_tg"`
	RSS     *float64 `json:"rss_hwm_mib"`
}

func readSweepBench(data []byte) (*results.Set, error) {
	rows, err := jsonLines[sweepRow](data, "row")
	if err != nil {
		return nil, err
	}
	r := &results.Set{Warnings: []string{onlyMeans, fromRates, "the file does not name its model"}}
	for i, row := range rows {
		if i == 0 {
			r.Settings = []results.Setting{{Key: "sweep-bench-args", Value: fmt.Sprintf("n_batch=%d n_ubatch=%d flash_attn=%d n_gpu_layers=%d", row.Batch, row.UBatch, row.Flash, row.Layers)}}
		}
		var memory []results.Metric
		if row.RSS != nil && *row.RSS > 0 {
			memory = []results.Metric{{Unit: results.PeakRSS, Value: *row.RSS * (1 << 20)}}
		}
		for _, test := range []rate{
			{kind: names.Prompt, tokens: row.Prompt, perSecond: row.PP}, {kind: names.Decode, tokens: row.Gen, perSecond: row.TG},
		} {
			test.model, test.variant, test.depth, test.threads, test.also = "model", "sweep-bench", row.Depth, strconv.Itoa(row.Threads), memory
			if err := test.addTo(r); err != nil {
				return nil, fmt.Errorf("row %d: %w", i+1, err)
			}
		}
	}
	return r, nil
}
