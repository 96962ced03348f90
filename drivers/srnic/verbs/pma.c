// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - performance management: port counters in response to MADs
 *
 * The RDMA core queries them for the port's counters/ files in sysfs, remote nodes query
 * them through QP1: IBTA volume 1, 16.1.  Counters are read-only: a remote node must
 * not be able to change what the administrator sees.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "verbs.h"

#define PMA_CLASS_VERSION	1
#define PMA_RESP_TIME		18	/* 4.096 us << 18: about a second */

/* Counters that the attributes are computed from */
static const u8 pma_wanted[] = {
	SRNIC_CNT_SENT_PKTS,
	SRNIC_CNT_RCVD_PKTS,
	SRNIC_CNT_SENT_BYTES,
	SRNIC_CNT_RCVD_BYTES,
	SRNIC_CNT_SENT_MCAST,
	SRNIC_CNT_RCVD_MCAST,
	SRNIC_CNT_SEND_ERR,
	SRNIC_CNT_LINK_DOWNED,
	SRNIC_CNT_RX_ICRC,
	SRNIC_CNT_RX_MALFORMED,
	SRNIC_CNT_RX_NOBUF,
};

/* PortCounters saturate at their maximum value. */
static u8 pma_u8(u64 count)
{
	return min_t(u64, count, U8_MAX);
}

static __be16 pma_be16(u64 count)
{
	return cpu_to_be16(min_t(u64, count, U16_MAX));
}

static __be32 pma_be32(u64 count)
{
	return cpu_to_be32(min_t(u64, count, U32_MAX));
}

static void pma_class_info(struct ib_class_port_info *info)
{
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = PMA_CLASS_VERSION;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
	ib_set_cpi_resp_time(info, PMA_RESP_TIME);
}

/* Words are of 4 bytes; packets dropped for lack of a buffer count as errors. */
static void pma_counters(const u64 *sums, struct ib_pma_portcounters *c)
{
	c->link_downed_counter = pma_u8(sums[SRNIC_CNT_LINK_DOWNED]);
	c->port_rcv_errors = pma_be16(sums[SRNIC_CNT_RX_ICRC] +
				      sums[SRNIC_CNT_RX_MALFORMED] +
				      sums[SRNIC_CNT_RX_NOBUF]);
	c->port_xmit_discards = pma_be16(sums[SRNIC_CNT_SEND_ERR]);
	c->port_xmit_data = pma_be32(sums[SRNIC_CNT_SENT_BYTES] / 4);
	c->port_rcv_data = pma_be32(sums[SRNIC_CNT_RCVD_BYTES] / 4);
	c->port_xmit_packets = pma_be32(sums[SRNIC_CNT_SENT_PKTS]);
	c->port_rcv_packets = pma_be32(sums[SRNIC_CNT_RCVD_PKTS]);
}

/* @sum less @some; the two are not read atomically, so @some may be the larger one. */
static __be64 pma_rest(u64 sum, u64 some)
{
	return cpu_to_be64(sum > some ? sum - some : 0);
}

static void pma_counters_ext(const u64 *sums, struct ib_pma_portcounters_ext *c)
{
	u64 sent_mcast = sums[SRNIC_CNT_SENT_MCAST];
	u64 rcvd_mcast = sums[SRNIC_CNT_RCVD_MCAST];
	u64 sent = sums[SRNIC_CNT_SENT_PKTS];
	u64 rcvd = sums[SRNIC_CNT_RCVD_PKTS];

	c->port_xmit_data = cpu_to_be64(sums[SRNIC_CNT_SENT_BYTES] / 4);
	c->port_rcv_data = cpu_to_be64(sums[SRNIC_CNT_RCVD_BYTES] / 4);
	c->port_xmit_packets = cpu_to_be64(sent);
	c->port_rcv_packets = cpu_to_be64(rcvd);
	c->port_unicast_xmit_packets = pma_rest(sent, sent_mcast);
	c->port_unicast_rcv_packets = pma_rest(rcvd, rcvd_mcast);
	c->port_multicast_xmit_packets = cpu_to_be64(sent_mcast);
	c->port_multicast_rcv_packets = cpu_to_be64(rcvd_mcast);
}

/* Both attributes hold the port number at the same offset. */
static bool pma_port_ok(const struct ib_pma_mad *in, u32 port)
{
	const struct ib_pma_portcounters *c = (const void *)in->data;

	static_assert(offsetof(struct ib_pma_portcounters, port_select) ==
		      offsetof(struct ib_pma_portcounters_ext, port_select));

	return c->port_select == port && !in->mad_hdr.attr_mod;
}

/* Fills in the data of @out, which is zeroed.  Return: status of the response. */
static u16 pma_get(struct srnic_dev *dev, u32 port, const struct ib_pma_mad *in,
		   struct ib_pma_mad *out)
{
	struct ib_pma_portcounters *c = (void *)out->data;
	u64 sums[SRNIC_CNT_NUM];

	if (in->mad_hdr.class_version != PMA_CLASS_VERSION)
		return IB_MGMT_MAD_STATUS_BAD_VERSION;
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO) {
		pma_class_info((void *)out->data);
		return 0;
	}
	if (in->mad_hdr.attr_id != IB_PMA_PORT_COUNTERS &&
	    in->mad_hdr.attr_id != IB_PMA_PORT_COUNTERS_EXT)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	if (!pma_port_ok(in, port))
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;

	c->port_select = port;
	srnic_port_counters(dev, pma_wanted, ARRAY_SIZE(pma_wanted), sums);
	if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		pma_counters(sums, c);
	else
		pma_counters_ext(sums, (void *)out->data);

	return 0;
}

/* MADs of other classes and methods are left to agents registered for them. */
int srnic_process_mad(struct ib_device *ibdev, int flags, u32 port,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index)
{
	u8 method = in->mad_hdr.method;
	u16 status;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    (method != IB_MGMT_METHOD_GET && method != IB_MGMT_METHOD_SET))
		return IB_MAD_RESULT_SUCCESS;

	status = pma_get(to_dev(ibdev), port, (const struct ib_pma_mad *)in,
			 (struct ib_pma_mad *)out);
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = cpu_to_be16(status);

	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
