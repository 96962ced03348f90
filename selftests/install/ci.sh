#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the workflow in Documentation/ci.rst, on a machine like a hosted runner
# usage: selftests/install/ci.sh [SUITE]
#
# The machine has Debian and a user with sudo.  The steps "packages" and "module" run on its
# disk, where "uname -r" prints its kernel's release; it boots for the other steps, which
# selftests/install/ci-guest runs.  The seconds that each step took are printed.

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"
. "$selftests/lib/recipe.sh"
. "$selftests/install/machine.sh"

need git
suite=${1:-$(host_release)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$suite
home=$root/home/runner

# runner_new: what a runner has before the first step
runner_new()
{
	machine_has "$suite" sudo git ca-certificates || return
	on_disk "$suite" useradd -m -s /bin/bash runner || return
	echo 'runner ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/runner"
	printf '#!/bin/sh\necho %s\n' "$(ls "$root/lib/modules")" >"$root/usr/local/bin/uname"
	chmod +x "$root/usr/local/bin/uname"
}

# repository: srnic as it is here, to be cloned
repository()
{
	local git=(git -C "$work/srnic" -c user.name=Selftest -c user.email=selftest@example.org)

	mkdir "$work/srnic"
	tar --exclude=./build --exclude=./.git -C "$REPO" -c . | tar -C "$work/srnic" -x &&
		"${git[@]}" init -q && "${git[@]}" add -A && "${git[@]}" commit -qm srnic &&
		git clone -q --bare "$work/srnic" "$home/srnic.git"
}

# project: what the workflow expects of the user's repository
project()
{
	local step

	mkdir -p "$home/project/ci" "$home/steps"
	workflow_text ci/rdma-device >"$home/project/ci/rdma-device" || return
	printf '%s\n' '#!/bin/sh -e' 'test "$(ulimit -l)" = unlimited' \
		'test -c /dev/infiniband/rdma_cm' >"$home/project/ci/tests"
	chmod +x "$home/project/ci/tests"
	for step in packages module device pingpong tests; do
		workflow_step "$step" >"$home/steps/$step" || return
	done
	on_disk "$suite" chown -R runner: /home/runner
}

# step_on_disk STEP
step_on_disk()
{
	on_disk "$suite" su - runner -c \
		"cd project && SRNIC_URL=/home/runner/srnic.git bash -e ../steps/$1"
}

# timed WHAT COMMAND...
timed()
{
	local begin=$SECONDS

	check "$@"
	diag "$1: $((SECONDS - begin)) s"
}

boots()
{
	rm "$root/usr/local/bin/uname"
	machine_disk "$suite" "$selftests/install/ci-guest"
}

ktap_plan 10
check "$suite: a machine"	machine_new "$suite"
check "$suite: a runner"	runner_new
check "$suite: srnic in git"	repository
check "$suite: a project"	project
timed "$suite: packages"	step_on_disk packages
timed "$suite: module"		step_on_disk module
check "$suite: its disk"	boots
ktap_relay machine_start "$suite" ci
ktap_end
