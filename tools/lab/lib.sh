# SPDX-License-Identifier: GPL-2.0
# srnic lab - functions shared by all lab scripts: messages, cache, packages, apt
# shellcheck shell=bash

set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C	# fractions have a point, and names one order

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO=$(cd "$LAB/../.." && pwd)
CACHE=${SRNIC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/srnic}
JOBS=${SRNIC_JOBS:-$(nproc)}

mkdir -p "$CACHE"

# --- messages ---------------------------------------------------------------

step()
{
	printf '[%4ds] %s\n' "$SECONDS" "$*" >&2
}

die()
{
	printf 'lab: %s\n' "$*" >&2
	exit 1
}

# quietly LOG COMMAND...: output goes to LOG; its tail is shown on failure only.
quietly()
{
	local log=$1

	shift
	mkdir -p "$(dirname "$log")"
	"$@" >"$log" 2>&1 && return
	tail -n 25 "$log" >&2
	die "'$*' failed, all of its output is in $log"
}

# hash_of FILE...: print a short hash of the contents of files and folders
hash_of()
{
	{ find "$@" -type f -print0 2>/dev/null || true; } | sort -z |
		xargs -0r sha256sum | PLACE=" $REPO/" awk '{
			at = index($0, ENVIRON["PLACE"])
			print at ? substr($0, 1, at) substr($0, at + length(ENVIRON["PLACE"])) : $0
		}' | sha256sum | cut -c1-12
}

# locked NAME COMMAND...: run it under a lock that all lab scripts with this cache share
locked()
{
	local fd name=$1

	shift
	mkdir -p "$CACHE/lock"
	exec {fd}>"$CACHE/lock/$name"
	if ! flock -n "$fd"; then
		step "waiting for another run to finish with $name"
		flock "$fd"
	fi
	"$@" {fd}>&-
	exec {fd}>&-
}

# --- packages --------------------------------------------------------------

# packages_missing SECTION...: print packages in tools/lab/packages that are not installed.
# Without dpkg the user is responsible for them.
packages_missing()
{
	local section

	command -v dpkg-query >/dev/null || return 0
	for section; do
		awk -v s="$section" '$1 == s { for (i = 2; i <= NF; i++) print $i }' \
			"$LAB/packages"
	done | sort -u | while read -r p; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
			grep -q 'ok installed' || echo "$p"
	done
}

# may_be_root: the user is root, or can use sudo, which may ask for a password
may_be_root()
{
	((EUID)) || return 0
	[ -n "$(type -P sudo)" ] && { sudo -n true 2>/dev/null || [ -t 0 ]; }
}

# apt_get LOG ARGUMENT...: the host's, as root
apt_get()
{
	local as_root=() log=$1

	shift
	if ((EUID)); then
		sudo -v || die "sudo is needed to install packages"
		as_root=(sudo)
	fi
	quietly "$CACHE/log/$log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get "$@"
}

look_up_packages()
{
	local missing

	mapfile -t missing < <(packages_missing "$@")
	((${#missing[@]})) && [ -z "${LOOKED_UP:-}" ] || return 0
	may_be_root || die "packages are missing, as root run: apt-get install ${missing[*]}"
	apt_get apt-update -q update
	LOOKED_UP=1
}

install_packages()
{
	local missing

	look_up_packages "$@"
	mapfile -t missing < <(packages_missing "$@")
	((${#missing[@]})) || return 0
	step "installing ${#missing[@]} packages: ${missing[*]}"
	apt_get apt-install -qy -o DPkg::Lock::Timeout=300 \
		install --no-install-recommends "${missing[@]}"
}

# packages_look_up SECTION...: update the package lists if packages are missing
packages_look_up()
{
	[ -n "$(packages_missing "$@")" ] || return 0
	locked packages look_up_packages "$@"
}

need_packages()
{
	[ -n "$(packages_missing "$@")" ] || return 0
	locked packages install_packages "$@"
}

# --- the lab's own apt ------------------------------------------------------
# It fetches packages of other releases than the host's from the host's mirror, with lists and
# state in the cache, so that the host's apt is not affected.  APT_ARCH is an architecture
# other than the host's, with lists of its own.

APT_ARCH=

# apt_dir: print the directory of those lists and the state
apt_dir()
{
	echo "$CACHE/apt${APT_ARCH:+-$APT_ARCH}"
}

host_release()
{
	(. /etc/os-release && echo "$VERSION_CODENAME")
}

# mirror SUITE: print the mirror that the host uses for that suite
mirror()
{
	apt-get indextargets --format '$(RELEASE) $(REPO_URI)' |
		awk -v s="$1" '$1 == s && !n++ { print $2 }'
}

lab_apt()
{
	local a cmd=$1

	shift
	a=$(apt_dir)
	"$cmd" -q ${APT_ARCH:+-o APT::Architecture="$APT_ARCH"} \
		${APT_ARCH:+-o APT::Architectures="$APT_ARCH"} \
		-o Dir::Etc::sourcelist="$a/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null \
		-o Dir::State="$a/state" -o Dir::State::status="$a/status" \
		-o Dir::Cache="$a/cache" -o Dir::Cache::pkgcache=pkgs.bin \
		-o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

# lab_apt_update: call it only if something must be fetched.  Does nothing if another script has
# just updated the lists and may be using them.
lab_apt_update()
{
	locked apt lab_apt_refresh
}

lab_apt_refresh()
{
	local a host main others='trixie trixie-backports sid' security suite

	a=$(apt_dir)
	[ -z "$APT_ARCH" ] || others=	# other architectures: only the host's release
	[ -z "$(find "$a/fresh" -mmin -15 2>/dev/null)" ] || return 0
	step "reading package lists"
	host=$(host_release)
	main=$(mirror "$host")
	security=$(mirror "$host-security")
	[ -n "$main" ] || die "apt has no source for $host on this machine"

	mkdir -p "$a/state/lists/partial" "$a/cache/archives/partial"
	touch "$a/status"
	{
		for suite in $others; do
			printf 'deb %s %s main\n' "$main" "$suite"
			printf 'deb-src %s %s main\n' "$main" "$suite"
		done
		for suite in $(printf '%s\n' ${others:+bookworm} "$host" | sort -u); do
			[[ " $others " == *" $suite "* ]] ||
				printf 'deb %s %s main\n' "$main" "$suite"
		done
		[ -z "$security" ] ||
			printf 'deb %s %s-security main\n' "$security" "$host"
	} >"$a/sources.list"
	quietly "$CACHE/log/lab-apt-update" lab_apt apt-get update
	touch "$a/fresh"
}

# newest REGEX: print "package version" of the newest package whose name matches
newest()
{
	lab_apt apt-cache search --names-only --full "$1" |
		awk '/^Package: / { p = $2 } /^Version: / { print $2, p }' |
		sort -V | tail -n 1 | awk '{ print $2, $1 }'
}

# fetch_deb PACKAGE VERSION: download it to a folder of its own, print its path
fetch_deb()
{
	local dir

	mkdir -p "$CACHE/deb"
	dir=$(mktemp -d "$CACHE/deb/XXXXXX")
	(cd "$dir" && quietly "$CACHE/log/fetch-$1" lab_apt apt-get download "$1=$2")
	echo "$dir/$1"_*.deb
}
