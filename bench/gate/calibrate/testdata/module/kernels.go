// Package work has one kernel for each of the kinds of work that benchmarks of
// Go projects have. A kernel is told how many units of its work were done
// before and does n more. Each unit costs the same on average, so that a share
// of units added is the share of time added.
package work

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/json"
	"io"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var text = func() []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	for b.Len() < 1<<16 {
		b.WriteString(strconv.Itoa(rng.IntN(5000)))
		b.WriteString([]string{" ns/op ", "\tfoo_bar ", " Benchmark", ", error: ", "\n"}[rng.IntN(5)])
	}
	return b.Bytes()
}()

var numbers = func() []int {
	rng := rand.New(rand.NewPCG(2, 2))
	out := make([]int, 1<<14)
	for i := range out {
		out[i] = int(rng.Uint64() >> 1)
	}
	return out
}()

// Sort sorts 64 integers in each unit.
func Sort(at, n int) (sum int) {
	var have [64]int
	for i := range n {
		copy(have[:], numbers[(at+i)*64%len(numbers):])
		slices.Sort(have[:])
		sum += have[32]
	}
	return sum
}

var words = strings.Fields(string(text))

// Map fills a map with 32 keys and finds them again in each unit.
func Map(at, n int) (sum int) {
	for i := range n {
		m := map[int]int{}
		keys := numbers[(at+i)*32%8192:][:32]
		for _, v := range keys {
			m[v] = v & 7
		}
		for _, v := range keys {
			sum += m[v]
		}
	}
	return sum
}

type record struct {
	Name   string            `json:"name"`
	Values []float64         `json:"values"`
	Tags   map[string]string `json:"tags"`
}

var document = []byte(`{"name": "matvec", "values": [1.5, 2.25, 1e-3, 17], "tags": {"os": "linux", "cpu": "x"}}`)

// JSON reads and writes a small document in each unit.
func JSON(_, n int) (sum int) {
	for range n {
		var r record
		if json.Unmarshal(document, &r) != nil {
			panic("document")
		}
		out, _ := json.Marshal(&r)
		sum += len(out)
	}
	return sum
}

// SHA256 hashes 1 KiB in each unit.
func SHA256(at, n int) (sum int) {
	for i := range n {
		h := sha256.Sum256(text[(at+i)*512%32768:][:1024])
		sum += int(h[0])
	}
	return sum
}

var pattern = regexp.MustCompile(`([a-z]+)_(\w+)\s+\d+ ns/op`)

// Regexp searches 256 bytes in each unit.
func Regexp(at, n int) (sum int) {
	for i := range n {
		sum += len(pattern.FindIndex(text[(at+i)*256%32768:][:256]))
	}
	return sum
}

type node struct {
	left, right *node
	value       int
}

func grow(depth int) *node {
	if depth == 0 {
		return &node{value: 1}
	}
	return &node{left: grow(depth - 1), right: grow(depth - 1)}
}

func (t *node) count() int {
	if t == nil {
		return 0
	}
	return t.value + t.left.count() + t.right.count()
}

// Trees allocates a tree of 63 nodes in each unit and leaves it to the
// collector.
func Trees(_, n int) (sum int) {
	for range n {
		sum += grow(5).count()
	}
	return sum
}

// Channel sends 16 values from one goroutine to another in each unit.
func Channel(_, n int) (sum int) {
	c := make(chan int, 8)
	go func() {
		for i := range n * 16 {
			c <- i
		}
		close(c)
	}()
	for v := range c {
		sum += v
	}
	return sum
}

// FanOut starts eight goroutines and waits for them in each unit.
func FanOut(_, n int) (sum int) {
	var parts [8]int
	for range n {
		var wait sync.WaitGroup
		for g := range parts {
			wait.Go(func() { parts[g] += g })
		}
		wait.Wait()
	}
	for _, p := range parts {
		sum += p
	}
	return sum
}

var near [2][8192]byte

// CopyNear copies 8 KiB within the first cache in each unit, eight times.
func CopyNear(at, n int) (sum int) {
	for i := range n {
		for range 8 {
			sum += copy(near[1][:], near[0][:])
		}
		near[0][(at+i)%8192]++
	}
	return sum + int(near[1][9])
}

var far = sync.OnceValue(func() []byte {
	b := make([]byte, 64<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = byte(i)
	}
	return b
})

var farAt int

// CopyFar copies 32 KiB of memory that no cache has in each unit.
func CopyFar(_, n int) (sum int) {
	b := far()
	half := len(b) / 2
	for range n {
		sum += copy(b[farAt:][:32768], b[half+farAt:][:32768])
		farAt = (farAt + 32768) % half
	}
	return sum
}

// ring is a cycle through 256 KiB.
var ring = sync.OnceValue(func() []uint32 {
	next := make([]uint32, 1<<16)
	for i := range next {
		next[i] = uint32(i*1664525+1013904223) % uint32(len(next))
	}
	return next
})

// Chase follows 32 pointers through 256 KiB in each unit.
func Chase(at, n int) int {
	next := ring()
	place := uint32(at) % uint32(len(next))
	for range 32 * n {
		place = next[place]
	}
	return int(place)
}

// Builder joins 16 strings in each unit.
func Builder(at, n int) (sum int) {
	for i := range n {
		var b strings.Builder
		for _, w := range words[(at+i)*16%4096:][:16] {
			b.WriteString(w)
			b.WriteByte(',')
		}
		sum += b.Len()
	}
	return sum
}

// Strconv writes and reads eight numbers in each unit.
func Strconv(at, n int) (sum int) {
	var buf [32]byte
	for i := range n {
		for _, v := range numbers[(at+i)*8%8192:][:8] {
			f, _ := strconv.ParseFloat(string(strconv.AppendFloat(buf[:0], float64(v)/3, 'g', -1, 64)), 64)
			k, _ := strconv.Atoi(string(strconv.AppendInt(buf[:0], int64(v), 10)))
			sum += int(f) + k
		}
	}
	return sum
}

var deflater = sync.OnceValue(func() *flate.Writer {
	w, _ := flate.NewWriter(io.Discard, flate.BestSpeed)
	return w
})

// Flate compresses 1 KiB in each unit.
func Flate(at, n int) (sum int) {
	w := deflater()
	w.Reset(io.Discard)
	for i := range n {
		k, _ := w.Write(text[(at+i)*1024%49152:][:1024])
		sum += k
	}
	w.Close()
	return sum
}

var prime = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 521), big.NewInt(1))

// BigInt squares a number of 521 bits modulo a prime in each unit, four times.
func BigInt(_, n int) (sum int) {
	x, y, q := big.NewInt(3), new(big.Int), new(big.Int)
	for range 4 * n {
		y.Mul(x, x)
		y.Add(y, big.NewInt(7))
		q.QuoRem(y, prime, x)
	}
	return x.BitLen()
}

var turns [8]int

// Branches takes 64 turns that nothing foretells in each unit.
func Branches(at, n int) (sum int) {
	x := uint64(at)*0x9e3779b97f4a7c15 | 1
	for range 64 * n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		if x&64 != 0 {
			turns[x&7]++
		} else if x&8 != 0 {
			sum += turns[x>>7&7]
		}
	}
	return sum
}

// Float adds the products of 256 numbers in each unit.
func Float(_, n int) (sum int) {
	var a, b [256]float64
	for i := range a {
		a[i], b[i] = float64(i), 1/float64(i+1)
	}
	total := 0.0
	for range n {
		for i := range a {
			total += a[i] * b[i]
		}
	}
	return int(total)
}

type shape interface{ area() int }
type square struct{ side int }
type rectangle struct{ a, b int }
type disc struct{ r int }

func (s square) area() int    { return s.side * s.side }
func (r rectangle) area() int { return r.a * r.b }
func (d disc) area() int      { return 3 * d.r * d.r }

var shapes = func() (out []shape) {
	for i := range 1024 {
		out = append(out, []shape{square{i}, rectangle{i, 3}, disc{i}}[numbers[i]%3])
	}
	return out
}()

// Interface calls 64 methods through an interface in each unit.
func Interface(at, n int) (sum int) {
	for i := range n {
		for _, s := range shapes[(at+i)*64%1024:][:64] {
			sum += s.area()
		}
	}
	return sum
}

var (
	lock    sync.Mutex
	guarded [8]int
)

// Mutex locks and unlocks 32 times in each unit.
func Mutex(_, n int) (sum int) {
	for range n {
		for i := range 32 {
			lock.Lock()
			guarded[i&7]++
			lock.Unlock()
		}
	}
	return guarded[0]
}

// Scan reads 512 bytes line by line in each unit.
func Scan(at, n int) (sum int) {
	for i := range n {
		in := bufio.NewScanner(bytes.NewReader(text[(at+i)*512%32768:][:512]))
		for in.Scan() {
			sum += len(in.Bytes())
		}
	}
	return sum
}
