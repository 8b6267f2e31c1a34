package gate

import (
	"fmt"
	"path/filepath"
	"slices"

	"onebit/bench/gate"
	"onebit/internal/count"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// topFunctions is how many functions of a profile a short report names.
const topFunctions = 5

// mostInText is how many findings a terminal shows, and fewInText how many of those that are more.
const mostInText, fewInText = 40, 12

// inText is what text shows of the findings and of the profiles.
func (g *report) inText() []*doc.Section {
	s := &doc.Section{ID: "findings", Only: doc.Terminal | doc.Markdown}
	list := g.notable()
	whole := words.NewTable("", "", "", list, g.fields())
	if len(list) > mostInText {
		whole.Only = doc.Markdown
		s.Add((&doc.Section{Only: doc.Terminal}).Add(words.NewTable("", "", "", list[:fewInText], g.fields()),
			doc.Text{Words: fmt.Sprintf("and %d more: the page and --json have all", len(list)-fewInText)}))
	}
	s.Add(whole)
	if n := len(g.Findings) - len(list); n > 0 {
		s.Add(doc.Text{Words: fmt.Sprintf("not shown: %s of other units that are the same or not judged", count.Of(n, "value"))})
	}
	for _, p := range g.results.Profiles {
		s.Add(words.NewTable("", fmt.Sprintf("%s takes %s longer, by function:", p.Name, words.Time(p.Head-p.Base)), "", clearChanges(p), []doc.Field[gate.FunctionChange]{
			{Label: "change", Cell: func(f gate.FunctionChange) doc.Cell { return doc.Cell{Text: signedTime(f.Change())} }},
			{Label: "function", Text: true, Cell: func(f gate.FunctionChange) doc.Cell {
				return doc.Cell{Text: functionName(f.Name), Remark: words.Parenthesis(newOrGone(f))}
			}},
		}))
		if len(clearChanges(p)) == 0 {
			s.Add(doc.Text{Words: p.Name + ": no function changed by more than so few samples explain"})
		}
		s.Add(doc.Text{Words: g.further(p)})
	}
	return []*doc.Section{s}
}

// further is how to look further into a profile.
func (g *report) further(p gate.Profile) string {
	if g.results.Folder == "" {
		return "The profiles are not kept: -o DIR keeps them."
	}
	return profileCommand(p, filepath.ToSlash(g.results.Folder))
}

// clearChanges are the largest changes of own time that are no chance.
func clearChanges(p gate.Profile) []gate.FunctionChange {
	list := slices.DeleteFunc(slices.Clone(p.Functions), func(f gate.FunctionChange) bool { return !f.Clear() })
	return list[:min(len(list), topFunctions)]
}
