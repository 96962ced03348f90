#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory beyond RLIMIT_MEMLOCK cannot be registered or, with odp_fallback set on the device,
# is paged on demand and not pinned.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

fallback()
{
	setting nsA sr0 odp_fallback "$1" && setting nsB sr1 odp_fallback "$1"
}

# An unprivileged user may pin 64 KiB
user=(prlimit --memlock=65536 setpriv --reuid 65534 --clear-groups)

# limited TOOL ARGUMENT...: run a tool of perftest as that user
limited()
{
	local pair_as=("${user[@]}")

	pair "$@"
}

# refused TOOL ARGUMENT...: the tool cannot register its memory
refused()
{
	limited "$@" 2>&1 | grep "Couldn't allocate MR"
}

need ib_write_bw prlimit setpriv
vrb_up

ktap_plan $((8 + $(vrb_count "fallback off" fallback) + $(vrb_count "fallback off")))
vrb_cases "fallback off"
check "perftest: refused"	refused ib_write_bw -s 65536 -n 100
check "memory is paged on demand beyond the limit"	fallback 1
vrb_cases fallback
check "sr1 had page faults"	counter_over nsB sr1 page_faults 100
check "perftest: WRITE"		limited ib_write_bw -s 65536 -n 100
check "perftest: READ"		limited ib_read_bw -s 65536 -n 100
check "perftest: SEND"		limited ib_send_bw -s 65536 -n 100 -r 200
check "perftest: atomics"	limited ib_atomic_bw -n 100
check "no longer"		fallback 0
vrb_cases "fallback off"
ktap_end
