package threads

import "testing"

// A dispatch takes nothing with one thread and longer with each more, and what is
// worth it is what saves more than that.
func TestWorth(t *testing.T) {
	before := 0.0
	for threads := 1; threads <= 8; threads++ {
		d := DispatchTime(threads)
		if threads == 1 {
			if d != 0 || Worth(1, 1e9) {
				t.Errorf("one thread takes %g ns to dispatch to, and a second of tasks is worth that: %v", d, Worth(1, 1e9))
			}
		} else if even := d * float64(threads) / float64(threads-1); d <= before || Worth(threads, 0.99*even) || !Worth(threads, 1.01*even) {
			t.Errorf("%d threads: a dispatch takes %g ns, with one less %g; tasks of %g save as much", threads, d, before, even)
		}
		before = d
	}
}
