package work

// Units of work in an operation of each benchmark. A variant of this file has
// more in some.
const (
	unitsBigInt    = 200
	unitsBranches  = 200
	unitsBuilder   = 200
	unitsChannel   = 200
	unitsChase     = 200
	unitsCopyFar   = 200
	unitsCopyNear  = 200
	unitsFanOut    = 200
	unitsFlate     = 200
	unitsFloat     = 200
	unitsInterface = 200
	unitsJSON      = 200
	unitsMap       = 200
	unitsMutex     = 200
	unitsRegexp    = 200
	unitsSHA256    = 200
	unitsScan      = 200
	unitsSort      = 200
	unitsStrconv   = 200
	unitsTrees     = 200
)
