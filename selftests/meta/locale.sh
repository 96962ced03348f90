#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - numbers and sort order do not depend on the locale
# usage: selftests/meta/locale.sh

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh

need localedef mawk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" 2>"$work/said" ||
	skip_all "localedef cannot make de_DE: $(head -n 1 "$work/said")"

# there COMMAND...: run it with the locale de_DE
there()
{
	env LOCPATH="$work" LC_ALL=de_DE.UTF-8 "$@"
}

# sourced FILE COMMAND: the output of COMMAND, in a shell that has sourced FILE
sourced()
{
	there bash -c '. "$1" && eval "$2"' sh "$1" "$2"
}

comma()
{
	[ "$(there mawk 'BEGIN { printf "%.1f", 1 / 2 }')" = 0,5 ]
}

fractions()
{
	[ "$(sourced "$1" "mawk 'BEGIN { printf \"%.1f\", \"1.5\" + 1 }'")" = 2.5 ]
}

order()
{
	[ "$(sourced "$1" 'printf "%s\n" a B | sort | xargs')" = "B a" ]
}

# seconds: run-guest measures tenths of a second
seconds()
{
	local said

	echo "uml t/t.sh 60" >"$work/todo"
	mkdir -p "$work/tree/t" "$work/tree/lib"
	cp selftests/run-guest "$work/tree"
	printf '%s\n' '#!/bin/sh' 'echo 1..0' >"$work/tree/t/t.sh"
	chmod +x "$work/tree/t/t.sh"
	said=$(there env RESULTS="$work" "$work/tree/run-guest")
	echo "$said"
	[[ $said =~ end\ t/t.sh\ [0-9]+\.[0-9]$ ]]
}

ktap_plan 6
check "fractions have a comma there"	comma
for file in selftests/lib/ktap.sh tools/lab/lib.sh; do
	check "fractions: $file"	fractions "$file"
	check "order: $file"		order "$file"
done
check "run-guest"			seconds
ktap_end
