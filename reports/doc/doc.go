// Package doc is the one form between results and what people read: a [Document] that every kind of report
// builds, and every printer of onebit/reports/render prints.
//
//	results.txt ── kind (onebit/reports) ── Document ── printer (onebit/reports/render) ── terminal, HTML, Markdown, CSV, JSON, PNG
//
// A document is data. It knows neither what was measured nor who prints it: a kind puts the words, a printer the
// layout. There is one [Table] and one [Figure] for all kinds.
//
// # How a document reads
//
// The rules hold for every kind; a printer applies them, so that no kind has to.
//
//   - First comes [First]: a sentence with a verb, one number with its uncertainty, why that is so, one ranking with
//     bars and intervals, and the next command. On a desktop the sentence stands left of the ranking, on a phone above it;
//     a terminal of 80 columns shows this much in 24 lines, and the sections when asked for all.
//   - At most two warnings that may change the sentence stand below it, in red ([Document.Grave]). What holds for all is a
//     quiet line, and every other warning is counted in one that opens.
//   - A caption says in a sentence how to read what follows. Definitions are in a column's head, where a pointer shows
//     them, and in the glossary.
//   - The deciding column is the first of a table, and stays in sight where a table is wider than the screen. The bar takes
//     the room that the others leave. Names are shortened before a number, its ± or an error is left out; what is left out
//     is named.
//   - A number has three digits at most, its unit, and ± as a share behind it. "±?" says that too few samples were
//     taken. A tie is said in words.
//   - Colours mean: blue the best or the first series, orange what is worse, green what is better, red a doubt, grey what is
//     beside the point. A name has the same mark, colour and shape, in every figure and table of a document.
//   - A figure says which way is better, and has the names of its points beside them. Rankings are bars. A narrow figure
//     has its table beside it, and figures of one kind stand in two columns.
//   - Type: 28 px for the sentence, 42 px for its number, 21, 17 and 16 px for headings and text, 14 px for tables and
//     captions, 12 px in figures. The grid is of 4 px, and 1240 px wide.
package doc
