// Package reports makes documents of results files: each [Kind] recognises results as its own and builds the one
// [doc.Document] that every printer of onebit/reports/render prints, for a terminal, as a page, as Markdown, CSV, JSON and PNG.
//
//	results.txt ── results.Read ── Source ── Build: the kind that recognises it ── Document ── render: a printer
//
// Every report is a pure function of the results: the same results give the same bytes. The kinds are kernels and models
// (kernels.go, models.go: one run may hold both), machine, fleet (several machines), gate, compare, history, profile, kernel
// and training.
//
// Profiles, histories and comparisons need more than samples hold. Their results name their kind and a [Sidecar], a file
// in the same folder:
//
//	report: profile
//	sidecar: profile.gob
//
// A profile's lines are written last: results of a run that was killed render as a run of benchmarks.
//
// # What the names of benchmarks mean to a report
//
// The key variant (with act, where one variant has several activation schemes, and packing) names the
// competitors. threads and cache are the conditions that charts show side by side. The rest of the
// name, such as format, rows and cols or model and test, is the task: only variants of one task under
// one condition are ranked. Benchmarks and units that onebit doesn't know still get their table.
//
// Whole models have a section of their own, of five kinds of lines:
//
//	Model/model=…/variant=…/packing=…/test=tg128/threads=2         speed, memory: a row per variant and threads
//	Op/model=…/variant=…/…/test=tg128/threads=2/block=3/op=…       time by operation, summed over blocks
//	Lockstep/model=…/variant=…/input=isolated/block=3/tensor=…     error by block and by projection
//	Logits/model=…/variant=…/tokens=512                            error of the predictions
//	Head/model=…/variant=…/head=q8_0                               what the output head is, and what another would give
//
// test is load, ttft (time to first token), or llama-bench's pp and tg with a number; llama-bench
// itself is one more variant. A model has thousands of Op and Lockstep lines: sheets and charts show
// them folded, and only CSV gives each its line. Variants whose errors are the same number for number,
// as those of one activation scheme are, share a line of a chart.
//
// Two variants tie if they differ by less than the noise floor of their class of cases, or by less than
// chance explains; see [noise.Floors].
//
// Reports of all kinds for people begin with a first screen: a sentence that says what to take here, and
// a ranked table of the formats (over the shapes that all of them ran, with most threads and a cold
// cache) or of the models. Warnings that may change the verdict stand beside it.
//
// Where a run has more tasks than a screen holds, reports begin with a row per format and condition:
// who is fastest or tied most often, by how much (a geometric mean), and at what error. The tasks
// follow, folded. Warnings that differ in their numbers alone become one.
//
// # Extending
//
// A new kind of report is a file that calls [RegisterKind], a new printer a file of onebit/reports/render, and a new chart a file
// that calls registerChart. A chart is drawn once, by onebit/reports/figure; its colours stand for roles, which on a page
// become CSS variables with a light and a dark value.
//
// # Comparing
//
// [Compare] says what differs between two runs beyond noise, by the statistics of noise.CompareRuns.
package reports
