// Package reports makes documents of results files: a [Kind] recognises results as its own and builds the one
// [doc.Document] that every printer of onebit/reports/render prints, for a terminal, as a page, as Markdown, CSV, JSON and PNG.
//
//	results.txt ── results.Read ── Source ── Build: the kind that recognises it ── Document ── render: a printer
//
// Every report is a pure function of the results: the same results give the same bytes. Each kind has a room below this
// package and registers itself here, as onebit/reports/all has it: kernels and models (one run may hold both, and models adds
// to what kernels shows), machine, fleet (several machines), gate, compare, history, profile (of a model or a kernel) and
// training. The pages that share and site make are of results that others measured.
//
// The rooms lie in layers, and import only what is below them:
//
//	all
//	profile   site
//	models    fleet share   machine compare gate history training
//	kernels
//	charts
//	digest          what results say: cases, tasks, rankings, noise
//	reports         the registry of kinds
//	words           the words and numbers of all kinds
//	doc
//	figure
//
// Profiles, histories and comparisons need more than samples hold. Their results name their kind and a [Sidecar], a file
// in the same folder:
//
//	report: profile
//	sidecar: profile.gob
//
// A profile's lines are written last: results of a run that was killed render as a run of benchmarks.
//
// Reports of all kinds for people begin with a first screen: a sentence that says what to take here, and a ranked table
// (of formats over the shapes that all of them ran, with most threads and a cold cache, or of models). Warnings that may
// change the verdict stand beside it.
//
// Where a run has more tasks than a screen holds, reports begin with a row per format and condition: who is fastest or
// tied most often, by how much (a geometric mean), and at what error. The tasks follow, folded. Warnings that differ in
// their numbers alone become one.
//
// # Extending
//
// A new kind of report is a package that calls [Register] and a line of onebit/reports/all; a new printer is a file of
// onebit/reports/render; a new chart is a file of onebit/reports/kernels or onebit/reports/models. A chart is drawn once, by
// onebit/reports/figure; its colours stand for roles, which on a page become CSS variables with a light and a dark value.
package reports
