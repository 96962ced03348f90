#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the shell's completion for "rdma ..." and "srnic-top ..."

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"
. "$selftests/../tools/completion/rdma"
. "$selftests/../tools/completion/srnic-top"

# proposed WORD...: print the completions of the last word, on one line
proposed()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	"_${1//-/_}"
	echo "${COMPREPLY[*]}"
}

# proposes WHAT WORD...
proposes()
{
	local got

	got=$(proposed "${@:2}")
	[ "$got" = "$1" ] || { echo "'$got', not '$1'"; return 1; }
}

# hostile: a netdev can have any name without spaces and slashes
hostile()
(
	work=$(mktemp -d)
	trap 'rm -r "$work"' EXIT
	# shellcheck disable=SC2016 # not expanded, that is the test
	printf '%s\n' lo '$(touch${IFS}taken)' '`touch${IFS}taken`' 'a;b' >"$work/names"
	printf '#!/bin/sh\ncat "%s/names"\n' "$work" >"$work/ls"
	chmod +x "$work/ls"
	PATH=$work:$PATH
	cd "$work" || exit
	proposes 'lo \$\(touch\$\{IFS\}taken\) \`touch\$\{IFS\}taken\` a\;b' \
		rdma link add srnic0 type srnic netdev "" || exit
	proposes '\$\(touch\$\{IFS\}taken\)' rdma link add srnic0 type srnic netdev '\$' &&
		[ ! -e taken ]
)

# decorated: users often have ls print more than names
decorated()
(
	ls() { command ls -F --color=always "$@"; }
	proposes "lo" rdma link add srnic0 type srnic netdev lo
)

# loaded: bash-completion sources the file in a function, when it is first needed
loaded()
(
	unset _rdma_next
	load()
	{
		. "$selftests/../tools/completion/rdma"
	}
	load
	proposes "statistic system" rdma s
)

# all_options: those that srnic-top has
all_options()
{
	proposes "$(grep -oP 'add_argument\("\K[^"]+' "$selftests/../tools/srnic-top" |
		tr '\n' ' ')--help" srnic-top ""
}

all_columns()
{
	proposes "traffic $(grep -oP '^    "\K[^"]+(?=": Column\()' "$selftests/../tools/srnic-top" |
		paste -sd ' ')" srnic-top --once --sort ""
}

ktap_plan 16
check "objects"			proposes "statistic system" rdma s
check "commands"		proposes "show add delete" rdma link ""
check "loaded on demand"	loaded
check "options are skipped"	proposes "show add delete" rdma -j link ""
check "words after a name"	proposes "type" rdma link add srnic0 ""
check "only there"		proposes "" rdma link add srnic0 type srnic eth0 ""
check "network devices"		proposes "lo" rdma link add srnic0 type srnic netdev lo
check "names are not evaluated"	hostile
check "an ls of the user is not used"	decorated
check "objects of a device"	proposes "ctx cm_id cq" rdma resource show c
check "the keyword before a port"	proposes "link" rdma resource show qp ""
check "options of srnic-top"	all_options
check "some of them"		proposes "--reverse" srnic-top --once --r
check "columns"			all_columns
check "nothing for a number"	proposes "" srnic-top --interval ""
check "options after no word"	proposes "--once" srnic-top "" --o
ktap_end
