# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the results of each script for selftests/run: output, verdict, sums
#
#   tap_file KERNEL SCRIPT   where its TAP goes; beside it are
#                              .status   its exit status, written last
#                              .report   what was printed about it
#                              .count    passed, failed, skipped, and what that depends on
#                              .late     it failed only because a bound was reached
#                              .unstable it then passed when it was run again: .again
#   report KERNEL SCRIPT SECONDS-TAKEN [DEATH]  judges it
#   results_forget           removes all of it
#   results_keep             removes the results of other sources, kernels and options, and
#                            those of a guest that was interrupted: its log was not judged
#   missing                  those jobs of the standard input that have no result
#   run_again                runs those that were late three times more
#   summary                  sums; succeeds if nothing failed
#
# RESULTS is the folder; COVERAGE is not empty if the lab counts executed lines.
# shellcheck shell=bash

CACHE=${SRNIC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/srnic}
SOURCES=$(find .. \( -path ../.git -o -path ../build -o -name __pycache__ \) -prune -o -type f -print0 |
	sort -z | xargs -0 sha256sum | sha256sum | cut -c1-12)

# lab_kernel KERNEL: print the lab's name for the kernel of these guests
lab_kernel()
{
	local name=${1%-2}

	name=${name#pair-}
	name=${name#quad-}
	echo "${name%+*}"
}

tap_file()
{
	echo "$RESULTS/$1/${2//\//-}.tap"
}

# complaint STATUS: print the faults of a script that returned STATUS, other than failed checks;
# ktap_count has read its output
complaint()
{
	local made=$((passed + failed + skipped))

	case $1 in
	'' | 0 | 1 | "$KSFT_SKIP") ;;
	124 | 137) echo "ran out of time"; return ;;
	*) echo "returned $1"; return ;;
	esac
	if ((planned < 0)); then
		echo "gave no plan"
	elif ((planned != made)); then
		echo "planned $planned checks, made $made"
	else
		case $1:$((failed > 0)):$((passed > 0)) in
		:* | 0:0:* | 1:1:* | "$KSFT_SKIP:0:0") ;;
		*) echo "returned $1, and $failed checks failed" ;;
		esac
	fi
}

report()
{
	local failed file passed planned skipped status='' what word

	file=$(tap_file "$1" "$2")
	touch "$file"
	ktap_count <"$file"
	[ ! -e "$file.status" ] || read -r status <"$file.status" || status=nothing
	what=${4:-$(complaint "$status")}
	[ -z "$what" ] || failed=$((failed + 1))

	word=ok
	((failed == 0)) || word=FAIL
	((passed + failed)) || word=skip
	{
		printf '%-5s%-13s %-34s %3d passed %3d failed %6s s\n' "$word" "$1" \
			"$2" "$passed" "$failed" "$3"
		[ -z "$what" ] || echo "     $what, all it said: $file"
		[ "$word" != FAIL ] || ktap_failures <"$file" | head -n 60 | sed 's/^/     /'
	} | tee "$file.report"
	[ "$word" != FAIL ] || [ -n "$what" ] || ! ktap_late_only <"$file" ||
		echo "$1 $2" >"$file.late"
	echo "$passed $failed $skipped $(inputs "$1")" >"$file.count"
}

# inputs KERNEL: print all that a result depends on
inputs()
{
	echo "$SOURCES-$(basename "$(readlink "$CACHE/current/$(lab_kernel "$1")")")$(
		printf -- '-%s' "${HUNT:-}" "${HUNT_SEED:-}" "${COVERAGE[@]}")"
}

results_forget()
{
	find "$RESULTS" -mindepth 2 -maxdepth 2 -name '*.tap*' -delete
	rm -f "$RESULTS"/*/begun
}

results_keep()
{
	local begun count kernel of

	for begun in "$RESULTS"/*/begun; do
		[ ! -e "$begun" ] || rm -f "${begun%/*}"/*.tap* "$begun"
	done
	find "$RESULTS" -name '*.tap.count' | while read -r count; do
		kernel=${count#"$RESULTS/"}
		read -r _ _ _ of <"$count"
		[ "$of" = "$(inputs "${kernel%%/*}")" ] || rm -f "${count%.count}"*
	done
}

missing()
{
	local kernel script seconds

	while read -r kernel script seconds; do
		[ -e "$(tap_file "$kernel" "$script").count" ] ||
			echo "$kernel $script $seconds"
	done
}

# again KERNEL SCRIPT: whether it passes three times in a row, each time alone
again()
{
	local n

	for n in 1 2 3; do
		./run --once ${RARE:+--all} "${COVERAGE[@]}" --results "$RESULTS/again/$n" "${1%-2}:$2" ||
			return
	done
}

run_again()
{
	local file kernel log script

	find "$RESULTS" -name '*.tap.late' | sort | while read -r file; do
		read -r kernel script <"$file"
		log=${file%.late}.again
		echo "again: $kernel $script, three times"
		if again "$kernel" "$script" >"$log" 2>&1 </dev/null; then
			sed -i '1s/^\([0-9]* \)[0-9]* /\10 /' "${file%.late}.count"
			mv "$file" "${file%.late}.unstable"
		else
			rm "$file"
			tail -n 60 "$log" | sed 's/^/     /'
		fi
	done
	rm -rf "${RESULTS:?}/again"
}

# failures_again: what was printed about each script that failed, for who reads only the end
failures_again()
{
	local file

	find "$RESULTS" -name '*.tap.report' | sort | while read -r file; do
		[[ $(<"$file") == FAIL* ]] && [ ! -e "${file%.report}.unstable" ] || continue
		head -n 30 "$file"
	done
}

summary()
{
	local failed file name passed skipped unstable

	find "$RESULTS" -name '*.tap' | sort | while read -r file; do
		name=${file#"$RESULTS"/}
		ktap_skips <"$file" | sed "s@^@skipped: ${name%.tap}: @"
	done
	failures_again
	mapfile -t unstable < <(find "$RESULTS" -name '*.tap.unstable' | sort)
	((${#unstable[@]} == 0)) || echo "unstable: ${#unstable[@]} scripts"
	for file in "${unstable[@]}"; do
		echo "     $(cat "$file"), all it said: ${file%.unstable}"
	done
	echo "took $SECONDS s"
	read -r passed failed skipped < <(find "$RESULTS" -name '*.tap.count' -exec cat {} + |
		awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
	echo "$passed passed, $failed failed, $skipped skipped"
	((failed == 0 && passed + ${#unstable[@]} > 0))
}
