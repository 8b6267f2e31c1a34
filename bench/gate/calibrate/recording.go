package calibrate

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/internal/bounded"
)

// A Recording is what the processes of a gate measured whose base, head and
// control have the same sources.
type Recording struct {
	Header       []string // facts on the machine, "key: value"
	Measurements []gate.Measurement
}

// units are what a recording has of each process.
var units = []string{results.NsPerOp, results.AllocBytes, results.Allocs}

var columns = append([]string{"case", "round", "position", "side", "n", "start-us", "took-us"}, units...)

const comment = "# "

// WriteTo writes a recording as compressed CSV, below lines of comments.
func (r *Recording) WriteTo(w io.Writer) (int64, error) {
	var text bytes.Buffer
	for _, line := range r.Header {
		fmt.Fprintln(&text, comment+line)
	}
	out := csv.NewWriter(&text)
	out.Write(columns)
	for _, m := range r.Measurements {
		out.Write(row(m))
	}
	out.Flush() // a bytes.Buffer has no errors
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	if _, err := z.Write(text.Bytes()); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return packed.WriteTo(w)
}

func row(m gate.Measurement) []string {
	cells := []string{
		m.Name, strconv.Itoa(m.Round), strconv.Itoa(m.Position), m.Side.String(), strconv.Itoa(m.N),
		strconv.FormatInt(m.Start.Microseconds(), 10), strconv.FormatInt(m.Took.Microseconds(), 10),
	}
	for _, unit := range units {
		i := slices.IndexFunc(m.Values, func(v results.Metric) bool { return v.Unit == unit })
		if i < 0 {
			cells = append(cells, "")
			continue
		}
		cells = append(cells, strconv.FormatFloat(m.Values[i].Value, 'g', 7, 64))
	}
	return cells
}

// mostText bounds what a compressed recording may hold.
const mostText = 64 << 20

// Read reads a recording. name is that of the file, for errors.
func Read(packed []byte, name string) (*Recording, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s is no recording of a gate: %w", name, err)
	}
	text, err := bounded.Read(z, mostText)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := new(Recording)
	for line := range strings.Lines(string(text)) {
		fact, ok := strings.CutPrefix(line, comment)
		if !ok {
			break
		}
		r.Header = append(r.Header, strings.TrimSpace(fact))
	}
	rows := csv.NewReader(bytes.NewReader(text))
	rows.Comment = rune(comment[0])
	rows.FieldsPerRecord = len(columns)
	all, err := rows.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s is no recording of a gate: %w", name, err)
	}
	if len(all) < 2 || !slices.Equal(all[0], columns) {
		return nil, fmt.Errorf("%s is no recording of a gate: it has not the columns %s, or nothing below them", name, strings.Join(columns, ","))
	}
	for i, cells := range all[1:] {
		m, err := measurement(cells)
		if err != nil {
			return nil, fmt.Errorf("%s: measurement %d: %w", name, i+1, err)
		}
		r.Measurements = append(r.Measurements, m)
	}
	return r, nil
}

func measurement(cells []string) (m gate.Measurement, err error) {
	var numbers [5]int64 // round, position, n, start, took
	for i, column := range []int{1, 2, 4, 5, 6} {
		if numbers[i], err = strconv.ParseInt(cells[column], 10, 64); err != nil {
			return m, err
		}
		if numbers[i] < 0 || numbers[i] > 1<<40 {
			return m, fmt.Errorf("%s %d is out of range", columns[column], numbers[i])
		}
	}
	side, ok := gate.ParseSide(cells[3])
	if !ok {
		return m, fmt.Errorf("%q is no side", cells[3])
	}
	m = gate.Measurement{
		Benchmark: gate.Benchmark{Package: modulePath, Name: cells[0]}, Side: side,
		Round: int(numbers[0]), Position: int(numbers[1]), N: int(numbers[2]),
		Start: time.Duration(numbers[3]) * time.Microsecond, Took: time.Duration(numbers[4]) * time.Microsecond,
	}
	for i, unit := range units {
		cell := cells[len(cells)-len(units)+i]
		if cell == "" {
			continue
		}
		v := results.Metric{Unit: unit}
		if v.Value, err = strconv.ParseFloat(cell, 64); err != nil {
			return m, err
		}
		m.Values = append(m.Values, v)
	}
	return m, nil
}
