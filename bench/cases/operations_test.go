package cases

import (
	"testing"
	"time"

	"onebit/bench/names"
	"onebit/models"
)

// What a pass spends outside of its operations is an operation too, so that
// all add up to the pass. A clock that reads operations too long leaves none.
func TestOperationsAddUp(t *testing.T) {
	for _, test := range []struct{ pass, want time.Duration }{{10, 3}, {7, 0}, {5, 0}} {
		ops := &operationTimes{total: map[operationKey]*operationTotal{}}
		ops.Observe(models.Op{Block: 0, Name: "attn", Duration: 1})
		ops.Observe(models.Op{Block: 0, Name: "attn", Duration: 2})
		ops.Observe(models.Op{Block: models.Outside, Name: "output", Duration: 4})
		ops.rest(test.pass)
		if got := ops.total[operationKey{models.Outside, names.Unattributed}].time; got != test.want {
			t.Errorf("a pass of %d: %d is unattributed, want %d", test.pass, got, test.want)
		}
	}
}
