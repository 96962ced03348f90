// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the device and its port: capabilities and attributes
 */
#include <linux/ethtool.h>
#include <linux/math.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>

#include "verbs.h"

/* On-demand paging capabilities: every operation that each service supports */
#define ODP_SENDS	(IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | \
			 IB_ODP_SUPPORT_SRQ_RECV)
#define ODP_UC		(ODP_SENDS | IB_ODP_SUPPORT_WRITE)
#define ODP_RC		(ODP_UC | IB_ODP_SUPPORT_READ | \
			 IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_FLUSH | \
			 IB_ODP_SUPPORT_ATOMIC_WRITE)
#define ODP_XRC		(IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_SRQ_RECV | \
			 IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ | \
			 IB_ODP_SUPPORT_ATOMIC)

static const struct ib_odp_caps odp_caps = {
	.general_caps			= IB_ODP_SUPPORT |
					  IB_ODP_SUPPORT_IMPLICIT,
	.per_transport_caps.rc_odp_caps	= ODP_RC,
	.per_transport_caps.uc_odp_caps	= ODP_UC,
	.per_transport_caps.ud_odp_caps	= ODP_SENDS,
	.per_transport_caps.xrc_odp_caps = ODP_XRC,
};

/* Flow steering needs the netfilter ingress hook to intercept frames. */
#define DEVICE_FLOWS	(IS_ENABLED(CONFIG_NETFILTER_INGRESS) ? \
			 IB_DEVICE_MANAGED_FLOW_STEERING : 0)

/* Capabilities that require an Ethernet device */
static void query_frames(const struct srnic_dev *dev, struct ib_device_attr *attr)
{
	attr->device_cap_flags |= IB_DEVICE_RAW_IP_CSUM | DEVICE_FLOWS;
	attr->max_raw_ethy_qp = srnic_user_max(dev, SRNIC_Q_QP);
	attr->raw_packet_caps = IB_RAW_PACKET_CAP_IP_CSUM;
	attr->rss_caps = (struct ib_rss_caps) {
		.supported_qpts	= BIT(IB_QPT_RAW_PACKET),
		.max_rwq_indirection_tables	= SRNIC_MAX_QP,
		.max_rwq_indirection_table_size	= SRNIC_MAX_RWQ_TBL,
	};
	attr->max_wq_type_rq = srnic_user_max(dev, SRNIC_Q_QP);
}

/* Integrity regions, which kernel consumers can have where verbs/sysfs.c offers them */
static void query_integrity(struct ib_device_attr *attr)
{
	attr->sig_prot_cap = IB_PROT_T10DIF_TYPE_1 | IB_PROT_T10DIF_TYPE_2 |
			     IB_PROT_T10DIF_TYPE_3;
	attr->sig_guard_cap = IB_GUARD_T10DIF_CRC | IB_GUARD_T10DIF_CSUM;
	attr->max_pi_fast_reg_page_list_len = SRNIC_MAX_FAST_PAGES;
}

/* Removes capabilities that librxe does not implement. */
static void query_rxe(struct ib_device_attr *attr)
{
	attr->device_cap_flags &= ~IB_DEVICE_XRC;
	attr->kernel_cap_flags &= ~IBK_BLOCK_MULTICAST_LOOPBACK;
	attr->odp_caps.per_transport_caps.xrc_odp_caps = 0;
	attr->max_dm_size = 0;
	attr->cq_caps = (struct ib_cq_caps) {};
	attr->timestamp_mask = 0;
	attr->hca_core_clock = 0;
}

int srnic_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata)
{
	struct srnic_dev *dev = to_dev(ibdev);
	int err = ib_no_udata_io(udata);

	if (err)
		return err;

	/* For resources with a quota, report the maximum that one user can have. */
	*attr = (struct ib_device_attr) {
		.fw_ver			= (u64)SRNIC_ABI_REVISION << 32,
		.sys_image_guid		= ibdev->node_guid,
		.vendor_id		= SRNIC_VENDOR_ID,
		.vendor_part_id		= SRNIC_PART_ID,
		.max_mr_size		= U64_MAX,
		.page_size_cap		= GENMASK(30, PAGE_SHIFT),
		.max_qp			= srnic_user_max(dev, SRNIC_Q_QP),
		.max_qp_wr		= srnic_max_wr(dev),
		.device_cap_flags	= IB_DEVICE_CURR_QP_STATE_MOD |
					  IB_DEVICE_PORT_ACTIVE_EVENT |
					  IB_DEVICE_SYS_IMAGE_GUID |
					  IB_DEVICE_BAD_PKEY_CNTR |
					  IB_DEVICE_BAD_QKEY_CNTR |
					  IB_DEVICE_SRQ_RESIZE |
					  IB_DEVICE_XRC |
					  IB_DEVICE_RC_RNR_NAK_GEN |
					  IB_DEVICE_MEM_MGT_EXTENSIONS |
					  IB_DEVICE_MEM_WINDOW |
					  IB_DEVICE_MEM_WINDOW_TYPE_2B |
					  IB_DEVICE_FLUSH_GLOBAL |
					  IB_DEVICE_FLUSH_PERSISTENT |
					  IB_DEVICE_ATOMIC_WRITE,
		.max_send_sge		= SRNIC_MAX_SGE,
		.max_recv_sge		= SRNIC_MAX_SGE,
		.max_sge_rd		= SRNIC_MAX_SGE,
		.max_cq			= srnic_user_max(dev, SRNIC_Q_CQ),
		.max_cqe		= srnic_max_cqe(dev),
		.max_mr			= srnic_user_max(dev, SRNIC_Q_KEY),
		.max_mw			= srnic_user_max(dev, SRNIC_Q_KEY),
		.max_fast_reg_page_list_len = SRNIC_MAX_FAST_PAGES,
		.max_dm_size		= ALIGN_DOWN(srnic_user_max(dev, SRNIC_Q_DM),
						     PAGE_SIZE),
		.max_pd			= srnic_user_max(dev, SRNIC_Q_DOMAIN),
		.max_qp_rd_atom		= SRNIC_MAX_RD_ATOMIC,
		.max_res_rd_atom	= srnic_user_max(dev, SRNIC_Q_QP) *
					  SRNIC_MAX_RD_ATOMIC,
		.max_qp_init_rd_atom	= SRNIC_MAX_RD_ATOMIC,
		.atomic_cap		= IB_ATOMIC_HCA,
		.masked_atomic_cap	= IB_ATOMIC_HCA,
		.max_mcast_grp		= srnic_user_max(dev, SRNIC_Q_GROUP),
		.max_mcast_qp_attach	= SRNIC_MAX_GROUP_QPS,
		.max_total_mcast_qp_attach = srnic_user_max(dev, SRNIC_Q_GROUP),
		.max_ah			= srnic_user_max(dev, SRNIC_Q_AH),
		.max_srq		= srnic_user_max(dev, SRNIC_Q_SRQ),
		.max_srq_wr		= srnic_max_wr(dev),
		.max_srq_sge		= SRNIC_MAX_SGE,
		.max_pkeys		= 1,
		.odp_caps		= odp_caps,
		.local_ca_ack_delay	= 15,	/* 134 ms: CPUs are shared */
		.cq_caps.max_cq_moderation_count = U16_MAX,
		.cq_caps.max_cq_moderation_period = U16_MAX,
		.timestamp_mask		= U64_MAX,
		.hca_core_clock		= 1000000,	/* kHz: 1 ns per tick */
	};
	attr->kernel_cap_flags |= IBK_ALLOW_USER_UNREG | IBK_ON_DEMAND_PAGING |
				  IBK_BLOCK_MULTICAST_LOOPBACK;
	if (SRNIC_HAVE_INTEGRITY)
		query_integrity(attr);
	if (srnic_has_frames(dev))
		query_frames(dev, attr);
	if (dev->abi == SRNIC_ABI_RXE)
		query_rxe(attr);

	return 0;
}

enum ib_mtu srnic_port_mtu(const struct srnic_dev *dev)
{
	return iboe_get_mtu(READ_ONCE(dev->ndev->mtu)) ?: IB_MTU_256;
}

static u8 port_phys_state(const struct net_device *ndev,
			  enum ib_port_state state)
{
	if (state == IB_PORT_ACTIVE)
		return IB_PORT_PHYS_STATE_LINK_UP;

	return netif_running(ndev) ? IB_PORT_PHYS_STATE_POLLING :
				     IB_PORT_PHYS_STATE_DISABLED;
}

static enum ib_port_state port_state(const struct srnic_dev *dev)
{
	return iboe_get_mtu(READ_ONCE(dev->ndev->mtu)) ?
	       ib_get_curr_port_state(dev->ndev) : IB_PORT_DOWN;
}

int srnic_query_port(struct ib_device *ibdev, u32 port,
		     struct ib_port_attr *attr)
{
	struct srnic_dev *dev = to_dev(ibdev);

	/* A netdev being unregistered has no speed, but the port still has a state. */
	if (ib_get_eth_speed(ibdev, port, &attr->active_speed,
			     &attr->active_width)) {
		attr->active_speed = IB_SPEED_SDR;
		attr->active_width = IB_WIDTH_1X;
	}

	attr->state = port_state(dev);
	attr->phys_state = port_phys_state(dev->ndev, attr->state);
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = srnic_port_mtu(dev);
	attr->phys_mtu = READ_ONCE(dev->ndev->mtu);
	attr->gid_tbl_len = SRNIC_GID_TBL_LEN;
	attr->ip_gids = true;
	attr->max_msg_sz = SRNIC_MAX_MSG;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->pkey_tbl_len = 1;
	attr->bad_pkey_cntr = srnic_stats_sum(dev->stats,
					      SRNIC_CNT_RX_BAD_PKEY);
	attr->qkey_viol_cntr = srnic_stats_sum(dev->stats,
					       SRNIC_CNT_RX_BAD_QKEY);
	attr->max_vl_num = 1;

	return 0;
}

/* In units of 100 Mbit/s.  An unknown speed is taken for that which the core assumes. */
int srnic_query_port_speed(struct ib_device *ibdev, u32 port, u64 *speed)
{
	struct net_device *ndev = to_dev(ibdev)->ndev;
	struct ethtool_link_ksettings link = {};
	u32 mbits = SPEED_1000;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED &&
	    !__ethtool_get_link_ksettings(ndev, &link) &&
	    link.base.speed != (u32)SPEED_UNKNOWN)
		mbits = link.base.speed;
	rtnl_unlock();

	*speed = port_state(to_dev(ibdev)) == IB_PORT_ACTIVE ?
		 DIV_ROUND_UP(mbits, 100) : 0;

	return 0;
}

int srnic_get_port_immutable(struct ib_device *ibdev, u32 port,
			     struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	if (srnic_has_frames(to_dev(ibdev)))
		immutable->core_cap_flags |= RDMA_CORE_PORT_RAW_PACKET;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	immutable->gid_tbl_len = SRNIC_GID_TBL_LEN;
	immutable->pkey_tbl_len = 1;

	return 0;
}

int srnic_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;

	*pkey = SRNIC_PKEY_DEFAULT;

	return 0;
}

enum rdma_link_layer srnic_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

void srnic_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	scnprintf(str, IB_FW_VERSION_NAME_MAX, "%u.0.0", SRNIC_ABI_REVISION);
}
