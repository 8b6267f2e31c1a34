package cases

import (
	"cmp"
	"context"
	"errors"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/models/source"
)

// addHeads adds a study of what other output heads would give, where the file's is
// large, to a group of tg tests.
func (s *Suite) addHeads(store *store, c modelConfig, t names.ModelTest, group string) {
	if c.subject.Head != nil || !c.subject.headShrinks || t.Depth > 0 {
		return
	}
	name := names.HeadCase{Model: c.subject.Name, Variant: c.variant.Name, Act: string(c.act()), Packing: packingNames[c.packing], Threads: c.threads}
	const about = 32 // tokens take as long
	s.Studies = append(s.Studies, bench.Study{
		Name: name.String(), Group: group, Time: c.expect(names.ModelTest{Kind: names.Decode, Tokens: about}),
		Run: func(ctx context.Context, emit func(results.Sample) error) error {
			m, err := store.open(ctx, c)
			if err != nil {
				return err
			}
			ids, err := c.subject.encode(cmp.Or(c.subject.Text, lockstepText))
			if errors.Is(err, source.ErrNoTokenizer) {
				ids, err = tokens(c.subject, min(about, c.subject.config.Context)), nil
			}
			if err != nil {
				return err
			}
			trials, err := m.TryHeads(ctx, ids)
			if err != nil {
				return err
			}
			for _, t := range trials {
				name.Head = t.Format.Name
				if err := emit(results.Sample{Name: results.ParseName(name.String()), Values: []results.Metric{
					{Unit: results.NsPerOp, Value: float64(t.Time)}, {Unit: results.WeightRate, Value: float64(t.Bytes) / t.Time.Seconds()},
					{Unit: results.TokenRate, Value: 1 / t.Token.Seconds()}, {Unit: results.PackedBytes, Value: float64(t.Bytes)},
					{Unit: results.KLD, Value: t.KLD}, {Unit: results.NMSE, Value: t.NMSE},
				}}); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
