// SPDX-License-Identifier: GPL-2.0
/*
 * srnic bench - many queue pairs between two devices, both ends in one process
 *
 * usage: crowd [options] DEVICE0 DEVICE1 NETNS1
 *
 *	-a PAIRS	that send WRITEs from DEVICE0 to DEVICE1 (1)
 *	-b BUFFERS	that the pairs share, on both sides (1)
 *	-i PAIRS	that are connected and idle (0)
 *	-s BYTES	per message (65536)
 *	-t SECONDS	to send for (2)
 *
 * DEVICE1 is in the network namespace of that name.  The number of pairs does not change the
 * cache footprint, that of buffers does; 32 messages are in flight, or one for each pair.  Prints
 *
 *	MiB/s, microseconds to make, connect and destroy one more pair
 */
#define _GNU_SOURCE
#include "bench.h"

#define IN_FLIGHT	32	/* messages, of all pairs */
#define SAMPLES		200	/* pairs created and destroyed to measure their cost */

/**
 * struct end - a device and the objects shared by its queue pairs
 * @ctx: the device
 * @pd: protection domain
 * @cq: CQ of all its queue pairs
 * @mr: the memory of all messages
 * @gid: index of the GID with its IPv4 address
 * @addr: that GID
 */
struct end {
	struct ibv_context	*ctx;
	struct ibv_pd		*pd;
	struct ibv_cq		*cq;
	struct ibv_mr		*mr;
	int			gid;
	union ibv_gid		addr;
};

struct pair {
	struct ibv_qp	*qp[2];
};

/**
 * struct crowd - all queue pairs
 * @end: sender, receiver
 * @pairs: the active ones first
 * @active: number of pairs that send
 * @count: number of pairs
 * @depth: messages in flight for each active pair
 * @size: bytes per message
 * @buffers: number of buffers of that size
 */
struct crowd {
	struct end	end[2];
	struct pair	*pairs;
	int		active;
	int		count;
	int		depth;
	size_t		size;
	size_t		buffers;
};

/* --- ends ------------------------------------------------------------------- */

static void end_find_gid(struct end *end)
{
	static const __u8 ipv4[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_gid_entry entry;

	while (!ibv_query_gid_ex(end->ctx, 1, end->gid, &entry, 0)) {
		if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(entry.gid.raw, ipv4, sizeof(ipv4))) {
			end->addr = entry.gid;
			return;
		}
		end->gid++;
	}
	die("IPv4 address");
}

static void end_open(struct end *end, const char *name, size_t size, int cqes)
{
	end->ctx = open_device(name);
	end_find_gid(end);
	end->pd = ibv_alloc_pd(end->ctx);
	end->cq = ibv_create_cq(end->ctx, cqes, NULL, NULL, 0);
	if (!end->pd || !end->cq)
		die(name);
	end->mr = ibv_reg_mr(end->pd, buffer(size), size,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!end->mr)
		die("ibv_reg_mr");
}

/* --- pairs ------------------------------------------------------------------ */

static struct ibv_qp *qp_make(struct end *end, int depth)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = { .max_send_wr = depth, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(end->pd, &init);

	if (!qp)
		die("ibv_create_qp");

	return qp;
}

static void qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (ibv_modify_qp(qp, attr, mask))
		die("ibv_modify_qp");
}

static void qp_connect(struct ibv_qp *qp, const struct end *own,
		       const struct end *peer, __u32 dest_qpn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		  IBV_QP_ACCESS_FLAGS);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_4096;
	attr.dest_qp_num = dest_qpn;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = peer->addr;
	attr.ah_attr.grh.sgid_index = own->gid;
	attr.ah_attr.grh.hop_limit = 64;
	qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		  IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void pair_make(struct crowd *c, struct pair *pair)
{
	int i;

	for (i = 0; i < 2; i++)
		pair->qp[i] = qp_make(&c->end[i], c->depth);
	for (i = 0; i < 2; i++)
		qp_connect(pair->qp[i], &c->end[i], &c->end[!i],
			   pair->qp[!i]->qp_num);
}

static void pair_destroy(struct pair *pair)
{
	if (ibv_destroy_qp(pair->qp[0]) || ibv_destroy_qp(pair->qp[1]))
		die("ibv_destroy_qp");
}

/* Microseconds to create, connect and destroy a pair while all others exist */
static double pair_cost(struct crowd *c)
{
	double begin, took[SAMPLES];
	struct pair pair;
	int i;

	for (i = 0; i < SAMPLES; i++) {
		begin = now();
		pair_make(c, &pair);
		pair_destroy(&pair);
		took[i] = (now() - begin) * 1e6;
	}
	qsort(took, SAMPLES, sizeof(took[0]), by_value);

	return took[SAMPLES / 2];
}

/* --- messages --------------------------------------------------------------- */

static void post(struct crowd *c, struct pair *pair)
{
	struct ibv_mr *from = c->end[0].mr, *to = c->end[1].mr;
	size_t at = (pair - c->pairs) % c->buffers * c->size;
	struct ibv_sge sge = { (uintptr_t)from->addr + at, c->size, from->lkey };
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)pair,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)to->addr + at, .rkey = to->rkey },
	}, *bad;

	if (ibv_post_send(pair->qp[0], &wr, &bad))
		die("ibv_post_send");
}

/* Waits for completions; returns the number of completions stored. */
static int complete(struct crowd *c, struct ibv_wc *wc, int most)
{
	int i, n;

	while ((n = ibv_poll_cq(c->end[0].cq, most, wc)) == 0)
		sched_yield();
	if (n < 0)
		die("ibv_poll_cq");
	for (i = 0; i < n; i++)
		if (wc[i].status)
			die(ibv_wc_status_str(wc[i].status));

	return n;
}

/* Posts a message for each completed one for @seconds; returns the number completed. */
static unsigned long repeat(struct crowd *c, double seconds)
{
	double end = now() + seconds;
	unsigned long done = 0;
	struct ibv_wc wc[16];
	int i, n;

	while (now() < end) {
		n = complete(c, wc, 16);
		for (i = 0; i < n; i++)
			post(c, (struct pair *)(uintptr_t)wc[i].wr_id);
		done += n;
	}

	return done;
}

static double bandwidth(struct crowd *c, double seconds)
{
	int i, j, left = c->depth * c->active;
	unsigned long done;
	struct ibv_wc wc[16];

	for (j = 0; j < c->depth; j++)
		for (i = 0; i < c->active; i++)
			post(c, &c->pairs[i]);
	repeat(c, seconds / 4);
	done = repeat(c, seconds);
	while (left)
		left -= complete(c, wc, 16);

	return done * c->size / seconds / (1 << 20);
}

int main(int argc, char **argv)
{
	struct crowd c = { .active = 1, .size = 65536, .buffers = 1 };
	int idle = 0, option, i;
	double rate, seconds = 2;

	while ((option = getopt(argc, argv, "a:b:i:s:t:")) != -1) {
		switch (option) {
		case 'a':
			c.active = atoi(optarg);
			break;
		case 'b':
			c.buffers = atoi(optarg);
			break;
		case 'i':
			idle = atoi(optarg);
			break;
		case 's':
			c.size = strtoull(optarg, NULL, 0);
			break;
		case 't':
			seconds = atof(optarg);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 3 || c.active < 1 || !c.buffers)
		return 2;
	c.count = c.active + idle;
	c.depth = c.active < IN_FLIGHT ? IN_FLIGHT / c.active : 1;
	c.pairs = calloc(c.count, sizeof(*c.pairs));
	for (i = 0; i < 2; i++) {
		if (i)
			enter(argv[optind + 2]);
		end_open(&c.end[i], argv[optind + i], c.buffers * c.size,
			 2 * c.active * c.depth);
	}
	for (i = 0; i < c.count; i++)
		pair_make(&c, &c.pairs[i]);
	rate = bandwidth(&c, seconds);
	printf("%.2f %.1f\n", rate, pair_cost(&c));

	return 0;
}
