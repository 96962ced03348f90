// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: the record of a case, to compare two ways to the peer
 *
 * It has one line for each completion, in the order of its queue, for each event, in the
 * order of its device, and for each queue pair and memory at the end of the case.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "record.h"

#define MARKER	(NO_ID - 1)	/* ID of the work request that follows those of the case */

/*
 * Cases whose memory may differ: the message is refused in its middle, and the specification
 * does not say how much of it is written before.
 */
static const char * const torn[] = {
	"invalid: long SEND longer than the receive",
};

struct part {
	char	*text;
	size_t	size;
	FILE	*f;
};

static struct part queues[MAX_THINGS], events[2], ends;

static void part_say(struct part *part, const char *fmt, ...)
{
	va_list ap;

	if (!part->f)
		part->f = open_memstream(&part->text, &part->size);
	must(part->f);
	va_start(ap, fmt);
	vfprintf(part->f, fmt, ap);
	va_end(ap);
}

void record_wc(int cq, const struct ibv_wc *wc)
{
	bool imm = wc->wc_flags & IBV_WC_WITH_IMM;

	if (wc->wr_id == MARKER)
		return;
	part_say(&queues[cq],
		 "completion queue %d: %lld '%s', opcode %d, %u bytes, flags %x, immediate %x\n",
		 cq, (long long)wc->wr_id, ibv_wc_status_str(wc->status), wc->opcode,
		 wc->byte_len, wc->wc_flags, imm ? be32toh(wc->imm_data) : 0);
}

/* Port and GID events are not caused by a case. */
void record_event(int side, const struct ibv_async_event *ev)
{
	if (ev->event_type <= IBV_EVENT_PATH_MIG_ERR ||
	    ev->event_type == IBV_EVENT_SRQ_ERR ||
	    ev->event_type == IBV_EVENT_SRQ_LIMIT_REACHED ||
	    ev->event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
		part_say(&events[side], "device %d: event '%s'\n", side,
			 ibv_event_type_str(ev->event_type));
}

void record_state(int qp, enum ibv_qp_state state)
{
	part_say(&ends, "queue pair %d: state %d\n", qp, state);
}

/* FNV-1a, by words */
static __u64 memory_hash(__u64 hash, const __u64 *words, size_t len)
{
	size_t i;

	for (i = 0; i < len / sizeof(*words); i++)
		hash = (hash ^ words[i]) * 0x100000001b3ULL;
	return hash;
}

/* Pages that have been unmapped cannot be read. */
void record_memory(int map, const void *p, size_t len)
{
	static __u64 words[8192];
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	__u64 hash = 0xcbf29ce484222325ULL;
	size_t off;
	ssize_t n;

	must(fd >= 0);
	for (off = 0; off < len; off += sizeof(words)) {
		memset(words, 0, sizeof(words));
		n = len - off < sizeof(words) ? len - off : sizeof(words);
		n = pread(fd, words, n, (uintptr_t)p + off);
		hash = memory_hash(hash, words, n < 0 ? 0 : sizeof(words));
	}
	close(fd);
	part_say(&ends, "memory %d: hash %016llx\n", map, (unsigned long long)hash);
}

/* Waits for the marker of a flushed queue; what precedes it is flushed, too. */
static void marker_wait(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	do {
		if (!wc_wait(cq, &wc, BOUND))
			case_fail("no end of a flushed queue");
		if (wc.status != IBV_WC_WR_FLUSH_ERR)
			case_fail("the case did not wait for completion %llu",
				  (unsigned long long)wc.wr_id);
	} while (wc.wr_id != MARKER);
}

static void drain_sends(struct ibv_qp *qp)
{
	struct ibv_send_wr wr = wr_of(MARKER, IBV_WR_SEND, NULL, 0), *bad;
	struct ibv_wc wc;
	__u64 end = 0;
	int err;

	while ((err = ibv_post_send(qp, &wr, &bad)) == ENOMEM)
		if (!wc_wait(qp->send_cq, &wc, 0))
			wait_turn(&end, "room in a flushed queue");
	must_be(err, 0);
	marker_wait(qp->send_cq);
}

static void drain_receives(struct ibv_qp *qp)
{
	struct ibv_recv_wr wr = { .wr_id = MARKER }, *bad;
	struct ibv_wc wc;
	__u64 end = 0;
	int err;

	while ((err = ibv_post_recv(qp, &wr, &bad)) == ENOMEM)
		if (!wc_wait(qp->recv_cq, &wc, 0))
			wait_turn(&end, "room in a flushed queue");
	must_be(err, 0);
	marker_wait(qp->recv_cq);
}

void record_drain(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (qp->qp_type != IBV_QPT_RC && qp->qp_type != IBV_QPT_UC &&
	    qp->qp_type != IBV_QPT_XRC_SEND)
		return;
	must_be(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	drain_sends(qp);
	if (!qp->srq && qp->qp_type != IBV_QPT_XRC_SEND)
		drain_receives(qp);
}

static void part_move(struct part *part, FILE *to)
{
	if (!part->f)
		return;
	fclose(part->f);
	fputs(part->text, to);
	free(part->text);
	*part = (struct part) {};
}

char *record_take(void)
{
	struct part whole = {};
	int i;

	whole.f = open_memstream(&whole.text, &whole.size);
	if (!whole.f)
		return NULL;
	for (i = 0; i < MAX_THINGS; i++)
		part_move(&queues[i], whole.f);
	for (i = 0; i < 2; i++)
		part_move(&events[i], whole.f);
	part_move(&ends, whole.f);
	fclose(whole.f);
	return whole.text;
}

static bool is_torn(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(torn); i++)
		if (!strcmp(torn[i], name))
			return true;
	return false;
}

static int line_length(const char *line)
{
	return strchrnul(line, '\n') - line;
}

static const char *line_after(const char *line)
{
	line += line_length(line);
	return line + !!*line;
}

bool record_alike(const char *name, const char *one, const char *two, char *text,
		  size_t size)
{
	bool skip = is_torn(name);

	for (; *one || *two; one = line_after(one), two = line_after(two)) {
		int n = line_length(one), m = line_length(two);

		if (n == m && !memcmp(one, two, n))
			continue;
		if (skip && !strncmp(one, "memory ", 7) && !strncmp(two, "memory ", 7))
			continue;
		snprintf(text, size, "%.*s | %.*s", n, one, m, two);
		return false;
	}
	return true;
}
