# The steps of .ci/run and of the workflows, as functions. ONEBIT_ALL=1 runs them
# in full, for hours; CONTRIBUTING.md has the table of what runs when.

ci_folder=$(mktemp -d)
readonly ci_folder
export TMPDIR=$ci_folder
steps_done=()
current=

# step NAME: runs the function of that name, timed; set -e stops at a failure.
step() {
	current=$1 started=$SECONDS
	printf '\n=== %s\n' "$1"
	"$1"
	finished $((SECONDS - started))
}

# begin NAME runs a step beside those that follow, until await NAME, which shows
# what it printed. Neither may be one that measures.
begin() {
	({
		"$1"
		echo "$SECONDS" >"$TMPDIR/$1.seconds"
	} >"$TMPDIR/$1.log" 2>&1) &
	begun=$!
}

await() {
	local status=0
	current=$1 started=$SECONDS
	wait "$begun" || status=$?
	printf '\n=== %s\n' "$1"
	cat "$TMPDIR/$1.log"
	[ "$status" = 0 ]
	finished "$(cat "$TMPDIR/$1.seconds")"
}

finished() {
	steps_done+=("$(printf '%5d s  %s' "$1" "$current")")
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
	wait # a package manager that is stopped halfway leaves locks
	summary
	rm -rf "$ci_folder" # not TMPDIR, which a caller may set
	exit "$status"
}
trap finish EXIT

# in_full: whether this run is of everything.
in_full() { [ -n "${ONEBIT_ALL:-}" ]; }

# listed PATTERN… prints each package and the files that it is built and tested from.
listed() { go list -f '{{.ImportPath}} {{.GoFiles}} {{.SFiles}} {{.TestGoFiles}} {{.XTestGoFiles}}' "$@" | sort; }

# changed_by SETTING… [-- PATTERN…]: the packages, of those that the patterns
# match, that consist of other files under these settings of the go command; in
# full, all that have any.
changed_by() {
	local settings=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		settings+=("$1")
		shift
	done
	shift || true
	[ $# -gt 0 ] || set -- ./...
	if in_full; then
		env "${settings[@]}" go list "$@"
	else
		comm -13 <(listed "$@") <(env "${settings[@]}" bash -c "$(declare -f listed)"'; listed "$@"' listed "$@") | cut -d' ' -f1
	fi
}

# reached prints the packages that the change touches, those in whose folder or
# below it a file differs from the commit before, and fails where that cannot be
# told: in a clone of one commit, or where modules changed.
reached() {
	local packages file dir
	git rev-parse -q --verify 'HEAD^^{commit}' >/dev/null || return 1
	packages=$(go list ./...)
	git diff --name-only HEAD^ >"$TMPDIR/changed"
	! grep -qx 'go\.\(mod\|sum\)' "$TMPDIR/changed" || return 1
	while read -r file; do
		dir=onebit/$file
		until grep -qxF "$dir" <<<"$packages"; do dir=$(dirname "$dir"); done
		echo "$dir"
	done <"$TMPDIR/changed" | sort -u
}

packages() {
	local sudo= packages="binutils g++ clang llvm valgrind fonts-dejavu-core qemu-user-static"
	[ "$(uname -m)" != x86_64 ] || packages="$packages wine wine64 g++-aarch64-linux-gnu"
	[ "$(id -u)" = 0 ] || sudo=sudo
	# Ubuntu's chromium is a stub for a snap; its CI images bring Chrome. Slurm
	# takes eight seconds to install, and was tried on Debian only.
	grep -q '^ID=debian' /etc/os-release && packages="$packages chromium slurm-wlm munge"
	$sudo apt-get update -qq
	# An installation that was cut off, as CI is by a time limit, refuses the next one.
	$sudo env DEBIAN_FRONTEND=noninteractive dpkg --configure -a >/dev/null
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
}

format() {
	local files
	files=$(gofmt -l .)
	[ -z "$files" ] || { printf 'not gofmt-ed:\n%s\n' "$files"; return 1; }
}

tidy() { go mod tidy -diff; }

# vet reads all of it as it is built here; the steps that run what is built otherwise
# read the packages that consist of other files there, from what they compile anyway.
vet() {
	go vet ./...
	go -C kernels/_asm vet ./...
	in_full || return 0 # static compiles what softmetal changes
	go vet -tags softmetal ./cmd/...
	# shellcheck disable=SC2086 # a list of packages
	(elsewhere $macos && go vet $packages)
}

# macos is for packages that are read here and run elsewhere.
readonly macos="CGO_ENABLED=0 GOOS=darwin GOARCH=arm64"

# elsewhere SETTING… [-- PATTERN…]: puts the settings into the environment, and the
# packages that they change, and that the patterns match, into $packages.
elsewhere() {
	packages=$(changed_by "$@")
	[ -n "$packages" ]
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		export "${1?}"
		printf '%s ' "$1"
		shift
	done
	printf '(%d packages)\n' "$(wc -w <<<"$packages")"
}

# unused finds what no build or test uses, and other faults that vet has no eye
# for. Of macOS only the types are checked, unless in full: nothing is compiled for it.
unused() {
	GOBIN=$TMPDIR go install honnef.co/go/tools/cmd/staticcheck@v0.8.2
	GOBIN=$TMPDIR go install golang.org/x/tools/cmd/deadcode@v0.52.0
	"$TMPDIR/staticcheck" ./...
	check_dead
	# shellcheck disable=SC2086 # lists of settings and packages
	{
		env $macos "$TMPDIR/deadcode" -test ./... >/dev/null
		! in_full || {
			(elsewhere GOFLAGS=-tags=purego && "$TMPDIR/staticcheck" $packages)
			(elsewhere $macos && "$TMPDIR/staticcheck" $packages)
		}
	}
	# The generators are a module of their own, which ./... leaves out. Their types have
	# thousands of methods, and take a minute: they are read where they changed.
	if in_full || ! git diff --quiet HEAD^ -- kernels/_asm 2>/dev/null; then
		(cd kernels/_asm && "$TMPDIR/staticcheck" ./... && check_dead)
	fi
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
			avx512vl:avx512vl avx512_vnni:avx512vnni avx512_bf16:avx512bf16"
		;;
	aarch64) known="asimd:neon asimddp:dotprod i8mm:i8mm bf16:bf16" ;;
	*) return 0 ;;
	esac
	for flag in $known; do
		if grep -qw "${flag%:*}" /proc/cpuinfo; then printf '%s,' "${flag#*:}"; fi
	done
}

variants() {
	go build -o /dev/null ./...
	go run ./cmd/onebit kernels
	printf 'a skip for lack of these is a failure: %s\n' "$(machine_features)"
}

# static builds onebit as it is released for Linux, and as it is tested
# with Metal played.
static() {
	local headers
	CGO_ENABLED=0 go build -o "$TMPDIR/onebit-static" ./cmd/onebit
	headers=$(readelf -lW "$TMPDIR/onebit-static")
	if grep -E 'INTERP|DYNAMIC' <<<"$headers"; then
		echo "onebit is linked dynamically"
		return 1
	fi
	go run -tags softmetal ./cmd/onebit kernels >/dev/null
}

# shaders: what clang's C++ for OpenCL, which Metal's language comes from, says of
# the shaders.
shaders() { ONEBIT_REQUIRE=clang go test -vet=off -count=1 -run '^TestClang' ./metal/shaders; }

# tools lists what the tests may not miss: what is installed.
tools() {
	local tool
	[ "$(uname)" = Linux ] || return 0
	for tool in chromium google-chrome; do
		if command -v "$tool" >/dev/null; then printf 'chromium,'; fi
	done
	if [ -x /usr/sbin/slurmctld ] && [ -x /usr/sbin/munged ]; then printf 'slurm,'; fi
	printf 'benchstat,g++,clang,objdump,llvm-objdump,valgrind'
}

# tests runs in full the packages that the change reaches, or all where that
# cannot be told, and a drawn part of the others.
tests() {
	local full others
	ONEBIT_REQUIRE=$(machine_features)$(tools)
	export ONEBIT_REQUIRE
	if in_full || ! full=$(reached); then full=$(go list ./...); fi
	others=$(comm -23 <(go list ./... | sort) <(sort <<<"$full"))
	# shellcheck disable=SC2086 # lists of packages
	{
		[ -z "$full" ] || ONEBIT_ALL=1 go test -vet=off -timeout 60m $full
		[ -z "$others" ] || {
			echo "the others, drawn:"
			go test -vet=off $others
		}
	}
	# Go's own SIMD package is an experiment that exists on amd64 only.
	[ "$(uname -m)" != x86_64 ] || GOEXPERIMENT=simd go test -vet=off -short -run Conformance/i2_s/avx2-archsimd ./kernels
	unset ONEBIT_REQUIRE
}

# purego runs the packages that the tag changes. Features of the CPU, which it
# hides, reach all others by name only.
purego() (
	elsewhere GOFLAGS=-tags=purego
	# shellcheck disable=SC2086 # a list of packages
	{
		go vet $packages
		go test -vet=off -timeout 30m -short $packages
	}
)

# race runs the packages that start goroutines or share memory between them: those
# that the change reaches and a drawn fifth of the others. In full it runs all, and
# those too of which only the tests do.
race() {
	local files packages
	files=$(grep -rlE --include='*.go' --exclude-dir='testdata' --exclude-dir='_*' '^[[:space:]]*go (func|[a-zA-Z.]+\()|"sync"|"sync/atomic"|errgroup"' .)
	in_full || files=$(grep -v '_test\.go$' <<<"$files")
	packages=$(xargs -n1 dirname <<<"$files" | sort -u | xargs go list | drawn 5)
	# shellcheck disable=SC2086 # a list of packages
	go test -vet=off -timeout 30m -race -short $packages
}

# drawn N prints, of the packages that it reads, those that the change reaches and
# one in N of the others, by ONEBIT_SEED or a seed that it names; in full, all.
drawn() {
	local packages full seed=${ONEBIT_SEED:-$RANDOM$RANDOM} package
	packages=$(cat)
	if in_full || ! full=$(reached); then
		echo "$packages"
		return
	fi
	echo "drawn by ONEBIT_SEED=$seed" >&2
	grep -xF "$full" <<<"$packages" || true
	{ grep -vxF "$full" <<<"$packages" || true; } | while read -r package; do
		echo "$(git hash-object --stdin <<<"$seed $package") $package"
	done | sort | awk -v n="$1" '{ line[NR] = $2 } END { for (i = 1; i <= (NR + n - 1) / n; i++) print line[i] }'
}

# assembly: what is committed is what the generators write.
assembly() { go -C kernels/_asm test -count=1 ./...; }

# arm64 runs the packages with arm64 code as three CPUs: without dotprod, with it,
# and with everything qemu knows; as the first two, unless in full, what chooses by
# features. Metal's host is as on a Mac in one respect: words, structs and results go
# to C and back by arm64's calling convention.
arm64() (
	[ "$(uname -m)" != aarch64 ] || return 0 # tests was it
	# shellcheck disable=SC2086 # a list of packages
	(elsewhere CGO_ENABLED=0 GOARCH=arm64 && go vet $packages)
	elsewhere CGO_ENABLED=0 GOARCH=arm64 -- ./internal/... ./formats/... ./kernels/... ./bench/roofline ./models/...
	mkdir "$TMPDIR/cross"
	ln -s "$(command -v aarch64-linux-gnu-g++)" "$TMPDIR/cross/g++"
	export ONEBIT_EMULATED=1 XDG_CACHE_HOME=$TMPDIR/cross PATH=$TMPDIR/cross:$PATH
	local some="-run NEON|Conformance/.*/neon ./kernels ./kernels/vectors"
	! in_full || some=$packages
	# shellcheck disable=SC2086 # lists of packages
	{
		on_arm64 cortex-a72 neon $some
		on_arm64 neoverse-n1 neon,dotprod $some
		on_arm64 max neon,dotprod,i8mm,bf16,g++ ./metal $packages
	}
)

# on_arm64 CPU FEATURES ARGS…: go test under qemu, where a skip for lack of one
# of the features is a failure.
on_arm64() {
	local cpu=$1 features=$2
	shift 2
	echo "-cpu $cpu: $features"
	ONEBIT_REQUIRE=$features go test -vet=off -timeout 60m -short -exec "qemu-aarch64-static -cpu $cpu -L /usr/aarch64-linux-gnu" "$@"
}

# wine runs Windows binaries of the tests, of packages of other files there those that
# the change reaches and a drawn quarter of the others: files, clock, memory and words
# are another system's, the instructions this machine's own.
wine() (
	local overlay status=0
	overlay=$(wine_overlay)
	# shellcheck disable=SC2086 # a list of packages
	(elsewhere CGO_ENABLED=0 GOOS=windows && go vet -overlay "$overlay" $packages)
	export ONEBIT_EMULATED=1 WINEPREFIX=$TMPDIR/wine WINEDEBUG=-all
	mkdir "$WINEPREFIX"
	wineserver -p # stays: each test would wait for a new one, and two that start it at once for a minute
	wineboot -i 2>/dev/null
	elsewhere CGO_ENABLED=0 GOOS=windows -- ./internal/... ./formats/... ./kernels/... ./models/... ./bench/... ./reports/... ./cmd/...
	packages=$(drawn 4 <<<"$packages")
	# shellcheck disable=SC2086 # a list of packages
	go test -vet=off -timeout 30m -short -overlay "$overlay" -exec "$PWD/scripts/under-wine" $packages || status=$?
	wineserver -k
	return "$status"
)

# machines runs the tests that look at the machine on some that are described to
# them, and beside other work: in full on all.
machines() { go test -v -count=1 -timeout 60m -run '^TestMachines$' ./scripts -machines; }

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

# fuzz takes the targets as many at a time as there are CPUs, each with a worker
# of its own. A failure lets those that run end, begins no other, and shows each
# log that has one. FUZZTIME is a target's.
fuzz() {
	local logs=$TMPDIR/fuzz package
	mkdir "$logs"
	for package in $(go list ./...); do
		go test -list '^Fuzz' "$package" | sed -n "s|^Fuzz.*|$package &|p"
	done >"$logs/targets"
	[ -s "$logs/targets" ]
	export FUZZTIME=${FUZZTIME:-10m}
	export -f fuzz_target ended_as_failure executions
	xargs -P "$(nproc)" -L 1 bash -c 'fuzz_target "$@" || exit 255' fuzz_target <"$logs/targets"
}

# fuzz_target PACKAGE TARGET: again where its end was taken for its failure. A
# target that hardly ran has proved nothing.
fuzz_target() {
	local log="$TMPDIR/fuzz/${1//\//_}.$2" count
	for _ in 1 2 3; do
		if go test -run '^$' -parallel 1 -fuzz "^$2\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 1x "$1" >"$log" 2>&1; then
			count=$(executions <"$log")
			echo "$1 $2: $count executions"
			[ "$count" -lt 1000 ] || return 0
			echo "$1 $2: fewer than 1,000 executions in $FUZZTIME"
			break
		fi
		ended_as_failure <"$log" || break
		echo "$1 $2: the end of its time was reported as a failure (go.dev/issue/75804)"
	done
	cat "$log"
	return 1
}

# executions is the last count of a log of go test -fuzz.
executions() { sed -n 's/.*execs: \([0-9]*\).*/\1/p' | tail -1 | grep . || echo 0; }

# ended_as_failure says whether a log of go test -fuzz has no finding: before
# Go 1.27 the deadline of -fuzztime can pass for an error of the target. An
# input that fails is always written, and named between these two lines.
ended_as_failure() {
	[ "$(sed -n '/^--- FAIL/,/^FAIL$/p' | sed '1d;$d')" = "    context deadline exceeded" ]
}

# commands runs those of the README and of docs/commands.md.
commands() { scripts/readme-commands; }

# measures asserts that the main job ran and wrote its files, and no
# timing.
measures() {
	local out=$TMPDIR/report
	go build -o "$TMPDIR/onebit" ./cmd/onebit # go run does not stamp the commit, which stands in the results
	"$TMPDIR/onebit" bench --short -o "$out"
	grep -q '^BenchmarkMatVec/format=q1_0_g128/variant=scalar/' "$out/results.txt"
	grep -q '^BenchmarkRead/' "$out/results.txt"
	if grep '^--- FAIL' "$out/results.txt"; then return 1; fi
	[ -s "$out/index.html" ] && ls "$out"/plots/*.png
}

# gates proves that onebit gate can fail and can pass: a benchmark that
# takes 30% longer is a regression, code that only moved is none.
gates() {
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

# gate_answers STATUS WHAT: an answer of 2 or 3, that the time was too short on this
# machine, may be followed by another with more time.
gate_answers() {
	local budget status
	for budget in 30s 60s 120s; do
		status=0
		"$TMPDIR/onebit" gate --base HEAD --prove --threshold 10% --budget "$budget" >"$TMPDIR/gate.log" 2>&1 || status=$?
		printf '%s, %s: exit %d\n' "$2" "$budget" "$status"
		[ "$status" != "$1" ] || return 0
		[ "$status" = 2 ] || [ "$status" = 3 ] || break
	done
	cat "$TMPDIR/gate.log"
	return 1
}
