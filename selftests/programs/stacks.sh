#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Communication libraries run over the device unmodified: libfabric's verbs provider, UCX,
# and on top of UCX Open MPI and MPICH.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# run: libfabric | libfabric-bin
#   | ``FI_OFI_RXM_USE_SRX=1`` for ofi_rxm; domain ``srnic0-dgram`` for datagrams
#   | ``fi_pingpong -p "verbs;ofi_rxm" -e rdm -d srnic0 10.9.0.2``
# run: UCX | ucx-utils
#   | ``UCX_TLS=rc_verbs,ud_verbs``, ``UCX_NET_DEVICES=srnic0:1``
#   | ``UCX_TLS=rc_verbs,ud_verbs UCX_NET_DEVICES=srnic0:1 ucx_perftest -t tag_bw 10.9.0.2``
# run: Open MPI | openmpi-bin
#   | UCX's variables, with ``self`` in ``UCX_TLS``; for one-sided operations ``--mca osc ucx``
#   | ``mpirun --mca pml ucx --mca btl ^openib,vader -x UCX_TLS=rc_verbs,ud_verbs,self -x
#   UCX_NET_DEVICES=srnic0:1 -np 4 PROGRAM``
# run: MPICH | mpich
#   | UCX's variables, with ``self`` in ``UCX_TLS``; ``MPIR_CVAR_NOLOCAL=1``, or ranks on one host
#   use shared memory
#   | ``UCX_TLS=rc_verbs,ud_verbs,self UCX_NET_DEVICES=srnic0:1 mpirun.mpich -np 4 PROGRAM``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"

# libfabric: provider, endpoint, suffix of the device's name
fabrics=(
	"verbs msg"
	"verbs;ofi_rxm rdm"
	"verbs dgram -dgram"
	"verbs;ofi_rxd rdm -dgram"
)

# UCX: transports; the first is connected through the second
transports=("rc_verbs,ud_verbs" "ud_verbs")

# UCX without its protocols, a device with itself: transport, layout of the data, size, tests of
# ucx_perftest.  Protocols use no atomics of verbs, as these lack some operations.
operations=(
	"rc_verbs short 32 am_lat am_bw put_lat put_bw"
	"rc_verbs bcopy 4096 am_lat am_bw put_lat put_bw get"
	"rc_verbs zcopy 4096 am_lat am_bw put_lat put_bw get"
	"rc_verbs short 8 add_lat add_mr fadd cswap"
	"ud_verbs short 32 am_lat am_bw"
	"ud_verbs bcopy 1024 am_lat am_bw"
	"ud_verbs zcopy 1024 am_lat am_bw"
)

# implementations of MPI, by the suffix that Debian gives to their programs
mpis=(openmpi mpich)

# programs of MPI; each delivers so many bytes to either host: to two of its four ranks, all of its
# sizes
mpi_programs=(ring rma)
DELIVERED=$((2 * (1 + 8 + 1000 + 4096 + 65536 + 1048576)))

# With a shared receive queue ofi_rxm's buffers outlive a connection, so that either end may
# leave first.  A peer that is not scheduled for UCX's timeout would be taken for dead.
export FI_OFI_RXM_USE_SRX=1 UCX_UD_VERBS_TIMEOUT=3600s

need rdma fi_pingpong ucx_perftest

# fabric PROVIDER ENDPOINT SUFFIX: every byte is compared
fabric()
{
	local tool="fi_pingpong -p '$1' -e $2 -c -I 20"

	between 47592 "$tool -d sr1$3" "$tool -d sr0$3 10.9.0.2"
}

# ucx TRANSPORTS
ucx()
{
	local tool="env UCX_TLS=$1 UCX_WARN_UNUSED_ENV_VARS=n"

	tool+=" UCX_NET_DEVICES=@:1 ucx_perftest -b $dir/batch -w 1"
	between 13337 "${tool/@/sr1}" "${tool/@/sr0} 10.9.0.2"
}

# tests of ucx_perftest
batch()
{
	cat <<-EOT
		tag -t tag_bw -n 50 -s 65536
		tag-small -t tag_lat -n 20 -s 8
		sync -t tag_sync_bw -n 20 -s 65536
		sync-small -t tag_sync_lat -n 20 -s 8
		stream -t stream_bw -n 50 -s 65536
		stream-small -t stream_lat -n 20 -s 8
		am -t ucp_am_bw -n 50 -s 65536
		am-small -t ucp_am_lat -n 20 -s 8
		put -t ucp_put_bw -n 50 -s 65536
		put-small -t ucp_put_lat -n 20 -s 8
		get -t ucp_get -n 20 -s 65536
		get-small -t ucp_get -n 20 -s 8
		add -t ucp_add -n 20 -s 8
		fetch-add -t ucp_fadd -n 20 -s 8
		swap -t ucp_swap -n 20 -s 8
		compare-swap -t ucp_cswap -n 20 -s 8
		swap-small -t ucp_swap -n 20 -s 4
	EOT
}

# uct TRANSPORT LAYOUT SIZE TEST...
uct()
{
	local test

	for test in "${@:4}"; do
		on nsA bounded ucx_perftest -l -d sr0:1 -x "$1" -D "$2" -s "$3" -t "$test" \
			-n 20 -w 1 || return
	done
}

# compile MPI PROGRAM
compile()
{
	"mpicc.$1" -o "$dir/$2.$1" "$selftests/programs/$2.c"
}

# launcher: a script that starts each rank on its host, with the device of that host
launcher()
{
	cat >"$dir/rank" <<-'EOT'
		#!/bin/bash
		n=$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} % 2))
		host=(nsA nsB) device=(sr0 sr1)
		UCX_NET_DEVICES=${device[n]}:1 exec ip netns exec "${host[n]}" "$@"
	EOT
	chmod +x "$dir/rank"
}

# run_openmpi PROGRAM TRANSPORTS: four ranks, neighbours on different hosts.  They find each
# other through mpirun, by way of veth0.
run_openmpi()
{
	on nsA env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		PMIX_MCA_gds=hash PMIX_MCA_ptl_tcp_if_include=veth0 \
		PMIX_MCA_ptl_tcp_remote_connections=1 UCX_TLS="$2,self" \
		bounded mpirun.openmpi -np 4 --oversubscribe --mca plm isolated \
		--mca pml ucx --mca osc ucx --mca btl ^openib,vader \
		"$dir/rank" "$dir/$1.openmpi"
}

# run_mpich PROGRAM TRANSPORTS: likewise; they find each other through inherited descriptors.
# Without NOLOCAL they would use shared memory.
run_mpich()
{
	on nsA env MPIR_CVAR_NOLOCAL=1 UCX_TLS="$2,self" \
		bounded mpirun.mpich -np 4 -launcher fork "$dir/rank" "$dir/$1.mpich"
}

# crosses MPI PROGRAM TRANSPORTS: all that its ranks send passes from one device to the other
crosses()
{
	local a b

	a=$(counter nsA sr0 rcvd_bytes) && b=$(counter nsB sr1 rcvd_bytes) &&
		"run_$1" "$2" "$3" &&
		counter_over nsA sr0 rcvd_bytes $((a + DELIVERED)) &&
		counter_over nsB sr1 rcvd_bytes $((b + DELIVERED))
}

dir=$(mktemp -d)
trap 'pair_down; rm -r "$dir"' EXIT
batch >"$dir/batch"

ktap_plan $((${#fabrics[@]} + ${#transports[@]} + ${#operations[@]} + 5 +
	${#mpis[@]} * ${#mpi_programs[@]} * (1 + ${#transports[@]})))
check "two hosts"				hosts_up
for row in "${fabrics[@]}"; do
	# shellcheck disable=SC2086 # its words
	check "libfabric, $row"			fabric $row
done
for row in "${transports[@]}"; do
	check "UCX by $row"			ucx "$row"
done
check "bytes went through the devices"		counter_over nsB sr1 rcvd_bytes 5000000
check "and were written"			counter_over nsB sr1 rx_write_requests 50
for row in "${operations[@]}"; do
	# shellcheck disable=SC2086
	check "UCX, $row"			uct $row
done
check "memory was changed by atomics"		counter_over nsA sr0 rx_atomic_requests 80
check "a launcher of ranks"			launcher
for mpi in "${mpis[@]}"; do
	for program in "${mpi_programs[@]}"; do
		if ! type "mpicc.$mpi" "mpirun.$mpi" >/dev/null 2>&1; then
			skip "$mpi: $program.c" "it is not installed"
			for row in "${transports[@]}"; do
				skip "$mpi: $program over UCX by $row" "it is not installed"
			done
			continue
		fi
		check "$mpi: $program.c"	compile "$mpi" "$program"
		for row in "${transports[@]}"; do
			check "$mpi: $program over UCX by $row"	crosses "$mpi" "$program" "$row"
		done
	done
done
ktap_end
