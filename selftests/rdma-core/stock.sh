#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rdma-core's own tests pass on a link of type srnic_rxe with rdma-core's rxe provider alone,
# except for features that this provider lacks according to "absent-rxe".
#
#   nsA [sr0 srnic_rxe] veth0 ================ veth1 [sr1 srnic_rxe] nsB
#
# Both ends of each test are on sr0.
#
# run: rdma-core's own tests, by its provider for rdma_rxe | rdma-core
#   | a link of type srnic_rxe
#   | ``sudo selftests/run rdma-core/stock``

. "$(dirname "$0")/../lib/stock.sh"

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

version=$(dpkg-query -W -f '${Version}' ibverbs-providers 2>/dev/null | cut -d. -f1)
skips=()
for file in "$here/skips-$(uname -r | cut -d. -f-2)" "$here/skips-rxe-$version"; do
	[ ! -e "$file" ] || skips+=("$file")
done
ktap_plan "$("$here/suite.py" --list)"
ktap_relay on nsA python3 -W ignore "$here/suite.py" sr0 "$here/skips" "${skips[@]}" \
	--absent "$here/absent-rxe"
ktap_end
