package tokenizer

import (
	"hash/maphash"
	"testing"
)

// Pairs whose hashes are the same to the table are noticed, so that another
// factor is tried; a pair that comes twice keeps its first rank.
func TestRanksTellPairsApart(t *testing.T) {
	m := &bytePairs{factor: 1, ranks: newTable(3)} // hashes are the pairs themselves
	size := int32(len(m.ranks))
	m.merges = []merge{{1, 2, 7}, {1, 2 + size, 8}}
	if !m.enter() {
		t.Error("two hashes that differ in bits that the table does not see were entered")
	}
	m.merges = []merge{{1, 2, 7}, {3, 2 + size, 8}, {1, 2, 9}}
	if m.enter() {
		t.Error("hashes that the table tells apart were refused")
	}
	for _, tt := range []struct{ left, right, rank int32 }{{1, 2, 0}, {3, 2 + size, 1}, {1, 2 + size, -1}, {4, 4, -1}} {
		if got := m.rank(tt.left, tt.right); got != tt.rank {
			t.Errorf("the rank of (%d, %d) is %d, want %d", tt.left, tt.right, got, tt.rank)
		}
	}
}

// The table finds by hash; find compares the text besides.
func TestFindComparesTexts(t *testing.T) {
	v, err := newVocabulary(listOf([]string{"one", "two"}), make([]kind, 2))
	if err != nil {
		t.Fatal(err)
	}
	// A text that is no token gets the slot of one with its hash.
	h := maphash.String(v.seed, "three")
	at, id := v.table.probe(h)
	if id >= 0 {
		t.Skip("a chance of 2^-40 came true")
	}
	v.table.put(at, h, 1)
	if got := v.likely("three"); got != 1 {
		t.Errorf("likely found %d, want 1", got)
	}
	if got := v.find("three"); got != -1 {
		t.Errorf("find found %d for a text that is no token", got)
	}
	if got := v.find("two"); got != 1 {
		t.Errorf("find found %d, want 1", got)
	}
}
