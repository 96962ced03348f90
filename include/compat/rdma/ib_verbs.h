/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <rdma/ib_verbs.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_IB_VERBS_H
#define SRNIC_COMPAT_IB_VERBS_H

#include_next <rdma/ib_verbs.h>

#include <linux/netdevice.h>

#ifndef SRNIC_HAVE_ALLOC_DEVICE_WITH_NET
/* Devices are created in init_net; "rdma dev set" moves them. */
#define ib_alloc_device_with_net(drv_struct, member, net) \
	((void)(net), ib_alloc_device(drv_struct, member))
#endif

#ifndef SRNIC_HAVE_DMAH
/*
 * reg_user_mr() and reg_user_mr_dmabuf() have no DMA handle.  The macros remove that
 * argument from declaration, definition and calls, but leave the bare name, as in the
 * table of operations, alone.  The definition reads the constant instead.
 */
struct ib_dmah;
static struct ib_dmah * const dmah __maybe_unused;

#define srnic_reg_user_mr(pd, start, length, iova, access, dmah, udata) \
	srnic_reg_user_mr(pd, start, length, iova, access, udata)

/* Older kernels pass the driver's udata instead of @attrs; neither is used. */
#ifdef SRNIC_HAVE_REG_DMABUF_ATTRS
#define srnic_reg_user_mr_dmabuf(pd, offset, length, iova, fd, access, dmah, \
				 attrs) \
	srnic_reg_user_mr_dmabuf(pd, offset, length, iova, fd, access, attrs)
#else
#define srnic_reg_user_mr_dmabuf(pd, offset, length, iova, fd, access, dmah, \
				 attrs) \
	srnic_reg_user_mr_dmabuf(pd, offset, length, iova, fd, access, \
				 struct ib_udata *udata)
#endif
#endif

#ifndef SRNIC_HAVE_COUNTER_INIT
/*
 * struct rdma_counter has no driver part to size and initialise.  Bind and unbind
 * have no port argument.
 */
#define SRNIC_COUNTER_OBJ

#define srnic_counter_bind_qp(counter, qp, port) \
	srnic_counter_bind_qp(counter, qp)
#define srnic_counter_unbind_qp(qp, port) srnic_counter_unbind_qp(qp)
#endif

#ifndef SRNIC_HAVE_FLUSH
/*
 * FLUSH and ATOMIC WRITE work on the wire, but the core does not know them: no
 * capability reports them, and IB_ACCESS_SUPPORTED lacks the access rights for FLUSH, so
 * a region with these rights is refused, and a queue pair is not given them.
 */
#define IB_DEVICE_FLUSH_GLOBAL		0
#define IB_DEVICE_FLUSH_PERSISTENT	0
#define IB_DEVICE_ATOMIC_WRITE		0
#define IB_ODP_SUPPORT_FLUSH		0
#define IB_ODP_SUPPORT_ATOMIC_WRITE	0

#define IB_ACCESS_FLUSH_GLOBAL		0x100
#define IB_ACCESS_FLUSH_PERSISTENT	0x200
#define IB_UVERBS_WC_FLUSH		8
#define IB_UVERBS_WC_ATOMIC_WRITE	9
#define IB_WR_FLUSH			14
#define IB_WR_ATOMIC_WRITE		15

#define IB_FLUSH_GLOBAL			1
#define IB_FLUSH_PERSISTENT		2
#define IB_FLUSH_RANGE			0
#define IB_FLUSH_MR			1
#elif !defined(SRNIC_HAVE_ODP_FLUSH)
#define IB_ODP_SUPPORT_FLUSH		BIT(6)
#define IB_ODP_SUPPORT_ATOMIC_WRITE	BIT(7)
#endif

/* Entries in the table of operations, if the kernel has the operation */
#ifdef SRNIC_HAVE_FILL_RES_SRQ
#define SRNIC_FILL_RES_SRQ(fill)	.fill_res_srq_entry = fill,
#else
#define SRNIC_FILL_RES_SRQ(fill)
#endif

#ifdef SRNIC_HAVE_QUERY_PORT_SPEED
#define SRNIC_QUERY_PORT_SPEED(query)	.query_port_speed = query,
#else
#define SRNIC_QUERY_PORT_SPEED(query)
#endif

#ifndef SRNIC_HAVE_KERNEL_CAPS
/* One field holds these flags and those that user space sees. */
#define kernel_cap_flags		device_cap_flags
#define IBK_ALLOW_USER_UNREG		IB_DEVICE_ALLOW_USER_UNREG
#define IBK_ON_DEMAND_PAGING		IB_DEVICE_ON_DEMAND_PAGING
#define IBK_BLOCK_MULTICAST_LOOPBACK	IB_DEVICE_BLOCK_MULTICAST_LOOPBACK
#define IBK_INTEGRITY_HANDOVER		IB_DEVICE_INTEGRITY_HANDOVER
#endif

#ifndef SRNIC_HAVE_UDP_SPORT
static inline u16 rdma_get_udp_sport(u32 label, u32 lqpn, u32 rqpn)
{
	return rdma_flow_label_to_udp_sport(label ?:
					    rdma_calc_flow_label(lqpn, rqpn));
}
#endif

/* Excludes a counter from what is shown, which takes a kernel that can */
#ifdef SRNIC_HAVE_STAT_DESC
#define SRNIC_STAT_DISABLE(stats, i)	set_bit(i, (stats)->is_disabled)
#else
#define SRNIC_STAT_DISABLE(stats, i)	((void)(stats))

/* The core takes an array of names, which an array of this is. */
struct rdma_stat_desc {
	const char	*name;
};

#define rdma_alloc_hw_stats_struct(descs, num, lifespan) \
	rdma_alloc_hw_stats_struct(&(descs)->name, num, lifespan)
#endif

#ifndef SRNIC_HAVE_MARK_NAME
/* The function only keeps udev from renaming the device. */
#define ib_mark_name_assigned_by_user(dev)
#endif

#ifndef SRNIC_HAVE_RESIZE_USER_CQ
/*
 * resize_cq() takes a signed number of entries.  The macro changes declaration and
 * definition, but leaves the bare name, as in the table of operations, alone.
 */
#define resize_user_cq	resize_cq
#define srnic_resize_cq(ibcq, entries, udata) \
	srnic_resize_cq(ibcq, int cqe, udata)
#endif

#ifndef SRNIC_HAVE_PORT_STATE
static inline enum ib_port_state
ib_get_curr_port_state(struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) ? IB_PORT_ACTIVE :
							       IB_PORT_DOWN;
}

static inline void ib_dispatch_port_state_event(struct ib_device *ibdev,
						struct net_device *ndev)
{
	struct ib_event event = {
		.device			= ibdev,
		.element.port_num	= 1,
		.event			= IB_EVENT_PORT_ERR,
	};

	if (ib_get_curr_port_state(ndev) == IB_PORT_ACTIVE)
		event.event = IB_EVENT_PORT_ACTIVE;
	ib_dispatch_event(&event);
}
#endif

#endif /* SRNIC_COMPAT_IB_VERBS_H */
