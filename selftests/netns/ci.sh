#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The script and the steps of Documentation/ci.rst create a device over which programs of
# this host communicate.
#
#   rdma0 [srnic0]

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/recipe.sh"

need rdma ibv_rc_pingpong ss
# shellcheck disable=SC2154 # netns.sh says where
[ -e "$selftests/../Documentation/ci.rst" ] || skip_all "no documentation here"
work=$(mktemp -d)
trap 'ip link del rdma0 2>/dev/null; rm -rf "$work"' EXIT

# project: create a project with the script and the module, and a sudo that does nothing
project()
{
	mkdir -p "$work/ci" "$work/bin" "$work/srnic/drivers/srnic"
	workflow_text ci/rdma-device >"$work/ci/rdma-device" || return
	printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
	chmod +x "$work/bin/sudo"
	cp "$(modinfo -n srnic)" "$work/srnic/drivers/srnic"
}

# step STEP: run a step like the runner does
step()
{
	local text

	text=$(workflow_step "$1") || return
	(cd "$work" && PATH=$work/bin:$PATH bash -ec "$text")
}

no_link()
{
	! rdma link show | grep srnic0
}

gone()
{
	rdma link show | grep srnic0 && ip link del rdma0 && wait_for no_link
}

ktap_plan 5
check "a project"	project
check "no module"	wait_freed modprobe -r srnic
check "device"		step device
check "pingpong"	step pingpong
check "the device is deleted with rdma0" gone
ktap_end
