#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - tools/layers finds forbidden dependencies
# usage: selftests/meta/layers.sh
#
# It reports nothing about a small tree of two or three files; then each check adds a file
# with one forbidden dependency.

HERE=$(dirname "$(readlink -f "$0")")
LAYERS=$HERE/../../tools/layers
. "$HERE/../lib/ktap.sh"

need python3 nm cc

TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT

# put FILE LINE...: a file of the driver
put()
{
	local file=$TREE/drivers/srnic/$1

	shift
	mkdir -p "${file%/*}"
	printf '%s\n' "$@" >"$file"
}

# floors LINE...: the list of floors
floors()
{
	mkdir -p "$TREE/tools"
	printf '%s\n' "$@" >"$TREE/tools/floors"
}

# fresh: a tree without a fault
fresh()
{
	rm -rf "$TREE/drivers"
	put stats.h
	put wire/pkt.h
	put wire/pkt.c '#include <linux/types.h>' '#include "pkt.h"' \
		'int srnic_pkt_parse(void) { return 0; }'
	put net/net.h '#include "../wire/pkt.h"' '#include "../stats.h"'
	put net/flow.h '#include "net.h"'
	put net/rx.c '#include "flow.h"' 'int srnic_pkt_parse(void);' \
		'int srnic_rx(void) { return srnic_pkt_parse(); }'
	put xport/qp.c '#include "../net/net.h"' '#include "qp_low.h"' "${high[@]}"
	put xport/qp_low.h '/* qp->req.cur--; */'
	put xport/qp.h 'struct srnic_req {' '	u32	cur;' '};' \
		'struct srnic_recovery {' '	u32	una;' '	u8	heard : 5;' '};' \
		'struct srnic_rtt {' '	u64	srtt;' '};' \
		'struct srnic_cwnd {' '	u32	window;' '};' \
		'struct srnic_reads {' '	u32	num;' '};' \
		'struct srnic_delack {' '	bool	due;' '};'
	put xport/qp_low.c '#include "qp_low.h"' 'int srnic_low(void) { return 0; }' \
		'/* qp->req.cur++; r->heard = 0; */'
	floors '# of one room' 'xport: low: qp_low' 'xport: high: qp'
}

# compile FILE...: compile objects next to the files, without the headers
compile()
{
	local file

	for file; do
		grep -v '#include' "$TREE/drivers/srnic/$file" |
			cc -x c -c -o "$TREE/drivers/srnic/${file%.c}.o" - || return
	done
}

# layers: run the tool on the tree, without its cache
layers()
{
	SRNIC_CACHE=$TREE/none "$LAYERS" --root "$TREE" >"$TREE/said"
}

# objects_are_fine: all objects are checked
objects_are_fine()
{
	compile wire/pkt.c net/rx.c xport/qp.c xport/qp_low.c && layers &&
		! grep SKIP "$TREE/said"
}

# failures_are N: that many checks have failed
failures_are()
{
	local failed passed planned skipped

	ktap_count <"$TREE/said"
	((failed == $1))
}

# sees WHAT FILE LINE...: with these lines in FILE, the tool reports WHAT and nothing else
sees()
{
	local what=$1

	shift
	fresh
	put "$@"
	compile wire/pkt.c net/rx.c xport/qp.c xport/qp_low.c || return
	! layers || return
	failures_are 1 && grep -F "#   $what" "$TREE/said"
}

# sees_call_upward: two files that call each other, one of them by a declaration of its own
sees_call_upward()
{
	fresh
	put xport/qp_low.c 'extern int srnic_high(void);' \
		'int srnic_low(void) { return srnic_high(); }'
	compile xport/qp.c xport/qp_low.c || return
	! layers || return
	failures_are 2 &&
		grep -F '#   xport/qp_low.c on floor 0 (low) calls srnic_high of xport/qp.c' \
			"$TREE/said" &&
		grep -F 'xport/qp_low.c is called by' "$TREE/said"
}

# sees_circle: three files of one floor that call each other
sees_circle()
{
	fresh
	put xport/a.c 'int srnic_b(void);' 'int srnic_a(void) { return srnic_b(); }'
	put xport/b.c 'int srnic_c(void);' 'int srnic_b(void) { return srnic_c(); }'
	put xport/c.c 'int srnic_a(void);' 'int srnic_c(void) { return srnic_a(); }'
	floors 'xport: low: qp_low a b c' 'xport: high: qp'
	compile wire/pkt.c net/rx.c xport/{qp,qp_low,a,b,c}.c || return
	! layers || return
	failures_are 1 && grep -E 'xport/[abc].c( is called by xport/[abc].c){3}' "$TREE/said"
}

# skips WHAT FILE...: with the objects of only these files, the tool does not vouch for WHAT
skips()
{
	local what=$1

	shift
	fresh
	compile "$@" || return
	layers || return
	grep -E "^ok [0-9]+ $what # SKIP" "$TREE/said"
}

# sees_missing: a name of the list that no file has
sees_missing()
{
	fresh
	floors 'xport: low: qp_low gone' 'xport: high: qp'
	! layers || return
	grep -F '#   xport/gone is not there' "$TREE/said"
}

high=('int srnic_low(void);' 'int srnic_high(void) { return srnic_low(); }')

ktap_plan 23
fresh
check "no fault in a tree without one" layers
check "objects are looked into" objects_are_fine
check "a file outside of the rooms" sees "extra.c is in no room" extra.c
check "a folder that is not a room" sees "attic/ is not a room" attic/a.c
check "an include upwards" \
	sees "wire/a.c includes ../net/net.h: wire may not use net" \
	wire/a.c '#include "../net/net.h"'
check "an include sidewards" \
	sees "mem/a.c includes ../wire/pkt.h: mem may not use wire" \
	mem/a.c '#include "../wire/pkt.h"'
check "an include of a header private to its room" \
	sees "verbs/a.c includes ../net/flow.h: private to net" \
	verbs/a.c '#include "../net/flow.h"'
check "an include that hides from which room it is" \
	sees "verbs/a.c includes net/net.h: another room" \
	verbs/a.c '#include "net/net.h"'
check "counters where there are only bytes" \
	sees "wire/a.h includes ../stats.h: bytes only" \
	wire/a.h '#include "../stats.h"'
check "a kernel header that the room may not touch" \
	sees "wire/a.c includes linux/skbuff.h" wire/a.c '#include <linux/skbuff.h>'
check "a call upwards without an include" \
	sees "wire/pkt.c calls srnic_high of xport/qp.c: wire may not use xport" \
	wire/pkt.c 'int srnic_high(void);' \
	'int srnic_pkt_parse(void) { return srnic_high(); }'
check "a file that is on no floor" \
	sees "xport/a.c is on no floor" xport/a.c ''
check "a header of a floor above" \
	sees "xport/qp_low.c on floor 0 (low) includes qp.h on floor 1 (high)" \
	xport/qp_low.c '#include "qp.h"' 'int srnic_low(void) { return 0; }'
check "a call to a floor above without an include" \
	sees_call_upward
check "three files of a floor that call each other" \
	sees_circle
check "a field that two files write" \
	sees "cur of struct srnic_req: xport/qp, xport/qp_low" \
	xport/qp.c '/* qp->req.cur = 1; */' "${high[@]}"
check "a field that another file increments" \
	sees "cur of struct srnic_req: xport/qp, xport/qp_low" \
	xport/qp.c '/* ++qp->req.cur; */' "${high[@]}"
check "a field that another file multiplies" \
	sees "cur of struct srnic_req: xport/qp, xport/qp_low" \
	xport/qp.c '/* qp->req.cur *= 2; */' "${high[@]}"
check "a bit-field that two files write" \
	sees "heard of struct srnic_recovery: xport/qp, xport/qp_low" \
	xport/qp.c '/* r->heard++; */' "${high[@]}"
check "calls to rooms that are not built" \
	skips "net calls only what it may" wire/pkt.c net/rx.c
check "calls within a room that is built in part" \
	skips "xport calls of its own nothing on a floor above" wire/pkt.c net/rx.c xport/qp.c
check "circles in a tree that is built in part" \
	skips "no files call each other in a circle" wire/pkt.c net/rx.c xport/qp.c
check "a file of the list that is not there" sees_missing
ktap_end
