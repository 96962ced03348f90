#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The driver uses no name of the kernel that a supported release lacks, by the census of
# the releases in selftests/meta/census; and a shadow of include/compat that is missing is
# noticed.
# usage: selftests/meta/census.sh

HERE=$(dirname "$(readlink -f "$0")")
ROOT=$(readlink -f "$HERE/../..")
. "$HERE/../lib/ktap.sh"

need python3

TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT
SAID=$TREE/said

# fresh: a copy of what the check reads
fresh()
{
	local path

	rm -rf "${TREE:?}"/*
	mkdir -p "$TREE/drivers" "$TREE/selftests/meta"
	for path in drivers/srnic include selftests/meta/census; do
		cp -r "$ROOT/$path" "$TREE/$path"
	done
}

census()
{
	"$ROOT/tools/census/check" --root "$TREE" >"$SAID"
}

judges_much()
{
	local names

	fresh
	census
	read -r names _ < <(tail -n 1 "$SAID")
	((names > 1500))
}

# reports RELEASES NAME: the copy is refused, for this name and these releases alone
reports()
{
	! census || return
	cat "$SAID"
	[ "$(wc -l <"$SAID")" = 2 ] && grep -q "[ch]:[0-9]*: $2 is not in $1\( (and .*)\)*$" "$SAID"
}

# without SHADOW SCRIPT RELEASES NAME: a shadow is edited by sed, or removed
without()
{
	fresh
	if [ "$2" = gone ]; then
		rm "$TREE/include/compat/$1"
	else
		sed -i "$2" "$TREE/include/compat/$1"
	fi
	reports "$3" "$4"
}

# with LINE RELEASES NAME: a function of the driver has this line, too
with()
{
	fresh
	printf 'void srnic_census(struct net_device *dev)\n{\n\t%s;\n}\n' "$1" \
		>>"$TREE/drivers/srnic/main.c"
	reports "$2" "$3"
}

# accepts LINE: likewise, and all is well
accepts()
{
	! with "$1" "" "" && [ "$(wc -l <"$SAID")" = 1 ]
}

# empty: without a census nothing is fine
empty()
{
	fresh
	rm "$TREE"/selftests/meta/census/*
	! census
}

# keys SOURCE KEY...: the keys of what this C declares
keys()
{
	local source=$1

	shift
	diff <(printf '%s\n' "$@") <(PYTHONPATH=$ROOT/tools/census python3 -c '
import sys
from names import Names
names = Names()
names.read(sys.argv[1])
print(*sorted(names.keys), sep="\n")' "$source")
}

# kernel RELEASE LINE...: a kernel tree that has one header with these lines
kernel()
{
	local release=$1 version patch sub

	shift
	mkdir -p "$TREE/$release/include/linux"
	IFS=. read -r version patch sub <<<"$release"
	printf '%s\n' "VERSION = $version" "PATCHLEVEL = $patch" "SUBLEVEL = $sub" \
		"EXTRAVERSION =" >"$TREE/$release/Makefile"
	printf '%s\n' "$@" >"$TREE/$release/include/linux/a.h"
}

# makes: a release between two others leaves these as they were
makes()
{
	fresh
	rm -r "$TREE"/selftests/meta/census/* "$TREE"/drivers/srnic/* "$TREE/include"
	mkdir "$TREE/include"
	printf '#include <linux/a.h>\nint srnic_one(void) { return same(1) + moved(1); }\n' \
		>"$TREE/drivers/srnic/a.c"
	kernel 5.1.0 'int same(int a);' 'int moved(int a, int b);'
	kernel 5.10.0 'int same(int a);' 'int later(void);'
	kernel 5.9.3 'int same(int a);' 'int moved(int a);' 'int later(void);'
	"$ROOT/tools/census/make" --root "$TREE" --new "$TREE/5.1.0" "$TREE/5.10.0" || return
	reports "any release.*" "moved of 1 argument" || return
	"$ROOT/tools/census/make" --root "$TREE" "$TREE/5.9.3" || return
	reports "5.1.0 5.10.0" "moved of 1 argument"
}

ktap_plan 26
fresh
check "the driver uses nothing that a release lacks"	census
check "many names are judged"				judges_much

old="5.15.100 6.1.0-rc7 6.6.9 6.6.57 6.8.1"
check "a header without its shadow is seen" \
	without linux/unaligned.h gone "$old" "<linux/unaligned.h>"
check "a function is" \
	without linux/hrtimer.h gone "$old 6.12.0" "hrtimer_setup of 4 arguments"
check "a function with other parameters is" \
	without linux/mm.h '/define get_user_pages_remote/,+1d' "5.15.100 6.1.0-rc7" \
	"get_user_pages_remote of 6 arguments"
check "a macro with other parameters is" \
	without linux/tracepoint.h '/define __assign_str/,+1d' "$old" "__assign_str of 1 argument"
check "a constant is" \
	without linux/workqueue.h '/define WQ_PERCPU/d' "$old 6.12.0 6.14.0" WQ_PERCPU
check "a type is" \
	without rdma/ib_verbs.h '/^struct ib_dmah;/d' "$old 6.12.0 6.14.0" ib_dmah
check "a field is" \
	without rdma/ib_verbs.h '/define resize_user_cq/d' \
	"$old 6.12.0 6.14.0 6.17.0 6.18.44" ib_device_ops.resize_user_cq
check "an operation with other parameters is" \
	without rdma/ib_verbs.h '/define srnic_reg_user_mr(/,+1d' "$old 6.12.0 6.14.0" \
	"ib_device_ops.reg_user_mr of 7 parameters"

check "a new function of the newest release is seen" \
	with 'capable_noaudit(1)' "$old 6.12.0 6.14.0 6.17.0 6.18.44" "capable_noaudit of 1 argument"
check "a variable is" \
	with 'queue_work(system_bh_wq, NULL)' "$old" system_bh_wq
check "a function that is gone is" \
	with 'del_timer_sync(dev)' "6.17.0 6.18.44 7.3.4" "del_timer_sync of 1 argument"
check "a name that no release has is" \
	with 'no_such_name(1)' "any release.*" "no_such_name of 1 argument"
check "so is a constant in an expression" \
	with 'dev->mtu = min(1U, dev->mtu * NO_SUCH_NAME)' "any release.*" NO_SUCH_NAME
check "so is a field of a struct of the kernel" \
	with 'dev->no_such_name = 1' "any release.*" net_device.no_such_name
check "a function that every release has is fine" \
	accepts 'netif_tx_stop_all_queues(dev)'
check "so are names that the function declares" \
	accepts 'int no_such_name = 1, (*capable_noaudit)(int); capable_noaudit(no_such_name)'

check "functions and macros are read" keys '
	#define same same
	#define one(a, b...) f(a)
	#define two(...) f(__VA_ARGS__)
	extern int three(int a, int (*b)(int c, int d), ...) __printf(1, 2);
	static inline struct x *four(void)
	{
		return five(six);
	}' '__printf(2)' 'four(0)' 'one(1+)' 'three(2+)' 'two(0+)'
check "structs are" keys '
	struct one {
		int a, *b, c[3], d : 2;
		int (*e)(int x, int y);
		union { struct two f; struct { int g; } h; };
		struct two { long i; } __aligned(8) j;
		DECLARE_BITMAP(k, 64);
	} __packed;
	typedef struct { int a; } three;' \
	__packed one 'one.__aligned(1)' one.a one.b one.c one.d 'one.e(2)' one.f \
	one.g one.h one.j one.k three three.a two two.i
check "groups of fields are" keys 'struct one { struct_group(a, int b; int c[2];); };' \
	one one.a one.b one.c
check "constants and variables are" keys '
	enum one { A, B = (1 << 2), C, };
	extern struct two d;
	extern int (*e)(int);
	DECLARE_PER_CPU(int, f);
	struct three;' A B C 'DECLARE_PER_CPU(2)' d 'e(1)' f one three
check "all branches of a condition are" keys '
	#ifdef A
	int one(int a)
	#else
	int one(int a, int b)
	#endif
	;' 'one(1)' 'one(2)'
check "a branch that leaves a block open hides the others" keys '
	#ifdef A
	static inline int one(void) {
	#else
	static inline int two(void) {
	#endif
	}
	int three(void);' 'one(0)' 'three(0)'
check "a census of no release is refused"		empty
check "a release is added between two others" makes
ktap_end
