# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the verbs harness; source this after netns.sh
#
#   vrb_make                 builds the harness unless it exists
#   vrb_up                   vrb_make and two hosts; skips the script without a harness
#   vrb_count ARGUMENT...    prints how many cases these arguments select
#   vrb_alone                prints the topics with cases that topics.sh runs only by name
#   vrb_cases ARGUMENT...    runs cases, each as one check
#   vrb ARGUMENT...          runs the harness; no checks
#   vrb_serve                starts a server on nsB, which may be machine B, for one call of
#                            vrb_cases with the option -p 10.9.0.2
#   vrb_far TOPIC...         the plan and the cases of these topics, with such servers
#   vrb_common               cases that pass with the user ABI of rdma_rxe, or with rdma_rxe as
#                            the peer: data, refused requests and retries.  rdma_rxe does not
#                            report all local errors and events that other cases expect
# shellcheck shell=bash
# shellcheck disable=SC2154 # programs.sh says where they are

. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"

vrb_common=("data: SEND of every size and shape"
	"data: SEND with immediate of every size and shape"
	"data: WRITE of every size and shape"
	"data: WRITE with immediate of every size and shape"
	"data: READ of every size and shape"
	"data: CMP_SWP and FETCH_ADD compute and return"
	"data: inline data of every length"
	"data: a fence waits for the read"
	"data: 64 reads, one at a time"
	"data: 64 reads, four at a time"
	"order: a receive completion follows the data of earlier WRITEs"
	"order: a WRITE behind a message that waits for a receive"
	"soak: batches of all operations, both ways"
	"access: WRITE with a bad rkey"
	"access: READ with a bad rkey"
	"access: FETCH_ADD with a bad rkey"
	"access: WRITE past the end"
	"access: READ without REMOTE_READ"
	"retry: RNR, then a receive"
	"srq: SEND of each size, through four queue pairs"
	"srq: WRITE with immediate takes a receive"
	"uc: SEND of each size"
	"uc: WRITE of each size, with and without immediate"
	"atomic write: by ibv_wr_atomic_write"
	"mw: type 2 gives access to its range"
	"mw: type 2 gives no access to another QP"
	"mw: LOCAL_INV ends a window")

vrb_dir=

vrb_make()
{
	programs_make verbs vrb && vrb_dir=$programs_dir
}

vrb_up()
{
	need rdma gcc make
	vrb_make
	ktap_first "two hosts" pair_up
}

vrb_count()
{
	"$vrb_dir/vrb" -l "$@" | wc -l
}

vrb_alone()
{
	"$vrb_dir/vrb" -L | sed -n 's/ alone$//p'
}

vrb()
{
	"$vrb_dir/vrb" "$@"
}

vrb_cases()
{
	ktap_relay "$vrb_dir/vrb" "$@"
}

vrb_serve()
{
	on nsB "$vrb_dir/vrb" -P &
	wait_for listening nsB 18519
}

vrb_far()
{
	local topic

	ktap_plan $(($# + $(vrb_count -T "$@")))
	for topic; do
		check "a server for the topic $topic"	vrb_serve
		vrb_cases -n 5 -p 10.9.0.2 -T "$topic"
	done
}
