#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Files on NFS over RDMA with Kerberos have the contents that were written, on a reliable wire and
# on one that loses packets: where Kerberos authenticates the client alone (krb5), protects the
# integrity of each message (krb5i), and encrypts it (krb5p).
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#   client.srnic.test                        server.srnic.test
#   rpc.gssd                                 rpc.svcgssd, krb5kdc
#
# The names are in /etc/hosts, in a mount namespace of this script.
#
# usage: nfs_krb5.sh [FLAVOUR...]
#
# run: NFS with Kerberos, client and server
#   | linux nfs-common nfs-kernel-server krb5-kdc
#   | module rpcsec_gss_krb5; in the keytab of each host a key of nfs/HOST; rpc.gssd on the client;
#   rpc.svcgssd on the server, where rpc.gssd calls TCP port 2049, also for RDMA
#   | ``mount -t nfs -o vers=4.1,sec=krb5p,proto=rdma,port=20049 server.srnic.test:/ /mnt``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"
. "$selftests/lib/capture.sh"
. "$selftests/lib/nfs.sh"

[ -n "${OWN_MOUNTS:-}" ] || OWN_MOUNTS=1 exec unshare --mount "$(realpath "$0")" "$@"

need rpc.gssd rpc.svcgssd krb5kdc kdb5_util kadmin.local tcpdump
modprobe -q rpcsec_gss_krb5 || skip_all "no rpcsec_gss_krb5"
nfs_needed
nfs_server=server.srnic.test
nfs_export=rw,fsid=0,no_subtree_check,all_squash,anonuid=0,anongid=0,sec=krb5:krb5i:krb5p

# shellcheck disable=SC2154 # of lib/nfs.sh
capture=$dir/capture gssd=$dir/gssd
mkdir "$gssd"
export KRB5_CONFIG=$dir/krb5.conf KRB5_KDC_PROFILE=$dir/kdc.conf
export KRB5RCACHENAME=file2:$dir/replays

names_up()
{
	cat >"$dir/hosts" <<-EOT
		127.0.0.1 localhost
		10.9.0.1 client.srnic.test
		10.9.0.2 server.srnic.test
	EOT
	mount --bind "$dir/hosts" /etc/hosts
}

# realm_configure: for both hosts, and for the key distribution center
realm_configure()
{
	cat >"$KRB5_CONFIG" <<-EOT
		[libdefaults]
		default_realm = SRNIC.TEST
		dns_lookup_kdc = false
		dns_lookup_realm = false
		rdns = false
		[realms]
		SRNIC.TEST = {
			kdc = server.srnic.test
		}
		[domain_realm]
		.srnic.test = SRNIC.TEST
	EOT
	cat >"$KRB5_KDC_PROFILE" <<-EOT
		[realms]
		SRNIC.TEST = {
			database_name = $dir/principal
			key_stash_file = $dir/stash
		}
		[logging]
		kdc = FILE:$dir/kdc.log
	EOT
}

# key HOST: make its principal and its keytab
key()
{
	bounded kadmin.local addprinc -randkey "nfs/$1.srnic.test" &&
		bounded kadmin.local ktadd -k "$dir/$1.keytab" "nfs/$1.srnic.test"
}

realm_up()
{
	realm_configure && bounded kdb5_util create -s -P secret &&
		key client && key server || return
	nfs_daemon nsB krb5kdc -n
	wait_for listening nsB 88
}

# gss_up: the daemons that establish security contexts
gss_up()
{
	in_net nsA mount -t rpc_pipefs gssd "$gssd" || return
	KRB5_KTNAME=$dir/server.keytab nfs_daemon nsB rpc.svcgssd -f -n
	nfs_daemon nsA rpc.gssd -f -M -T "$KTAP_BOUND" -k "$dir/client.keytab" -p "$gssd"
	# shellcheck disable=SC2154 # of lib/nfs.sh
	echo tcp 2049 >"$nfsd/portlist" && wait_for is_open auth.rpcsec.init/channel &&
		wait_for is_open "$gssd/gssd/clntXX/gssd"
}

# secured: the client says so
secured()
{
	# shellcheck disable=SC2154 # of lib/nfs.sh
	grep " $mnt nfs4 .*,proto=rdma,.*,sec=$flavour," /proc/mounts
}

# text_in: write a file that is recognised in packets
text_in()
{
	yes "plain text of a file" | head -c 256k >"$mnt/text" && remount
}

text_out()
{
	# shellcheck disable=SC2154 # of lib/nfs.sh
	captured nsA veth0 10.9.0.2 bounded cmp "$mnt/text" "$srv/text"
}

# legible: the text of the file is in those packets, unless it is encrypted
legible()
{
	if [ "$flavour" = krb5p ]; then
		! grep -c "plain text" "$capture"
	else
		grep -c "plain text" "$capture"
	fi
}

tree_gone()
{
	bounded rm -r "$mnt/tree" && [ ! -e "$srv/tree" ]
}

all_down()
{
	umount -f "$mnt"
	server_down
	umount "$gssd"
	nfs_down
	pair_down
} >/dev/null 2>&1

trap all_down EXIT

# check_of WHAT COMMAND...: a check of this flavour
check_of()
{
	check "$flavour: $1" "${@:2}"
}

# of_flavour: 22 checks.  No direct READ is of whole pages, so that a checksum (krb5i) is in the last
# page of the data.
of_flavour()
{
	local reads writes

	writes=$(counter nsA sr0 rx_write_requests) reads=$(counter nsA sr0 rx_read_requests)
	check_of "mount"			mount_it 4.1 "sec=$flavour"
	check_of "with that security"		secured
	check_of "a tree is written"		tree_in
	check_of "a tree is read"		tree_out
	check_of "direct write of 1023 KiB"	direct write 1023k 4 4092k
	check_of "direct randwrite of 2.5 KiB"	direct randwrite 2560 8 320k
	check_of "a text is written"		text_in
	check_of "a text is read"		text_out
	check_of "it is in packets unless encrypted" legible
	check_of "the server wrote to the client" \
		counter_over nsA sr0 rx_write_requests $((writes + 20))
	check_of "the server read from the client" \
		counter_over nsA sr0 rx_read_requests $((reads + 20))
	check_of "umount"			umount_it

	check_of "one packet in a hundred is lost" netem nsA veth0 loss 1%
	check_of "in the other direction, too"	netem nsB veth1 loss 1%
	check_of "mount over that wire"		mount_it 4.1 "sec=$flavour"
	check_of "direct write over that wire"	direct write 255k 4 4080k
	check_of "direct randwrite over that wire" direct randwrite 10k 8 1000k
	check_of "a tree is read over that wire" tree_out
	check_of "a tree is removed over that wire" tree_gone
	check_of "umount over that wire"	umount_it
	check_of "the wire is reliable again"	clear_wire
	check_of "both ends have disconnected"	wait_for disconnected
}

(($#)) || set -- krb5 krb5i krb5p
ktap_plan $((7 + 22 * $#))
check "two hosts"			hosts_up
check "names of both"			names_up
check "a realm"				realm_up
check "a server"			server_up 4.1
check "the daemons of both hosts"	gss_up
check "the server refuses sec=sys"	fails mount_it 4.1 sec=sys
for flavour; do
	of_flavour
done
check "the server ends"			server_down
ktap_end
