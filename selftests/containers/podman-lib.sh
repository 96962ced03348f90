# SPDX-License-Identifier: GPL-2.0
# srnic selftests - podman containers on the two hosts; source this after netns.sh
#
#   storage_up STORE         a tmpfs for containers of the images in STORE (tools/lab/image)
#   rootless_up STORE        storage_up for an unprivileged user, whose podman is used from then on
#   pods_end                 remove all containers
#   LIMIT                    limit of locked memory of podman's caller, in KiB
#   start NAME OPTION...     a container that sleeps; image 0 or 1, as NAME ends
#   pod ARGUMENT...          podman
#   in_pod NAME COMMAND...   run it in that container
#   sees NAME DEV...         these are all RDMA devices that the container sees
#   node NS DEV              print the name of that device's node
#   opens NAME NODE          a process there can open it
#   perf CLIENT SERVER TOOL ARGUMENT...  a perftest between containers on nsA and nsB
#   mpi NUMBER               an MPI job in the containers aNUMBER and bNUMBER
#
#   a0, b0: containers of the first image on nsA and nsB, and a1, b1 of the second, with ALL
#   check_traffic            the checks of perftest and MPI between them
#   each_sees_its_device
#   foreign_nodes            a0 can open only the node of its own device
#   endless                  a0 writes to b1 until one of them is killed
#   killed NAME...           kill the containers and wait for their parents; no object is left
#   connected COMMAND...     COMMAND sees a queue pair of sr0 in state RTS
# shellcheck shell=bash

IMAGES=(bookworm trixie)
LIMIT=8192		# as a login
ULIMIT=memlock=-1:-1
ALL=(--device /dev/infiniband)
store=

# tmpfs_up: create a tmpfs with the files that containers need
tmpfs_up()
{
	store=$(mktemp -d) || return
	mount -t tmpfs containers "$store" || return
	# no udev, and no systemd
	modprobe -a ib_uverbs rdma_ucm || return
	PODMAN=(podman --root "$store/root" --runroot "$store/run" --tmpdir "$store/libpod"
		--storage-driver overlay --runtime crun --cgroup-manager cgroupfs
		--events-backend none)
	mkdir -m 700 "$store/ssh" &&
		ssh-keygen -q -t ed25519 -N "" -f "$store/ssh/id_ed25519" &&
		cp "$store/ssh/id_ed25519.pub" "$store/ssh/authorized_keys"
}

storage_up()
{
	tmpfs_up && PODMAN+=(--storage-opt "overlay.imagestore=$1")
}

# copied STORE: by the user, so that the files of root belong to the root of the containers
copied()
{
	local part

	for part in "$1"/overlay/* "$1"/overlay-*; do
		tar -C "$1" --exclude 'diff/dev/*' -c "${part#"$1"/}" |
			pod unshare tar -C "$store/root" -x || return
		echo 2 >/proc/sys/vm/drop_caches	# the guest opens a file per inode
	done
}

rootless_up()
{
	local home

	# procfs can be mounted in a user namespace only if it is visible as a whole
	! mountpoint -q /proc/cpuinfo || umount /proc/cpuinfo || return
	tmpfs_up && home=$store/home && useradd -m -d "$home" podman-user || return
	PODMAN=(setpriv --reuid podman-user --regid podman-user --init-groups
		env "HOME=$home" "XDG_RUNTIME_DIR=$home" "${PODMAN[@]}")
	ULIMIT=host
	copied "$1"
}

pod()
{
	(
		cd / && ulimit -l "$LIMIT"
		exec bounded "${PODMAN[@]}" "$@"
	)
}

pods_end()
{
	pod rm -fa -t 0
}

# run NAME OPTION... COMMAND...: without device cgroups and seccomp, as the kernels of the lab
# have neither BPF nor seccomp
run()
{
	local name=$1

	shift
	pod run --name "$name" --hostname "$name" --cgroups disabled \
		--security-opt seccomp=unconfined --ulimit "$ULIMIT" "$@"
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
	in_pod "$server" "$tool" -d sr1 -F "$@" &
	wait_for ready "$@" &&
		in_pod "$client" "$tool" -d sr0 -F "$@" 10.9.0.2 && wait $!
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
		wait_for listening "$2" "$3"
}

# mpi NUMBER: four ranks, neighbours of the ring on different hosts, without TCP and
# shared memory
mpi()
{
	local before

	before=$(counter nsB sr1 rcvd_bytes)
	sshd_up "a$1" nsA "220$1" && sshd_up "b$1" nsB "220$1" || return
	in_pod "a$1" mpirun --allow-run-as-root --map-by node -np 4 \
		--host 10.9.0.1:2,10.9.0.2:2 --oversubscribe --mca pml ucx \
		-x UCX_TLS=rc_verbs,ud_verbs,self -x UCX_NET_DEVICES=sr0:1,sr1:1 \
		-x UCX_WARN_UNUSED_ENV_VARS=n \
		python3 -m mpi4py.bench ringtest -n 65536 -l 50 &&
		counter_over nsB sr1 rcvd_bytes $((before + 5000000))
}

mode()
{
	wait_for rdma system set netns "$1" && rdma system show | grep -q "netns $1"
}

each_sees_its_device()
{
	sees a0 sr0 && sees a1 sr0 && sees b0 sr1 && sees b1 sr1
}

foreign_nodes()
{
	opens a0 "$(node nsA sr0)" && fails opens a0 "$(node nsB sr1)"
}

connected()
{
	"$@" rdma resource show qp link sr0 | grep 'type RC.*state RTS'
}

endless()
{
	in_pod b1 ib_write_bw -d sr1 -F -D 1000 &
	wait_for listening nsB 18515 || return
	in_pod a0 ib_write_bw -d sr0 -F -D 1000 10.9.0.2 &
	wait_for connected on nsA
}

killed()
{
	pod kill -s KILL "$@"
	wait
	wait_freed objects_are_back
}

no_node()
{
	! ls /dev/infiniband/uverbs* 2>/dev/null
}

check_traffic()
{
	local tool

	for tool in ib_write_bw ib_send_lat ib_read_bw; do
		check "$tool, Debian 12 to 13"	perf a0 b1 "$tool" -n 500
		check "$tool, Debian 13 to 12"	perf a1 b0 "$tool" -n 500
	done
	check "ib_write_bw by rdma_cm"		perf a0 b1 ib_write_bw -R -n 500
	check "Open MPI of Debian 12"		mpi 0
	check "Open MPI of Debian 13"		mpi 1
}
