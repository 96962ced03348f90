// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: a requester that gets responses forged in
 * the name of its peer
 *
 * The peer's queue pair has been destroyed, so requests are not answered; forged.py sends
 * responses with its address.  IBTA volume 1 has the table of syndromes.
 */
#include <arpa/inet.h>

#include "vrb.h"

#define RESPONSE	64	/* bytes of the READ to be answered */

static struct pair p;
static struct mem ma, mb;
static char command[16384];

/* The textual address; an IPv4-mapped GID ends with it. */
static void address(const struct side *s, char *text)
{
	const __u8 *raw = s->gid.raw;
	bool v4 = !memcmp(raw, "\0\0\0\0\0\0\0\0\0\0\377\377", 12);

	must(inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? raw + 12 : raw, text,
		       INET6_ADDRSTRLEN));
}

/* Starts the command for forged.py, to which packets are appended. */
static void forge(void)
{
	const char *selftests = getenv("SELFTESTS");
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

	if (!selftests)
		case_skip("SELFTESTS does not say where forged.py is");
	address(&sides[1], src);
	address(&sides[0], dst);
	snprintf(command, sizeof(command), "%s/verbs/forged.py %s %s",
		 selftests, src, dst);
}

static void forge_one(const struct end *e, const char *opcode, __u32 psn,
		      unsigned int syndrome, unsigned int bytes)
{
	size_t len = strlen(command);

	must(snprintf(command + len, sizeof(command) - len, " %s,%u,%u,%u,%u",
		      opcode, e->qp->qp_num, psn & 0xffffff, syndrome,
		      bytes) < (int)(sizeof(command) - len));
}

static void forge_send(void)
{
	int status;

	side_enter(&sides[1]);
	status = system(command);
	side_leave(&sides[1]);
	must_be(status, 0);
}

/* @a has @n requests in flight that will never be answered. */
static void unanswered(enum ibv_wr_opcode op, int n)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	int i;

	o.timeout = 0;
	o.rnr_retry = 0;
	pair_make(&p, &o, NULL);
	end_destroy_qp(&p.b);
	mem_make(&ma, &sides[0], 4096, FULL_ACCESS);
	mem_make(&mb, &sides[1], 4096, FULL_ACCESS);
	sge = sge_of(&ma, 0, RESPONSE);
	for (i = 0; i < n; i++) {
		wr = wr_of(i, op, &sge, 1);
		wr_target(&wr, &mb, 0);
		must_be(post_one(&p.a, &wr), 0);
	}
	must_be(state_of(&p.a), IBV_QPS_RTS);	/* they have been sent */
}

/* The requester still waits, and accepts a genuine response. */
static void not_believed(int n)
{
	forge_send();
	wc_none(p.a.scq, 20);
	must_be(state_of(&p.a), IBV_QPS_RTS);
	forge();
	forge_one(&p.a, "RC_ACKNOWLEDGE", p.a.psn + n - 1, 0x1f, 0);
	forge_send();
}

/* Reserved are 010, everything with bit 7 set, and NAK codes above 4. */
static bool is_reserved(unsigned int syndrome)
{
	return syndrome >= 0x80 || (syndrome & 0x60) == 0x40 ||
	       ((syndrome & 0x60) == 0x60 && (syndrome & 0x1f) > 4);
}

static void reserved(void)
{
	unsigned int syndrome;
	int i;

	unanswered(IBV_WR_RDMA_WRITE, 3);
	forge();
	for (syndrome = 0; syndrome < 256; syndrome++)
		if (is_reserved(syndrome))
			forge_one(&p.a, "RC_ACKNOWLEDGE", p.a.psn + 1,
				  syndrome, 0);
	not_believed(3);
	for (i = 0; i < 3; i++)
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
}

/* READ and atomic responses must carry an ACK syndrome. */
static void wrong_response(enum ibv_wr_opcode op, const char *opcode,
			   unsigned int bytes)
{
	static const unsigned int wrong[] = {
		0x20, 0x40, 0x60, 0x61, 0x64, 0x65, 0x80, 0xff,
	};
	size_t i;

	unanswered(op, 1);
	forge();
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		forge_one(&p.a, opcode, p.a.psn, wrong[i], bytes);
	forge_send();
	wc_none(p.a.scq, 20);
	must_be(state_of(&p.a), IBV_QPS_RTS);
	untouched(ma.p, ma.len, "where the response goes");
	forge();
	forge_one(&p.a, opcode, p.a.psn, 0x1f, bytes);
	forge_send();
	wc_want(p.a.scq, 0, IBV_WC_SUCCESS);
	must_be(ma.p[0], 0);
}

static void read_response(void)
{
	wrong_response(IBV_WR_RDMA_READ, "RC_RDMA_READ_RESPONSE_ONLY", RESPONSE);
}

/* NAKs that complete a request with an error; the request behind it is flushed. */
static void fatal(void)
{
	static const struct {
		unsigned int syndrome;
		enum ibv_wc_status status;
	} naks[] = {
		{ 0x61, IBV_WC_REM_INV_REQ_ERR },
		{ 0x62, IBV_WC_REM_ACCESS_ERR },
		{ 0x63, IBV_WC_REM_OP_ERR },
		{ 0x64, IBV_WC_REM_INV_RD_REQ_ERR },
		{ 0x2c, IBV_WC_RNR_RETRY_EXC_ERR },
	};
	struct end ends[ARRAY_SIZE(naks)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(naks); i++) {
		unanswered(IBV_WR_RDMA_WRITE, 2);
		ends[i] = p.a;
	}
	forge();
	for (i = 0; i < ARRAY_SIZE(naks); i++)
		forge_one(&ends[i], "RC_ACKNOWLEDGE", ends[i].psn,
			  naks[i].syndrome, 0);
	forge_send();
	for (i = 0; i < ARRAY_SIZE(naks); i++) {
		wc_want(ends[i].scq, 0, naks[i].status);
		wc_want(ends[i].scq, 1, IBV_WC_WR_FLUSH_ERR);
		must_be(state_of(&ends[i]), IBV_QPS_ERR);
	}
}

static const struct vrb_case forged_cases[] = {
	{ "forged", "reserved syndromes are dropped", reserved },
	{ "forged", "a READ response with a syndrome other than ACK", read_response },
	{ "forged", "NAKs that end a request", fatal },
};

VRB_CASES(forged_cases);
