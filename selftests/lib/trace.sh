# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the driver's trace points; source it after netns.sh
#
#   trace_can                this kernel has them
#   trace_up [CLOCK]         makes a buffer of our own, whose events have their times
#                            by that clock of ftrace
#   trace_down               removes it; for the script's trap, ahead of pair_down
#   trace_on EVENT...        empties it, and records these, named without "srnic_"
#   trace_off                records nothing more
#   trace_text               prints what was recorded
# shellcheck shell=bash

tracefs=/sys/kernel/tracing
trace_buffer=$tracefs/instances/srnic-$$

trace_can()
{
	mountpoint -q "$tracefs" || mount -t tracefs nodev "$tracefs" 2>/dev/null
	modprobe -q srnic
	[ -d "$tracefs/events/srnic" ]
}

trace_up()
{
	mkdir "$trace_buffer" && echo "${1:-local}" >"$trace_buffer/trace_clock"
}

trace_down()
{
	[ -d "$trace_buffer" ] || return 0
	trace_off
	rmdir "$trace_buffer"
}

trace_on()
{
	local event

	echo >"$trace_buffer/trace" || return
	for event; do
		echo 1 >"$trace_buffer/events/srnic/srnic_$event/enable" || return
	done
}

trace_off()
{
	echo 0 >"$trace_buffer/events/srnic/enable"
}

trace_text()
{
	cat "$trace_buffer/trace"
}
