#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - in a tree from a tarball the tests of the sources find faults
# usage: selftests/meta/tarball.sh
#
# A small tree has one bad file for each test.  It is not a git work tree, or git is missing.

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree

# tree_make: create a tree of the tests, the bad files, and build outputs, which must be ignored
tree_make()
{
	mkdir -p "$tree/selftests/meta" "$tree/drivers/srnic" "$tree/build" "$work/no-git"
	cp .gitignore "$tree"
	cp -r selftests/lib "$tree/selftests"
	cp selftests/meta/{spdx,shellcheck,checkpatch}.sh selftests/meta/checkpatch.known \
		"$tree/selftests/meta"
	printf '%s\n' '// SPDX-License-Identifier: GPL-2.0' 'int main( void ) { }' |
		tee "$tree/drivers/srnic/bad.c" "$tree/build/built.c" >"$tree/made.mod.c"
	printf '%s\n' '#!/bin/sh' 'cd $1' >"$tree/tools"
	printf '%s\n' '#!/bin/sh' 'exit 127' >"$work/no-git/git"
	chmod +x "$work/no-git/git"
}

# named TEXT: the output of the test has TEXT, and names no build output
named()
{
	cat "$work/said"
	((result == 1)) && grep -q -e "$1" "$work/said" &&
		! grep -e build/ -e made.mod.c "$work/said"
}

# finds HOW TEST TEXT
finds()
{
	result=0
	"$tree/selftests/meta/$2.sh" >"$work/said" || result=$?
	if ((result == KSFT_SKIP)); then
		skip "$1: $2" "$(ktap_skips <"$work/said")"
	else
		check "$1: $2" named "$3"
	fi
}

# finds_all HOW
finds_all()
{
	finds "$1" spdx		'^#   tools$'
	finds "$1" shellcheck	'^not ok .* tools$'
	finds "$1" checkpatch	'^#   drivers/srnic/bad.c:2:'
}

ktap_plan 8
check "a tree"				tree_make
finds_all "no work tree"
mkdir "$tree/.git"
PATH=$work/no-git:$PATH finds_all "no git"
check "a test without checks fails"	fails bash -c '. "$1"; ktap_plan 0; ktap_end' \
	sh selftests/lib/ktap.sh
ktap_end
