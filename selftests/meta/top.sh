#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - srnic-top: rates, order and texts of given samples; its arguments
# usage: selftests/meta/top.sh

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh
. selftests/lib/tool.sh
TOOL=srnic-top

# documented: the manual page has all columns, and all options
documented()
{
	local name status=0

	while read -r name; do
		grep -qFx -e ".B ${name//-/\\-}" Documentation/srnic-top.1 ||
			grep -qF -e ".BI ${name//-/\\-} " Documentation/srnic-top.1 || {
			echo "srnic-top.1 does not have $name"
			status=1
		}
	done < <(grep -oP '^    "\K[^"]+(?=": Column\()' tools/srnic-top
		grep -oP 'add_argument\("\K[^"]+' tools/srnic-top)
	return "$status"
}

# planted: nothing in the current directory, PYTHONPATH or PATH is executed
planted()
(
	tool=$PWD/tools/srnic-top
	work=$(mktemp -d)
	trap 'rm -r "$work"' EXIT
	plant "$work" "json os re subprocess termios" rdma
	cd "$work" || exit
	PATH=$work:$PATH PYTHONPATH=$work "$tool" --once --interval 0.01
	PATH='' "$tool" --once --interval 0.01
	[ ! -e taken ]
)

check "an interval of no time is refused"	refuses --once --interval 0
check "an infinite interval is refused"	refuses --once --interval inf
check "an unknown column is refused"	refuses --once --columns qp,x
check "an unknown order is refused"	refuses --once --sort x
check "a filter without a pattern is refused"	refuses --once --filter qp
check "a filter of an unknown column is refused"	refuses --once --filter x=1
check "installed"		installed '^usage: srnic-top' --help
check "nothing is planted"	planted
check "manual page"		documented
ktap_relay			selftests/meta/top.py
ktap_end
