// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - differential test: known differences
 *
 * Sections are those of the InfiniBand Architecture Specification, volume 1.
 */
#include "differ.h"

/* The provider of rdma-core refuses these when they are posted. */
static bool is_odd_atomic(const struct request *r)
{
	return op_is_atomic(r->op) && (r->sge[0].len != 8 || r->target.off & 7);
}

static bool is_message(const struct request *r)
{
	return r->op == IBV_WR_SEND || r->op == IBV_WR_SEND_WITH_IMM;
}

static bool is_remote_inv(const struct request *r)
{
	return r->op == IBV_WR_SEND_WITH_INV;
}

static bool is_zero_based(const struct request *r)
{
	return r->op == IBV_WR_BIND_MW && r->rights & IBV_ACCESS_ZERO_BASED;
}

static bool is_in_window(const struct request *r)
{
	return op_has_target(r->op) && r->target.window;
}

/**
 * struct known - a difference
 * @type: the other type of device
 * @place: record in which they differ
 * @ours: outcome on srnic
 * @other: outcome on @type; SUCCESS for any that is no error
 * @is: requests to which it applies; NULL for all
 * @how: must the rest of the epoch be alike?
 * @reason: where the specification permits it, or what is wrong in @type
 */
#define SUCCESS	"success"

static const struct known {
	const char	*type;
	enum place	place;
	const char	*ours;
	const char	*other;
	bool		(*is)(const struct request *r);
	enum likeness	how;
	const char	*reason;
} known[] = {
	{ "srnic_rxe", IN_POSTING, "accepted", "refused", is_odd_atomic, UNLIKE_AFTER,
	  "ibv_post_send(3) may fail; rdma-core's provider judges it there" },
	{ "rxe", IN_POSTING, "accepted", "refused", is_odd_atomic, UNLIKE_AFTER,
	  "ibv_post_send(3) may fail; rdma-core's provider judges it there" },
	{ "rxe", IN_SENDS, "local protection error", "Work Request Flushed Error", NULL,
	  ALIKE, "9.9.2, local protection error; its completion says flushed" },
	{ "rxe", IN_SENDS, "local QP operation error", "Work Request Flushed Error", NULL,
	  ALIKE, "9.9.2, local QP operation error; its completion says flushed" },
	{ "rxe", IN_SENDS, "memory management operation error", "Work Request Flushed Error",
	  NULL, ALIKE, "an error of memory management; its completion says flushed" },
	{ "rxe", IN_SENDS, "remote invalid request error", "remote operation error",
	  is_message, ALIKE, "9.9.3, length error; it reports some as invalid memory" },
	{ "rxe", IN_RECEIVES, "local length error", "local QP operation error", NULL,
	  ALIKE, "9.9.3, length error; it reports some as invalid memory" },
	{ "rxe", IN_RECEIVES, "local protection error", "local QP operation error", NULL,
	  ALIKE, "9.9.3, local memory protection; its completion says QP operation" },
	{ "rxe", IN_RECEIVES, "Work Request Flushed Error", "remote access error", NULL,
	  ALIKE, "9.9.3, R_Key violation; it takes a receive before it judges the access" },
	{ "rxe", IN_RECEIVES, "nothing", "remote access error", NULL,
	  ALIKE, "9.9.3, R_Key violation; it takes a receive before it judges the access" },
	{ "rxe", IN_RECEIVES, "key invalidated", "no key invalidated", NULL, ALIKE,
	  "ibv_poll_cq(3), IBV_WC_WITH_INV; it sets the bit of the kernel's own flag" },
	{ "rxe", IN_SENDS, "remote access error", SUCCESS, is_in_window, UNLIKE_AFTER,
	  "10.6.7, a window limits accesses to its range; it judges that of the region" },
	{ "rxe", IN_SENDS, "memory management operation error", SUCCESS, is_zero_based,
	  UNLIKE_AFTER, "10.6.7, a window is in its region; it judges the length alone" },
	{ "rxe", IN_RECEIVES, "opcode 128, 0 bytes, immediate 0", "local QP operation error",
	  NULL, UNLIKE_AFTER,
	  "9.9.3, UC drops a message that is too long; it reports some as invalid memory" },
	{ "rxe", AT_END, "state 5", "state 6", NULL, ALIKE,
	  "10.3.1, an error of the send queue of UC or UD leads to SQE; it enters ERR" },
	{ "rxe", IN_SENDS, "remote access error", SUCCESS, is_remote_inv, UNLIKE_AFTER,
	  "it acknowledges the message before it judges the key" },
};

static long seen[ARRAY_SIZE(known)];

bool outcome_is_success(const char *text)
{
	return !strncmp(text, "opcode", strlen("opcode"));
}

static bool outcome_is(const char *text, const char *want)
{
	return strcmp(want, SUCCESS) ? !strcmp(text, want) : outcome_is_success(text);
}

enum likeness difference_known(const char *type, enum place place,
			       const struct request *r, const char *ours, const char *other)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		const struct known *k = &known[i];

		if (strcmp(k->type, type) || k->place != place ||
		    !outcome_is(ours, k->ours) || !outcome_is(other, k->other) ||
		    (k->is && !k->is(r)))
			continue;
		seen[i]++;
		return k->how;
	}
	return UNLIKE;
}

/*
 * 10.3.1: in RESET, a queue pair has its initial state.  In rdma_rxe it keeps its position
 * in the response to a READ, and then refuses responses of its next connection with a
 * warning in the kernel log.
 */
bool reset_is_partial(const char *type, const struct request *failed)
{
	return !strcmp(type, "rxe") && failed->op == IBV_WR_RDMA_READ;
}

void known_say(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (seen[i])
			printf("# %8ld %s differs: '%s', not '%s': %s\n", seen[i],
			       known[i].type, known[i].other, known[i].ours,
			       known[i].reason);
}
