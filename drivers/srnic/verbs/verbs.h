/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - verbs: the interface to the RDMA core
 *
 * ib_*.c: one file per object.  The core calls these functions with arguments chosen by
 * users; invalid ones are reported by errno and, for debugging, by ibdev_dbg().
 */
#ifndef SRNIC_VERBS_H
#define SRNIC_VERBS_H

#include <rdma/uverbs_ioctl.h>

#include "../srnic.h"

/* "RNI": a locally administered identifier, since srnic has no OUI */
#define SRNIC_VENDOR_ID		0x524e49
#define SRNIC_PART_ID		1

#define SRNIC_MAX_QP		BIT(20)
#define SRNIC_MAX_CQ		BIT(20)
#define SRNIC_MAX_SRQ		BIT(20)
#define SRNIC_MAX_PD		BIT(20)
#define SRNIC_MAX_AH		BIT(20)
#define SRNIC_MAX_MR		(BIT(24) - 1)	/* also MWs */
#define SRNIC_MAX_FAST_PAGES	4096
#define SRNIC_MAX_DM		BIT(26)		/* bytes, over all users */
#define SRNIC_MAX_GROUPS	BIT(15)		/* also QP attachments over all groups */
#define SRNIC_MAX_FLOWS		BIT(12)		/* each frame is compared with all */
#define SRNIC_MAX_COUNTERS	BIT(16)
#define SRNIC_GID_TBL_LEN	256
#define SRNIC_MAX_RWQ_TBL	BIT(IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE)

static inline struct srnic_dev *to_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct srnic_dev, ib_dev);
}

static inline struct srnic_ibqp *to_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct srnic_ibqp, ibqp);
}

static inline struct srnic_pd *to_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct srnic_pd, ibpd);
}

static inline struct srnic_ucontext *to_uc(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct srnic_ucontext, ibuc);
}

static inline struct srnic_ah *to_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct srnic_ah, ibah);
}

static inline struct srnic_ibsrq *to_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct srnic_ibsrq, ibsrq);
}

static inline struct srnic_ibmr *to_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct srnic_ibmr, ibmr);
}

static inline struct srnic_dm *to_dm(struct ib_dm *ibdm)
{
	return container_of(ibdm, struct srnic_dm, ibdm);
}

static inline struct srnic_ibcq *to_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct srnic_ibcq, ibcq);
}

/* The completion queue in @ibcq; NULL if that is NULL */
static inline struct srnic_cq *srnic_cq_of(struct ib_cq *ibcq)
{
	return ibcq ? &to_cq(ibcq)->cq : NULL;
}

/* ib_device.c */
int srnic_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata);
int srnic_query_port_speed(struct ib_device *ibdev, u32 port, u64 *speed);
int srnic_query_port(struct ib_device *ibdev, u32 port,
		     struct ib_port_attr *attr);
int srnic_get_port_immutable(struct ib_device *ibdev, u32 port,
			     struct ib_port_immutable *immutable);
int srnic_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);
enum rdma_link_layer srnic_get_link_layer(struct ib_device *ibdev, u32 port);
void srnic_get_dev_fw_str(struct ib_device *ibdev, char *str);

enum ib_mtu srnic_port_mtu(const struct srnic_dev *dev);

/* hw_stats.c */
struct rdma_hw_stats *srnic_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port);
int srnic_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index);

/*
 * Sets sums[what[i]] for the @num counters in @what to the sum over all counter sets,
 * including those that have been freed.  May sleep.
 */
void srnic_port_counters(struct srnic_dev *dev, const u8 *what, unsigned int num,
			 u64 *sums);

struct rdma_hw_stats *srnic_counter_alloc_stats(struct rdma_counter *counter);
int srnic_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp,
			  u32 port);
int srnic_counter_unbind_qp(struct ib_qp *ibqp, u32 port);
int srnic_counter_update_stats(struct rdma_counter *counter);
int srnic_counter_dealloc(struct rdma_counter *counter);
void srnic_counter_init(struct rdma_counter *counter);

/* srnic adds no state to struct rdma_counter; the counts are kept elsewhere. */
#ifndef SRNIC_COUNTER_OBJ
struct srnic_ibcounter {
	struct rdma_counter	counter;
};

#define SRNIC_COUNTER_OBJ						\
	.counter_init = srnic_counter_init,				\
	INIT_RDMA_OBJ_SIZE(rdma_counter, srnic_ibcounter, counter),
#endif

/* pma.c */
int srnic_process_mad(struct ib_device *ibdev, int flags, u32 port,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index);

/* restrack.c */
int srnic_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int srnic_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int srnic_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int srnic_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

/* quota.c */

/* Gets the user of the current process; NULL: no memory.  May sleep. */
struct srnic_user *srnic_user_get(struct srnic_dev *dev);
void srnic_user_put(struct srnic_user *user);

/* Return the user of @ibpd or @udata; NULL: the kernel.  They take no reference. */
struct srnic_user *srnic_user_of(const struct ib_pd *ibpd);
struct srnic_user *srnic_user_of_udata(struct ib_udata *udata);

/* Returns the user of @ibpd across all devices; NULL: the kernel */
struct srnic_owner *srnic_user_owner(const struct ib_pd *ibpd);

/* Receive memory that queue pairs of @user (NULL: the kernel) charge */
static inline struct srnic_rmem *srnic_user_rmem(struct srnic_dev *dev,
						 struct srnic_user *user)
{
	return user ? &user->rmem : &dev->rmem;
}

/* Maximum amount of a resource that one user may have. */
u64 srnic_user_max(const struct srnic_dev *dev, enum srnic_quota what);

/*
 * Charge @num units of a resource of @dev to @user (NULL: the kernel), and uncharge
 * them.  Context: any for the kernel, else may sleep.  Return: 0, -EDQUOT: the user's
 * share is exceeded, or -ENOSPC: the device's limit is reached.
 */
int srnic_quota_take(struct srnic_dev *dev, struct srnic_user *user,
		     enum srnic_quota what, u64 num);
void srnic_quota_give(struct srnic_dev *dev, struct srnic_user *user,
		      enum srnic_quota what, u64 num);

/* sysfs.c */
extern const struct attribute_group srnic_device_group;

/* ib_ucontext.c */
int srnic_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata);
void srnic_dealloc_ucontext(struct ib_ucontext *ibuc);
int srnic_query_ucontext(struct ib_ucontext *ibuc,
			 struct uverbs_attr_bundle *attrs);
void srnic_disassociate_ucontext(struct ib_ucontext *ibuc);
int srnic_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void srnic_mmap_free(struct rdma_user_mmap_entry *entry);

/*
 * Makes @ring mappable by the user of @udata and describes it in @out.  May sleep.
 * Return: a handle for srnic_mmap_hide(), or an ERR_PTR().
 */
struct srnic_mmap *srnic_ring_expose(const struct srnic_ring *ring,
				     struct ib_udata *udata,
				     struct srnic_map *out);

/* Makes zeroed vmalloc() memory mappable through the device file of @ibuc, like a ring. */
struct srnic_mmap *srnic_mmap_expose(struct ib_ucontext *ibuc, void *start,
				     size_t size, struct srnic_map *out);

/*
 * Prevents new mappings of a ring or of device memory, which the caller may free then.
 * Existing mappings keep their pages.  @map may be NULL.  May sleep.
 */
void srnic_mmap_hide(struct srnic_mmap *map);

/* User ABI of an object of @dev; @udata: NULL for in-kernel consumers */
static inline enum srnic_abi srnic_abi_for(const struct srnic_dev *dev,
					   const struct ib_udata *udata)
{
	return udata ? dev->abi : SRNIC_ABI_OWN;
}

/* udata.c */

/* Copies the input of a command, which may be longer if the rest of it is zeros. */
int srnic_udata_copy(void *cmd, struct ib_udata *udata, size_t len);

/* Respond to user space, in its ABI, with the location of new rings. */
int srnic_udata_respond_cq(struct ib_udata *udata, enum srnic_abi abi,
			   const struct srnic_map *ring);
int srnic_udata_respond_qp(struct ib_udata *udata, enum srnic_abi abi,
			   const struct srnic_map *sq, const struct srnic_map *rq);
int srnic_udata_respond_srq(struct ib_udata *udata, enum srnic_abi abi,
			    const struct srnic_map *ring, u32 srqn);
int srnic_udata_respond_srq_resize(struct ib_udata *udata, enum srnic_abi abi,
				   const struct srnic_map *ring);

/* ib_pd.c */
int srnic_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int srnic_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

/* ib_xrcd.c */
int srnic_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int srnic_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* ib_ah.c */
int srnic_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata);
int srnic_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int srnic_destroy_ah(struct ib_ah *ibah, u32 flags);

/*
 * Converts an address vector into a path, leaving its source port unset.  On success
 * the path holds a reference on its netdev.  Return: 0, -EINVAL or -ENODEV.
 */
int srnic_path_from_ah(struct srnic_path *path,
		       const struct rdma_ah_attr *attr);

/* ib_mr.c */
struct ib_mr *srnic_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *srnic_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata);
struct ib_mr *srnic_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset,
				       u64 length, u64 iova, int fd, int access,
				       struct ib_dmah *dmah,
				       struct uverbs_attr_bundle *attrs);
struct ib_mr *srnic_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs);
struct ib_mr *srnic_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			     u32 max_num_sg);
int srnic_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		    unsigned int *offset);
struct ib_mr *srnic_alloc_mr_integrity(struct ib_pd *ibpd, u32 max_num_sg, u32 max_num_meta_sg);
int srnic_map_mr_sg_pi(struct ib_mr *ibmr, struct scatterlist *data_sg, int data_sg_nents,
		       unsigned int *data_sg_offset, struct scatterlist *meta_sg,
		       int meta_sg_nents, unsigned int *meta_sg_offset);
int srnic_check_mr_status(struct ib_mr *ibmr, u32 check_mask, struct ib_mr_status *status);
struct ib_mr *srnic_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *ibpd, struct ib_udata *udata);
int srnic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

/* advise.c */
int srnic_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sge, u32 num,
		    struct uverbs_attr_bundle *attrs);

/* ib_dm.c */
extern const struct uapi_definition srnic_dm_defs[];
struct ib_dm *srnic_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ibuc,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs);
int srnic_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);

/* ib_mw.c */
int srnic_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int srnic_dealloc_mw(struct ib_mw *ibmw);

/* ib_cq.c; called once each, when the module is loaded and removed */
int srnic_verbs_init(void);
void srnic_verbs_exit(void);

int srnic_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int srnic_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);

/*
 * Called when a queue pair that used @ibcq, which may be NULL, generates no more completions:
 * returns when the events of those that it did generate have been raised, as a consumer in the
 * kernel must see none later.  Context: process, may sleep.
 */
void srnic_settle_cq(struct ib_cq *ibcq);

int srnic_resize_cq(struct ib_cq *ibcq, unsigned int cqe,
		    struct ib_udata *udata);
int srnic_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int srnic_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int srnic_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/* ib_mcast.c */
int srnic_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int srnic_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* ib_srq.c */
int srnic_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata);
int srnic_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int srnic_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int srnic_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);

/* ib_qp.c */
int srnic_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
int srnic_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int srnic_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int srnic_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/* ib_wq.c */
struct ib_wq *srnic_create_wq(struct ib_pd *ibpd, struct ib_wq_init_attr *init,
			      struct ib_udata *udata);
int srnic_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask,
		    struct ib_udata *udata);
int srnic_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata);
int srnic_create_rwq_ind_table(struct ib_rwq_ind_table *ibtable,
			       struct ib_rwq_ind_table_init_attr *init,
			       struct ib_udata *udata);
int srnic_destroy_rwq_ind_table(struct ib_rwq_ind_table *ibtable);

/*
 * RSS state by which a queue pair distributes frames over @ibtable, as requested in
 * @udata.  Return: NULL without a table, an ERR_PTR if the request is invalid.
 */
struct srnic_rss *srnic_rss_make(struct ib_device *ibdev,
				 const struct ib_rwq_ind_table *ibtable,
				 struct ib_udata *udata);

/* ib_flow.c */
struct ib_flow *srnic_create_flow(struct ib_qp *ibqp,
				  struct ib_flow_attr *attr,
				  struct ib_udata *udata);
int srnic_destroy_flow(struct ib_flow *ibflow);
int srnic_create_counters(struct ib_counters *ibcounters,
			  struct uverbs_attr_bundle *attrs);
int srnic_destroy_counters(struct ib_counters *ibcounters);
int srnic_read_counters(struct ib_counters *ibcounters,
			struct ib_counters_read_attr *attr,
			struct uverbs_attr_bundle *attrs);

/* post.c */
int srnic_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad);
int srnic_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad);
int srnic_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad);

#endif /* SRNIC_VERBS_H */
