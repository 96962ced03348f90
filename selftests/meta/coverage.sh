#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - tools/coverage adds and compares what gcov has counted
# usage: selftests/meta/coverage.sh
#
# A program stands in for the driver: a tree with one file of two functions, executed twice
# with different arguments.

REPO=$(realpath "$(dirname "$(readlink -f "$0")")/../..")
. "$REPO/selftests/lib/ktap.sh"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree" || exit

tree_make()
{
	mkdir -p drivers/srnic/wire selftests/meta tools
	cp "$REPO/tools/coverage" tools
	cat >drivers/srnic/wire/sign.c <<-'END'
	int never(void)
	{
		return 3;
	}

	int main(int argc, char **argv)
	{
		if (argc > 1)
			return 0;
		return 0;
	}
	END
	gcc --coverage -c -o sign.o drivers/srnic/wire/sign.c && gcc --coverage -o sign sign.o
}

# counted DIR [ARGUMENT]: run the program, and save its counts like a guest
counted()
{
	mkdir "$1"
	cp sign.gcno "$1/sign.gcno"
	./sign "${@:2}"
	mv sign.gcda "$1/sign.gcda"
}

# says LINE ARGUMENT...: tools/coverage with these prints the line
says()
{
	local out

	out=$(tools/coverage "${@:2}")
	grep -Fqx -- "$1" <<<"$out" || { echo "$out"; return 1; }
}

# unlisted LINES STATUS: tools/coverage returns STATUS for a list with LINES for never()
unlisted()
{
	local status=0

	echo "wire/sign.c never $1 not called" >selftests/meta/unreached
	tools/coverage --unlisted few many || status=$?
	((status == $2))
}

# known_functions: each row of the list names a function of the driver
known_functions()
{
	local file function status=0

	while read -r file function _; do
		grep -qw -- "$function" "$REPO/drivers/srnic/$file" && continue
		echo "no $function in $file"
		status=1
	done < <(grep -v '^#' "$REPO/selftests/meta/unreached")
	return "$status"
}

ktap_plan 9
check "a program that counts"		tree_make
check "it runs"				counted few
check "it runs in another way"		counted many argument
check "lines and branches of a room" \
	says "wire        6        3   50.0          2        1   50.0" few
check "two runs are added" \
	says "wire        6        4   66.7          2        2  100.0" few many
check "what one run has of another" \
	says "     9  return 0;" --than many few
check "a function that the list has"	unlisted 2 0
check "more lines than the list has"	unlisted 1 1
check "the list names functions"	known_functions
ktap_end
