#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - fuzz every target for a short time
# usage: selftests/fuzz/run.sh
#
# FUZZ_SECONDS is the time for each target (10); OUT is the directory for the build, and for
# the corpus, which grows from run to run.

HERE=$(dirname "$(readlink -f "$0")")
. "$HERE/../lib/ktap.sh"

export OUT=${OUT:-${SRNIC_CACHE:-$HOME/.cache/srnic}/fuzz}
CLANG=${CLANG:-clang}
FUZZ_SECONDS=${FUZZ_SECONDS:-10}

# fuzzer_links: clang may be installed without the library of its fuzzers.
fuzzer_links()
{
	echo 'int LLVMFuzzerTestOneInput(const char *p, long n) { return p && n < 0; }' |
		"$CLANG" -x c -fsanitize=fuzzer,address,undefined -o /dev/null - 2>/dev/null
}

# fuzz TARGET: the input of a crash is stored beside the program.
fuzz()
{
	mkdir -p "$OUT/corpus/$1"
	"$OUT/$1" -max_total_time="$FUZZ_SECONDS" -max_len=1024 -timeout="$KTAP_BOUND" \
		-print_final_stats=1 -artifact_prefix="$OUT/$1-" \
		"$OUT/corpus/$1" >"$OUT/$1.log" 2>&1 && return
	tail -n 40 "$OUT/$1.log"
	return 1
}

need "$CLANG" make
fuzzer_links || skip_all "this clang has no libFuzzer"

mapfile -t targets < <(cd "$HERE" && printf '%s\n' fuzz_*.c | sed 's/\.c$//')
mkdir -p "$OUT"
ktap_plan $((1 + ${#targets[@]}))
check "targets build" make -s -C "$HERE" CLANG="$CLANG"
for target in "${targets[@]}"; do
	check "$target finds no fault in $FUZZ_SECONDS s" fuzz "$target"
	diag "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' \
		"$OUT/$target.log") inputs"
done
ktap_end
