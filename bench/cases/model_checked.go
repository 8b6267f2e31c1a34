package cases

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"onebit/internal/mmap"
	"onebit/models"
)

// mostChecked is how many multiply-adds of a token are compared with the pure Go variant,
// beside the head's. Two cores do them in a few seconds. Models of up to three
// billion weights have no more.
const mostChecked = 3 << 30

// A blockCost is what holding a block to pure Go takes, and what the block is
// like: blocks of one kind are computed by the same steps and kernels.
type blockCost struct {
	kind string
	macs int
}

func blockCosts(m *models.Model) (costs []blockCost) {
	for i, b := range m.Blocks() {
		var c blockCost
		for _, l := range b.Linears() {
			name := strings.TrimPrefix(l.Name, fmt.Sprintf("blk.%d.", i))
			c.kind += fmt.Sprintln(name, l.Type.Name, l.Rows, l.Cols)
			c.macs += l.MultiplyAdds()
		}
		costs = append(costs, c)
	}
	return costs
}

// checkedBlocks returns the blocks that are compared with the pure Go variant: all of
// them, if a token takes no more than most multiply-adds in them. Else as many as take
// no more, from the first to the last at even distances, and at least the first and
// the last, with the first block of each kind that these leave out.
func checkedBlocks(blocks []blockCost, most int) (checked []int) {
	sum := 0
	for i, b := range blocks {
		sum += b.macs
		checked = append(checked, i)
	}
	if sum <= most {
		return checked
	}
	last := len(blocks) - 1
	n := max(2, most/(sum/len(blocks)))
	checked = checked[:0]
	kinds := map[string]bool{}
	for i := range n {
		at := i * last / (n - 1)
		checked = append(checked, at)
		kinds[blocks[at].kind] = true
	}
	for i, b := range blocks {
		if !kinds[b.kind] {
			checked = append(checked, i)
			kinds[b.kind] = true
		}
	}
	slices.Sort(checked)
	return slices.Compact(checked)
}

// checkedInPart says what is verified of a model of which not all blocks are held
// to the pure Go variant; "" of others.
func (sub *subject) checkedInPart() string {
	if len(sub.checked) == sub.blocks {
		return ""
	}
	return fmt.Sprintf("%s is verified in part, for its size: blocks %s of 0 to %d and the head equal the pure Go variant to the bit, taken as if there were no others; "+
		"of all blocks together a batch of tokens equals the same ones one by one", sub.Name, strings.Trim(fmt.Sprint(sub.checked), "[]"), sub.blocks-1)
}

// logitsOfChecked takes in tokens and returns the logits that follow them, in a
// model that consists of the checked blocks.
func (sub *subject) logitsOfChecked(ctx context.Context, s *models.Session, ids []int) (logits []float32, err error) {
	if len(sub.checked) == sub.blocks {
		return s.Prefill(ctx, ids)
	}
	if err := s.Start(ids); err != nil {
		return nil, err
	}
	err = mmap.Guard(func() error {
		for i, b := range s.Model().Blocks() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if slices.Contains(sub.checked, i) {
				s.Forward(b)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.Finish()
}
