package models_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/internal/require"
	"onebit/internal/sysinfo"
	"onebit/models"
	"onebit/models/engine/cpu"
)

// What is resident of keys and values follows the position, a tile of 128 tokens
// and a huge page ahead of it at most, whatever the context; it shrinks where the
// text does, which then goes on as if it had never been longer.
func TestCacheFollowsThePosition(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	sameEverywhere(t)
	if exe, err := os.Readlink("/proc/thread-self/exe"); err == nil && strings.Contains(exe, "qemu-") {
		t.Skip("an emulator swallows advice on memory: ", exe)
	}
	const tile = 128
	p := deepCache()
	m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Threads: 2}})
	ids := text(2*tile+2, p.Config.Vocab)
	for _, format := range cpu.CacheFormats() {
		t.Run(format.Name, func(t *testing.T) {
			s := must(m.NewSession(models.SessionOptions{Context: p.Config.Context, Cache: format}))
			token := tokenBytes(t, p, format)
			memory := s.HostMemory()[0]
			if len(memory) < p.Config.Context*token {
				t.Fatalf("%d bytes are reserved, too few for %d tokens of %d", len(memory), p.Config.Context, token)
			}
			resident := func() int { return int(must(sysinfo.Resident(memory))) }
			if n := resident(); n != 0 {
				t.Errorf("%d bytes are resident before the first token", n)
			}
			takeTo := func(n int) []float32 {
				logits := must(s.Prefill(context.Background(), ids[s.Position():n]))
				return slices.Clone(logits)
			}
			takeTo(1)
			// A page of each key's and each value's tile, and of values in int8 another: a
			// tile's scales lie before its codes.
			pages := 2
			if format == formats.Q8_0 || format == formats.Q4_0 {
				pages = 3
			}
			if n, most := resident(), p.Config.Layers*p.Config.KVHeads*pages*os.Getpagesize(); n > most {
				t.Errorf("%d bytes are resident after one token, more than %d", n, most)
			}
			for _, n := range []int{tile, tile + 1} {
				takeTo(n)
				tiles := (n + tile - 1) / tile
				if got, most := resident(), tiles*tile*token+mmap.HugePage; got < n*token || got > most {
					t.Errorf("%d bytes are resident after %d tokens, want %d to %d", got, n, n*token, most)
				}
			}
			want := takeTo(len(ids))
			if err := s.Truncate(10); err != nil {
				t.Fatal(err)
			}
			if got, most := resident(), 2*tile*token+mmap.HugePage; got < 10*token || got > most {
				t.Errorf("%d bytes are resident after going back to 10 tokens, want %d to %d", got, 10*token, most)
			}
			if got := takeTo(len(ids)); !slices.Equal(got, want) {
				t.Error("logits differ after going back and forth")
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if n := resident(); n != 0 {
				t.Errorf("%d bytes are resident after Close", n)
			}
		})
	}
}
