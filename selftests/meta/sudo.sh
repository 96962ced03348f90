#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the lab installs packages as root or by sudo, or prints the command to run
# usage: selftests/meta/sudo.sh
#
# apt-get, dpkg-query and sudo are fakes; other programs are found in a folder of links.

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh

NEEDED=(awk basename bash cat dirname env flock grep id mkdir nproc readlink sort tail)

need setpriv script "${NEEDED[@]}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# put NAME: a fake program, from standard input
put()
{
	cat >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

# fakes_make: create a lab that needs two packages, one of which is missing; $work/installed
# lists the installed ones, $work/said the arguments of apt-get
fakes_make()
{
	local tool

	mkdir -p "$work/lab" "$work/bin" "$work/cache"
	cp tools/lab/{install,lib.sh} "$work/lab"
	echo "test	here missing" >"$work/lab/packages"
	for tool in "${NEEDED[@]}"; do
		ln -s "$(type -P "$tool")" "$work/bin/$tool"
	done
	put dpkg-query <<-END
		#!/bin/sh
		grep -qx "\$4" "$work/installed" && echo install ok installed
	END
	put apt-get <<-END
		#!/bin/sh
		echo "\${BY_SUDO:-directly} \$*" >>"$work/said"
		case "\$*" in *" install "*) echo missing >>"$work/installed" ;; esac
	END
}

# sudo_make PASSWORD: yes or no
sudo_make()
{
	put sudo <<-END
		#!/bin/sh
		if [ "\$1\$2" = -ntrue ]; then [ $1 = no ]; exit; fi
		[ "\$1" != -v ] || exit 0
		BY_SUDO=sudo exec "\$@"
	END
}

# install_as UID [TERMINAL]: run tools/lab/install, with its output in $work/output
install_as()
{
	local command=(setpriv --reuid "$1" --regid "$1" --clear-groups
		env -i "PATH=$work/bin" "HOME=$work" "SRNIC_CACHE=$work/cache"
		"$work/lab/install" test)

	rm -f "$work/said"
	echo here >"$work/installed"
	chmod -R a+rwX "$work"
	if [ -n "${2:-}" ]; then
		script -qec "${command[*]}" /dev/null </dev/null
	else
		"${command[@]}" </dev/null
	fi >"$work/output" 2>&1
}

# installs HOW UID [TERMINAL]
installs()
{
	install_as "${@:2}"
	cat "$work/output" "$work/said" && [ "$(grep -cE "^$1 .*( update$| install .* missing$)" \
		"$work/said")" = 2 ] && [ "$(wc -l <"$work/said")" = 2 ]
}

# says TEXT UID [TERMINAL]: nothing is installed
says()
{
	! install_as "${@:2}" || return
	cat "$work/output"
	[ ! -e "$work/said" ] && grep -q -e "$1" "$work/output"
}

((EUID == 0)) || skip_all "only root can become another user"

ktap_plan 7
check "a lab with a missing package"	fakes_make
check "root, no sudo: directly"		installs directly 0
check "a user, no sudo: says what to type" says "as root run: apt-get install missing" 65534
check "a user on a terminal, no sudo: says what to type"	says "as root run: apt-get install missing" 65534 terminal
sudo_make no
check "sudo without a password: by sudo" installs sudo 65534
sudo_make yes
check "sudo with a password, no terminal: says what to type" \
	says "as root run: apt-get install missing" 65534
check "sudo with a password, a terminal: by sudo" installs sudo 65534 terminal
ktap_end
