#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Barriers of the driver are where they order something, and say with what.
# usage: selftests/meta/barriers.sh
#
# smp_mb__before_atomic() and smp_mb__after_atomic() are full barriers only beside a
# read-modify-write operation: on x86 they are nothing but a compiler barrier beside
# atomic_set() (Documentation/atomic_t.txt of the kernel).

HERE=$(dirname "$(readlink -f "$0")")
cd "$HERE/../.." || exit
. selftests/lib/ktap.sh

need awk

TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT

# beside_rmw FILE...: the nearest atomic operation is no plain load or store
beside_rmw()
{
	awk '
	function op(line) {
		if (!match(line, /(atomic(64|_long)?|refcount|kref|bit)_[a-z_]+\(/))
			return ""
		return substr(line, RSTART, RLENGTH - 1)
	}
	function plain(name) {
		return name == "" || name ~ /_(set|read)(_release|_acquire)?$/
	}
	function wrong(at) { print at ": barrier beside " (last == "" ? "nothing" : last); bad = 1 }
	FNR == 1 || /^}/ { last = ""; pending = "" }
	/^[ \t]*(\/?\*|\/\/)/ { next }
	/smp_mb__before_atomic\(/ { pending = FILENAME ":" FNR; next }
	/smp_mb__after_atomic\(/ { if (plain(last)) wrong(FILENAME ":" FNR); next }
	op($0) != "" {
		last = op($0)
		if (pending != "" && plain(last)) wrong(pending)
		pending = ""
	}
	END { exit bad }' "$@"
}

# explained FILE...: each barrier has a comment, on its line or the one above
explained()
{
	awk '
	/[^_a-z](smp_(r|w)?mb|smp_mb__[a-z]+_atomic|(r|w)?mb)\(\);/ && !/\*/ &&
		!/\/\*/ && before !~ /\*\// { print FILENAME ":" FNR ": " $0; bad = 1 }
	{ before = $0 }
	END { exit bad }' "$@"
}

# sees LINE...: a function of these lines is refused
sees()
{
	printf '%s\n' 'void f(void)' '{' "$@" '}' >"$TREE/f.c"
	! beside_rmw "$TREE/f.c"
}

mapfile -t sources < <(find drivers/srnic -name '*.[ch]')

ktap_plan 4
check "barriers beside atomic operations order them" beside_rmw "${sources[@]}"
check "every barrier names what it orders" explained "${sources[@]}"
check "a barrier behind atomic_set() is seen" \
	sees 'atomic_set(&x, 1);' 'smp_mb__after_atomic();'
check "a barrier before atomic_read() is seen" \
	sees 'smp_mb__before_atomic();' 'atomic_read(&x);'
ktap_end
