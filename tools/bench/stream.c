// SPDX-License-Identifier: GPL-2.0
/*
 * srnic bench - a stream of messages, both ends in one process
 *
 * usage: stream [-e] -s BYTES -n COUNT -l LIST write|read|send FROM TO
 *
 * Posts COUNT messages from the device with address FROM to the one with address
 * TO, in lists of LIST, two lists at a time, and prints
 *
 *	MiB/s, ticks a message, ticks for 4 KiB, CPU seconds for 1 GiB
 *
 * A tick is one of the time stamp counter; in a guest that QEMU runs with -icount
 * it is an instruction.  CPU seconds are what /proc/stat says of the machine:
 * whatever both ends take, in programs, kernel threads and interrupts.  With -e
 * it sleeps until a list is complete, else it polls.
 */
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define LISTS	2	/* under way at a time */
#define PORT	"7471"

/**
 * struct end - one end of the connection
 * @id: what the connection manager knows of it, with its queue pair
 * @mr: its memory, one message long
 */
struct end {
	struct rdma_cm_id	*id;
	struct ibv_mr		*mr;
};

/**
 * struct stream - what is to be sent, and how
 * @op: of each message
 * @size: bytes of a message
 * @list: messages of a list, the last one signals
 * @sleeps: wait for events, do not poll
 * @from: the end that posts
 * @to: the other one
 */
struct stream {
	enum ibv_wr_opcode	op;
	size_t			size;
	int			list;
	int			sleeps;
	struct end		from;
	struct end		to;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* --- connecting ---------------------------------------------------------- */

static struct rdma_cm_id *endpoint(const char *address, const char *from,
				   struct ibv_qp_init_attr *init)
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
	if (rdma_create_ep(&id, here, NULL, init))
		die(address);

	return id;
}

static struct rdma_conn_param how_to_connect(void)
{
	return (struct rdma_conn_param) {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

/* Takes the one connection that comes. */
static void *accept_one(void *arg)
{
	struct rdma_conn_param param = how_to_connect();
	struct rdma_cm_id *listener = arg, *id;

	if (rdma_get_request(listener, &id) || rdma_accept(id, &param))
		die("rdma_accept");

	return id;
}

static void end_init(struct end *end, struct rdma_cm_id *id, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	end->id = id;
	end->mr = ibv_reg_mr(id->pd, p, size, IBV_ACCESS_LOCAL_WRITE |
			     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!end->mr)
		die("ibv_reg_mr");
}

static void stream_connect(struct stream *s, const char *from, const char *to)
{
	struct rdma_conn_param param = how_to_connect();
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = LISTS * s->list,
			 .max_recv_wr = 2 * LISTS * s->list,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	}, peer = init;
	struct rdma_cm_id *listener = endpoint(to, NULL, &peer);
	struct rdma_cm_id *id;
	void *accepted;
	pthread_t server;

	if (rdma_listen(listener, 1) ||
	    pthread_create(&server, NULL, accept_one, listener))
		die("rdma_listen");
	id = endpoint(to, from, &init);
	if (rdma_connect(id, &param))
		die("rdma_connect");
	pthread_join(server, &accepted);
	end_init(&s->from, id, s->size);
	end_init(&s->to, accepted, s->size);
}

/* --- messages ------------------------------------------------------------ */

static void post_receives(struct stream *s, int count)
{
	struct end *to = &s->to;
	int i;

	for (i = 0; i < count; i++)
		if (rdma_post_recv(to->id, NULL, to->mr->addr, s->size, to->mr))
			die("rdma_post_recv");
}

static void post_list(struct stream *s)
{
	struct ibv_sge sge = { (uintptr_t)s->from.mr->addr, s->size,
			       s->from.mr->lkey };
	struct ibv_send_wr wr[s->list], *bad;
	int i;

	memset(wr, 0, sizeof(wr));
	for (i = 0; i < s->list; i++) {
		wr[i].next = i + 1 < s->list ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].opcode = s->op;
		wr[i].wr.rdma.remote_addr = (uintptr_t)s->to.mr->addr;
		wr[i].wr.rdma.rkey = s->to.mr->rkey;
	}
	wr[s->list - 1].send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(s->from.id->qp, wr, &bad))
		die("ibv_post_send");
}

static void sleep_for(struct ibv_cq *cq)
{
	void *context;

	if (ibv_get_cq_event(cq->channel, &cq, &context))
		die("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
}

/* Returns with @count completions taken. */
static void complete(struct stream *s, struct ibv_cq *cq, int count)
{
	struct ibv_wc wc[16];
	int armed = 0, i, n;

	while (count) {
		n = ibv_poll_cq(cq, count < 16 ? count : 16, wc);
		for (i = 0; i < n; i++)
			if (wc[i].status)
				die(ibv_wc_status_str(wc[i].status));
		count -= n;
		if (n || !count)
			continue;
		if (!s->sleeps) {
			sched_yield();
		} else if (!armed) {
			armed = !ibv_req_notify_cq(cq, 0);
		} else {
			sleep_for(cq);
			armed = 0;
		}
	}
}

static void complete_list(struct stream *s)
{
	complete(s, s->from.id->send_cq, 1);
	if (s->op != IBV_WR_SEND)
		return;
	complete(s, s->to.id->recv_cq, s->list);
	post_receives(s, s->list);
}

static void stream_run(struct stream *s, int lists)
{
	int done, posted = 0;

	for (done = 0; done < lists; done++) {
		while (posted < lists && posted - done < LISTS) {
			post_list(s);
			posted++;
		}
		complete_list(s);
	}
}

/* --- what it took -------------------------------------------------------- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);

	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Seconds that all processors of the machine were busy */
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

	stream_run(s, lists / 10 + 1);	/* until caches and tables are warm */
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

static enum ibv_wr_opcode opcode(const char *name)
{
	if (!strcmp(name, "write"))
		return IBV_WR_RDMA_WRITE;

	return strcmp(name, "read") ? IBV_WR_SEND : IBV_WR_RDMA_READ;
}

int main(int argc, char **argv)
{
	struct stream s = { .size = 65536, .list = 16 };
	int count = 1000, option;

	while ((option = getopt(argc, argv, "es:n:l:")) != -1) {
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
		default:
			return 2;
		}
	}
	if (argc - optind != 3)
		return 2;
	s.op = opcode(argv[optind]);
	stream_connect(&s, argv[optind + 1], argv[optind + 2]);
	if (s.op == IBV_WR_SEND)
		post_receives(&s, LISTS * s.list);
	stream_measure(&s, count / s.list);

	return 0;
}
