package render

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"onebit/internal/term"
	"onebit/reports/doc"
	"onebit/reports/figure"
)

func init() {
	register(Printer{"html", "html", "one self-contained page", func(ctx context.Context, w io.Writer, d *doc.Document, _ Options) error {
		return printPage(ctx, w, d, "")
	}})
}

var (
	//go:embed assets/page.html.tmpl
	pageSource string
	//go:embed assets/page.css
	pageStyle string
	//go:embed assets/page.js
	pageScript string
)

// pageTemplate is parsed when a page is wanted: a program that writes none starts sooner.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs((&page{}).functions()).Parse(pageSource))
})

// A page is a document on its way into the template. Only what is the program's own, and drawings, whose texts are
// escaped where they are drawn, reach it unescaped.
type page struct {
	*doc.Document
	Light, Dark template.CSS
	Style       template.CSS
	Script      template.JS
	Problems    string
	Shown       []*doc.Section

	ctx   context.Context
	plots string // the folder beside the page that holds its figures as PNG files, "" if there is none
	words *abbreviator
	marks []doc.Mark // that were used
}

// printPage writes the page. An error half way leaves no half a page behind.
func printPage(ctx context.Context, w io.Writer, d *doc.Document, plots string) error {
	p := &page{
		Document: d, Light: template.CSS(figure.PaletteCSS(false)), Dark: template.CSS(figure.PaletteCSS(true)),
		Style: template.CSS(pageStyle + numberCSS(d) + figure.DrawingCSS()), Script: template.JS(pageScript), Problems: problemsHeading(d),
		ctx: ctx, plots: plots, words: newAbbreviator(d.Words),
	}
	p.Shown = slices.DeleteFunc(slices.Clone(d.Sections), func(s *doc.Section) bool { return !s.Only.In(doc.Page) })
	t, err := pageTemplate().Clone() // each page explains words anew
	if err != nil {
		return fmt.Errorf("rendering the page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Funcs(p.functions()).Execute(&b, p); err != nil {
		return cmp.Or(ctx.Err(), fmt.Errorf("rendering the page: %w", err))
	}
	_, err = b.WriteTo(w)
	return err
}

// numberCSS are the rules of a table's classes, one for each column of numbers: they stand right, and never break. A
// class for each of thousands of cells would take far more bytes.
func numberCSS(d *doc.Document) string {
	most := 0
	for part := range d.All() {
		if t, ok := part.(*doc.Table); ok {
			most = max(most, len(t.Columns))
		}
	}
	var b strings.Builder
	for i := range most {
		fmt.Fprintf(&b, ".n%d :is(td,th):nth-child(%d){text-align:right}.n%[1]d td:nth-child(%[2]d) small{display:inline-block;min-width:3.4em;text-align:left}", i, i+1)
		fmt.Fprintf(&b, "@media(max-width:560px){.n%d td:nth-child(%d){white-space:nowrap;min-width:0}}", i, i+1)
	}
	return b.String()
}

func (p *page) functions() template.FuncMap {
	return template.FuncMap{
		"abbr":       func(text string) template.HTML { return p.words.html(term.Text(text)) },
		"paragraphs": func(text string) []string { return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }) },
		"form":       form,
		"sentence":   func(text string) string { return unbroken.Replace(doc.Sentence(text)) },
		"shown":      func(m doc.Medium) bool { return m.In(doc.Page) },
		"label":      func(t *doc.Table) string { return cmp.Or(t.Heading, t.ID) },
		"long": func(t *doc.Table) bool {
			return slices.ContainsFunc(t.Rows, func(row []doc.Cell) bool { return len(row) > 0 && utf8.RuneCountInString(row[0].Text) > longName })
		},
		"middle":  func(c doc.Column) bool { return strings.Contains(c.Label, "│") },
		"stopped": func(s string) bool { return strings.HasSuffix(s, ".") },
		"shade": func(c doc.Cell) template.CSS {
			if c.Shade <= 0 {
				return ""
			}
			return template.CSS(fmt.Sprintf("background:color-mix(in srgb,var(--s1) %.0f%%,var(--paper))", 40*min(c.Shade, 1)))
		},
		"mark":  p.mark,
		"marks": p.symbols,
		"svg":   p.svg,
		"split": func(f *doc.Figure) []part {
			drawn, panels := f.Split()
			if len(drawn) < 2 || panels[1].Plot == nil { // one panel, with or without a legend
				return []part{{f.Figure, new(figure.Panel)}}
			}
			var all []part
			for i := range drawn {
				all = append(all, part{drawn[i], panels[i]})
			}
			return all
		},
		"png": func(f *doc.Figure) string {
			if p.plots == "" || f.Name == "" {
				return ""
			}
			return p.plots + "/" + f.Name + ".png"
		},
	}
}

// longName is from how many characters on a name may break.
const longName = 28

// unbroken keeps a number and its unit in one line.
var unbroken = strings.NewReplacer(" tok/s", "\u00a0tok/s", " k tok/s", "\u00a0k\u00a0tok/s", " M tok/s", "\u00a0M\u00a0tok/s", " %", "\u00a0%", " GB/s", "\u00a0GB/s", " GB ", "\u00a0GB ")

// A part is a panel of a figure, drawn by itself.
type part struct {
	*figure.Figure
	Panel *figure.Panel
}

// form names the kind of a part for the template.
func form(p doc.Part) string {
	switch p.(type) {
	case *doc.Section:
		return "section"
	case *doc.Table:
		return "table"
	case *doc.Figure:
		return "figure"
	case doc.Text:
		return "text"
	case doc.List:
		return "list"
	case doc.Facts:
		return "facts"
	case doc.Code:
		return "code"
	case *doc.Timeline:
		return "timeline"
	}
	return ""
}

// svg draws a figure, unless the context ended.
func (p *page) svg(f *figure.Figure) (template.HTML, error) {
	if err := p.ctx.Err(); err != nil {
		return "", err
	}
	drawn, err := f.SVG()
	return template.HTML(drawn), err
}

// mark refers to a mark, which the page draws once.
func (p *page) mark(m doc.Mark) template.HTML {
	if m == 0 {
		return ""
	}
	if !slices.Contains(p.marks, m) {
		p.marks = append(p.marks, m)
	}
	return template.HTML(fmt.Sprintf(`<svg class="mark" aria-hidden="true"><use href="#m%d"/></svg>`, m.Series()))
}

// symbols draws the marks that were used.
func (p *page) symbols() template.HTML {
	if len(p.marks) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<svg width="0" height="0" aria-hidden="true">`)
	for _, m := range p.marks {
		fmt.Fprintf(&b, `<symbol id="m%d" viewBox="0 0 %[2]d %[2]d">%[3]s</symbol>`, m.Series(), figure.SymbolSize, figure.Symbol(m.Series()))
	}
	b.WriteString("</svg>\n")
	return template.HTML(b.String())
}
