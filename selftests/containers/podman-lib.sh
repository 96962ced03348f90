# SPDX-License-Identifier: GPL-2.0
# srnic selftests - podman containers on the two hosts; source this after netns.sh
#
#   storage_up STORE         a tmpfs for containers of the images in STORE (tools/lab/image)
#   pods_end                 remove all containers
#   start NAME OPTION...     a container that sleeps; image 0 or 1, as NAME ends
#   pod ARGUMENT...          podman
#   in_pod NAME COMMAND...   run it in that container
#   sees NAME DEV...         these are all RDMA devices that the container sees
#   node NS DEV              print the name of that device's node
#   opens NAME NODE          a process there can open it
#   perf CLIENT SERVER TOOL ARGUMENT...  a perftest between containers on nsA and nsB
#   mpi NUMBER               an MPI job in the containers aNUMBER and bNUMBER
# shellcheck shell=bash

IMAGES=(bookworm trixie)
store=

storage_up()
{
	store=$(mktemp -d) || return
	mount -t tmpfs containers "$store" || return
	# no udev, and no systemd
	modprobe -a ib_uverbs rdma_ucm || return
	PODMAN=(podman --root "$store/root" --runroot "$store/run" --tmpdir "$store/libpod"
		--storage-driver overlay --storage-opt "overlay.imagestore=$1"
		--runtime crun --cgroup-manager cgroupfs --events-backend none)
	mkdir -m 700 "$store/ssh" &&
		ssh-keygen -q -t ed25519 -N "" -f "$store/ssh/id_ed25519" &&
		cp "$store/ssh/id_ed25519.pub" "$store/ssh/authorized_keys"
}

# pod: with the limit that a login has
pod()
{
	(
		cd / && ulimit -l 8192
		exec "${PODMAN[@]}" "$@"
	)
}

pods_end()
{
	pod rm -fa -t 0
}

# run NAME OPTION... COMMAND...: the kernels of the lab have neither BPF for the cgroups
# of devices nor seccomp
run()
{
	local name=$1

	shift
	pod run --name "$name" --hostname "$name" --cgroups disabled \
		--security-opt seccomp=unconfined --ulimit memlock=-1:-1 "$@"
}

start()
{
	run "$@" -d "${IMAGES[${1: -1}]}" sleep infinity
}

pid_of()
{
	pod inspect --format '{{.State.Pid}}' "$1"
}

in_pod()
{
	pod exec "$@"
}

sees()
{
	local name=$1 seen

	shift
	seen=$(in_pod "$name" ibv_devices | awk 'NR > 2 { print $1 }' | sort | xargs)
	[ "$seen" = "$*" ] || { echo "$name sees '$seen', not '$*'"; return 1; }
}

node()
{
	on "$1" sh -c "grep -lx '$2' /sys/class/infiniband_verbs/uverbs*/ibdev" | cut -d/ -f5
}

opens()
{
	in_pod "$1" bash -c "exec 3<>/dev/infiniband/$2"
}

# ready ARGUMENT...: a perftest with these arguments waits for its client
ready()
{
	if [[ " $* " == *" -R "* ]]; then
		cm_listens nsB
	else
		listening nsB 18515
	fi
}

perf()
{
	local client=$1 server=$2 tool=$3

	shift 3
	in_pod "$server" timeout -k 1 120 "$tool" -d sr1 -F "$@" &
	wait_for 60 ready "$@" &&
		in_pod "$client" timeout -k 1 120 "$tool" -d sr0 -F "$@" 10.9.0.2 && wait $!
}

# sshd_up NAME NS PORT: a user of any of the containers may enter
sshd_up()
{
	printf 'Host *\nPort %s\nStrictHostKeyChecking no\nLogLevel error\n' "$3" \
		>"$store/ssh/config"
	in_pod "$1" mkdir -p -m 700 /root/.ssh /run/sshd &&
		tar -C "$store/ssh" -c . |
			pod exec -i "$1" tar -C /root/.ssh --no-same-owner -x &&
		in_pod "$1" /usr/sbin/sshd -p "$3" -o UsePAM=no &&
		wait_for 60 listening "$2" "$3"
}

# mpi NUMBER: four ranks, neighbours of the ring on different hosts, without TCP and
# shared memory
mpi()
{
	local before

	before=$(counter nsB sr1 rcvd_bytes)
	sshd_up "a$1" nsA "220$1" && sshd_up "b$1" nsB "220$1" || return
	in_pod "a$1" timeout -k 1 120 mpirun --allow-run-as-root --map-by node -np 4 \
		--host 10.9.0.1:2,10.9.0.2:2 --oversubscribe --mca pml ucx \
		-x UCX_TLS=rc_verbs,ud_verbs,self -x UCX_NET_DEVICES=sr0:1,sr1:1 \
		-x UCX_WARN_UNUSED_ENV_VARS=n \
		python3 -m mpi4py.bench ringtest -n 65536 -l 50 &&
		counter_over nsB sr1 rcvd_bytes $((before + 5000000))
}
