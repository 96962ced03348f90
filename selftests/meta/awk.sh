#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - every awk understands the awk programs in the shell scripts
# usage: selftests/meta/awk.sh
#
# Each awk parses each program, with empty input.  That does not compile regular expressions in
# strings, so programs that can run here are also run by each awk.

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh
. selftests/lib/recipe.sh
. selftests/lib/tree.sh

need python3

selftests=$PWD/selftests
AWKS=(mawk gawk busybox original-awk)
TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT

# programs SCRIPT...: copy each awk program to a file of its own, $TREE/programs/PLACE
programs()
{
	mkdir -p "$TREE/programs"
	python3 - "$TREE/programs" "$@" <<-'END'
	import pathlib
	import re
	import sys

	SPACE = r"(?:\s|\\\n)+"
	WORD = r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+"""
	PROGRAM = re.compile(f"awk(?:{SPACE}-[Fv] ?{WORD})*{SPACE}'([^']*)'")

	status = 0
	for path in sys.argv[2:]:
	    text = pathlib.Path(path).read_text(encoding="utf-8")
	    for call in re.finditer(r"^[^#\n]*?\b(?<!-)(awk)\s+[-'\\]", text, re.MULTILINE):
	        place = f"{path}:{text.count(chr(10), 0, call.start(1)) + 1}"
	        program = PROGRAM.match(text, call.start(1))
	        if program:
	            copy = pathlib.Path(sys.argv[1], place.replace("/", "%"))
	            copy.write_text(program[1], encoding="utf-8")
	        else:
	            print(f"{place}: the program of this awk was not found")
	            status = 1
	sys.exit(status)
	END
}

some()
{
	(($(find "$TREE/programs" -type f | wc -l) > 40))
}

# awk_called NAME: make $TREE/NAME/awk
awk_called()
{
	local way

	way=$(command -v "$1") || return
	mkdir -p "$TREE/$1"
	printf '#!/bin/sh\nexec %s "$@"\n' "$way${2:+ $2}" >"$TREE/$1/awk"
	chmod +x "$TREE/$1/awk"
}

# parsed AWK: it reports no error in the programs
parsed()
{
	local program bad=0

	for program in "$TREE"/programs/*; do
		"$TREE/$1/awk" "$(cat "$program")" </dev/null 2>&1 >/dev/null |
			sed "s@^@${program##*/}: @" | grep . && bad=1
	done
	return "$bad"
}

# short_separators SCRIPT...: POSIX has no record separator of several characters
short_separators()
{
	! grep -nE "\bRS *= *['\"]?[^'\" ]{2}" "$@"
}

# with AWK COMMAND...
with()
{
	PATH=$TREE/$1:$PATH "${@:2}"
}

# recipes: all commands that selftests take from the documentation
recipes()
{
	local name

	sed -n 's/^\.\. recipe: //p' Documentation/security.rst | while read -r name; do
		recipe_text "$name" || echo "no recipe $name"
	done
	sed -n 's/^\.\\" recipe: //p' Documentation/srnic.7 | while read -r name; do
		man_recipe_text "$name" || echo "no recipe $name"
	done
	sed -n 's/^ *- name: //p' Documentation/ci.rst | while read -r name; do
		workflow_step "$name" || echo "no recipe $name"
	done
}

# recipes_found AWK: all of them, the same as any other awk finds
recipes_found()
{
	local other

	with "$1" recipes >"$TREE/recipes.$1"
	! grep '^no recipe' "$TREE/recipes.$1" || return
	for other in "$TREE"/recipes.*; do
		cmp "$other" "$TREE/recipes.$1" || return
	done
	[ -s "$TREE/recipes.$1" ]
}

mapfile -t scripts < <(tree_scripts 2>/dev/null)
ktap_plan $((3 + 3 * ${#AWKS[@]}))
check "all programs are found"		programs "${scripts[@]}"
check "there are some"			some
check "records end with one character"	short_separators "${scripts[@]}"
for name in "${AWKS[@]}"; do
	case $name in
	gawk) options=--posix ;;
	busybox) options="awk" ;;
	*) options= ;;
	esac
	if ! awk_called "$name" "$options"; then
		for what in parses barriers.sh recipes; do
			skip "$name: $what" "$name is not installed"
		done
		continue
	fi
	check "$name: parses all programs"	parsed "$name"
	check "$name: barriers.sh"		with "$name" selftests/meta/barriers.sh
	check "$name: finds the recipes"	recipes_found "$name"
done
ktap_end
