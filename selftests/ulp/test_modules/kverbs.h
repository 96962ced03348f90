/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - kernel verbs: the objects of a case, and its steps
 *
 * A case is a function: it creates objects, executes steps, and states what each step is to
 * return.  The first step that returns something else, or an object that cannot be created, is
 * recorded in struct kv, and all later steps do nothing.  So a case needs no error paths, but it
 * must check kv_goes_on() before it dereferences what the functions below did not return.
 */
#ifndef KVERBS_H
#define KVERBS_H

#include <linux/completion.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#define KV_PAGES	8	/* of a list, and of an end's buffer */
#define KV_BYTES	(KV_PAGES * PAGE_SIZE)
#define KV_DEPTH	64	/* of each queue */
#define KV_OPS		256
#define KV_INLINE	64
#define KV_RD_ATOMIC	4

/* Rights of a peer: one, and all of them */
#define KV_READ		IB_ACCESS_REMOTE_READ
#define KV_WRITE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)
#define KV_ALL		(KV_READ | KV_WRITE | IB_ACCESS_REMOTE_ATOMIC)

/* Status of a memory management operation that is refused, such as REG_MR */
#define KV_MGMT_ERR	IB_WC_MW_BIND_ERR

/**
 * struct kv_op - a work request that completes
 * @end: its end, NULL while the entry is free
 * @opcode: that of its completion, if it succeeds
 * @came: it has a completion
 * @stray: it has a second one
 * @cpu: where it was polled
 */
struct kv_op {
	struct kv_end		*end;
	struct ib_cqe		cqe;
	struct completion	done;
	struct ib_wc		wc;
	enum ib_wc_opcode	opcode;
	bool			came;
	bool			stray;
	unsigned int		cpu;
};

/**
 * struct kv_end - one end of a connection
 * @buf: the source or sink of its requests, KV_BYTES of it, at @dma for the device
 * @recv: what its receives write to, a page of it, at @recv_dma
 * @psn: of the first packet that it sends, another one each time that it is connected
 */
struct kv_end {
	struct ib_device		*dev;
	struct ib_pd			*pd;
	struct ib_cq			*cq;
	struct ib_qp			*qp;
	const struct ib_gid_attr	*gid;
	u8				*buf;
	u8				*recv;
	u64				dma;
	u64				recv_dma;
	u32				psn;
};

/**
 * struct kv_link - two connected queue pairs
 * @own: the end that registers regions
 * @peer: the end that accesses them
 */
struct kv_link {
	struct kv_end	own;
	struct kv_end	peer;
};

/**
 * struct kv_mem - the memory of a region: @num pieces of 1 << @order pages each
 * @sg: the list of it that is mapped, mostly one entry for a piece
 * @nents: number of entries in @sg
 */
struct kv_mem {
	struct ib_device	*dev;
	struct page		*page[KV_PAGES];
	struct scatterlist	sg[KV_PAGES];
	unsigned int		order;
	int			num;
	int			nents;
	bool			mapped;
};

/**
 * struct kv_target - what a peer is told of a region
 * @mem: the memory that it names, NULL if the kernel has no address of it
 */
struct kv_target {
	struct kv_mem	*mem;
	u64		iova;
	u32		len;
	u32		key;
};

/**
 * struct kv_region - a region
 * @listed: the memory that was mapped last
 * @at: the registration, as REG_MR has left it
 */
struct kv_region {
	struct ib_mr		*mr;
	struct kv_mem		*listed;
	struct kv_target	at;
};

/**
 * struct kv - a case that is running
 * @next_op: where the search for a free entry of @op begins, so that none is soon used again
 * @unsignalled: of all requests that are not to have a completion
 * @wr: for a long list
 * @user: address of memory of the process, 0 if none
 * @seed: of the pattern that was written last
 * @step: number of steps so far
 * @bound: seconds after which a step has hung
 * @why: why it failed, empty while it goes on
 * @note: what the result does not cover, or NULL
 * @stray: a request that was not signalled has a completion
 * @late: something did not happen within the bound
 */
struct kv {
	struct ib_device	*dev[2];
	struct ib_pd		*pd[4];
	struct kv_link		link[2];
	struct kv_mem		mem[8];
	struct kv_region	region[8];
	size_t			num_pds;
	size_t			num_links;
	size_t			num_mems;
	struct kv_op		op[KV_OPS];
	size_t			next_op;
	struct ib_cqe		unsignalled;
	struct ib_rdma_wr	wr[KV_DEPTH];
	unsigned long		user;
	u32			seed;
	unsigned int		step;
	unsigned int		bound;
	char			why[256];
	const char		*note;
	bool			stray;
	bool			late;
};

struct kv_case {
	const char	*name;
	void		(*run)(struct kv *t);
};

/* The cases of each file; the last one has no name */
extern const struct kv_case kv_region_cases[];
extern const struct kv_case kv_refuse_cases[];
extern const struct kv_case kv_work_cases[];
extern const struct kv_case kv_queue_cases[];
extern const struct kv_case kv_orders_cases[];
extern const struct kv_case kv_integrity_cases[];
extern const struct kv_case kv_masked_cases[];

/* main.c: the result */
__printf(2, 3) void kv_fail(struct kv *t, const char *fmt, ...);
bool kv_goes_on(const struct kv *t);

/* link.c: objects, which are destroyed after the case */
struct ib_pd *kv_pd(struct kv *t, struct ib_device *dev);
struct kv_link *kv_connect(struct kv *t, struct ib_pd *own, struct ib_pd *peer,
			   enum ib_poll_context poll);
/* The link of most cases, whose ends have a PD each */
struct kv_link *kv_link(struct kv *t);
/* Both ends enter the error state. */
void kv_error(struct kv *t, struct kv_link *link);
/* Flushes both ends, which enter the error state, as ib_drain_qp() does, but with a bound. */
void kv_drain(struct kv *t, struct kv_link *link);
/* Both ends are drained and connected again. */
void kv_restart(struct kv *t, struct kv_link *link);
/* Memory of @num pieces, of which the list has @len bytes from @start on */
struct kv_mem *kv_mem(struct kv *t, struct ib_device *dev, u32 start, u32 len);
/* The pages of another memory, which is not of a higher order, in a list of their own */
struct kv_mem *kv_mem_again(struct kv *t, const struct kv_mem *of, u32 start, u32 len);
struct kv_mem *kv_mem_of_order(struct kv *t, struct ib_device *dev, unsigned int order);
/* The same memory is listed in another way: likewise, or by entries at @offset of @piece. */
void kv_list_of(struct kv *t, struct kv_mem *mem, u32 start, u32 len);
void kv_list_begin(struct kv *t, struct kv_mem *mem, int nents);
void kv_list_add(struct kv *t, struct kv_mem *mem, int piece, u32 offset, u32 len);
void kv_list_end(struct kv *t, struct kv_mem *mem);
struct kv_region *kv_region(struct kv *t, struct ib_pd *pd, u32 pages);
/* A region with protection information; without, if the device has none, that is checked. */
bool kv_has_integrity(struct kv *t);
struct kv_region *kv_integrity_region(struct kv *t, struct ib_pd *pd, u32 pieces);
struct kv_region *kv_user_region(struct kv *t, struct ib_pd *pd, int access);
void kv_dereg(struct kv *t, struct kv_region *region);
void kv_destroy(struct kv *t);

/* step.c: steps; @want is a status of a completion, or an error of posting */
struct kv_op *kv_op(struct kv *t, struct kv_end *end);
/* The completion of @wr is that of @op. */
void kv_signal(struct kv_op *op, struct ib_send_wr *wr);
/* Requests of the list that kv_signal() was not called for are not to be completed. */
void kv_post(struct kv *t, struct kv_end *end, struct ib_send_wr *wr);
void kv_want(struct kv *t, const char *what, int got, int want);
/* Waits for @op, and frees it.  Return: its status */
int kv_await(struct kv *t, const char *what, struct kv_op *op);
void kv_done(struct kv *t, const char *what, struct kv_op *op, int want);
/* Is it complete?  It is not freed. */
bool kv_is_done(struct kv_op *op);
/* Posts @wr alone, which is signalled, and waits for it. */
/* Posts @wr alone, signalled, and waits for it.  Return: its status, or the error of posting */
int kv_do(struct kv *t, struct kv_end *end, const char *what, struct ib_send_wr *wr);
void kv_request(struct kv *t, struct kv_end *end, const char *what, struct ib_send_wr *wr,
		int want);

void kv_map(struct kv *t, struct kv_region *region, struct kv_mem *mem, int want);
void kv_new_key(struct kv *t, struct kv_region *region);
void kv_reg(struct kv *t, struct kv_end *end, struct kv_region *region, int access, int want);
void kv_inv(struct kv *t, struct kv_end *end, u32 key, int want);
/* All of @at, and every byte of its memory is compared */
void kv_write(struct kv *t, struct kv_end *end, const struct kv_target *at, int want);
void kv_read(struct kv *t, struct kv_end *end, const struct kv_target *at, int want);
/* Both */
void kv_access(struct kv *t, struct kv_end *end, const struct kv_target *at);
/* @wr makes the word @after of @before, and returns that. */
void kv_atomic(struct kv *t, struct kv_end *end, const struct kv_target *at,
	       struct ib_atomic_wr *wr, u64 before, u64 after, int want);
void kv_fetch_add(struct kv *t, struct kv_end *end, const struct kv_target *at, int want);
/* SEND to the other end, or SEND with invalidate of @key */
void kv_send(struct kv *t, struct kv_link *link, struct kv_end *from, int want);
void kv_send_inv(struct kv *t, struct kv_link *link, struct kv_end *from, u32 key, int want);
/* Map @mem, REG_MR with a new key */
void kv_register(struct kv *t, struct kv_end *end, struct kv_region *region,
		 struct kv_mem *mem, int access);

/* Work requests of lists */
struct ib_sge kv_sge(const struct kv_end *end, u32 len);
void kv_fill(struct kv *t, struct kv_end *end, u32 len);
void kv_blank(struct kv_mem *mem);
void kv_check(struct kv *t, const struct kv_target *at, u32 len);
struct ib_reg_wr kv_reg_wr(struct kv *t, struct kv_region *region, int access);
void kv_registered(struct kv *t, struct kv_region *region);
struct ib_rdma_wr kv_rdma_wr(enum ib_wr_opcode opcode, const struct kv_target *at,
			     struct ib_sge *sge);
struct kv_op *kv_post_recv(struct kv *t, struct kv_end *end);
/* @op has received @len bytes of the pattern; if @key is not 0 it was invalidated. */
void kv_received(struct kv *t, struct kv_end *end, struct kv_op *op, u32 len, u32 key);
/* What was received starts with byte @from of the pattern. */
void kv_received_from(struct kv *t, struct kv_end *end, struct kv_op *op, u32 from, u32 len);
/* No request has a completion that it is not to have; for the end, without completion queues */
void kv_no_strays(struct kv *t);

#endif /* KVERBS_H */
