package work

import "testing"

var sink int

func run(b *testing.B, kernel func(at, n int) int, units int) {
	sink += kernel(0, 1)
	b.ResetTimer()
	for i := range b.N {
		sink += kernel(i*units, units)
	}
}

func BenchmarkBigInt(b *testing.B)    { run(b, BigInt, unitsBigInt) }
func BenchmarkBranches(b *testing.B)  { run(b, Branches, unitsBranches) }
func BenchmarkBuilder(b *testing.B)   { run(b, Builder, unitsBuilder) }
func BenchmarkChannel(b *testing.B)   { run(b, Channel, unitsChannel) }
func BenchmarkChase(b *testing.B)     { run(b, Chase, unitsChase) }
func BenchmarkCopyFar(b *testing.B)   { run(b, CopyFar, unitsCopyFar) }
func BenchmarkCopyNear(b *testing.B)  { run(b, CopyNear, unitsCopyNear) }
func BenchmarkFanOut(b *testing.B)    { run(b, FanOut, unitsFanOut) }
func BenchmarkFlate(b *testing.B)     { run(b, Flate, unitsFlate) }
func BenchmarkFloat(b *testing.B)     { run(b, Float, unitsFloat) }
func BenchmarkInterface(b *testing.B) { run(b, Interface, unitsInterface) }
func BenchmarkJSON(b *testing.B)      { run(b, JSON, unitsJSON) }
func BenchmarkMap(b *testing.B)       { run(b, Map, unitsMap) }
func BenchmarkMutex(b *testing.B)     { run(b, Mutex, unitsMutex) }
func BenchmarkRegexp(b *testing.B)    { run(b, Regexp, unitsRegexp) }
func BenchmarkSHA256(b *testing.B)    { run(b, SHA256, unitsSHA256) }
func BenchmarkScan(b *testing.B)      { run(b, Scan, unitsScan) }
func BenchmarkSort(b *testing.B)      { run(b, Sort, unitsSort) }
func BenchmarkStrconv(b *testing.B)   { run(b, Strconv, unitsStrconv) }
func BenchmarkTrees(b *testing.B)     { run(b, Trees, unitsTrees) }
