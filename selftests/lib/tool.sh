# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a program of tools/ that root runs; the script is in the top directory
#
#   TOOL=NAME            set before: the program
#   installed FIND WORD...  the files that "make install" copies find each other: called with
#                        the words, the program prints what FIND, a pattern of grep, is in
#   plant DIR MODULES PROGRAMS  put files into DIR that create DIR/taken when they are executed
#   refuses WORD...      such arguments, with a message of one line
#
# shellcheck shell=bash

installed()
{
	local find=$1 root status
	shift

	root=$(mktemp -d)
	make -s install-tools DESTDIR="$root" &&
		"$root/usr/bin/$TOOL" "$@" | grep -q "$find"
	status=$?
	rm -r "$root"
	return "$status"
}

plant()
{
	local name

	for name in $2; do
		echo "open('$1/taken', 'w')" >"$1/$name.py"
	done
	for name in $3; do
		printf '#!/bin/sh\n: >%s/taken\n' "$1" >"$1/$name"
		chmod +x "$1/$name"
	done
}

refuses()
{
	local said

	! said=$("tools/$TOOL" "$@" 2>&1) && grep "^$TOOL: error:" <<<"$said" &&
		! grep -E 'Traceback|<lambda>' <<<"$said"
}
