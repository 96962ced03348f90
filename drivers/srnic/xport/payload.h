/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - payload: where that of a packet lies, and how it gets to memory
 */
#ifndef SRNIC_XPORT_PAYLOAD_H
#define SRNIC_XPORT_PAYLOAD_H

#include "seg.h"

/* Sets the payload of @seg, whose headers are parsed, to that of the packet @skb. */
void srnic_payload_find(struct srnic_seg *seg, struct sk_buff *skb);

/*
 * Copies the payload of @seg to the list at the position of @sgl, in order and with the
 * last eight bytes in one piece.  Errors as srnic_sgl_write().
 * Context: BH disabled; the task of the packet's receiver.
 */
enum srnic_mem_err srnic_payload_to_sgl(const struct srnic_seg *seg,
					struct srnic_sgl *sgl);

/* The same to a region, see srnic_mr_write(). */
enum srnic_mem_err srnic_payload_to_mr(const struct srnic_seg *seg,
				       struct srnic_mr *mr, u64 addr, u64 rest,
				       struct srnic_pager *pager);

#endif /* SRNIC_XPORT_PAYLOAD_H */
