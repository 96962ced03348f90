// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - READs and atomics that may be asked for again
 *
 * As many as the peer may have outstanding, in a ring: the youngest overwrites
 * the oldest.
 */
#include <linux/slab.h>

#include "resp.h"

int srnic_replay_resize(struct srnic_qp *qp, u32 depth)
{
	struct srnic_resp *resp = &qp->resp;
	u32 num = min(depth, resp->replay_num);
	struct srnic_replay *replay;
	u32 i;

	if (depth == resp->replay_num)
		return 0;
	replay = kcalloc(depth, sizeof(*replay), GFP_KERNEL);
	if (!replay)
		return -ENOMEM;

	/* The youngest come last: they are overwritten last. */
	for (i = 1; i <= num; i++)
		replay[num - i] = resp->replay[(resp->replay_next - i) %
					       resp->replay_num];
	kfree(resp->replay);
	resp->replay = replay;
	resp->replay_num = depth;
	resp->replay_next = num;

	return 0;
}

struct srnic_replay *srnic_replay_add(struct srnic_qp *qp,
				      const struct srnic_pkt *pkt, u32 npsn)
{
	struct srnic_resp *resp = &qp->resp;
	u32 slot = resp->replay_next++ % resp->replay_num;
	struct srnic_replay *replay = &resp->replay[slot];

	replay->psn = pkt->psn;
	replay->npsn = npsn;
	replay->family = srnic_pkt_op(pkt)->family;
	replay->rkey = pkt->rkey;
	replay->va = pkt->va;
	replay->length = pkt->dmalen;

	return replay;
}

struct srnic_replay *srnic_replay_find(struct srnic_qp *qp, u8 family, u32 psn)
{
	struct srnic_replay *replay;
	int i;

	for (i = 0; i < qp->resp.replay_num; i++) {
		replay = &qp->resp.replay[i];
		if (replay->family == family &&
		    srnic_psn_diff(psn, replay->psn) >= 0 &&
		    srnic_psn_diff(psn, replay->psn) < replay->npsn)
			return replay;
	}

	return NULL;
}

bool srnic_replay_covers(const struct srnic_qp *qp,
			 const struct srnic_replay *replay,
			 const struct srnic_pkt *pkt)
{
	u64 skip = (u64)srnic_psn_diff(pkt->psn, replay->psn) * qp->conf.mtu;

	return pkt->rkey == replay->rkey && pkt->va >= replay->va + skip &&
	       pkt->va + pkt->dmalen <= replay->va + replay->length &&
	       srnic_read_npsn(qp, pkt->dmalen) <= replay->npsn;
}
