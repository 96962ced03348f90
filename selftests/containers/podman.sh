#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Containers of plain Debian 12 and 13 images use the device: podman-guest and
# podman-rootless-guest, with images that tools/lab/image makes of Debian's packages.
#
# run: podman, rootful and rootless, with perftest and Open MPI | podman
#   | a link of type srnic_rxe; see containers.rst
#   | ``podman run --network ns:/run/netns/job --device /dev/infiniband --ulimit memlock=-1:-1
#   IMAGE``

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"

lab=$selftests/../tools/lab

guest()
{
	"$lab/run" --kernel uml --timeout 1500 -- "selftests/containers/$1" "$store" 2>&1
}

((EUID == 0)) || skip_all "only root makes images"
store=$("$lab/image" bookworm trixie) || skip_all "no images of Debian"
ktap_relay -p root guest podman-guest
ktap_relay -p rootless guest podman-rootless-guest
ktap_end
