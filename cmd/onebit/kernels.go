package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"onebit/bench/names"
	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/kernels"
	_ "onebit/kernels/all"
	"onebit/metal"
	"onebit/models/engine"
	enginecpu "onebit/models/engine/cpu"
	enginemetal "onebit/models/engine/metal"
)

func newKernels() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "kernels",
		Short:   "List kernel variants, their requirements, and which run here",
		Example: "  onebit kernels",
		Long: "List the variants of every weight format and activation scheme, those of a model's\n" +
			"operations outside its products (norms, attention, conversions), and the engines.\n" +
			"HERE says whether this machine runs a variant, and what it lacks if not; a star marks\n" +
			"the one that a model would use.",
		Args: cli.ExactArgs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			l := listKernels()
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), l)
			}
			return l.print(cmd.OutOrStdout(), cli.TerminalWidth(cmd.OutOrStdout()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// A kernelList is what kernels prints, in the form of its JSON.
type kernelList struct {
	Arch     string        `json:"arch"`
	Features []string      `json:"features"` // of this machine
	Variants []variantInfo `json:"variants"`
	Vectors  []vectorsInfo `json:"vectors"`
	Engines  []engineInfo  `json:"engines"`
	Foreign  []string      `json:"foreign_isas"` // levels of other architectures
}

type variantInfo struct {
	Format     string   `json:"format"`
	Activation string   `json:"activation"`
	Variant    string   `json:"variant"`
	Layout     string   `json:"layout"`
	ISA        string   `json:"isa"`
	Requires   []string `json:"requires"`
	state               // the best is what Best picks for the format
	Summary    string   `json:"summary"`
}

// A vectorsInfo is what computes outside the products.
type vectorsInfo struct {
	Vectors  string   `json:"vectors"`
	ISA      string   `json:"isa"`
	Requires []string `json:"requires"`
	state
	Summary string `json:"summary"`
}

type engineInfo struct {
	Engine string `json:"engine"`
	state
	Summary string `json:"summary"`
}

// A state says whether something runs here.
type state struct {
	Available bool   `json:"available"`
	Missing   string `json:"missing,omitempty"` // why it is not available
	Best      bool   `json:"best"`              // what is used unless asked
}

func listKernels() kernelList {
	l := kernelList{Arch: runtime.GOARCH, Features: append([]string{}, cpu.Detected().Names()...), Foreign: []string{}}
	for _, v := range kernels.Variants() {
		// A format that only the reference multiplies has no best.
		best, _ := kernels.Best(v.Format.Name)
		info := variantInfo{
			Format: v.Format.Name, Activation: string(v.Scheme), Variant: v.Name,
			Layout: v.Layout.Name, ISA: v.ISA.Name, Requires: append([]string{}, v.ISA.Requires.Names()...),
			state: stateOf(v.ISA, v == best), Summary: v.Summary,
		}
		l.Variants = append(l.Variants, info)
	}
	l.addMetal()
	for _, v := range enginecpu.AllVectors() {
		l.Vectors = append(l.Vectors, vectorsInfo{
			Vectors: v.Name, ISA: v.ISA.Name, Requires: append([]string{}, v.ISA.Requires.Names()...),
			state: stateOf(v.ISA, v == enginecpu.BestVectors(cpu.Detected())), Summary: v.Summary,
		})
	}
	for _, k := range engine.Kinds() {
		info := engineInfo{Engine: k.Name, state: state{Available: true, Best: k.Default}, Summary: k.Summary}
		if k.Available != nil {
			if err := k.Available(); err != nil {
				info.Available, info.Missing = false, err.Error()
			}
		}
		l.Engines = append(l.Engines, info)
	}
	for _, isa := range kernels.ISAs() {
		if isa.Foreign() != nil {
			l.Foreign = append(l.Foreign, fmt.Sprintf("%s (%s)", isa.Name, isa.Arch))
		}
	}
	return l
}

// addMetal adds the kernels of GPUs behind those of the CPU for the same format.
func (l *kernelList) addMetal() {
	device, missing := metal.Open()
	if missing == nil {
		defer device.Close()
	}
	for _, t := range formats.Types() {
		for _, k := range enginemetal.Kernels(t) {
			info := variantInfo{
				Format: t.Name, Activation: string(k.Scheme), Variant: k.Name, Layout: k.Layout(), ISA: names.Metal,
				Requires: append([]string{}, k.Requires()...), state: state{Available: true}, Summary: k.Summary,
			}
			switch {
			case missing != nil:
				info.state = state{Missing: names.Metal}
			case k.Check(device) != nil:
				info.state = state{Missing: strings.Join(k.Requires(), " ")}
			}
			l.Variants = append(l.Variants, info)
		}
	}
	slices.SortStableFunc(l.Variants, func(a, b variantInfo) int { return strings.Compare(a.Format, b.Format) })
}

func stateOf(isa *kernels.ISA, best bool) state {
	if missing := cpu.Detected().Missing(isa.Requires); missing != 0 {
		return state{Missing: listed(missing.Names()), Best: best}
	}
	return state{Available: true, Best: best}
}

func (l kernelList) print(w io.Writer, width int) error {
	features := strings.Join(l.Features, " ")
	if features == "" {
		features = "none that a variant uses"
	}
	if err := cli.PrintWrapped(w, width, "    ", l.Arch+": "+features, ""); err != nil {
		return err
	}
	rows := [][]string{{"FORMAT", "ACT", "VARIANT", "LAYOUT", "HERE", "REQUIRES", "DESCRIPTION"}}
	for _, v := range l.Variants {
		rows = append(rows, []string{v.Format, v.Activation, v.Variant, v.Layout, v.here(), listed(v.Requires), v.Summary})
	}
	vectors := [][]string{{"OUTSIDE PRODUCTS", "HERE", "REQUIRES", "DESCRIPTION"}}
	for _, v := range l.Vectors {
		vectors = append(vectors, []string{v.Vectors, v.here(), listed(v.Requires), v.Summary})
	}
	engines := [][]string{{"ENGINE", "HERE", "DESCRIPTION"}}
	for _, e := range l.Engines {
		engines = append(engines, []string{e.Engine, e.here(), e.Summary})
	}
	var dropped []string
	for _, table := range [][][]string{rows, vectors, engines} {
		narrowed, err := cli.PrintFitted(w, table, width, "REQUIRES", "DESCRIPTION", "LAYOUT")
		if err != nil {
			return err
		}
		dropped = append(dropped, narrowed...)
		fmt.Fprintln(w)
	}
	slices.Sort(dropped)
	dropped = slices.Compact(dropped)
	notes := []string{"* used on this machine, for its format, unless another is asked for", "not in this program: " + strings.Join(l.Foreign, ", ")}
	if len(dropped) > 0 {
		notes = append(notes, "not shown for lack of width: "+strings.ToLower(strings.Join(dropped, ", ")))
	}
	return cli.PrintWrapped(w, width, "    ", notes...)
}

func (v state) here() string {
	switch {
	case !v.Available:
		return "no: " + v.Missing
	case v.Best:
		return "yes *"
	}
	return "yes"
}

func listed(features []string) string {
	if len(features) == 0 {
		return "-"
	}
	return strings.Join(features, " ")
}
