#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the runner reports every way in which a test can go wrong
# usage: selftests/meta/harness.sh
#
# A copy of selftests/run gets a plan of scripts with one fault each.  They run on the
# host, in a fake guest that hangs or does not boot, and in two guests of kernel uml, the
# first of which panics.

HERE=$(dirname "$(readlink -f "$0")")
REPO=$(realpath "$HERE/../..")
. "$HERE/../lib/ktap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree

# put FILE: an executable file of the tree, from standard input
put()
{
	mkdir -p "$(dirname "$tree/$1")"
	cat >"$tree/$1"
	chmod +x "$tree/$1"
}

# script NAME KERNEL SECONDS LINE...: a script and its line in the plan
script()
{
	printf '%s\n' '#!/bin/bash' "${@:4}" | put "selftests/t/$1.sh"
	echo "t/$1.sh $2 $3" >>"$tree/selftests/plan"
}

# tree_make: the runner, a verbs harness with one topic, and a lab with a kernel "fake"
tree_make()
{
	mkdir -p "$tree/selftests"
	cp -r "$HERE"/../{run,run-guest,lib} "$tree/selftests"
	put selftests/Makefile <<<'programs costs:'
	put build/costs <<<'echo "nothing costs anything"'
	put selftests/broken/Makefile <<<$'all:\n\tfalse'
	put build/vrb/vrb <<<'echo "sunny alone"'
	put selftests/verbs/topics.sh <<-'END'
		#!/bin/bash
		printf '1..1\nok 1 it is %s\n' "$1"
	END
	put tools/lab/install <<<'exit 0'
	put tools/lab/prepare <<<'[ "$1" != unmade ]'
	put tools/lab/run <<-END
		#!/bin/bash
		[ "\$2" != fake ] || exec "$tree/tools/lab/fake" "\$@"
		exec "$REPO/tools/lab/run" "\$@"
	END
	put tools/lab/fake <<-'END'
		#!/bin/bash
		while [ "$1" != -- ]; do
			[ "$1" != --results ] || export RESULTS=$2
			shift
		done
		touch "$RESULTS/kernel.log"
		[ ! -e "$RESULTS/../no-boot" ] || exit 99
		[ ! -e "$RESULTS/../lazy" ] || exit 0
		[ ! -e "$RESULTS/../twice" ] || echo "lab: fake did not boot" >&2
		"$2" || { echo "lab: timed out" >&2; exit 124; }
		[ ! -e "$RESULTS/dirty" ] || { echo "lab: WARNING" >&2; exit 99; }
	END
}

# scripts_here: on the host
scripts_here()
{
	script good here 60 'printf "1..2\nok 1 a\nok 2 b\n"'
	script skipped here 60 'echo "1..0 # SKIP no tool"; exit 4'
	script known here 60 'printf "1..2\nok 1 a\nnot ok 2 b # TODO later\n"'
	script fails here 60 'printf "1..2\nok 1 a\nnot ok 2 b\n# why\n"; exit 1'
	script fewer here 60 'printf "1..2\nok 1 a\n"'
	script more here 60 'printf "1..1\nok 1 a\nok 2 b\n"'
	script unplanned here 60 'echo "ok 1 a"'
	script silent here 60 ':'
	script lies here 60 'printf "1..1\nnot ok 1 a\n"'
	script gloomy here 60 'printf "1..1\nok 1 a\n"; exit 1'
	script half here 60 'printf "1..1\nok 1 a\n"; exit 4'
	script crashes here 60 'printf "1..2\nok 1 a\n"; kill -SEGV $$'
	script hangs here 10 'printf "1..1\nok 1 a\n"; exec sleep 100'
	script relays here 60 '. lib/ktap.sh' 'ktap_plan 2' \
		'ktap_relay sh -c "echo ok 1 a; exit 3"' ktap_end
	script recounts here 60 '. lib/ktap.sh' 'ktap_plan 2' \
		'ktap_relay sh -c "echo 1..2; echo ok 1 a"' ktap_end
	script broken here 60 '. lib/ktap.sh' '. lib/programs.sh' \
		'programs_make broken' 'ktap_plan 1' 'check a true' ktap_end
	script dirty_here here 60 '. lib/ktap.sh' 'closed() { false; }' \
		'ktap_closing=(closed)' 'ktap_plan 1' 'check a true' ktap_end
	echo "verbs/sun*.sh fake 60" >>"$tree/selftests/plan"
}

# scripts_fake: in the fake guest, which hangs when run-guest is killed
scripts_fake()
{
	script stuck fake 60 'printf "1..1\nok 1 a\n"; kill -KILL "$(ps -o ppid= $PPID)"' \
		'sleep 1'
	script behind fake 60 'printf "1..1\nok 1 a\n"; touch "$RESULTS/dirty"'
	script unmade unmade 60 'printf "1..1\nok 1 a\n"'
}

# scripts_uml: in user-mode Linux
scripts_uml()
{
	script inside uml 300 'printf "1..1\nok 1 a\n"'
	script hangs_inside uml 2 'printf "1..1\nok 1 a\n"; exec sleep 100'
	script warns uml 300 '. lib/netns.sh' 'ktap_plan 1' \
		'check "a warning" sh -c "echo WARNING: CPU: 0 >/dev/kmsg"' ktap_end
	script leaks uml 300 '. lib/netns.sh' 'ktap_plan 2' 'check "two hosts" pair_up' \
		'on nsA ibv_rc_pingpong -d sr0 -g 1 >/dev/null &' \
		'there() { rdma resource show qp | grep -q pingpong; }' \
		'check "a queue pair" wait_for there' ktap_bound_first=10 ktap_end
	script panics uml 300 'printf "1..1\nok 1 a\n"; sync' \
		'echo c >/proc/sysrq-trigger; sleep 1000'
	script next uml 300 'printf "1..1\nok 1 a\n"' 'echo WARNING: CPU: 0 >/dev/kmsg'
}

# late NAME N WHAT...: a script on the host that is late in its first and in its Nth run, and
# then also runs WHAT
late()
{
	script "$1" here 60 "ran=$work/$1.ran" 'echo again >>"$ran"' \
		'n=$(wc -l <"$ran")' \
		"((n == 1 || n == $2)) || { printf '1..2\nok 1 a\nok 2 b\n'; exit; }" \
		'printf "1..2\nnot ok 1 a\n# that\n# late: a program\n"' "${@:3}"
}

# scripts_late: programs that take too long on the first runs
scripts_late()
{
	late late_once 1 'echo "ok 2 b"; exit 1'
	late late_both 1 'printf "not ok 2 b\n# late: another\n"; exit 1'
	late late_again 4 'echo "ok 2 b"; exit 1'
	late late_wrong 1 'printf "not ok 2 b\n# late 2\n"; exit 1'
	late late_crash 1 'echo "ok 2 b"; kill -SEGV $$'
	late late_short 1 'exit 1'
}

# scripts_kept: one that counts how often it runs, and one that waits until it is killed
scripts_kept()
{
	script kept here 60 "echo >>$work/kept" 'printf "1..1\nok 1 a\n"'
	script kept_fake fake 60 "echo >>$work/kept_fake" 'printf "1..1\nok 1 a\n"'
	script spins here 60 '. lib/ktap.sh' 'ktap_plan 1' \
		'run=$(ps -o ppid= "$(ps -o ppid= "$PPID" | tr -d " ")" | tr -d " ")' \
		"five() { pgrep -f \"lib/busy \$run\" >$work/spinners;" \
		"	((\$(wc -l <$work/spinners) >= 5)); }" \
		'check "a busy machine" wait_for five' ktap_end
}

# scripts_many: more than a guest is given
scripts_many()
{
	local n

	for n in {1..25}; do
		script "many_$n" here 60 'printf "1..1\nok 1 a\n"'
	done
}

# runs NAME OPTION|WORD...: runs these scripts; the runner must succeed
runs()
{
	local results=$work/$1

	shift
	mkdir -p "$results"
	"$tree/selftests/run" --results "$results" "$@" >"$results/said" 2>&1 ||
		{ cat "$results/said"; return 1; }
}

# run NAME WORD...: runs these scripts; the runner must fail
run()
{
	! runs "$@" || { cat "$work/$1/said"; return 1; }
}

# ran TIMES SCRIPT: the script was run that many times
ran()
{
	wc -l <"$work/$2.ran"
	(($(wc -l <"$work/$2.ran") == $1))
}

# resumes HERE FAKE [OPTION...]: after the resumed run, the script of the host has been run HERE
# times, and that of the fake guest FAKE times
resumes()
{
	local here=$1 fake=$2

	shift 2
	"$tree/selftests/run" "$@" --resume "$work/pieces" t/kept t/good >"$work/pieces.said" &&
		cat "$work/pieces.said" "$work"/kept* &&
		(($(wc -l <"$work/kept") == here && $(wc -l <"$work/kept_fake") == fake)) &&
		grep -Fx "4 passed, 0 failed, 0 skipped" "$work/pieces.said"
}

# spinners_end: the busy processes end with the runner
spinners_end()
{
	! ps -p "$(paste -sd, "$work/spinners")"
}

# judged NAME KERNEL SCRIPT WORD TEXT: the report begins with WORD and has TEXT
judged()
{
	local report

	report=$(cat "$work/$1/$2/${3//\//-}.tap.report") || return
	[[ $report == "$4 "*"$2 "*" $3 "*"$5"* ]] || { echo "$report"; return 1; }
}

# said NAME TEXT: TEXT is a line of the runner's output
said()
{
	grep -Fx "$2" "$work/$1/said" || { cat "$work/$1/said"; return 1; }
}

# told TIMES NAME SCRIPT: the runner printed so many times that the script failed
told()
{
	(($(grep -c "^FAIL .* $3 " "$work/$2/said") == $1)) || { cat "$work/$2/said"; return 1; }
}

# KERNEL|SCRIPT|WORD|TEXT|NAME: the report of each script begins with WORD and has TEXT
uml_checks=(
	"uml|t/inside.sh|ok|1 passed|a good script in a guest"
	"uml|t/hangs_inside.sh|FAIL|ran out of time|a hang in a guest"
	"uml|t/warns.sh|FAIL|the kernel log is clean|a warning of the kernel"
	"uml|t/leaks.sh|FAIL|no object is left|a leaked object"
	"uml|t/panics.sh|FAIL|took the guest down|a guest that panics"
	"uml|t/next.sh|ok|1 passed|the remaining scripts run in another guest"
	"uml|kernel log|FAIL|WARNING: CPU: 0|a warning outside of scripts"
)
checks=(
	"here|t/good.sh|ok|2 passed|a good script"
	"here|t/skipped.sh|skip|0 passed|a script that cannot be run"
	"here|t/known.sh|ok|1 passed|a known failure"
	"here|t/fails.sh|FAIL|# why|a failure, with its reason"
	"here|t/fewer.sh|FAIL|planned 2 checks, made 1|fewer checks than planned"
	"here|t/more.sh|FAIL|planned 1 checks, made 2|more checks than planned"
	"here|t/unplanned.sh|FAIL|gave no plan|no plan"
	"here|t/silent.sh|FAIL|gave no plan|no output"
	"here|t/lies.sh|FAIL|returned 0, and 1 checks failed|a failure and exit status 0"
	"here|t/gloomy.sh|FAIL|returned 1, and 0 checks failed|no failure and exit status 1"
	"here|t/half.sh|FAIL|returned 4, and 0 checks failed|a check that passed and exit status 4"
	"here|t/crashes.sh|FAIL|returned 139|a signal"
	"here|t/hangs.sh|FAIL|ran out of time|a hang"
	"here|t/relays.sh|FAIL|sh: made 1 of 1 checks, returned 3|a relayed program that dies"
	"here|t/recounts.sh|FAIL|sh: made 1 of 2 checks|one with a wrong plan"
	"here|t/broken.sh|FAIL|not ok 1 selftests/broken compiles|programs that do not compile"
	"here|t/dirty_here.sh|FAIL|not ok 2 closed|a closing check"
	"fake|verbs/sunny.sh|ok|1 passed|a topic without a script of its own"
	"fake|t/stuck.sh|FAIL|took the guest down (lab status 124)|a guest that hangs"
	"fake|t/behind.sh|ok|1 passed|the remaining scripts run in another guest"
	"fake|kernel log|FAIL|lab: WARNING|a warning outside of scripts"
	"unmade|kernel log|FAIL|could not make it|a kernel that cannot be made"
)

# judge NAME LINE...: one check for each line
judge()
{
	local kernel name=$1 script text what word

	shift
	while IFS='|' read -r kernel script word text what; do
		check "$kernel: $what" judged "$name" "$kernel" "$script" "$word" "$text"
	done < <(printf '%s\n' "$@")
}

late_checks=(
	"here|t/late_again.sh|FAIL|# late: a program|a program that is late too often"
	"here|t/late_wrong.sh|FAIL|not ok 2 b|one that is late beside a failure"
	"here|t/late_crash.sh|FAIL|returned 139|one that is late and crashes"
	"here|t/late_short.sh|FAIL|planned 2 checks, made 1|one that is late and ends early"
)

# boots HANGS: a guest boots whose first HANGS attempts hang
boots()
(
	. "$REPO/tools/lab/lib.sh"
	. "$REPO/tools/lab/guest.sh"
	. "$REPO/tools/lab/qemu.sh"
	hangs=$1
	RESULTS=$(mktemp -d "$work/XXXXXX") KERNEL=fake MACHINE='' INTERACTIVE=''
	JOB=$RESULTS KERNEL_DIR=$RESULTS BOOT_BOUND=1 TIMEOUT=1000 REAL_TIME=()
	touch "$RESULTS/kernel.log"
	qemu_run()
	{
		if ((hangs-- > 0)); then
			guest_run sleep 1000
		else
			guest_run touch "$JOB/begun"
		fi
	}
	kernel_boot
)

# places: a guest with one processor stays on the only one that it may run on, a second one on none
places()
(
	. "$REPO/tools/lab/lib.sh"
	. "$REPO/tools/lab/uml.sh"
	CACHE=$(mktemp -d "$work/XXXXXX") CPUS=1
	cpu=$(taskset -cp "$BASHPID")
	cpu=${cpu##*[ ,-]}
	taskset -cp "$cpu" "$BASHPID" >/dev/null
	processor_take
	[ "${PINNED[*]}" = "taskset -c $cpu" ] || { echo "${PINNED[*]:-none}, not $cpu"; return 1; }
	processor_take
	((${#PINNED[@]} == 0))
)

ktap_plan $((38 + ${#checks[@]} + ${#late_checks[@]} + ${#uml_checks[@]}))
tree_make
scripts_here
scripts_late
scripts_kept
scripts_many
scripts_fake
scripts_uml
check "the runner succeeds when all is well"	runs good t/good.sh
check "it says what this machine costs"		said good "nothing costs anything"
check "it runs many scripts on the host"	runs many t/many
check "all of them"				said many "25 passed, 0 failed, 0 skipped"
check "it succeeds if late scripts recover"	runs late t/late_once t/late_both t/good
check "it names them"				said late "unstable: 2 scripts"
check "it counts no failure"			said late "3 passed, 0 failed, 0 skipped"
check "it does not repeat their failures"	told 1 late t/late_once.sh
check "it ran them three times more"		ran 4 late_once
check "it fails if they do not"			run later t/late_again t/late_wrong \
						t/late_crash t/late_short
check "it repeats other failures at its end"	told 2 later t/late_wrong.sh
judge later "${late_checks[@]}"
check "no unstable script is named"		fails said later "unstable: 1 scripts"
check "a script that stays late is run again"	ran 4 late_again
for name in wrong crash short; do
	check "late and $name: not again"	ran 1 "late_$name"
done
check "a run that can be resumed"		resumes 1 1
check "nothing is run twice"			resumes 1 1
touch "$tree/new"
check "other sources need another run"		resumes 2 2
check "so do other options"			resumes 3 3 --long
touch "$work/pieces/fake/begun"
check "and a guest that was interrupted"	resumes 3 4 --long
check "results of an earlier run do not count"	runs good t/kept.sh
check "nor are they added"			said good "1 passed, 0 failed, 0 skipped"
check "beside busy processes"			runs busy --busy t/spins
check "these end"				wait_for spinners_end
rm "$tree"/selftests/t/{late,kept,spins,many}*
check "it fails on the host and in a fake lab"	run bad here fake unmade
judge bad "${checks[@]}"
check "it lists what was skipped"		said bad "skipped: here/t-skipped.sh: no tool"
check "it counts"				said bad "18 passed, 18 failed, 2 skipped"
mkdir -p "$work/boot"
touch "$work/boot/no-boot"
check "it fails when a guest does not boot"	run boot fake
check "a guest boots"				boots 0
check "it is started again if it hangs"		boots 1
check "once only"				fails boots 2
check "one with one processor keeps one"	places
mkdir -p "$work/twice"
touch "$work/twice/twice"
check "such a guest serves"			runs twice fake:verbs/sunny.sh
check "but is reported"				said twice "unstable: 1 scripts"
mkdir -p "$work/lazy"
touch "$work/lazy/lazy"
check "it fails when a guest runs nothing"	run lazy fake
judge lazy "fake|verbs/sunny.sh|FAIL|was not run|a script that was never started"
if [ -e "${SRNIC_CACHE:-$HOME/.cache/srnic}/current/uml/done" ]; then
	check "it fails in user-mode Linux"	run uml uml
	judge uml "${uml_checks[@]}"
else
	skip "it fails in user-mode Linux"	"the lab has not made uml"
	for line in "${uml_checks[@]}"; do
		skip "uml: ${line##*|}"	"the lab has not made uml"
	done
fi
ktap_end
