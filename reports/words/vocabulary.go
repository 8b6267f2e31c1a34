package words

import (
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/doc"
)

// Vocabulary explains in few words what headings and tables are full of; the glossary says more.
var Vocabulary = []doc.Word{
	{Text: names.Act, About: "activation scheme, how the numbers that meet the weights are rounded"},
	{Text: "q8_128", About: "8 bits, a scale for 128 values"},
	{Text: "q8_32", About: "8 bits, a scale for 32 values"},
	{Text: "q8_row", About: "8 bits, one scale"},
	{Text: "packed", About: "weights repacked on loading"},
	{Text: "native", About: "weights read as the file holds them"},
	{Text: results.PctRoof, About: "share of what reading alone reached in the same round"},
	{Text: results.PctPeak, About: "share of what multiplying alone reached in the same round"},
	{Text: VersusBest, About: VersusAbout},
	{Text: results.NMSE, About: "squared error over squared result"},
	{Text: results.KLD, About: "divergence of the predictions from those in float64, in nats"},
	{Text: "A/A", About: "the same code measured as if it were two"},
}
