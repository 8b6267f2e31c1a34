package figure

import (
	"testing"
)

// TestMarksBelongToNames: what a variant or a format looks like does not depend on what else a report
// holds, and no two that onebit has look alike.
func TestMarksBelongToNames(t *testing.T) {
	variants := []string{
		"reference", "scalar", "unrolled", "avx2", "avx2-native", "avx2-lookup", "avxvnni", "avxvnni-native",
		"avx512", "avx512vnni", "avx512vnni-native", "avx512-lookup", "llama-bench",
	}
	for _, tt := range []struct {
		names []string
		own   func(string) int
	}{
		{variants, VariantMark},
		{[]string{"reference", "scalar", "unrolled", "neon", "neondot", "neoni8mm", "metal", "llama-bench"}, VariantMark},
		{[]string{
			"q1_0_g128", "i2_s", "ternary_u32", "q2_0", "tq2_0", "tq1_0", "i2_s_x4", "q2_0_g128", "i2_s_arm", "q8_0", "q6_k", "f16", "bf16", "f32", "pq2_0", "ptq1_0", "q4_k",
		}, FormatMark},
	} {
		all := AssignMarks(tt.names, tt.own)
		owner := make(map[int]string)
		for name, mark := range all {
			if alone := AssignMarks([]string{name}, tt.own)[name]; alone != mark {
				t.Errorf("%s looks like %d alone and like %d among others", name, alone, mark)
			}
			if other, taken := owner[mark]; taken {
				t.Errorf("%s and %s look alike", name, other)
			}
			owner[mark] = name
		}
	}
}

// TestMarksAreDistinct: names that would share a mark get marks of their own, the same in any order.
func TestMarksAreDistinct(t *testing.T) {
	names := []string{"x", "y", "z"}
	same := func(string) int { return 5 }
	marks, again := AssignMarks(names, same), AssignMarks([]string{"z", "x", "y", "x"}, same)
	if len(marks) != 3 || marks["x"] == marks["y"] || marks["y"] == marks["z"] || marks["x"] == marks["z"] {
		t.Errorf("marks %v", marks)
	}
	for name, mark := range marks {
		if again[name] != mark {
			t.Errorf("%s is %d, and %d in another order", name, mark, again[name])
		}
	}
}
