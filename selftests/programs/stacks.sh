#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Communication libraries run over the device unmodified: libfabric's verbs provider, UCX,
# and Open MPI on top of UCX.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

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

need rdma fi_pingpong ucx_perftest mpirun mpicc

# fabric PROVIDER ENDPOINT SUFFIX: every byte is compared
fabric()
{
	local args="-p '$1' -e $2 -c -I 20"

	between 47592 "fi_pingpong $args -d sr1$3" \
		"fi_pingpong $args -d sr0$3 10.9.0.2"
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
		small -t tag_lat -n 20 -s 8
		put -t ucp_put_bw -n 50 -s 65536
		get -t ucp_get -n 20 -s 65536
		add -t ucp_fadd -n 20 -s 8
	EOT
}

# compile: build the program of the ranks, and a script that starts each on its host
compile()
{
	mpicc -o "$dir/ring" "$selftests/programs/ring.c" || return
	cat >"$dir/rank" <<-'EOT'
		#!/bin/bash
		host=(nsA nsB)
		exec ip netns exec "${host[OMPI_COMM_WORLD_RANK % 2]}" "$@"
	EOT
	chmod +x "$dir/rank"
}

# mpi TRANSPORTS: four ranks, neighbours on different hosts.  They find each
# other through mpirun, by way of veth0.
mpi()
{
	on nsA env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		PMIX_MCA_gds=hash PMIX_MCA_ptl_tcp_if_include=veth0 \
		PMIX_MCA_ptl_tcp_remote_connections=1 \
		UCX_TLS="$1,self" UCX_NET_DEVICES=sr0:1,sr1:1 \
		bounded mpirun -np 4 --oversubscribe --mca plm isolated \
		--mca pml ucx --mca btl ^openib,vader "$dir/rank" "$dir/ring"
}

dir=$(mktemp -d)
trap 'pair_down; rm -r "$dir"' EXIT
batch >"$dir/batch"

ktap_plan $((${#fabrics[@]} + 2 * ${#transports[@]} + 4))
check "two hosts"				hosts_up
for row in "${fabrics[@]}"; do
	# shellcheck disable=SC2086 # its words
	check "libfabric, $row"			fabric $row
done
for row in "${transports[@]}"; do
	check "UCX by $row"			ucx "$row"
done
check "a ring of four ranks"			compile
for row in "${transports[@]}"; do
	check "Open MPI over UCX by $row"	mpi "$row"
done
check "bytes went through the devices"		counter_over nsB sr1 rcvd_bytes 5000000
check "and were written"			counter_over nsB sr1 rx_write_requests 50
ktap_end
