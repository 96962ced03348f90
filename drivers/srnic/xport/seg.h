/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - segment: a packet being processed, or its loopback equivalent
 */
#ifndef SRNIC_XPORT_SEG_H
#define SRNIC_XPORT_SEG_H

#include "outcome.h"
#include "qp.h"

/**
 * struct srnic_seg - a packet being processed
 * @pkt: headers
 * @payload: payload, if it is in one piece
 * @skb: packet whose payload lies in fragments, else NULL
 * @off: where it starts in @skb
 * @local: there is no packet: loopback request or response, as long as several packets
 * @from: loopback: SGE list of the payload, if it is not at @payload
 */
struct srnic_seg {
	struct srnic_pkt	pkt;
	const void		*payload;
	struct sk_buff		*skb;
	u32			off;
	bool			local;
	struct srnic_sgl	*from;
};

/* Number of PSNs that the payload of @seg takes.  Pure. */
static inline u32 srnic_seg_npsn(const struct srnic_seg *seg, u16 mtu)
{
	return seg->pkt.payload <= mtu ? 1 :
	       DIV_ROUND_UP(seg->pkt.payload, mtu);
}

/**
 * struct srnic_lent - a part of a READ response, for loopback
 * @seg: headers, and the location of the data
 * @sgl: list that @seg refers to
 * @sge: element that @sgl refers to
 */
struct srnic_lent {
	struct srnic_seg	seg;
	struct srnic_sgl	sgl;
	struct srnic_sge	sge;
};

#endif /* SRNIC_XPORT_SEG_H */
