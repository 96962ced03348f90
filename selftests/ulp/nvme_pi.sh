#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Protection information (T10-PI) goes from an NVMe host to the disk of its target and back: the
# disk accepts what the block layer or the device has generated, the block layer or the device what
# the disk returns, and both ends find a wrong guard or tag.
#
#   host [sr0] veth0 ================ veth1 [sr1] target with a disk of SCSI (scsi_debug)
#
# The block layer of the host generates and verifies tuples unless it is told not to; then the
# device generates them (WRITE) and strips them (READ).  The disk verifies them as well.
#
# run: NVMe over Fabrics with T10-PI | linux nvme-cli
#   | modules nvme-rdma and nvmet-rdma, a disk with T10-PI; the initial network namespace
#   | port attribute ``param_pi_enable``, subsystem attribute ``attr_pi_enable``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/self.sh"
. "$selftests/lib/disk.sh"
. "$selftests/lib/nvme.sh"
. "$selftests/lib/scsi.sh"
. "$selftests/lib/protected.sh"

need rdma nvme fio tc python3
case $(uname -r) in
5.* | 6.*) ;;
*) skip_all "not run on hosts newer than Linux 6.18" ;;
esac
modprobe -q nvmet-rdma || skip_all "no nvmet-rdma"
modprobe -q nvme-rdma || skip_all "no nvme-rdma"
modprobe -q scsi_debug dif=1 dix=1 guard=0 dev_size_mb=64 delay=0 ||
	skip_all "no scsi_debug"

work=

pi_disk()
{
	scsi_disk scsi_debug
}

has_disk()
{
	pi_disk >/dev/null
}

pi_disk_up()
{
	work=$(mktemp -d) && modprobe sd_mod && wait_for has_disk
}

pi_target_up()
{
	target_up "$(pi_disk)" pi_enable
}

# guard FILE: print the CRC of a block as four digits
guard()
{
	python3 -I - "$1" <<-'EOF'
		import sys
		crc = 0
		for byte in open(sys.argv[1], "rb").read():
		    crc ^= byte << 8
		    for _ in range(8):
		        crc = crc << 1 ^ (0x18bb7 if crc & 0x8000 else 0)
		print(f"{crc:04x}")
	EOF
}

# tuple GUARD APP REF: a file with a tuple, from hexadecimal digits
tuple()
{
	python3 -I -c 'import sys; sys.stdout.buffer.write(bytes.fromhex("".join(sys.argv[1:])))' \
		"$@" >"$work/tuple"
}

# block write|read CHECKS REF [OPTION...]: block 9 with $work/block and $work/tuple
block()
{
	local verb=$1 checks=$2 ref=$3

	shift 3
	bounded nvme "$verb" "$(remote)" --start-block=9 --block-count=0 --data-size=512 \
		--metadata-size=8 --data="$work/block" --metadata="$work/tuple" \
		--prinfo="$checks" --ref-tag="$ref" "$@" >"$work/said" 2>&1
}

# fails TEXT...: the command fails with that status
fails()
{
	local want=$1

	shift
	if "$@" || ! grep -i "$want" "$work/said"; then
		cat "$work/said"
		return 1
	fi
}

# guarded: a block is written and read with the correct tuple, which is compared
guarded()
{
	head -c 512 /dev/urandom >"$work/block" && tuple "$(guard "$work/block")" beef 00000009 &&
		cp "$work/block" "$work/block0" && cp "$work/tuple" "$work/tuple0" &&
		block write 7 9 --app-tag=0xbeef --app-tag-mask=0xffff &&
		: >"$work/block" && : >"$work/tuple" &&
		block read 7 9 --app-tag=0xbeef --app-tag-mask=0xffff &&
		cmp "$work/block" "$work/block0" && cmp "$work/tuple" "$work/tuple0"
}

# refused TEXT GUARD APP REF: writing that tuple fails, and the disk keeps what it had
refused()
{
	cp "$work/block0" "$work/block" && tuple "$2" "$3" "$4" &&
		fails "$1" block write 7 9 --app-tag=0xbeef --app-tag-mask=0xffff &&
		block read 7 9 --app-tag=0xbeef --app-tag-mask=0xffff &&
		cmp "$work/tuple" "$work/tuple0"
}

all_down()
{
	nvme disconnect -n srnic
	self_down
	target_down
	modprobe -r nvme-rdma
	modprobe -r nvmet-rdma
	modprobe -r scsi_debug
	protected_down
	rm -r "$work"
} >/dev/null 2>&1

trap all_down EXIT

# shellcheck disable=SC2154 # of disk.sh
ktap_plan $((${#disk_jobs[@]} + 39))
check "two devices and a wire"		self_up
check "they offer protection"		protection_offered
check "a disk with protection"		pi_disk_up
check "a target"			pi_target_up
check "connect"				connect
check "the disk is protected"		protected_by T10-DIF-TYPE1-CRC
disk_checks
check "the target wrote to the host"	counter_over nsA sr0 rx_write_requests 100
check "the target read from the host"	counter_over nsA sr0 rx_read_requests 100
protected_checks
# the target's block layer verifies what the host's device has generated
check "the disk has these data"		same 65536 "$(pi_disk)"

check "a tuple is kept"			guarded
check "a wrong guard"			refused "guard" "ffff" beef 00000009
check "a wrong application tag"		refused "app" "$(guard "$work/block0")" beee 00000009
check "a wrong reference tag"		refused "ref" "$(guard "$work/block0")" beef 0000000a
check "a wrong tag is expected"		fails "app" block read 2 9 --app-tag=0xbabe \
						--app-tag-mask=0xffff
check "another block is expected"	fails "ref" block read 1 8

check "disconnect"			disconnect
check "the target is removed, link first"	target_goes
ktap_end
