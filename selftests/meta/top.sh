#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - srnic-top: rates, order and texts of given samples; its arguments
# usage: selftests/meta/top.sh

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh

# installed: the files that "make install" copies find each other
installed()
{
	local root status

	root=$(mktemp -d)
	make -s install-tools DESTDIR="$root" &&
		"$root/usr/bin/srnic-top" --help | grep -q '^usage: srnic-top'
	status=$?
	rm -r "$root"
	return "$status"
}

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
	for name in json os re subprocess termios; do
		echo "open('$work/taken', 'w')" >"$work/$name.py"
	done
	printf '#!/bin/sh\n: >%s/taken\n' "$work" >"$work/rdma"
	chmod +x "$work/rdma"
	cd "$work" || exit
	PATH=$work:$PATH PYTHONPATH=$work "$tool" --once --interval 0.01
	PATH='' "$tool" --once --interval 0.01
	[ ! -e taken ]
)

# refuses WORD...: with a message of one line
refuses()
{
	local said

	! said=$(tools/srnic-top --once "$@" 2>&1) && grep '^srnic-top: error:' <<<"$said" &&
		! grep -E 'Traceback|<lambda>' <<<"$said"
}

check "an interval of no time is refused"	refuses --interval 0
check "an infinite interval is refused"		refuses --interval inf
check "an unknown column is refused"		refuses --columns qp,x
check "an unknown order is refused"		refuses --sort x
check "a filter without a pattern is refused"	refuses --filter qp
check "a filter of an unknown column is refused"	refuses --filter x=1
check "installed"		installed
check "nothing is planted"	planted
check "manual page"		documented
ktap_relay			selftests/meta/top.py
ktap_end
