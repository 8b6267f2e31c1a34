# The steps of .ci/run and of the workflow, as functions.

export GOFLAGS="${GOFLAGS:-}"
steps_done=()
current=

# step NAME COMMAND…: runs the command, timed; set -e stops at a failure.
step() {
	current=$1 started=$SECONDS
	shift
	printf '\n=== %s\n' "$current"
	"$@"
	steps_done+=("$(printf '%5d s  %s' $((SECONDS - started)) "$current")")
	current=
}

# summary lists the steps and their times; a step that began and did not end
# has failed.
summary() {
	local failed=0
	printf '\n=== summary\n'
	[ "${#steps_done[@]}" = 0 ] || printf '%s\n' "${steps_done[@]}"
	if [ -n "$current" ]; then
		failed=1
		printf '%5d s  %s: FAILED; the steps after it did not run\n' $((SECONDS - started)) "$current"
	fi
	printf '%d s: %d passed, %d failed\n' "$SECONDS" "${#steps_done[@]}" "$failed"
}

# finish is the end of every run, passed or not.
finish() {
	local status=$?
	summary
	rm -rf "$ci_folder" # not TMPDIR, which a caller may set
	exit "$status"
}

install_packages() {
	local sudo= packages="binutils g++ llvm fonts-dejavu-core qemu-user-static"
	[ "$(uname -m)" != x86_64 ] || packages="$packages wine wine64 g++-aarch64-linux-gnu"
	[ "$(id -u)" = 0 ] || sudo=sudo
	# Ubuntu's chromium is a stub for a snap; its CI images bring Chrome. Slurm
	# takes eight seconds to install, and was tried on Debian only.
	grep -q '^ID=debian' /etc/os-release && packages="$packages chromium slurm-wlm munge"
	$sudo apt-get update -qq
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
}

check_gofmt() {
	local files
	files=$(gofmt -l .)
	[ -z "$files" ] || { printf 'not gofmt-ed:\n%s\n' "$files"; return 1; }
}

vet_platforms() {
	local platform
	for platform in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do
		echo "$platform"
		CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} go vet ./...
	done
	go vet -tags purego ./...
	go vet -tags softmetal ./cmd/...
	go -C kernels/_asm vet ./...
}

# check_unused finds what no build or test uses, and other faults that vet
# has no eye for.
check_unused() {
	GOBIN=$TMPDIR go install honnef.co/go/tools/cmd/staticcheck@v0.8.2
	GOBIN=$TMPDIR go install golang.org/x/tools/cmd/deadcode@v0.52.0
	"$TMPDIR/staticcheck" ./...
	"$TMPDIR/staticcheck" -tags purego ./...
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 "$TMPDIR/staticcheck" ./...
	check_dead
	# The generators are a module of their own, which ./... leaves out.
	(cd kernels/_asm && "$TMPDIR/staticcheck" ./... && check_dead)
}

# check_dead finds functions of the module here that nothing reaches.
check_dead() {
	local dead
	dead=$("$TMPDIR/deadcode" -test ./...)
	[ -z "$dead" ] || { printf '%s\n' "$dead"; return 1; }
}

# machine_features lists the CPU features that the operating system reports,
# in onebit's names: what a skipped test may not blame.
machine_features() {
	local known flag
	case $(uname -m) in
	x86_64)
		known="avx2:avx2 fma:fma f16c:f16c avx_vnni:avxvnni avx512f:avx512f avx512bw:avx512bw avx512dq:avx512dq
			avx512vl:avx512vl avx512_vnni:avx512vnni avx512vbmi:avx512vbmi avx512_fp16:avx512fp16 avx512_bf16:avx512bf16
			amx_tile:amxtile amx_int8:amxint8"
		;;
	aarch64) known="asimd:neon asimddp:dotprod i8mm:i8mm asimdhp:fp16 bf16:bf16" ;;
	*) return 0 ;;
	esac
	for flag in $known; do
		if grep -qw "${flag%:*}" /proc/cpuinfo; then printf '%s,' "${flag#*:}"; fi
	done
}

report_variants() {
	go build -o /dev/null ./...
	go run ./cmd/onebit kernels
	printf 'a skip for lack of these is a failure: %s\n' "$(machine_features)"
}

# check_static builds onebit as it is released for Linux, and as it is tested
# with Metal played.
check_static() {
	local headers
	CGO_ENABLED=0 go build -o "$TMPDIR/onebit-static" ./cmd/onebit
	headers=$(readelf -lW "$TMPDIR/onebit-static")
	if grep -E 'INTERP|DYNAMIC' <<<"$headers"; then
		echo "onebit is linked dynamically"
		return 1
	fi
	go run -tags softmetal ./cmd/onebit kernels >/dev/null
}

# tools lists what the tests may not miss: what is installed.
tools() {
	local tool
	for tool in chromium google-chrome; do
		if command -v "$tool" >/dev/null; then printf 'chromium,'; fi
	done
	if [ -x /usr/sbin/slurmctld ] && [ -x /usr/sbin/munged ]; then printf 'slurm,'; fi
	printf 'benchstat,g++,objdump,llvm-objdump'
}

run_tests() {
	local require
	require=$(machine_features)$(tools)
	ONEBIT_REQUIRE=$require go test ./...
	# Go's own SIMD package is an experiment that exists on amd64 only.
	[ "$(uname -m)" = x86_64 ] || return 0
	GOEXPERIMENT=simd go vet ./kernels/...
	GOEXPERIMENT=simd ONEBIT_REQUIRE=$require go test -short -run Conformance/i2_s/avx2-archsimd ./kernels
}

# of_models are tests of what sessions take, return and draw, which are the same
# code on every machine.
of_models='^Test(CacheFollowsThePosition|PlanIsWhatIsTaken|EngineCountsCaches|Speculate.*|HFEqualsGGUF|HFMatchesOracle|DecodeDoesNotAllocate|LengthenedTexts)$'
readonly of_models

# test_purego runs the packages whose code differs under the tag, and those that
# link one. Features of the CPU, which it hides, reach all others by name only.
# Short: what the portable code computes, go test ./... has proved in full; nor is
# it what commands do that multiply nothing, or what a model's size takes.
test_purego() {
	local others='^TestScripts$/^(compare|gate.*|gopher|history|import|machine|man|metal|report_machines|split|train_.*|usage|version)$'
	local files='{{.ImportPath}} {{.GoFiles}} {{.SFiles}} {{.TestGoFiles}} {{.XTestGoFiles}}' changed
	changed=$(comm -13 <(go list -f "$files" ./... | sort) <(go list -tags purego -f "$files" ./... | sort) | cut -d' ' -f1)
	[ -n "$changed" ]
	# shellcheck disable=SC2046 # a list of packages
	go test -timeout 30m -short -skip "$others|$of_models" -tags purego onebit/internal/cpu $(linking "$(grep -v '/internal/cpu$' <<<"$changed")")
}

# linking PACKAGES: the packages whose tests link one of them.
linking() {
	go list -test -f '{{.ImportPath}} {{join .Deps " "}} ' ./... |
		awk -v packages="$1" 'BEGIN { n = split(packages, p, "\n") }
			sub(/\.test /, " ") { for (i = 1; i <= n; i++) if (index($0, " " p[i] " ")) { print $1; next } }'
}

# test_race runs the packages that start goroutines or share memory between
# them, with their tests, less those that have nobody to race with: what one
# thread computes (kernels of one column, references, statistics, parsers), what
# only assembly distinguishes, which the detector does not see, what a played GPU
# measures, whose engine is raced where it stands, and scripts whose commands share
# nothing that their packages' own tests don't. A profile of a kernel's
# instructions would be one of the detector's.
test_race() {
	local files
	local conformance='Conformance/.*/(unrolled|avx512|avxvnni)|Conformance/.*/.*/.*/(shapes|long_rows|misaligned|not_finite|reference|allocations)|^TestEngine/exact'
	local one_thread='^Test(Alike|BadWeightsShowInProducts|TwoBit(Columns|Extremes|Rows)|HeadBits|OracleCatches|RotationRefusals|LogitsMatchOracle|YaRNPastOriginalContext|FoldedModel|FalseAlarms|Detection|ReadEveryPrefix|Ties|ErrorOfSchemes|LlamaBench.*|GPU.*|GateRefusesEmulated)$|^FuzzVariants$'
	local scripts='^TestScripts$/^(bench_(errors|folder|help|list)|cellm|compare|convert|gate(_b.*|_calibrate|_folder|_repo|_rules)?|gopher|hf|history|import|inspect|kernels|machine|man|memory|metal|perplexity|profile_kernel|qwen35|report_machines|split|synth|train_.*|usage|version)$'
	files=$(grep -rlE --include='*.go' --exclude-dir='testdata' --exclude-dir='_*' '^[[:space:]]*go (func|[a-zA-Z.]+\()|"sync"|"sync/atomic"|errgroup"' .)
	[ -n "$files" ]
	# shellcheck disable=SC2046 # a list of packages
	go test -timeout 30m -race -short -skip "$conformance|$one_thread|$scripts" $(xargs -n1 dirname <<<"$files" | sort -u)
}

# test_arm64 runs the packages with arm64 code as three CPUs: without
# dotprod, with it, and with everything qemu knows.
test_arm64() {
	[ "$(uname -m)" != aarch64 ] || return 0 # go test ./... was it
	local some='NEON|Order|Pairs|Pool|Sum|Dot|Conformance/.*/neon'
	on_arm64 cortex-a72 neon -run "$some" ./kernels/... ./bench/roofline
	on_arm64 neoverse-n1 neon,dotprod,fp16 -run "$some" ./kernels/... ./bench/roofline
	# shellcheck disable=SC2046 # a list of packages, less one that is no static program, and one that is slow and calls the others
	on_arm64 max neon,dotprod,i8mm,fp16,bf16 -skip "$of_models" ./internal/... ./formats/... ./kernels/... ./bench/roofline $(go list ./models/... | grep -vE '/(metal|train/lm)$')
	metal_arm64
}

# metal_arm64 runs metal's host as on a Mac in one respect: words, structs and
# results go to C and back by arm64's calling convention. Of the engine on it, the
# products: the rest is as slow as shaders are that are played on a CPU that is.
metal_arm64() {
	local cross=$TMPDIR/arm64 under
	mkdir "$cross"
	ln -s "$(command -v aarch64-linux-gnu-g++)" "$cross/g++"
	under="env PATH=$cross:$PATH XDG_CACHE_HOME=$cross qemu-aarch64-static -cpu max -L /usr/aarch64-linux-gnu"
	ONEBIT_REQUIRE=g++ GOARCH=arm64 CGO_ENABLED=0 go test -exec "$under" ./metal
	ONEBIT_REQUIRE=g++ GOARCH=arm64 CGO_ENABLED=0 go test -exec "$under" -run 'Formats|Work' ./models/engine/metal
}

# on_arm64 CPU FEATURES ARGS…: go test under qemu, where a skip for lack of one
# of the features is a failure.
on_arm64() {
	local cpu=$1 features=$2
	shift 2
	echo "-cpu $cpu: $features"
	ONEBIT_REQUIRE=$features GOARCH=arm64 CGO_ENABLED=0 go test -short -exec "qemu-aarch64-static -cpu $cpu" "$@"
}

# test_wine runs Windows binaries of the tests: files, clock, memory and words
# are another system's, the instructions this machine's own.
test_wine() {
	local overlay status=0
	overlay=$(wine_overlay)
	export WINEPREFIX=$TMPDIR/wine
	mkdir "$WINEPREFIX"
	wineserver -p # stays: each test would wait for a new one, and two that start it at once for a minute
	WINEDEBUG=-all wineboot -i 2>/dev/null
	GOOS=windows CGO_ENABLED=0 go test -short -overlay "$overlay" -exec "$PWD/scripts/under-wine" \
		./internal/... ./formats/... ./kernels/... ./models/... ./bench/... ./reports ./cmd/... || status=$?
	wineserver -k
	return "$status"
}

# wine_overlay writes copies of three files of Go's library that ask nothing of
# Windows that Wine 8 lacks, and prints the file that names them: random numbers
# come from advapi32, and removing falls back where POSIX semantics are not
# implemented (0xC0000002).
wine_overlay() {
	local out=$TMPDIR/overlay src
	src=$(go env GOROOT)/src
	mkdir "$out"
	patched "$out" "$src/runtime/os_windows.go" \
		"s/'b', 'c', 'r', 'y', 'p', 't', 'p', 'r', 'i', 'm', 'i', 't', 'i', 'v', 'e', 's', /'a', 'd', 'v', 'a', 'p', 'i', '3', '2', /" \
		's/"ProcessPrng\\000"/"SystemFunction036\\000"/'
	patched "$out" "$src/internal/syscall/windows/zsyscall_windows.go" \
		's/Add("bcryptprimitives.dll")/Add("advapi32.dll")/' 's/NewProc("ProcessPrng")/NewProc("SystemFunction036")/'
	patched "$out" "$src/internal/syscall/windows/at_windows.go" \
		's/STATUS_NOT_SUPPORTED: /NTStatus(0xC0000002), STATUS_NOT_SUPPORTED: /'
	printf '{"Replace": {%s}}\n' "$(paste -sd, "$out/names")" >"$out/overlay.json"
	echo "$out/overlay.json"
}

# patched DIR FILE EDITS…: a copy of the file in DIR with sed's edits, each of
# which must change something, and its name for the overlay in DIR/names.
patched() {
	local dir=$1 file=$2 copy edit
	copy=$dir/$(basename "$file")
	cp "$file" "$copy"
	shift 2
	for edit in "$@"; do
		sed "$edit" "$copy" >"$copy.new"
		if cmp -s "$copy" "$copy.new"; then
			echo "$file is not what it was: $edit changes nothing" >&2
			return 1
		fi
		mv "$copy.new" "$copy"
	done
	printf '"%s": "%s"\n' "$file" "$copy" >>"$dir/names"
}

# fuzz_all takes the targets two at a time, each with a worker of its own. A
# failure lets those that run end, begins no other, and shows each log that has one.
fuzz_all() {
	local logs=$TMPDIR/fuzz package
	mkdir "$logs"
	for package in $(go list ./...); do
		go test -list '^Fuzz' "$package" | sed -n "s|^Fuzz.*|$package &|p"
	done >"$logs/targets"
	[ -s "$logs/targets" ]
	export -f fuzz ended_as_failure
	xargs -P 2 -L 1 bash -c 'fuzz "$@" || exit 255' fuzz <"$logs/targets"
}

# fuzz PACKAGE TARGET: four seconds, again where their end was taken for its
# failure.
fuzz() {
	local log="$TMPDIR/fuzz/${1//\//_}.$2"
	for _ in 1 2 3; do
		if go test -run '^$' -parallel 1 -fuzz "^$2\$" -fuzztime 4s -fuzzminimizetime 5x "$1" >"$log" 2>&1; then
			echo "$1 $2: $(sed -n 's/.*execs: \([0-9]*\).*/\1/p' "$log" | tail -1) executions"
			return 0
		fi
		ended_as_failure <"$log" || break
		echo "$1 $2: the end of its time was reported as a failure (go.dev/issue/75804)"
	done
	cat "$log"
	return 1
}

# ended_as_failure says whether a log of go test -fuzz has no finding: before
# Go 1.27 the deadline of -fuzztime can pass for an error of the target. An
# input that fails is always written, and named between these two lines.
ended_as_failure() {
	[ "$(sed -n '/^--- FAIL/,/^FAIL$/p' | sed '1d;$d')" = "    context deadline exceeded" ]
}

# bench_short asserts that the main job ran and wrote its files, and no
# timing.
bench_short() {
	local out=$TMPDIR/report
	go run ./cmd/onebit bench --short -o "$out"
	grep -q '^BenchmarkMatVec/format=q1_0_g128/variant=scalar/' "$out/results.txt"
	grep -q '^BenchmarkRead/' "$out/results.txt"
	if grep '^--- FAIL' "$out/results.txt"; then return 1; fi
	[ -s "$out/index.html" ] && ls "$out"/plots/*.png
}

# gate_works proves that onebit gate can fail and can pass: a benchmark that
# takes 30% longer is a regression, code that only moved is none.
gate_works() {
	go build -o "$TMPDIR/onebit" ./cmd/onebit
	mkdir "$TMPDIR/gated"
	(
		cd "$TMPDIR/gated"
		gated_module 100 ""
		git init -q .
		git add .
		git -c user.name=ci -c user.email=ci@localhost commit -q -m base
		gated_module 130 ""
		gate_answers 1 "a slowdown of 30%"
		gated_module 100 "moved"
		gate_answers 0 "code that moved"
	)
}

# gated_module ROUNDS MOVED writes a module with a benchmark of so many rounds;
# if MOVED is not empty, code that nobody calls lies before what is measured.
gated_module() {
	printf 'module example.com/gated\n\ngo 1.24\n' >go.mod
	{
		printf 'package gated\n'
		if [ -n "$2" ]; then
			printf '\nvar Moved = func(n int) (sum int) {\n\tfor i := range n {\n\t\tsum += i * sum\n\t}\n\treturn sum\n}\n'
		fi
		printf '\nfunc mix(x uint64) uint64 {\n\tfor range %s {\n\t\tx ^= x << 13\n\t\tx ^= x >> 7\n\t\tx ^= x << 17\n\t}\n\treturn x\n}\n' "$1"
	} >gated.go
	printf 'package gated\n\nimport "testing"\n\nvar sink uint64\n\nfunc BenchmarkMix(b *testing.B) {\n\tfor i := range b.N {\n\t\tsink = mix(uint64(i) + 1)\n\t}\n}\n' >gated_test.go
}

# gate_answers STATUS WHAT: an answer of 2, that the time was too short on this
# machine, may be followed by another with more time.
gate_answers() {
	local budget status
	for budget in 30s 60s 120s; do
		status=0
		"$TMPDIR/onebit" gate --base HEAD --threshold 10% --budget "$budget" >"$TMPDIR/gate.log" 2>&1 || status=$?
		printf '%s, %s: exit %d\n' "$2" "$budget" "$status"
		[ "$status" != "$1" ] || return 0
		[ "$status" = 2 ] || break
	done
	cat "$TMPDIR/gate.log"
	return 1
}

ci_folder=$(mktemp -d)
readonly ci_folder
export TMPDIR=$ci_folder
trap finish EXIT
