/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - a packet being processed, or what does without one
 */
#ifndef SRNIC_XPORT_SEG_H
#define SRNIC_XPORT_SEG_H

#include "outcome.h"
#include "qp.h"

/**
 * struct srnic_seg - a packet being processed
 * @pkt: its headers
 * @payload: its payload
 * @local: there is no packet: it is a request, or an answer, of a QP of the same
 *	   device, as long as several packets
 * @from: local: where the payload is, if it is not at @payload
 */
struct srnic_seg {
	struct srnic_pkt	pkt;
	const void		*payload;
	bool			local;
	struct srnic_sgl	*from;
};

/* PSNs that the payload of @seg takes.  Pure. */
static inline u32 srnic_seg_npsn(const struct srnic_seg *seg, u16 mtu)
{
	return seg->pkt.payload <= mtu ? 1 :
	       DIV_ROUND_UP(seg->pkt.payload, mtu);
}

/**
 * struct srnic_lent - a part of a READ response, for one on the same device
 * @seg: headers, and where the bytes are
 * @sgl: what that points to
 * @sge: what that points to
 */
struct srnic_lent {
	struct srnic_seg	seg;
	struct srnic_sgl	sgl;
	struct srnic_sge	sge;
};

#endif /* SRNIC_XPORT_SEG_H */
