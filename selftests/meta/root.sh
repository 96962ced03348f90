#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the rules for programs that root runs hold, and a breach of each is seen
# usage: selftests/meta/root.sh
#
# The rules are in Documentation/style.rst.  mutate.py checks that srnic-doctor quotes the
# commands it proposes, and completion.sh checks the completion.

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh
. selftests/lib/tree.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# quoted text with an expansion, as a program of something else
EXPANSION='"[^"]*\$[[:alnum:]_{(]'

# without REGEX FILE...: no line matches that is not a comment
without()
{
	! grep -nHE -e "$1" "${@:2}" | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(#|//|\.\.) ?'
}

not_evaluated()
{
	without '(^|[[:space:];&|({])(eval|compgen( -[[:alnum:]]+)* -[[:alnum:]]*W)[[:space:]]' "$@" &&
		without "\b(ba|da)?sh( -[[:alnum:]]+)* -[[:alnum:]]*c $EXPANSION" "$@" &&
		without "\bsed( -[[:alnum:]]+)* $EXPANSION" "$@"
}

python_not_evaluated()
{
	without '(^|[^.[:alnum:]_])(eval|exec)\(|\bos\.(system|popen)\(|shell=True|\bpickle\b' "$@"
}

quoted()
{
	shellcheck --severity=style --include=SC2046,SC2048,SC2068,SC2086,SC2206,SC2207 "$@"
}

# first_line REGEX FILE...: that of each matches
first_line()
{
	local file first regex=$1 status=0

	shift
	for file; do
		IFS= read -r first <"$file"
		[[ $first =~ $regex ]] && continue
		echo "$file: $first"
		status=1
	done
	return "$status"
}

# isolated FILE...: neither the current directory nor the environment has modules for it
isolated()
{
	first_line '^#!/usr/bin/python3 -I$' "$@"
}

# isolated_inside FILE...: the same for Python in a script of the shell
isolated_inside()
{
	without '\bpython3 (-c|-( |$)|<|.*\| *python3$)' "$@"
}

by_path()
{
	first_line '^#!/(usr/)?bin/(bash|sh|busybox sh|python3|python3 -I|make -f|bpftrace)$' "$@"
}

units_by_path()
{
	without '^Exec[[:alpha:]]*=[-@:+!]*[^-@:+!/]|^Exec.*(sh|env) ' "$@"
}

# units_end_options FILE...: rdma takes no name of an instance for an option
units_end_options()
{
	without '^Exec[^ ]*rdma ([^-].*)? %[iIjJ]' "$@"
}

rules_run_nothing()
{
	without '\b(RUN|PROGRAM|IMPORT\{program\})' "$@"
}

temporary_by_mktemp()
{
	without '(^|[^.[:alnum:]_}])/(var/)?tmp/[[:alnum:]_.$]|\bmktemp( -[[:alnum:]]+)* -[[:alnum:]]*u' "$@"
}

nowhere_current()
{
	without '\b(PATH|PYTHONPATH|LD_LIBRARY_PATH)=["'\'']?(\.?(:|["'\'']?( |$))|[^ ]*:(\.?["'\'']?( |$)|\.?:))' "$@" &&
		without '^[[:space:]]*(\.|source) [^-/"$]' "$@"
}

# sees RULE LINE...: a file with these lines breaks it
sees()
{
	printf '%s\n' "${@:2}" >"$work/breach"
	! "$1" "$work/breach"
}

# of ARRAY RULE: all files of a kind
of()
{
	local -n files=$1

	"$2" "${files[@]}"
}

# with_first REGEX: those of the files in standard input whose first line matches
with_first()
{
	local file first

	while IFS= read -r file; do
		IFS= read -r first <"$file" 2>/dev/null
		[[ ! $first =~ $1 ]] || echo "$file"
	done
}

mapfile -t scripts < <(tree_scripts 2>/dev/null | grep '^tools/')
scripts+=(tools/completion/*)
mapfile -t programs < <(tree_files 'tools/*' | with_first '^#!.*python')
mapfile -t python < <(printf '%s\n' "${programs[@]}"; tree_files 'tools/*.py')
mapfile -t all < <(tree_files 'tools/*' 'selftests/*' | with_first '^#!')
mapfile -t everything < <({ tree_scripts 2>/dev/null; tree_files '*.py'
	printf '%s\n' "${scripts[@]}" "${python[@]}"; } | grep -vx selftests/meta/root.sh | sort -u)
mapfile -t units < <(tree_files 'tools/service/*.service')
mapfile -t rules < <(tree_files 'tools/service/*.rules')

# found: there are some of each kind
found()
{
	((${#scripts[@]} > 20 && ${#programs[@]} > 5 && ${#python[@]} > ${#programs[@]} &&
		${#all[@]} > 100 && ${#everything[@]} > 200 && ${#units[@]} && ${#rules[@]}))
}

ktap_plan 30
check "programs are found"			found
check "scripts evaluate no data"		of scripts not_evaluated
check "seen: eval"				sees not_evaluated $'\teval "$1"'
check "seen: compgen -W"			sees not_evaluated 'x=$(compgen -W "$a" -- b)'
check "seen: data in a program of the shell"	sees not_evaluated 'bash -ec "ls $1"'
check "seen: data in a program of sed"		sees not_evaluated 'sed -i "s/a/$1/" b'
check "programs in Python evaluate no data"	of python python_not_evaluated
check "seen: a shell of Python"			sees python_not_evaluated 'run(a, shell=True)'
check "seen: eval() of Python"			sees python_not_evaluated 'a = eval(b)'
if command -v shellcheck >/dev/null; then
	check "expansions are quoted"		of scripts quoted
	check "seen: one that is not"		sees quoted '#!/bin/sh' 'ls $1'
else
	skip "expansions are quoted"		"shellcheck is not installed"
	skip "seen: one that is not"		"shellcheck is not installed"
fi
check "programs in Python are isolated"		of programs isolated
check "seen: one that is not"			sees isolated '#!/usr/bin/python3'
check "Python in scripts is isolated"		of scripts isolated_inside
check "seen: one that is not"			sees isolated_inside 'python3 -c "import json"'
check "interpreters are named by their path"	of all by_path
check "seen: an interpreter looked up in PATH"	sees by_path '#!/usr/bin/env python3'
check "units name programs by their path"	of units units_by_path
check "seen: a unit that names a program without a path"	sees units_by_path 'ExecStart=rdma link'
check "seen: a shell"				sees units_by_path 'ExecStop=-/bin/sh -c x'
check "units end the options of rdma"		of units units_end_options
check "seen: one that does not"			sees units_end_options 'ExecStart=/bin/rdma link add a type srnic netdev %I'
check "rules of udev run nothing"		of rules rules_run_nothing
check "seen: a rule that runs a program"	sees rules_run_nothing 'KERNEL=="a", RUN+="/bin/b"'
check "temporary files have names of mktemp"	of everything temporary_by_mktemp
check "seen: a name that can be guessed"	sees temporary_by_mktemp 'x >/tmp/srnic.$$'
check "seen: a name without a file"		sees temporary_by_mktemp 'a=$(mktemp -u)'
check "nothing is looked up in the current directory"	of scripts nowhere_current
check "seen: an empty word of PATH"		sees nowhere_current 'PATH=$PATH:'
check "seen: a file sourced from the current directory"	sees nowhere_current '. ./settings'
ktap_end
