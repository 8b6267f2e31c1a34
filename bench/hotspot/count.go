package hotspot

// Counts are how often each address was executed.
type Counts map[uint64]int
