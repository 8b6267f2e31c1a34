package compare

import (
	"io"

	"onebit/reports/render"
	"onebit/reports/reportstest"
)

type CompareTextOptions struct {
	Width int
	All   bool
}

func (c *Comparison) WriteText(w io.Writer, opt CompareTextOptions) error {
	return reportstest.PrintDoc(w, c.Document(opt.All), "table", render.Options{Width: opt.Width})
}

func (c *Comparison) WriteHTML(w io.Writer) error {
	return reportstest.PrintDoc(w, c.Document(false), "html", render.Options{})
}
