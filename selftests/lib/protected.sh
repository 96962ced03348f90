# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a remote disk with protection information (T10-PI); source it after netns.sh
# and disk.sh.  remote is of the script.
#
#   protection_offered     by both devices, to those that connect from now on
#   protected_by FORMAT    the disk's blocks have tuples of that format
#   protected_checks       22 checks: data are written and read while the block layer generates and
#                          verifies tuples, while the device does, and while packets are lost
#   protected_down         remove the files
# shellcheck shell=bash

protected_work=	# folder

protection_offered()
{
	setting nsA sr0 integrity 1 && setting nsB sr1 integrity 1
}

protected_by()
{
	local disk

	protected_work=$(mktemp -d) && disk=$(remote) &&
		[ "$(cat "/sys/block/${disk##*/}/integrity/format")" = "$1" ]
}

protected_down()
{
	rm -r "$protected_work"
}

# layer WRITE READ: does the block layer generate, and does it verify?
layer()
{
	local disk

	disk=$(remote) && put "$1" "/sys/block/${disk##*/}/integrity/write_generate" &&
		put "$2" "/sys/block/${disk##*/}/integrity/read_verify"
}

# written SIZE: new data, in requests of SIZE
written()
{
	head -c 2M /dev/urandom >"$protected_work/data" &&
		bounded dd if="$protected_work/data" of="$(remote)" bs="$1" oflag=direct
}

# same SIZE [DISK]: they are read in requests of SIZE
same()
{
	bounded dd if="${2:-$(remote)}" bs="$1" count=$((2097152 / $1)) iflag=direct |
		cmp - "$protected_work/data"
}

protected_checks()
{
	check "the block layer generates"	written 65536
	check "and verifies"			same 65536
	check "the device strips"		layer 1 0
	check "in large requests"		same 262144
	check "in small requests"		same 4096
	check "the device generates"		layer 0 0
	check "in large requests"		written 262144
	check "and strips"			same 65536
	check "the block layer verifies"	layer 0 1
	check "what the device generated"	same 65536
	check "in small requests"		written 4096
	check "which are verified"		same 4096
	check "the block layer does both"	layer 1 1

	check "one packet in fifty is lost"	netem nsA veth0 loss 2%
	check "in the other direction, too"	netem nsB veth1 loss 2%
	check "write over that wire"		written 131072
	check "read over that wire"		same 131072
	check "the device generates there"	layer 0 0
	check "write over that wire"		written 131072
	check "read over that wire"		same 131072
	check "packets were sent again"		counter_over nsB sr1 retrans_pkts 0
	check "the wire loses nothing again"	clear_wire
}
