package hotspot

import (
	"bytes"
	"encoding/binary"
	"maps"
	"testing"
)

// The ring has records of other kinds too, and may end within one.
func TestParseRecords(t *testing.T) {
	var ring bytes.Buffer
	record := func(kind uint32, size uint16, fields ...uint64) {
		for _, v := range []any{kind, uint16(0), size, fields} {
			if err := binary.Write(&ring, binary.NativeEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	record(recordsSample, 16, 0x10)
	record(2, 24, 0x99, 0x99) // some were lost
	record(recordsSample, 16, 0x20)
	record(recordsSample, 24, 0x10, 7) // with a field more
	record(recordsSample, 8)           // without its address
	whole := ring.Len()
	record(recordsSample, 16, 0x30)
	for cut, want := range map[int]Samples{
		ring.Len(): {0x10: 2, 0x20: 1, 0x30: 1}, ring.Len() - 1: {0x10: 2, 0x20: 1}, whole: {0x10: 2, 0x20: 1}, 20: {0x10: 1}, 0: {},
	} {
		if got := parseRecords(ring.Bytes()[:cut]); !maps.Equal(got, want) {
			t.Errorf("of %d bytes: %v, want %v", cut, got, want)
		}
	}
	record(recordsSample, 0, 0x40) // of no length
	record(recordsSample, 16, 0x50)
	if got := parseRecords(ring.Bytes()); got[0x50] != 0 || got[0x30] != 1 {
		t.Errorf("behind a record of no length: %v", got)
	}
}
