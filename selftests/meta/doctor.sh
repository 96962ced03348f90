#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the judgement of srnic-doctor, on recorded and on mutated facts
# usage: selftests/meta/doctor.sh

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh
. selftests/lib/tool.sh
TOOL=srnic-doctor

# documented: the manual page has a row for each check
documented()
{
	local name status=0

	while read -r name; do
		grep -qx "\.B $name" Documentation/srnic-doctor.1 && continue
		echo "srnic-doctor.1 does not name $name"
		status=1
	done < <(grep -oP '^    Check\("\K[^"]+' tools/doctor/health.py)
	return "$status"
}

# planted: nothing in the current directory, PYTHONPATH or PATH is executed
planted()
(
	tool=$PWD/tools/srnic-doctor
	work=$(mktemp -d)
	trap 'rm -r "$work"' EXIT
	plant "$work" "json ctypes os re subprocess" "ethtool ip modinfo rdma"
	cd "$work" && "$tool" --facts && PATH='' "$tool" --facts &&
		PATH=$work:$PATH PYTHONPATH=$work "$tool" --facts && [ ! -e taken ]
)

# unread: a reader that does not want all of it is no error
unread()
{
	local said

	said=$({ tools/srnic-doctor "$@" | :; } 2>&1)
	echo "$said"
	[ -z "$said" ]
}

check "a bad time is refused"	refuses --wait inf ::1
check "no time, too"		refuses --wait 0 ::1
check "a bad number is refused"	refuses --qp x
check "a closed pipe"		unread --list
check "installed"		installed '"memlock"' --facts
check "nothing is planted"	planted
check "manual page"		documented
ktap_relay			selftests/meta/judge.py
ktap_relay			selftests/meta/mutate.py
ktap_end
