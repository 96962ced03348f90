# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the driver's trace points; source it after netns.sh
#
#   trace_can                this kernel has trace points
#   trace_up [CLOCK]         create a trace instance, with timestamps of that clock of
#                            ftrace
#   trace_down               remove it; for the script's trap, before pair_down
#   trace_on EVENT...        clear it, and record these, named without "srnic_"
#   trace_off                stop recording
#   trace_text               print the recorded events
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
