// SPDX-License-Identifier: GPL-2.0
/*
 * srnic bench - a stream of messages, both ends in one process
 *
 * usage: stream [options] -n COUNT write|read|send FROM TO
 *        stream [options] -t SECONDS write|read|send FROM TO
 *
 *	-s BYTES	per message (65536)
 *	-l LIST		messages posted at once, the last one signalled (16)
 *	-w LISTS	in flight per queue pair (2)
 *	-q PAIRS	of queue pairs, each with its own connection (1)
 *	-r READS	in flight per queue pair (1)
 *	-N NETNS	name of the network namespace of address TO
 *	-e		wait for events instead of polling
 *
 * Sends messages from the device with address FROM to the one with address TO.
 * With -n it posts COUNT of them and prints
 *
 *	MiB/s, ticks per message, ticks per 4 KiB, CPU seconds per GiB
 *
 * With -t it posts for two seconds, until queues are full and windows are open,
 * then for SECONDS that are measured, and prints
 *
 *	MiB/s, Jain's index over the queue pairs, and the microseconds from
 *	post to completion of a list: the median and the 99th percentile
 *
 * Ticks are those of the time stamp counter; in a guest of QEMU with -icount a tick
 * is an instruction.  CPU seconds are those of the whole machine in /proc/stat:
 * of both ends, in programs, kernel threads and interrupts.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <semaphore.h>
#include <x86intrin.h>

#include "bench.h"

#define PORT	"7471"
#define WARM	2	/* warm-up, seconds */

/**
 * struct end - one end of all connections
 * @cq: CQ of all its queue pairs: of sends at the sender, of receives at the receiver
 * @mr: its memory, of the size of a message
 */
struct end {
	struct ibv_cq	*cq;
	struct ibv_mr	*mr;
};

/**
 * struct pair - a connection
 * @from: the sending end, with its queue pair
 * @to: the receiving end
 * @begun: time when each list in flight was posted, a ring
 * @posted: number of lists posted
 * @done: number of lists completed
 * @counted: number of lists completed in the measured time
 */
struct pair {
	struct rdma_cm_id	*from;
	struct rdma_cm_id	*to;
	double			*begun;
	unsigned long		posted;
	unsigned long		done;
	unsigned long		counted;
};

/**
 * struct stream - what is to be sent, and how
 * @op: operation of each message
 * @size: bytes per message
 * @list: messages per list, the last one signalled
 * @lists: lists in flight per queue pair
 * @reads: READs in flight per queue pair
 * @sleeps: wait for events instead of polling
 * @netns: network namespace of the receiver, or NULL
 * @address: address of the receiver
 * @listens: the receiver accepts connections
 * @from: the sending end
 * @to: the receiving end
 * @pairs: the connections
 * @count: number of connections
 */
struct stream {
	enum ibv_wr_opcode	op;
	size_t			size;
	int			list;
	int			lists;
	int			reads;
	int			sleeps;
	const char		*netns;
	const char		*address;
	sem_t			listens;
	struct end		from;
	struct end		to;
	struct pair		*pairs;
	int			count;
};

/* --- connecting ---------------------------------------------------------- */

static struct rdma_cm_id *endpoint(const char *address, const char *from)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *here, *to;
	struct rdma_cm_id *id;

	hints.ai_flags = RAI_PASSIVE;
	if (rdma_getaddrinfo(from ? from : address, from ? NULL : PORT, &hints,
			     &here))
		die("rdma_getaddrinfo");
	if (from) {
		hints.ai_flags = 0;
		hints.ai_src_addr = here->ai_src_addr;
		hints.ai_src_len = here->ai_src_len;
		if (rdma_getaddrinfo(address, PORT, &hints, &to))
			die("rdma_getaddrinfo");
		here = to;
	}
	if (rdma_create_ep(&id, here, NULL, NULL))
		die(address);

	return id;
}

static struct rdma_conn_param how_to_connect(struct stream *s)
{
	return (struct rdma_conn_param) {
		.responder_resources = s->reads,
		.initiator_depth = s->reads,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

/*
 * The first connection of an end determines its device, on which the shared objects are
 * created.
 */
static void end_init(struct stream *s, struct end *end, struct rdma_cm_id *id)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(id->verbs);

	end->cq = channel ? ibv_create_cq(id->verbs, 2 * s->count * s->lists *
					  s->list, NULL, channel, 0) : NULL;
	if (!end->cq)
		die("ibv_create_cq");
}

static void end_register(struct stream *s, struct end *end, struct rdma_cm_id *id)
{
	end->mr = ibv_reg_mr(id->pd, buffer(s->size), s->size,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			     IBV_ACCESS_REMOTE_READ);
	if (!end->mr)
		die("ibv_reg_mr");
}

static void new_qp(struct stream *s, struct end *end, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = s->lists * s->list,
			 .max_recv_wr = 2 * s->lists * s->list,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (!end->cq)
		end_init(s, end, id);
	init.send_cq = end->cq;
	init.recv_cq = end->cq;
	if (rdma_create_qp(id, NULL, &init))
		die("rdma_create_qp");
	if (!end->mr)
		end_register(s, end, id);
}

/* The receiver: accepts the connections. */
static void *accept_all(void *arg)
{
	struct stream *s = arg;
	struct rdma_conn_param param = how_to_connect(s);
	struct rdma_cm_id *listener;
	int i;

	if (s->netns)
		enter(s->netns);
	listener = endpoint(s->address, NULL);
	if (rdma_listen(listener, s->count))
		die("rdma_listen");
	sem_post(&s->listens);
	for (i = 0; i < s->count; i++) {
		if (rdma_get_request(listener, &s->pairs[i].to))
			die("rdma_get_request");
		new_qp(s, &s->to, s->pairs[i].to);
		if (rdma_accept(s->pairs[i].to, &param))
			die("rdma_accept");
	}

	return NULL;
}

static void stream_connect(struct stream *s, const char *from)
{
	struct rdma_conn_param param = how_to_connect(s);
	pthread_t server;
	int i;

	s->pairs = calloc(s->count, sizeof(*s->pairs));
	sem_init(&s->listens, 0, 0);
	if (pthread_create(&server, NULL, accept_all, s))
		die("pthread_create");
	sem_wait(&s->listens);
	for (i = 0; i < s->count; i++) {
		struct pair *pair = &s->pairs[i];

		pair->begun = calloc(s->lists, sizeof(*pair->begun));
		pair->from = endpoint(s->address, from);
		new_qp(s, &s->from, pair->from);
		if (rdma_connect(pair->from, &param))
			die("rdma_connect");
	}
	pthread_join(server, NULL);
}

/* --- messages ------------------------------------------------------------ */

static void post_receive(struct stream *s, struct pair *pair)
{
	struct ibv_mr *mr = s->to.mr;

	if (rdma_post_recv(pair->to, pair, mr->addr, s->size, mr))
		die("rdma_post_recv");
}

static void post_receives(struct stream *s)
{
	int i, j;

	for (i = 0; i < s->count; i++)
		for (j = 0; j < s->lists * s->list; j++)
			post_receive(s, &s->pairs[i]);
}

static void post_list(struct stream *s, struct pair *pair)
{
	struct ibv_sge sge = { (uintptr_t)s->from.mr->addr, s->size,
			       s->from.mr->lkey };
	struct ibv_send_wr wr[s->list], *bad;
	int i;

	memset(wr, 0, sizeof(wr));
	for (i = 0; i < s->list; i++) {
		wr[i].wr_id = (uintptr_t)pair;
		wr[i].next = i + 1 < s->list ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].opcode = s->op;
		wr[i].wr.rdma.remote_addr = (uintptr_t)s->to.mr->addr;
		wr[i].wr.rdma.rkey = s->to.mr->rkey;
	}
	wr[s->list - 1].send_flags = IBV_SEND_SIGNALED;
	pair->begun[pair->posted++ % s->lists] = now();
	if (ibv_post_send(pair->from->qp, wr, &bad))
		die("ibv_post_send");
}

static void sleep_for(struct ibv_cq *cq)
{
	void *context;

	if (ibv_get_cq_event(cq->channel, &cq, &context))
		die("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
}

/* Waits for completions; returns their number, at most @most. */
static int complete(struct stream *s, struct ibv_cq *cq, struct ibv_wc *wc,
		    int most)
{
	int armed = 0, i, n;

	for (;;) {
		n = ibv_poll_cq(cq, most, wc);
		if (n)
			break;
		if (!s->sleeps) {
			sched_yield();
		} else if (!armed) {
			armed = !ibv_req_notify_cq(cq, 0);
		} else {
			sleep_for(cq);
			armed = 0;
		}
	}
	for (i = 0; i < n; i++)
		if (wc[i].status)
			die(ibv_wc_status_str(wc[i].status));

	return n;
}

static struct pair *pair_of(const struct ibv_wc *wc)
{
	return (struct pair *)(uintptr_t)wc->wr_id;
}

/* Waits for the completion of a list and its receives; returns its connection. */
static struct pair *complete_list(struct stream *s)
{
	struct ibv_wc sent, wc[16];
	int i, left = s->op == IBV_WR_SEND ? s->list : 0, n;

	complete(s, s->from.cq, &sent, 1);
	pair_of(&sent)->done++;
	for (; left; left -= n) {
		n = complete(s, s->to.cq, wc, left < 16 ? left : 16);
		for (i = 0; i < n; i++)
			post_receive(s, pair_of(&wc[i]));
	}

	return pair_of(&sent);
}

static void post_first(struct stream *s)
{
	int i, j;

	for (j = 0; j < s->lists; j++)
		for (i = 0; i < s->count; i++)
			post_list(s, &s->pairs[i]);
}

static void stream_run(struct stream *s, unsigned long lists)
{
	struct pair *pair = s->pairs;

	pair->posted = 0;
	pair->done = 0;
	while (pair->done < lists) {
		while (pair->posted < lists &&
		       pair->posted - pair->done < (unsigned long)s->lists)
			post_list(s, pair);
		complete_list(s);
	}
}

/* --- cost ------------------------------------------------------------------ */

/* Seconds that all processors were busy */
static double busy(void)
{
	unsigned long user, nice, system, irq, softirq;
	FILE *f = fopen("/proc/stat", "r");

	if (!f || fscanf(f, "cpu %lu %lu %lu %*u %*u %lu %lu", &user, &nice,
			 &system, &irq, &softirq) != 5)
		die("/proc/stat");
	fclose(f);

	return (double)(user + nice + system + irq + softirq) /
	       sysconf(_SC_CLK_TCK);
}

static void stream_measure(struct stream *s, int lists)
{
	double begin, bytes, cpu, messages = (double)lists * s->list;
	unsigned long long ticks;

	stream_run(s, lists / 10 + 1);	/* warm up caches and tables */
	begin = now();
	cpu = busy();
	ticks = __rdtsc();
	stream_run(s, lists);
	ticks = __rdtsc() - ticks;
	cpu = busy() - cpu;
	bytes = messages * s->size;
	printf("%.2f %.1f %.1f %.3f\n", bytes / (now() - begin) / (1 << 20),
	       ticks / messages, ticks * 4096 / bytes, cpu * (1 << 30) / bytes);
}

/* --- fairness and latency -------------------------------------------------- */

/* Jain's index: 1 if all have the same share, 1 / count if one has everything */
static double fairness(const struct stream *s)
{
	double squares = 0, sum = 0;
	int i;

	for (i = 0; i < s->count; i++) {
		sum += s->pairs[i].counted;
		squares += (double)s->pairs[i].counted * s->pairs[i].counted;
	}

	return squares ? sum * sum / (s->count * squares) : 0;
}

static void stream_share(struct stream *s, double seconds)
{
	double begin = now() + WARM, end = begin + seconds, t = 0, *took = NULL;
	unsigned long n = 0, room = 0;

	post_first(s);
	while (t < end) {
		struct pair *pair = complete_list(s);

		t = now();
		if (t >= begin && t < end) {
			if (n == room) {
				room = 2 * room + 1024;
				took = realloc(took, room * sizeof(*took));
			}
			took[n++] = t - pair->begun[(pair->done - 1) % s->lists];
			pair->counted++;
		}
		post_list(s, pair);
	}
	if (!n)
		return;
	qsort(took, n, sizeof(*took), by_value);
	printf("%.2f %.3f %.0f %.0f\n",
	       n * s->list * s->size / seconds / (1 << 20), fairness(s),
	       took[n / 2] * 1e6, took[(n - 1) * 99 / 100] * 1e6);
}

static enum ibv_wr_opcode opcode(const char *name)
{
	if (!strcmp(name, "write"))
		return IBV_WR_RDMA_WRITE;

	return strcmp(name, "read") ? IBV_WR_SEND : IBV_WR_RDMA_READ;
}

int main(int argc, char **argv)
{
	struct stream s = { .size = 65536, .list = 16, .lists = 2, .reads = 1,
			    .count = 1 };
	int count = 1000, option;
	double seconds = 0;

	while ((option = getopt(argc, argv, "es:n:l:w:q:r:t:N:")) != -1) {
		switch (option) {
		case 'e':
			s.sleeps = 1;
			break;
		case 's':
			s.size = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			count = atoi(optarg);
			break;
		case 'l':
			s.list = atoi(optarg);
			break;
		case 'w':
			s.lists = atoi(optarg);
			break;
		case 'q':
			s.count = atoi(optarg);
			break;
		case 'r':
			s.reads = atoi(optarg);
			break;
		case 't':
			seconds = atof(optarg);
			break;
		case 'N':
			s.netns = optarg;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 3)
		return 2;
	s.op = opcode(argv[optind]);
	s.address = argv[optind + 2];
	stream_connect(&s, argv[optind + 1]);
	if (s.op == IBV_WR_SEND)
		post_receives(&s);
	if (seconds)
		stream_share(&s, seconds);
	else
		stream_measure(&s, count / s.list);

	return 0;
}
