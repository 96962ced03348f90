#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All programs of perftest except those for raw Ethernet, with all their connection types and
# options, pass wherever they pass on rdma_rxe.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# perftest-options says how the options are given.  Command lines that do not pass are repeated
# on a pair of rdma_rxe, where they must be refused as well, unless perftest-known gives another
# outcome and the reason.  A program is refused if its server ends before it listens.  Options
# are combined with RC only.  PERFTEST_ONLY=PATTERN selects some of the command lines.
#
# run: perftest, all options | perftest
#   | TCP port 18515 between both ends; module rdma_ucm for ``-R``
#   | ``ib_write_bw -d srnic0``, and on the other host ``ib_write_bw -d srnic0 10.9.0.2``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"

PROGRAMS=(ib_{send,write,read,atomic}_{bw,lat})
TYPES=(RC UC UD XRC)
FEW=("-n 10" "-u 21")	# of all command lines; no ACK is that late on a busy machine

here=$(dirname "$(readlink -f "$0")")
dir=
version=
rest=()			# command lines that did not pass, or are in perftest-known
declare -A ended	# how those did on srnic ...
declare -A said		# ... and their output
declare -A seen		# rows of perftest-known that came true

need rdma "${PROGRAMS[@]}"
modprobe -q rdma_rxe || skip_all "this kernel has no rdma_rxe"

# --- command lines ---------------------------------------------------------

# options_of PROGRAM: print those that it names
options_of()
{
	"$1" --help | grep -oE '^[[:blank:]]*(-[[:alpha:]], )?--[[:alnum:]_-]+' |
		grep -oE -e '--[[:alnum:]_-]+$'
}

# types_of PROGRAM: print the connection types that it names, of ours
types_of()
{
	"$1" --help | grep -oE 'connection=<[A-Z/]+' | grep -oE "$(IFS='|'; echo "${TYPES[*]}")"
}

# given HOW PROGRAM: print the arguments of its options that the table gives so
given()
{
	awk -v how="$1" 'NR == FNR { has[$1]; next }
		$2 == how && $1 in has { sub(/^[^\t]+\t+[^\t]+\t+/, ""); print }' \
		<(options_of "$2") "$here/perftest-options"
}

# has ARGUMENTS OPTION: that option is among them; perftest refuses one that is repeated
has()
{
	[[ " $1 " == *" ${2%% *} "* ]]
}

# combined ARGUMENTS OPTION...: print the arguments with each of the options
combined()
{
	local option

	for option in "${@:2}"; do
		has "$1" "$option" || echo "$1 $option"
	done
}

# lines_of PROGRAM: print its command lines
lines_of()
{
	local also arguments type

	mapfile -t also < <(given also "$1")
	for type in $(types_of "$1"); do
		echo "$1 -c $type"
		combined "$1 -c $type" "${also[@]}"
		given each "$1" | sed "s/^/$1 -c $type /"
	done
	given alone "$1" | sed "s/^/$1 -c RC /"
	given each "$1" | while read -r arguments; do
		combined "$1 -c RC $arguments" "${also[@]}"
	done
}

lines()
{
	local program

	for program in "${PROGRAMS[@]}"; do
		lines_of "$program"
	done | awk '!known[$0]++' | while read -r program; do
		# shellcheck disable=SC2053 # a pattern
		[[ $program != ${PERFTEST_ONLY:-*} ]] || echo "$program"
	done
}

# unlisted: print the options of all programs that the table has not
unlisted()
{
	local program

	for program in "${PROGRAMS[@]}"; do
		options_of "$program"
	done | sort -u | grep -vxF -f <(awk '{ print $1 }' "$here/perftest-options")
}

# --- how they end ----------------------------------------------------------

# start NS ADDRESS DEVICE COMMAND ARGUMENT...: sets process
start()
{
	local arguments="${*:5}" option

	for option in "${FEW[@]}"; do
		has "$arguments" "$option" || arguments="$option $arguments"
	done
	arguments=${arguments//SELF/$2}
	# shellcheck disable=SC2086 # words
	ip netns exec "$1" bounded "$4" -d "$3" -F ${arguments//DIR/$dir/$1} &
	process=$!
}

# listens PROCESS PORT: a process on its host does
listens()
{
	local port

	printf -v port ':%04X .*:0000 0A ' "$2"
	grep -q "$port" "/proc/$1"/net/tcp{,6}
} 2>/dev/null

# ready PROCESS COMMAND: the server listens, or it has ended
ready()
{
	local port=18515

	[[ " $2 " != *" -p "* ]] || port=18516
	if [[ " $2 " == *" -"[Rz]" "* ]]; then
		ended "$1" || cm_listens nsB
	else
		ended "$1" || listens "$1" "$port"
	fi
}

# both_end PROCESS PROCESS: if one fails, the other may wait for it for ever
both_end()
{
	local first status=0

	wait -n -p first "$@" || status=$?
	((status == 0)) || kill "$@" 2>/dev/null
	wait $(($1 + $2 - first)) || status=$((status ? status : $?))
	return "$status"
}

# attempt COMMAND: sets ends
attempt()
{
	local peer=10.9.0.2 process server status=0

	[[ $1 != *--ipv6-addr* ]] || peer=fd09::2
	# shellcheck disable=SC2086 # a program and its arguments
	start nsB 10.9.0.2 sr1 $1
	server=$process
	wait_for ready "$server" "$1"
	if ended "$server"; then
		wait "$server"
		ends=refused
		return
	fi
	# shellcheck disable=SC2086
	start nsA 10.9.0.1 sr0 $1 "$peer"
	both_end "$server" "$process" || status=$?
	case $status in
	0) ends=passes ;;
	124) ends=hangs ;;
	*) ends=fails ;;
	esac
}

# outcome COMMAND: sets ends.  The client of a server that is about to listen by rdma_cm may
# be rejected.
outcome()
{
	local _

	for _ in {1..5}; do
		attempt "$1" >"$dir/said" 2>&1 </dev/null
		[ "$ends" = fails ] && grep -qiE 'rejected|UNREACHABLE' "$dir/said" || return 0
	done
}

# expected COMMAND: set row, srnic, rxe and why to what perftest-known has for it, if anything
expected()
{
	local of pattern

	while IFS='|' read -r of srnic rxe pattern why; do
		row="$of|$pattern"
		# shellcheck disable=SC2053 # patterns
		[[ $version != $of || $1 != $pattern ]] || return 0
	done < <(grep -v '^#' "$here/perftest-known")
	row='' srnic='' rxe='' why=''
}

# on_srnic COMMAND: a check if it passes, else it is of the rest
on_srnic()
{
	local ends row rxe srnic why

	ktap_watch
	expected "$1"
	if [ "$srnic" = skip ]; then
		seen[$row]=1
		skip "$1" "$why"
		return
	fi
	outcome "$1"
	if [ "$ends$row" = passes ]; then
		ktap_point ok "$1"
		return
	fi
	rest+=("$1")
	ended[$1]=$ends
	said[$1]=$(tail -n 10 "$dir/said")
}

# agree COMMAND: it is refused on both devices, or ends on each as perftest-known says
agree()
{
	local ends row rxe srnic why

	expected "$1"
	outcome "$1"
	printf '%s\n' "$version: ${ended[$1]}, on rdma_rxe $ends" "srnic: ${said[$1]}" \
		"rdma_rxe: $(tail -n 10 "$dir/said")"
	[ "${ended[$1]}" != hangs ] || ktap_late "$1"
	[ "${ended[$1]} $ends" = "${srnic:-refused} ${rxe:-refused}" ] || return
	[ -z "$row" ] || seen[$row]=1
}

# --- checks ----------------------------------------------------------------

type_up()
{
	TYPE_A=$1 TYPE_B=$1
	hosts_up
}

# A folder for each end: they would write to the same memory
files()
{
	dir=$(mktemp -d) && mkdir "$dir"/ns{A,B} && truncate -s 32M "$dir"/ns{A,B}/buffer &&
		printf 0x03020100,0x07060504 | tee "$dir"/ns{A,B}/payload >/dev/null
}

table_is_complete()
{
	fails unlisted
}

rows_came_true()
{
	local of pattern status=0

	while IFS='|' read -r of _ _ pattern _; do
		# shellcheck disable=SC2053 # a pattern
		[[ $version != $of || -n ${seen[$of|$pattern]:-} ]] ||
			{ echo "nothing is as perftest-known says of: $pattern"; status=1; }
	done < <(grep -v '^#' "$here/perftest-known")
	return "$status"
}

trap 'pair_down; rm -rf "$dir"' EXIT
version=$(ib_send_bw --version | grep -oE '[0-9.]+$')
mapfile -t all < <(lines)
check "all options of perftest $version are listed"	table_is_complete
check "files"			files
check "a pair of srnic"		type_up srnic
for line in "${all[@]}"; do
	on_srnic "$line"
done
check "no object is left"	no_object_is_left
check "a pair of rdma_rxe"	type_up rxe
for line in "${rest[@]}"; do
	check "$line"		agree "$line"
done
[ -n "${PERFTEST_ONLY:-}" ] || check "every known difference was seen"	rows_came_true
ktap_end
