package models

import (
	"testing"

	"onebit/reports/digest"
	"onebit/reports/reportstest"
)

// TestSeveralAtOnce: tests of more than a token a pass have tables of their own, in which each stands beside one token a pass.
func TestSeveralAtOnce(t *testing.T) {
	const of = "BenchmarkModel/model=m/variant=avx2/act=q8_row/packing=native/test=tg16"
	d := newReport(digest.Of(reportstest.Set(t, []byte(reportstest.Repeat(6, of+"/threads=2 1 1600000 ns/op 10000 tok/s")+
		reportstest.Repeat(6, of+"/texts=1/threads=2 1 2000000 ns/op 8000 tok/s")+
		reportstest.Repeat(6, of+"/texts=8/threads=2 1 4000000 ns/op 32000 tok/s")+
		reportstest.Repeat(6, of+"/depth=99/texts=2/threads=2 1 4000000 ns/op 8000 tok/s")+
		reportstest.Repeat(6, of+"/text=code/threads=2 1 1600000 ns/op 10000 tok/s 1 tok/pass")+
		reportstest.Repeat(6, of+"/text=code/drafts=7/threads=2 1 800000 ns/op 20000 tok/s 2.5 tok/pass 0.75 accepted")))))
	m := d.models[0]
	reportstest.CheckSheet(t, d.textsSheet(m), [][]string{
		{"texts", "variant", "threads", "depth", "together", "times one", "each", "a pass"},
		{"1", "avx2 native", "2", "", "8.00 k tok/s", "1.00×", "8.00 k tok/s", "125 µs"},
		{"8", "avx2 native", "2", "", "32.0 k tok/s", "4.00×", "4.00 k tok/s", "250 µs"},
		{"2", "avx2 native", "2", "99", "8.00 k tok/s", "", "4.00 k tok/s", "250 µs"},
	})
	reportstest.CheckSheet(t, d.draftsSheet(m), [][]string{
		{"text", "variant", "threads", "plain", "drafts", "with drafts", "times plain", "tokens a pass", "accepted"},
		{"code", "avx2 native", "2", "10.0 k tok/s", "7", "20.0 k tok/s", "2.00×", "2.50", "75.0 %"},
	})
	if columns := d.runSheet(m, m.runs).Columns; len(columns) != 3 || columns[2].Label != "decode tg16" {
		t.Errorf("the table of all tests has %d columns: %+v", len(columns), columns)
	}
}
