# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a disk in memory, and programs that compare what they wrote to it; source
# it after netns.sh
#
#   disk_up, disk_down       /dev/srnic, of 64 MiB
#   put VALUE FILE           write it without a newline
#   disk_jobs                the jobs of fio: name, block size, depth, total
#   fio_on FILE KIND SIZE DEPTH TOTAL   write, read back and compare
#   fio_remote KIND...       the same, on the disk that remote prints, of the script
#   disk_checks              a check for each of these jobs, on that disk
#   data_in FILE             write random data behind those of fio_on
#   data_same FILE           they are there, on FILE and on the disk
#   load_begins FILE         write and compare, until load_ends, in the background
#   load_ends                fails if any of that did
# shellcheck shell=bash

disk=/sys/kernel/config/nullb/srnic
disk_jobs=(
	"write 4k 1 256k"
	"write 64k 8 8m"
	"write 1m 4 8m"
	"randwrite 512 16 128k"
	"randwrite 2560 8 320k"
	"randwrite 4k 32 2m"
	"randwrite 128k 16 4m"
	"randrw 8k 16 2m"
)
disk_work=	# folder
disk_load=	# process ID

put()
{
	echo -n "$1" >"$2"
}

disk_up()
{
	disk_work=$(mktemp -d) && mkdir "$disk" &&
		put 64 "$disk/size" &&
		put 512 "$disk/blocksize" &&
		put 1 "$disk/memory_backed" &&
		put 1 "$disk/power"
}

disk_down()
{
	[ ! -e "$disk_work/load" ] || load_ends
	put 0 "$disk/power"
	rmdir "$disk"
	rm -r "$disk_work"
	modprobe -r null_blk
}

fio_on()
{
	bounded fio --name=srnic --filename="$1" --rw="$2" --bs="$3" \
		--iodepth="$4" --size="$5" --ioengine=libaio --direct=1 \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0
}

fio_remote()
{
	fio_on "$(remote)" "$@"
}

disk_checks()
{
	local job

	for job in "${disk_jobs[@]}"; do
		# shellcheck disable=SC2086 # its words
		check "$job"	fio_remote $job
	done
}

data_in()
{
	head -c 4M /dev/urandom >"$disk_work/data" &&
		bounded dd if="$disk_work/data" of="$1" bs=256k seek=128 oflag=direct
}

# data_same FILE: without the page cache
data_same()
{
	local file

	for file in "$1" /dev/srnic; do
		bounded dd if="$file" bs=256k skip=128 count=16 iflag=direct |
			cmp - "$disk_work/data" || return
	done
}

# load_goes_on FILE
load_goes_on()
{
	while [ -e "$disk_work/load" ]; do
		fio_on "$1" randwrite 16k 16 4m || return
	done
}

load_begins()
{
	touch "$disk_work/load"
	load_goes_on "$1" &
	disk_load=$!
	wait_for in_flight "${1##*/}"
}

# in_flight DISK: it has requests that are not completed
in_flight()
{
	local reads writes

	read -r reads writes <"/sys/block/$1/inflight" && ((reads + writes))
}

load_ends()
{
	rm "$disk_work/load"
	wait "$disk_load"
}
