#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the documentation renders, and names what exists
# usage: selftests/meta/docs.sh
#
# The tables of locking.rst have their own script, barriers.sh; netns/observe.sh compares
# counters.rst with what a device shows.  programs.rst is compared with the headers of the scripts
# that run these programs.

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh

docs=(Documentation/*.rst)
driver=drivers/srnic

# renders FILE...: docutils has nothing to report
renders()
{
	python3 - "$@" <<-'EOF2'
	import sys
	import docutils.core

	status = 0
	for path in sys.argv[1:]:
	    try:
	        docutils.core.publish_string(open(path).read(), source_path=path,
	            writer_name="null",
	            settings_overrides={"report_level": 2, "halt_level": 2})
	    except docutils.utils.SystemMessage:
	        status = 1
	sys.exit(status)
	EOF2
}

# each_in FILE NAME...: FILE has every NAME as a literal, or in bold (man page)
each_in()
{
	local file=$1 name status=0

	shift
	for name; do
		grep -qE -e "\`\`$name\`\`" -e "^\.B[A-Z]* $name( |\$)" "$file" && continue
		echo "$file does not name $name"
		status=1
	done
	return "$status"
}

# files_exist FILE...: the files with a folder that these name in literals
files_exist()
{
	local doc path status=0

	for doc; do
		while read -r path; do
			compgen -G "$path" >/dev/null ||
				compgen -G "$driver/$path" >/dev/null ||
				compgen -G "selftests/$path" >/dev/null && continue
			echo "$doc: no file $path"
			status=1
		done < <(grep -oE '``[A-Za-z0-9_./*-]+/[A-Za-z0-9_*-]+\.(c|h|sh|py|rst)``' "$doc" |
			tr -d '`' | sort -u)
	done
	return "$status"
}

# in_their_files PAGE...: a function or a lock is in the file that these name behind it
in_their_files()
{
	local name file status=0

	while read -r name file; do
		grep -qsw -- "${name##*.}" "$driver/$file" && continue
		echo "$name is not in $file"
		status=1
	done < <(grep -ohE '``[A-Za-z0-9_.]+(\(\))?`` \([a-z_/]+\.[ch]\)' "$@" | tr -d '`()')
	return "$status"
}

# linked FILE...: the pages that these mention exist
linked()
{
	local doc page status=0

	for doc; do
		while read -r page; do
			[ -e "Documentation/$page" ] && continue
			echo "$doc: no page $page"
			status=1
		done < <(grep -oE '\b[a-z]+\.rst\b' "$doc" | sort -u)
	done
	return "$status"
}

# rules_name PAGE ATTRIBUTE...: the rules of udev in PAGE, which exist, use no others
rules_name()
{
	local page=$1

	shift
	grep -q '^ACTION==' "$page" &&
		! grep '^ACTION==' "$page" | grep -oP 'ATTR\{\K[^}]*' |
			grep -vxF "$(printf '%s\n' "$@")"
}

# say_what_they_run SCRIPT...: each has a line for tools/programs
say_what_they_run()
{
	! grep -LE '^# run: [^|]+' "$@" | grep .
}

mapfile -t xport < <(basename -a "$driver"/xport/*.c)
mapfile -t events < <(grep -ohE '(TRACE_EVENT\(|DEFINE_EVENT\([a-z_]+, )srnic_[a-z_]+' \
	"$driver/trace.h" | grep -oE 'srnic_[a-z_]+$')
mapfile -t settings < <(grep -rhoE '(= SETTING|^module_param(_named|_cb)?)\([a-z_]+' "$driver" |
	cut -d'(' -f2)
mapfile -t attributes < <(grep -rhoE '(= SETTING|^static DEVICE_ATTR_[A-Z]+)\([a-z_]+' "$driver" |
	cut -d'(' -f2)

ktap_plan 10
if python3 -c 'import docutils' 2>/dev/null; then
	check "pages render"			renders "${docs[@]}"
else
	skip "pages render"			"no docutils"
fi
check "pages that are mentioned exist"		linked "${docs[@]}" README.md
check "files that are named exist"		files_exist "${docs[@]}"
check "functions and locks are where they are said to be"	in_their_files "${docs[@]}"
check "every file of xport is described"	each_in Documentation/architecture.rst "${xport[@]}"
check "every trace point is"			each_in Documentation/tracing.rst "${events[@]}"
check "every setting is"			each_in Documentation/srnic.7 "${settings[@]}"
check "rules of udev use attributes"	rules_name Documentation/srnic.7 "${attributes[@]}"
check "scripts say which programs they run"	say_what_they_run selftests/{ulp,programs}/*.sh
check "programs.rst is what they say"	tools/programs --check
ktap_end
