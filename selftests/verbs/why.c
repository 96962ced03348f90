// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: srnic-doctor explains failures
 *
 * The cases here need a program that corrupts its own objects; drill/why provokes the
 * others.  meta/why.sh verifies that together they cover every verdict.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fnmatch.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../include/uapi/rdma/srnic-abi.h"
#include "odp.h"

#define MARK	0x5eed0001beefULL

static struct pair p;
static struct mem ma, mb;
static char said[1 << 14];

static void setup(const struct opt *o)
{
	pair_make(&p, o, o);
	mem_make(&ma, &sides[0], 3 * PAGE, FULL_ACCESS);
	mem_make(&mb, &sides[1], PAGE, FULL_ACCESS);
}

static void run(const struct side *s, const char *cmd)
{
	int status;
	size_t n;
	FILE *f;

	side_enter(s);
	f = popen(cmd, "r");
	side_leave(s);
	must(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = 0;
	status = pclose(f);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		case_skip("not installed: %s", cmd);
	if (status)
		case_fail("failed: %s", cmd);
}

/* srnic-doctor says @want, in which "*" stands for any text, about the queue pair of @e. */
static void why_is(const struct end *e, const char *want)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "srnic-doctor --terse --dev %s --qp %u",
		 e->side->dev, e->qp->qp_num);
	run(e->side, cmd);
	said[strcspn(said, "\n")] = 0;
	if (fnmatch(want, said, 0))
		case_fail("srnic-doctor says: %s", said);
}

/* A complete datagram work request of @e */
static struct ibv_send_wr datagram(struct end *e, struct ibv_pd *ah_pd,
				   struct ibv_sge *sge)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;

	o.type = IBV_QPT_UD;
	end_make(e, &sides[0], &o);
	connect_ud(e, 0x11111111);
	mem_make(&ma, &sides[0], PAGE, FULL_ACCESS);
	*sge = sge_of(&ma, 0, 64);
	wr = wr_of(1, IBV_WR_SEND, sge, 1);
	wr.wr.ud.ah = ah_make(&sides[0], ah_pd, &sides[1].gid);
	wr.wr.ud.remote_qpn = 1;
	return wr;
}

static void wr_opcode(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct end e;

	wr = datagram(&e, sides[0].pd, &sge);
	wr.opcode = IBV_WR_RDMA_READ;
	must_be(post_one(&e, &wr), 0);
	wc_want(e.scq, 1, IBV_WC_LOC_QP_OP_ERR);
	why_is(&e,
	       "malformed work request: The work request * malformed, or its operation does not *");
}

static void wr_ah(void)
{
	struct ibv_pd *pd = pd_make(&sides[0]);
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct end e;
	int i;

	/* so many that the index is beyond those of the queue pair's domain */
	for (i = 0; i < 8; i++)
		ah_make(&sides[0], pd, &sides[1].gid);
	wr = datagram(&e, pd, &sge);
	must_be(post_one(&e, &wr), 0);
	wc_want(e.scq, 1, IBV_WC_LOC_QP_OP_ERR);
	why_is(&e, "no address handle: The datagram at the head of the send queue has an *");
}

/* Moving a send queue back to RTS clears the failure; the next one is explained. */
static void wr_again(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct end e;

	wr = datagram(&e, sides[0].pd, &sge);
	wr.opcode = IBV_WR_RDMA_READ;
	must_be(post_one(&e, &wr), 0);
	wc_want(e.scq, 1, IBV_WC_LOC_QP_OP_ERR);
	must_be(to_state(&e, IBV_QPS_RTS), 0);
	why_is(&e, "none: the queue pair is in state RTS");
	wr.opcode = IBV_WR_SEND;
	sge.lkey ^= 0x55000;
	must_be(post_one(&e, &wr), 0);
	wc_want(e.scq, 1, IBV_WC_LOC_PROT_ERR);
	why_is(&e,
	       "protection of the source/no such key: This end's SEND * 64 bytes at address 0x*");
}

static void wr_key(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_LOCAL_INV, NULL, 0);

	setup(NULL);
	wr.invalidate_rkey = ma.mr->rkey;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_MW_BIND_ERR);
	why_is(&p.a,
	       "key operation/key state: The work request LOCAL_INV for key 0x* was refused: *");
}

/* A ring other than @not that has an entry with this ID; stores its address at *@entry. */
static struct srnic_ring_hdr *ring_find(__u64 id, const void *not, void **entry)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512];
	__u64 *word;

	must(maps);
	*entry = NULL;
	while (!*entry && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "uverbs") ||
		    sscanf(line, "%lx-%lx", &start, &end) != 2 || (void *)start == not)
			continue;
		for (word = (__u64 *)start; !*entry && word < (__u64 *)end; word++)
			if (*word == id)
				*entry = word;
	}
	fclose(maps);
	if (!*entry)
		case_skip("the device has no rings to write to");
	return (void *)start;
}

static void receive_malformed(void)
{
	struct srnic_rqe *rqe;
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	setup(NULL);
	must_be(post_recv(&p.b, MARK, NULL, 0), 0);
	ring_find(MARK, NULL, (void **)&rqe);
	rqe->num_sge = 0xffff;
	sge = sge_of(&ma, 0, 64);
	wr = wr_of(1, IBV_WR_SEND, &sge, 1);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_REM_OP_ERR);
	wc_want(p.b.rcq, MARK, IBV_WC_LOC_QP_OP_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
	why_is(&p.b, "malformed receive: * consumed a receive that is malformed.");
	why_is(&p.a, "NAK remote operation: * SEND of 64 bytes, * (syndrome 0x63).");
}

/* Indices that imply more entries than any ring has, or a negative number */
static const __u32 leaps[] = { 1U << 30, -1U, 1U << 31 };

/* A program that corrupts its rings repeatedly gets one event for each queue pair. */
static void one_event(struct side *s, enum ibv_event_type type)
{
	struct ibv_async_event ev;
	int n = 0;

	while (event_wait(s, &ev, n ? 100 : BOUND))
		n += ev.event_type == type;
	must_be(n, 1);
}

static void send_index(void)
{
	struct ibv_send_wr wr = wr_of(0, IBV_WR_RDMA_WRITE, NULL, 0);
	struct srnic_ring_hdr *hdr;
	size_t i, n;
	void *entry;

	for (i = 0; i < ARRAY_SIZE(leaps); i++) {
		setup(NULL);
		wr.wr_id = MARK + i;	/* the last pair still exists */
		wr.send_flags = 0;	/* otherwise a completion has the ID as well */
		must_be(post_one(&p.a, &wr), 0);
		wr.wr_id = 2;
		wr.send_flags = IBV_SEND_SIGNALED;
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, 2, IBV_WC_SUCCESS);
		hdr = ring_find(MARK + i, NULL, &entry);
		hdr->user += leaps[i];
		/* Packets make the queue pair read its rings. */
		for (n = 0; n < 10; n++) {
			must_be(post_one(&p.b, &wr), 0);
			hdr->user += leaps[i];
		}
		state_becomes(&p.a, IBV_QPS_ERR);
		why_is(&p.a, "send queue index: The index of the send queue is impossible: *");
		one_event(&sides[0], IBV_EVENT_QP_FATAL);
	}
}

static void receive_index(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct srnic_ring_hdr *hdr;
	void *entry;

	setup(NULL);
	must_be(post_recv(&p.b, MARK, NULL, 0), 0);
	hdr = ring_find(MARK, NULL, &entry);
	hdr->user += leaps[0];
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_REM_OP_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
	why_is(&p.b, "receive queue index: A message from the peer needed a receive, but *");
	one_event(&sides[1], IBV_EVENT_QP_FATAL);
}

static void receive_index_ud(void)
{
	struct ibv_send_wr wr;
	struct opt o = opt_default;
	struct srnic_ring_hdr *hdr;
	struct ibv_sge sge;
	struct end a, b;
	void *entry;

	wr = datagram(&a, sides[0].pd, &sge);
	o.type = IBV_QPT_UD;
	end_make(&b, &sides[1], &o);
	connect_ud(&b, 0x11111111);
	must_be(post_recv(&b, MARK, NULL, 0), 0);
	hdr = ring_find(MARK, NULL, &entry);
	hdr->user += leaps[0];
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = 0x11111111;
	must_be(post_one(&a, &wr), 0);
	wc_want(a.scq, 1, IBV_WC_SUCCESS);
	state_becomes(&b, IBV_QPS_ERR);
	why_is(&b, "receive queue index: *");
	one_event(&sides[1], IBV_EVENT_QP_FATAL);
}

/* Each queue pair that needs a receive of a shared queue fails with it. */
static void srq_index(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct opt o = opt_default;
	struct srnic_ring_hdr *hdr;
	struct pair q;
	void *entry;

	o.srq = srq_make(&sides[1], NULL, 16, 1);
	pair_make(&p, NULL, &o);
	pair_make(&q, NULL, &o);
	must_be(post_srq(o.srq, MARK, NULL, 0), 0);
	hdr = ring_find(MARK, NULL, &entry);
	hdr->user += leaps[0];
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_REM_OP_ERR);
	hdr->user += leaps[0];
	must_be(post_one(&q.a, &wr), 0);
	wc_want(q.a.scq, 1, IBV_WC_REM_OP_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
	state_becomes(&q.b, IBV_QPS_ERR);
	why_is(&p.b, "receive queue index: *");
	why_is(&q.b, "receive queue index: *");
	one_event(&sides[1], IBV_EVENT_SRQ_ERR);
}

/* srnic-doctor says that the peer of @e is at the address of @peer, after @words. */
static void peer_is(const struct end *e, const struct side *peer, const char *words)
{
	const union ibv_gid *gid = &peer->gid;
	char cmd[128], want[256], addr[INET6_ADDRSTRLEN];
	bool v4 = IN6_IS_ADDR_V4MAPPED(gid->raw);

	must(inet_ntop(v4 ? AF_INET : AF_INET6, gid->raw + (v4 ? 12 : 0), addr, sizeof(addr)));
	snprintf(want, sizeof(want), "Queue pair %u of %s, whose peer is %sat %s, failed at *",
		 e->qp->qp_num, e->side->dev, words, addr);
	snprintf(cmd, sizeof(cmd), "srnic-doctor --dev %s --qp %u", e->side->dev, e->qp->qp_num);
	run(e->side, cmd);
	if (fnmatch(want, said, 0))
		case_fail("srnic-doctor says: %s", said);
}

static void peer_connected(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	char words[64];

	setup(NULL);
	sge = sge_of(&ma, 0, 64);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, 0);
	wr.wr.rdma.rkey ^= 0x55000;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_REM_ACCESS_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
	snprintf(words, sizeof(words), "queue pair %u ", p.b.qp->qp_num);
	peer_is(&p.a, &sides[1], words);
	snprintf(words, sizeof(words), "queue pair %u ", p.a.qp->qp_num);
	peer_is(&p.b, &sides[0], words);
}

/* The sender of the datagram that consumed a receive with a bad lkey */
static void peer_datagram(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct opt o = opt_default;
	struct end a, b;

	wr = datagram(&a, sides[0].pd, &sge);
	o.type = IBV_QPT_UD;
	end_make(&b, &sides[1], &o);
	connect_ud(&b, 0x11111111);
	mem_make(&mb, &sides[1], PAGE, FULL_ACCESS);
	sge = sge_of(&mb, 0, 128);
	sge.lkey ^= 0x55000;
	must_be(post_recv(&b, 1, &sge, 1), 0);
	sge = sge_of(&ma, 0, 64);
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = 0x11111111;
	must_be(post_one(&a, &wr), 0);
	wc_want(a.scq, 1, IBV_WC_SUCCESS);
	wc_want(b.rcq, 1, IBV_WC_LOC_PROT_ERR);
	state_becomes(&b, IBV_QPS_ERR);
	peer_is(&b, &sides[0], "");
}

/* One of the responder's three pages is unmapped. */
static void page_fault(enum ibv_wr_opcode op, const char *want)
{
	struct opt o = odp_opt();
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct store st;

	setup(&o);
	store_make(&st, &sides[1], CHUNK, 0, WAY_RANGE, FULL_ACCESS);
	must_be(munmap(st.start + PAGE, PAGE), 0);
	sge = sge_of(&ma, 0, 3 * PAGE);
	wr = wr_of(1, op, &sge, 1);
	wr_target(&wr, &st.m, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_REM_ACCESS_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
	why_is(&p.b, want);
}

static void page_fault_write(void)
{
	page_fault(IBV_WR_RDMA_WRITE,
		   "access/page fault: * RDMA WRITE of * to address 0x*, was refused: a page *");
}

/* The responder finds the page missing at the second packet of the response. */
static void page_fault_read(void)
{
	page_fault(IBV_WR_RDMA_READ,
		   "access/page fault: * RDMA READ of 8192 bytes from address 0x*, was refused: *");
}

/* Number of this process's first CQ on the device of @s that is listed with @mark */
static unsigned int cq_number(const struct side *s, const char *mark)
{
	char cmd[64], owner[32];
	char *object, *number;

	snprintf(cmd, sizeof(cmd), "rdma -j -dd resource show cq dev %s", s->dev);
	run(s, cmd);
	snprintf(owner, sizeof(owner), "\"pid\":%d,", getpid());
	for (object = strtok(said, "}"); object; object = strtok(NULL, "}")) {
		number = strstr(object, "\"cqn\":");
		if (number && strstr(object, owner) && strstr(object, mark))
			return atoi(number + strlen("\"cqn\":"));
	}
	case_fail("no completion queue of %d with %s", getpid(), mark);
}

/* srnic-doctor says @want about the completion queue with @mark. */
static void cq_is(const struct side *s, const char *mark, const char *want)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "srnic-doctor --terse --dev %s --cq %u",
		 s->dev, cq_number(s, mark));
	run(s, cmd);
	said[strcspn(said, "\n")] = 0;
	if (fnmatch(want, said, 0))
		case_fail("srnic-doctor says: %s", said);
}

/* srnic-doctor says that the first lost completion was of a @work of @e. */
static void cq_lost(const struct end *e, const char *work)
{
	char want[128];

	snprintf(want, sizeof(want),
		 "completion queue overrun: A completion of a %s of queue pair %u was lost when all 4 *",
		 work, e->qp->qp_num);
	cq_is(e->side, "\"drv_overrun\":1", want);
	why_is(e, "completion queue overrun: A completion of this queue pair was lost*");
}

static void cq_overrun(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_RDMA_WRITE, NULL, 0);
	struct opt o = opt_default;
	struct pair q;
	int i;

	o.cq = cq_make(&sides[0], 4, NULL);
	pair_make(&p, &o, NULL);
	pair_make(&q, &o, NULL);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(o.cq, 1, IBV_WC_SUCCESS);
	cq_is(&sides[0], "\"drv_entries\":4", "none: 0 of 4 entries are in use.");
	for (i = 0; i < 5; i++)
		must_be(post_one(&p.a, &wr), 0);
	state_becomes(&p.a, IBV_QPS_ERR);
	cq_lost(&p.a, "send");
	must_be(post_one(&q.a, &wr), 0);
	state_becomes(&q.a, IBV_QPS_ERR);
	cq_lost(&p.a, "send");
}

static void cq_overrun_receive(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct opt o = opt_default;
	int i;

	o.cqe = 4;
	pair_make(&p, NULL, &o);
	for (i = 0; i < 5; i++)
		must_be(post_recv(&p.b, i, NULL, 0), 0);
	for (i = 0; i < 5; i++)
		must_be(post_one(&p.a, &wr), 0);
	state_becomes(&p.b, IBV_QPS_ERR);
	cq_lost(&p.b, "receive");
}

/* A flushed receive counts as a receive, although its completion has no opcode. */
static void cq_overrun_flush(void)
{
	struct opt o = opt_default;
	int i;

	o.cqe = 4;
	pair_make(&p, NULL, &o);
	for (i = 0; i < 5; i++)
		must_be(post_recv(&p.b, i, NULL, 0), 0);
	must_be(to_state(&p.b, IBV_QPS_ERR), 0);
	cq_is(&sides[1], "\"drv_overrun\":1",
	      "completion queue overrun: A completion of a receive of queue pair *");
}

/* The ring of CQEs is the one that has the ID of the receive after its completion. */
static void cq_index(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct srnic_ring_hdr *rq, *cq;
	void *entry;

	setup(NULL);
	must_be(post_recv(&p.b, MARK, NULL, 0), 0);
	must_be(post_recv(&p.b, 2, NULL, 0), 0);
	rq = ring_find(MARK, NULL, &entry);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	cq = ring_find(MARK, rq, &entry);
	cq->user += leaps[0];
	must_be(post_one(&p.a, &wr), 0);
	state_becomes(&p.b, IBV_QPS_ERR);
	cq_is(&sides[1], "\"drv_overrun\":1",
	      "completion queue overrun: A completion of a receive of queue pair * was lost because the queue's index is impossible: the program corrupted its queue; *");
	why_is(&p.b, "completion queue overrun: *");
}

/* Netlink request for all queue pairs of the device with index @index */
struct dump {
	struct nlmsghdr	head;
	struct nlattr	attr;
	__u32		index;
};

/* Sends that request.  Does the answer contain @word? */
static bool dump_has(int fd, const struct dump *dump, const char *word)
{
	bool done = false, found = false;
	struct nlmsghdr *head;
	ssize_t n;

	must_be(send(fd, dump, sizeof(*dump), 0), sizeof(*dump));
	while (!done) {
		n = recv(fd, said, sizeof(said), 0);
		must(n > 0);
		found |= !!memmem(said, n, word, strlen(word));
		head = (struct nlmsghdr *)said;
		for (; NLMSG_OK(head, n); head = NLMSG_NEXT(head, n)) {
			must(head->nlmsg_type != NLMSG_ERROR);
			done |= head->nlmsg_type == NLMSG_DONE;
		}
	}
	return found;
}

/* Like asked(), sent by an administrator through a socket that @uid opened */
static bool shown_through(uid_t uid, const char *word)
{
	const struct dump dump = {
		.head = {
			.nlmsg_len	= sizeof(dump),
			.nlmsg_type	= RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
							   RDMA_NLDEV_CMD_RES_QP_GET),
			.nlmsg_flags	= NLM_F_REQUEST | NLM_F_DUMP,
		},
		.attr = { NLA_HDRLEN + sizeof(dump.index),
			  RDMA_NLDEV_ATTR_DEV_INDEX },
		.index = ibv_get_device_index(sides[0].ctx->device),
	};
	bool shown;
	int fd;

	side_enter(&sides[0]);
	must_be(seteuid(uid), 0);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	must_be(seteuid(0), 0);
	side_leave(&sides[0]);
	must(fd >= 0);
	shown = dump_has(fd, &dump, word);
	close(fd);
	return shown;
}

/* Does the tool's output have a value other than 0 of the RDMA core's attribute @name? */
static bool shows_psn(const char *name)
{
	const char *at = said;

	while ((at = strstr(at, name))) {
		at += strlen(name);
		if (strtoul(at, NULL, 10))
			return true;
	}

	return false;
}

/* Unprivileged users learn the reason, but no key, address or PSN of the connection. */
static void not_for_all(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	char cmd[128];

	setup(NULL);
	sge = sge_of(&ma, 0, 64);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, 0);
	wr.wr.rdma.rkey ^= 0x55000;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_REM_ACCESS_ERR);
	snprintf(cmd, sizeof(cmd), "rdma -dd resource show qp link %s/1",
		 sides[0].dev);
	run(&sides[0], cmd);
	must(strstr(said, "drv_failure NAK remote access"));
	must(strstr(said, "drv_failure_key"));
	must(strstr(said, "drv_failure_addr"));
	must(strstr(said, "drv_failure_peer"));
	must(strstr(said, "drv_failure_psn"));
	must(strstr(said, "drv_una_psn"));
	must(strstr(said, "drv_expected_psn"));
	snprintf(cmd, sizeof(cmd), "%s rdma -dd resource show qp link %s/1",
		 "setpriv --reuid 65534 --clear-groups", sides[0].dev);
	run(&sides[0], cmd);
	must(strstr(said, "drv_failure NAK remote access"));
	must(!strstr(said, "drv_failure_key"));
	must(!strstr(said, "drv_failure_addr"));
	must(!strstr(said, "drv_failure_peer"));
	must(!strstr(said, "drv_failure_psn"));
	must(!strstr(said, "drv_una_psn"));
	must(!strstr(said, "drv_next_psn"));
	must(!strstr(said, "drv_psn"));
	must(!strstr(said, "drv_expected_psn"));
	must(!shows_psn("sq-psn"));
	must(!shows_psn("rq-psn"));

	/* nor through an administrator who sends through their socket */
	must(shown_through(0, "failure_key"));
	must(shown_through(0, "failure_peer"));
	must(shown_through(0, "failure_psn"));
	must(shown_through(65534, "failure_length"));
	must(!shown_through(65534, "failure_key"));
	must(!shown_through(65534, "failure_peer"));
	must(!shown_through(65534, "failure_psn"));
	must(shown_through(0, "una_psn"));
	must(!shown_through(65534, "una_psn"));
}

static const struct vrb_case why_cases[] = {
	{ "why", "an operation that the type does not have", wr_opcode },
	{ "why", "an address handle of another domain", wr_ah },
	{ "why", "a send queue that fails twice", wr_again },
	{ "why", "LOCAL_INV of a region", wr_key },
	{ "why", "a receive that its program corrupted", receive_malformed },
	{ "why", "the index of a send queue", send_index },
	{ "why", "the index of a receive queue", receive_index },
	{ "why", "the index of a receive queue for datagrams", receive_index_ud },
	{ "why", "the index of a shared receive queue", srq_index },
	{ "why", "the index of a completion queue", cq_index },
	{ "why", "on-demand memory that is gone, WRITE", page_fault_write },
	{ "why", "on-demand memory that is gone, READ", page_fault_read },
	{ "why", "a completion queue that overran", cq_overrun },
	{ "why", "a completion queue that lost a receive", cq_overrun_receive },
	{ "why", "a completion queue that lost a flushed receive", cq_overrun_flush },
	{ "why", "the address of a connected peer", peer_connected },
	{ "why", "the address of a datagram's sender", peer_datagram },
	{ "why", "keys, addresses and PSNs are for administrators", not_for_all },
};

VRB_TOPIC("why", why_cases)
