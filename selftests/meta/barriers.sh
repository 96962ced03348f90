#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every barrier of the driver orders something and names its partner; the provider has
# barriers where it reads a ring after a store that the kernel reads.  The tables of
# Documentation/locking.rst name all barriers, and every lock-free word.
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

# beside_rmw FILE...: the atomic operation next to each barrier is not a plain load or store
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

# fenced FROM TO FILE...: within a function there is a full fence between a line that matches
# FROM, a store, and one that matches TO, a load that must not pass it; and both exist.  An
# atomic operation is not a fence, not even a sequentially consistent one: a later acquire
# load may pass it.
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

# The poll that follows arming is another function, so the fence must come before the end.
arm_fenced()
{
	fenced '->arm,' '^}|->kern,|srnic_look[(]' "$@"
}

# The flags of a ring say whether a posted entry needs a doorbell.
flags_fenced()
{
	fenced '^[{]' '->flags,' "$@"
}

# unfenced CHECK LINE...: CHECK rejects a function with these lines
unfenced()
{
	local check=$1

	shift
	printf '%s\n' 'void f(void)' '{' "$@" '}' >"$TREE/f.c"
	! "$check" "$TREE/f.c"
}

# sees LINE...: a function with these lines is rejected
sees()
{
	printf '%s\n' 'void f(void)' '{' "$@" '}' >"$TREE/f.c"
	! beside_rmw "$TREE/f.c"
}

# lockfree FILE...: print "PLACE NAME" for everything that the tables must name: functions
# with ordering or lockless checks, and words that are accessed without a lock
lockfree()
{
	awk '
	BEGIN {
		atomic = "atomic(64|_long)?_"
		order = "(^|[^A-Za-z0-9_])(smp_[a-z_]*mb|[rw]?mb|smp_mb__[a-z_]+" \
			"|smp_load_acquire|smp_store_release" \
			"|(" atomic ")?(try_)?(cmp)?xchg[a-z_]*" \
			"|" atomic "([a-z_]*_(acquire|release)|fetch_[a-z_]+)" \
			"|atomic_(load|store)[a-z_]*|__atomic_[a-z_]+" \
			"|rcu_(assign|replace)_pointer|rcu_dereference[a-z_]*" \
			"|wake_up_var|list_empty_careful|hrtimer_is_queued" \
			"|skb_queue_empty_lockless|timer_pending)\\("
		access = "(READ_ONCE|WRITE_ONCE|data_race)\\("
	}
	# the member that an argument ends with, or the function that it calls
	function word(arg,  name, c, depth) {
		while (arg != "") {
			c = substr(arg, 1, 1)
			if (match(arg, /^[A-Za-z_][A-Za-z0-9_]*/)) {
				name = substr(arg, 1, RLENGTH)
				arg = substr(arg, RLENGTH + 1)
				continue
			}
			arg = substr(arg, 2)
			if (c == "(" || c == "[") {
				for (depth = 1; depth && arg != ""; arg = substr(arg, 2)) {
					c = substr(arg, 1, 1)
					depth += index("([", c) ? 1 : index(")]", c) ? -1 : 0
				}
			} else if (c == "," || c == ")") {
				break
			}
		}
		return name
	}
	FNR == 1 { fn = "" }
	/^[ \t]*(\/?\*|\/\/)/ { next }
	{ sub(/\/\*.*/, "") }
	/^[A-Za-z_][^;]*\(/ && !/;[ \t]*$/ {
		match($0, /[A-Za-z0-9_]+\(/)
		fn = substr($0, RSTART, RLENGTH - 1)
	}
	$0 ~ order { print FILENAME ":" FNR, fn }
	{
		for (rest = $0; match(rest, access); ) {
			rest = substr(rest, RSTART + RLENGTH)
			if (rest !~ "^" access)
				print FILENAME ":" FNR, word(rest)
		}
	}' "$@"
}

# tables DOC: print the names in the literals of the section on lock-free words
tables()
{
	awk '
	/^==+$/ { on = before == "Lock-free words and their partners" }
	{ before = $0 }
	on {
		n = split($0, part, "``")
		for (i = 2; i <= n; i += 2) {
			if (part[i] ~ /\//)
				continue
			k = split(part[i], name, /[^A-Za-z0-9_]+/)
			for (j = 1; j <= k; j++)
				if (name[j] ~ /^[A-Za-z_]/)
					print name[j]
		}
	}' "$1" | sort -u
}

# named DOC FILE...: the tables name everything that is lock-free
named()
{
	local doc=$1 place name bad=0
	local -A known=()

	shift
	while read -r name; do
		known[$name]=1
	done < <(tables "$doc")
	while read -r place name; do
		[ -n "${known[${name:-?}]:-}" ] && continue
		echo "$place: $name is not in the tables of $doc"
		bad=1
	done < <(lockfree "$@")

	return "$bad"
}

# current DOC FILE...: every name in the tables is in the sources
current()
{
	local doc=$1

	shift
	tables "$doc" >"$TREE/names"
	[ -s "$TREE/names" ] || return 1
	awk '
	FNR == NR { missing[$1] = 1; next }
	{
		n = split($0, word, /[^A-Za-z0-9_]+/)
		for (i = 1; i <= n; i++)
			delete missing[word[i]]
	}
	END {
		for (name in missing) { print name ": not in the sources"; bad = 1 }
		exit bad
	}' "$TREE/names" "$@"
}

# unnamed LINE...: a function with these lines is reported as missing in the tables
unnamed()
{
	printf '%s\n' 'static void nobody_knows(void)' '{' "$@" '}' >"$TREE/f.c"
	! named "$tables" "$TREE/f.c"
}

# edited CHECK SCRIPT: with the document edited by sed SCRIPT, CHECK fails
edited()
{
	sed "$2" "$tables" >"$TREE/locking.rst"
	! "$1" "$TREE/locking.rst" "${sources[@]}" "${provider[@]}"
}

mapfile -t sources < <(find drivers/srnic -name '*.[ch]')
mapfile -t provider < <(find tools/provider -name '*.[ch]')
fence='__atomic_thread_fence(__ATOMIC_SEQ_CST);'
arm='__atomic_fetch_or(&hdr->arm, 1, __ATOMIC_SEQ_CST);'
flags='return __atomic_load_n(&hdr->flags, __ATOMIC_ACQUIRE);'
tables=Documentation/locking.rst

ktap_plan 19
check "barriers beside atomic operations order them" beside_rmw "${sources[@]}"
check "every barrier names what it orders" explained "${sources[@]}"
check "a barrier behind atomic_set() is seen" \
	sees 'atomic_set(&x, 1);' 'smp_mb__after_atomic();'
check "a barrier before atomic_read() is seen" \
	sees 'smp_mb__before_atomic();' 'atomic_read(&x);'
check "the provider arms a queue before it polls it" \
	arm_fenced "${provider[@]}"
check "the provider publishes entries before it reads flags" \
	flags_fenced "${provider[@]}"
check "an arm word without a fence is seen" unfenced arm_fenced "$arm"
check "a fence before the arm word does not count" unfenced arm_fenced "$fence" "$arm"
check "a fence after the poll is too late" \
	unfenced arm_fenced "$arm" 'srnic_look(ring);' "$fence"
check "a weaker fence does not count" unfenced arm_fenced "$arm" \
	'__atomic_thread_fence(__ATOMIC_ACQ_REL);'
check "flags without a fence are seen" unfenced flags_fenced "$flags" "$fence"
check "the tables have every barrier and lock-free word" \
	named "$tables" "${sources[@]}" "${provider[@]}"
check "the names in the tables are in the sources" \
	current "$tables" "${sources[@]}" "${provider[@]}"
check "a barrier that is not in the tables is seen" \
	unnamed 'smp_mb();	/* pairs with nothing */'
check "an acquire that is not in the tables is seen" unnamed 'return smp_load_acquire(&hdr->user);'
check "a fence of the provider that is not is seen" unnamed "$fence"
check "a word that is not is seen" unnamed 'WRITE_ONCE(qp->conf.unheard[i], 0);'
check "a missing row is seen" edited named '/srnic_gate_open()/d'
check "a row of a name that no longer exists is seen" \
	edited current 's/srnic_gate_open/srnic_gate_ajar/'
ktap_end
