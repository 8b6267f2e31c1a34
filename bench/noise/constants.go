package noise

// The model's constants, and the recordings that each comes from. Those of
// reports/testdata were replayed with other values before one was chosen:
//
//   - noise/: 20 runs of bench --short (commit 01c978b), two cores of an AMD EPYC (Zen 3),
//     beside other work.
//   - ratios/: 10 runs of bench --short (commit c390121), Zen 4, neighbours busy.
//   - calm/ and default/ chose ratioDof alone, and calm-default/ nothing; they judge the others
//     (docs/measurements/noise.md).
const (
	// confidence is the level of every interval, and falseShare the share of false
	// discoveries among what is called different, at most; where nothing differs,
	// the chance that anything is. Both are conventions.
	confidence = 0.95
	falseShare = 0.05

	// bootstrapDraws tell the ends of a floor's interval to a tenth of its width.
	bootstrapSeed  = 1
	bootstrapDraws = 500

	// leastPooled is the number of variances from which on they say what their
	// class is like, and luck the share of the usual one below which one in 70 of
	// those with two degrees of freedom comes to lie: arithmetic.
	leastPooled = 3
	luck        = 0.02

	// leastPairs is the number of A/A pairs from which on their class has a floor.
	// Simulations chose it (TestFloorIsExceededOnceInTwenty): with 4 it was exceeded
	// by up to 7.9%.
	leastPairs = 5

	// FarBehind is how many times as long as the fastest of the same work a case takes
	// that needs no telling apart: pure Go beside SIMD takes 40 to 130 times (a run of
	// commit 4582bb6, Zen 4).
	FarBehind = 10

	// stateRatio is how many times longer the shortest round trip of the far
	// state is than the longest of the near one. Where it was looked at they
	// were 6 times as long, and those of one state within a tenth. A state has
	// stateSamples at least.
	stateRatio   = 2
	stateSamples = 3

	// leastNear is the number of processes near each other from which on ratios are theirs. With 3
	// one of the ten runs of calm/ advises otherwise than the others.
	leastNear = 4

	// thirds is into how many units a single process is cut.
	thirds = 3

	// polishes is how often passes or rounds and cases are taken off each other. It is
	// enough: of noise/ and ratios/ a further one moves no value by a thousandth.
	polishes = 4

	// ManyCases is the number of cases from which on they tell by how much two
	// runs differ. Simulations chose it (TestCompareRunsFalseAlarms).
	ManyCases = 8

	// tailDof bounds the degrees of freedom of noise: what two runs of one binary differ by has
	// heavier tails than their processes say (noise/). betweenDof is the same where most of it is
	// between runs, and no process shows it: two runs of noise/, without any difference in 80 cases,
	// had one at 7.5 standard deviations. caseDof is that of a case that is judged by itself: with 6
	// one more of the pairs of noise/ named a case falsely, and with 8 six more. With a tailDof of 8
	// something else was named with a planted change in 9 pairs of ratios/, calm/ and calm-default/
	// that 6 names in 5, and of the 190 pairs of noise/ 4 say something instead of 1.
	tailDof    = 6
	betweenDof = 4
	caseDof    = 5

	// ratioDof bounds those of a ratio within a run. Without it 91.4% of the intervals of
	// calm/ and 91.2% of those of default/ held what the other runs found, with it 94.6%
	// and 93.3%.
	ratioDof = 4

	// leastNoise is the least standard deviation of a case between two runs:
	// the layout of the memory it gets is drawn anew (noise/). fewNoise is the same
	// where there are too few cases to see it: on virtual machines all of them shift by up to a
	// fifth within minutes, and one by more (runs of commit 4582bb6).
	leastNoise = 0.005
	fewNoise   = 0.09

	// suiteNoise and classNoise are the least shifts of a suite and of a class
	// that count. Runs of one binary up to 13 minutes apart (noise/) shifted by up to
	// 1.0% and 2%; what hours do has not been measured.
	suiteNoise = 0.03
	classNoise = 0.05

	// ceilingNoise is what a ceiling itself, a case like others, differs by (noise/).
	ceilingNoise = 0.05
)
