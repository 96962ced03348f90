#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - apt installs the packages on a clean machine of each Debian release, the
# link exists after a reboot, perftest runs, and "apt purge" leaves nothing behind
# usage: [FLAVOUR=cloud-amd64] selftests/install/debian.sh [SUITE...]
#
# At each boot the machine runs selftests/install/debian-guest.

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"
. "$selftests/install/machine.sh"

SUITES=("$@")
((${#SUITES[@]})) || SUITES=(bookworm trixie)
OURS=(ibverbs-provider-srnic srnic-dkms srnic-tools)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DEBFULLNAME=Selftest DEBEMAIL=selftest@example.org

# equipped SUITE: install the packages as a user does, with the headers that DKMS needs
equipped()
{
	local deb debs=()

	mkdir "$work/$1/root/deb"
	cp "$work"/deb/*.deb "$work/$1/root/deb"
	for deb in "${OURS[@]}"; do
		debs+=("/root/deb/$(basename "$work/deb/$deb"_*.deb)")
	done
	machine_has "$1" "linux-headers-$FLAVOUR" perftest rdma-core "${debs[@]}"
}

# built SUITE: for the kernel that is installed
built()
{
	on_disk "$1" dkms status
	find "$work/$1"/usr/lib/modules -path '*/updates/dkms/srnic.ko*' | grep .
}

need_packages build provider package
ktap_plan $((1 + ${#SUITES[@]} * 17))
check "packages are built"	"$selftests/../tools/package/build" "$work/deb"
for suite in "${SUITES[@]}"; do
	check "$suite: a machine"		machine_new "$suite"
	check "$suite: apt installs them"	equipped "$suite"
	check "$suite: DKMS has built it"	built "$suite"
	check "$suite: its disk"		machine_disk "$suite" \
						"$selftests/install/debian-guest"
	for phase in first second third; do
		ktap_relay machine_start "$suite" "$phase"
	done
	rm -rf "${work:?}/$suite"*
done
ktap_end
