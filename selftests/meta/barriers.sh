#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Barriers of the driver are where they order something, and say with what; the
# provider has its own where it looks at a ring after it has told the kernel something.
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

# fenced FROM TO FILE...: within a function, from what matches FROM to what matches TO
# there is a full fence; and something matches.  Both match what was told by a store,
# and the load that must not pass it.  An atomic operation is no fence, not even a
# sequentially consistent one: a later acquire load may pass it.
fenced()
{
	local from=$1 to=$2

	shift 2
	awk -v from="$from" -v to="$to" '
	FNR == 1 { pending = "" }
	/^[ \t]*(\/?\*|\/\/)/ { next }
	/__atomic_thread_fence\(__ATOMIC_SEQ_CST\);/ { pending = "" }
	$0 ~ to && pending != "" { print pending ": no fence before: " $0; bad = 1 }
	/^}/ { pending = "" }
	$0 ~ from { pending = FILENAME ":" FNR }
	$0 ~ from || $0 ~ to { seen[$0 ~ from ? "from" : "to"] = 1 }
	END { exit bad || !seen["from"] || !seen["to"] }' "$@"
}

# The poll that follows a request to notify is another function: by its end.
arm_fenced()
{
	fenced '->arm,' '^}|->kern,|srnic_look\(' "$@"
}

# Flags of a ring say whether what was shown needs a doorbell.
flags_fenced()
{
	fenced '^[{]' '->flags,' "$@"
}

# unfenced CHECK LINE...: a function of these lines is refused by CHECK
unfenced()
{
	local check=$1

	shift
	printf '%s\n' 'void f(void)' '{' "$@" '}' >"$TREE/f.c"
	! "$check" "$TREE/f.c"
}

# sees LINE...: a function of these lines is refused
sees()
{
	printf '%s\n' 'void f(void)' '{' "$@" '}' >"$TREE/f.c"
	! beside_rmw "$TREE/f.c"
}

mapfile -t sources < <(find drivers/srnic -name '*.[ch]')
mapfile -t provider < <(find tools/provider -name '*.[ch]')
fence='__atomic_thread_fence(__ATOMIC_SEQ_CST);'
arm='__atomic_fetch_or(&hdr->arm, 1, __ATOMIC_SEQ_CST);'
flags='return __atomic_load_n(&hdr->flags, __ATOMIC_ACQUIRE);'

ktap_plan 11
check "barriers beside atomic operations order them" beside_rmw "${sources[@]}"
check "every barrier names what it orders" explained "${sources[@]}"
check "a barrier behind atomic_set() is seen" \
	sees 'atomic_set(&x, 1);' 'smp_mb__after_atomic();'
check "a barrier before atomic_read() is seen" \
	sees 'smp_mb__before_atomic();' 'atomic_read(&x);'
check "the provider arms a queue before it looks at it" \
	arm_fenced "${provider[@]}"
check "the provider shows entries before it looks at flags" \
	flags_fenced "${provider[@]}"
check "an arm word without a fence is seen" unfenced arm_fenced "$arm"
check "a fence before it is none" unfenced arm_fenced "$fence" "$arm"
check "a fence behind the look is too late" \
	unfenced arm_fenced "$arm" 'srnic_look(ring);' "$fence"
check "a weaker fence is none" unfenced arm_fenced "$arm" \
	'__atomic_thread_fence(__ATOMIC_ACQ_REL);'
check "flags without a fence are seen" unfenced flags_fenced "$flags" "$fence"
ktap_end
