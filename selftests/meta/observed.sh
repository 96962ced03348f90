#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - what the driver shows in "rdma resource" is what is documented
# usage: selftests/meta/observed.sh

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh

PAGE=Documentation/tracing.rst

# shown: the names of all values that the driver lists
shown()
{
	grep -rhoE 'srnic_res_add_(u32|hex|u64|string|psn|addr)\(&?attrs, "[a-z_]+"' drivers/srnic |
		cut -d'"' -f2 | sort -u
}

# documented: the names in the first column of the tables of their section
documented()
{
	sed -n '/^State of an object$/,/^Trace points$/p' "$PAGE" |
		grep -oE '^``[a-z_]+``(, ``[a-z_]+``)*' | grep -oE '[a-z_]+' | sort -u
}

same()
{
	diff <(shown) <(documented)
}

some()
{
	[ "$(shown | wc -l)" -gt 30 ]
}

ktap_plan 2
check "values are found in the sources"		some
check "they are those in $PAGE"			same
ktap_end
