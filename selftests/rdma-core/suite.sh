#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rdma-core's own tests pass, except for those listed with a reason in "skips", or on old
# kernels in "skips-VERSION".
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# Both ends of each test are on sr0.  The tests come with the package rdma-core.
#
# run: rdma-core's own tests | rdma-core
#   | nothing
#   | ``sudo selftests/run rdma-core/suite``

. "$(dirname "$0")/../lib/netns.sh"

docs=/usr/share/doc/rdma-core/tests
here=$(dirname "$(readlink -f "$0")")

need rdma python3
[ -d "$docs" ] || skip_all "rdma-core came without its tests"
python3 -c 'import pyverbs' 2>/dev/null || skip_all "pyverbs is not installed"
RDMA_CORE_TESTS=$(mktemp -d)
export RDMA_CORE_TESTS
trap 'rm -r "$RDMA_CORE_TESTS"; pair_down' EXIT
cp -r "$docs/." "$RDMA_CORE_TESTS"
gunzip "$RDMA_CORE_TESTS"/*.gz
ktap_first "two hosts" pair_up

skips=$here/skips-$(uname -r | cut -d. -f-2)
[ -e "$skips" ] || skips=
ktap_plan "$("$here/suite.py" --list)"
ktap_relay on nsA python3 -W ignore "$here/suite.py" sr0 "$here/skips" $skips
ktap_end
