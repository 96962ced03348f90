/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - differential test: programs and their requests
 *
 * A program has epochs.  In an epoch both queue pairs are connected, requests are posted,
 * and both are taken to ERR and to RESET.  A program names memory by area and offset, so it
 * is the same for each device.
 */
#ifndef HUNT_DIFFER_H
#define HUNT_DIFFER_H

#include "hunt.h"
#include "vrb.h"

#define SLICE		4096
#define PIECES		4		/* SGEs of a request, each in a slice of its own */
#define AREA_SIZE	(PIECES * SLICE)
#define BATCH		4
#define STEPS		64
#define EPOCHS		3
#define INLINE		64
#define ZEROES		64		/* at the start of each area, for CMP_AND_SWP */
#define GRH		40		/* bytes before the payload of a datagram */
#define DATAGRAM	4096		/* maximum payload */
#define WINDOWS		3		/* memory windows of each end, numbered from 1 */
#define TYPE1_WINDOW	WINDOWS		/* the others are of type 2 */
#define ALL_REMOTE	(FULL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE)
#define LINES		128

/* What a program uses: RC, also with shared receives or with memory windows, UC or UD */
enum kind { KIND_RC, KIND_SRQ, KIND_WINDOW, KIND_UC, KIND_UD };

/* Areas of a host's memory, by the access rights of their regions */
enum area {
	AREA_ALL, AREA_READ_ONLY, AREA_LOCAL, AREA_REMOTE_READ, AREA_REMOTE_WRITE,
	AREA_REMOTE_ATOMIC, AREA_OTHER_PD, AREAS,
};

extern const int area_access[AREAS];

/**
 * struct piece - bytes of an area, and the key for them
 * @window: use the key of this window; 0 for that of the area
 * @old_key: use the key that the window had before it was bound
 * @bad_key: use another tag
 */
struct piece {
	enum area	area;
	__s32		off;
	__u32		len;
	int		window;
	bool		old_key;
	bool		bad_key;
};

/**
 * struct request - a work request
 * @op: not for a receive
 * @too_many: more SGEs than the queue has
 * @target: memory of the peer; of a bind, memory of its own end; of an invalidation, what
 *	    its key belongs to
 * @window: the window to be bound
 * @rights: access flags of that window
 * @bad_qkey: with a Q_Key that the peer does not have
 */
struct request {
	enum ibv_wr_opcode op;
	int		flags;
	int		num;
	struct piece	sge[PIECES];
	bool		too_many;
	struct piece	target;
	int		window;
	int		rights;
	bool		bad_qkey;
	__u32		imm;
	__u64		compare;
	__u64		swap;
};

/**
 * struct step - a receive, or send requests that are posted together
 * @end: the end that posts them, 0 or 1
 * @receive: one receive, not send requests
 * @risky: the first request may fail; only steps with @late follow
 * @late: posted in ERR
 * @arrival: its last request takes a receive, and arrives after those of earlier steps
 * @fatal: the peer enters ERR, whatever the status of the request
 * @what: reason for @risky
 */
struct step {
	int		end;
	bool		receive;
	bool		risky;
	bool		late;
	bool		arrival;
	bool		fatal;
	const char	*what;
	int		num;
	struct request	req[BATCH];
};

struct epoch {
	enum ibv_mtu	mtu;
	int		access[2];	/* of the queue pairs */
	int		num;
	struct step	steps[STEPS];
};

struct program {
	enum kind	kind;
	bool		sig_all;	/* unsignaled requests have completions, too */
	int		num;
	struct epoch	epochs[EPOCHS];
};

enum part { POSTS, SENDS, RECEIVES = SENDS + 2, ENDS = RECEIVES + 2, PARTS };

/* Outcome of a request of a step; step is -1 for the end of the epoch */
struct line {
	int	step;
	int	index;
	char	text[60];
};

struct outcome {
	int		num[EPOCHS][PARTS];
	struct line	lines[EPOCHS][PARTS][LINES];
};

struct type {
	const char	*name;
	struct side	sides[2];
	struct ibv_pd	*other_pd[2];
	struct ibv_ah	*ah[2];		/* to the other end */
	struct mem	areas[2][AREAS];
	struct outcome	outcome;
};

enum place { IN_POSTING, IN_SENDS, IN_RECEIVES, AT_END };

enum likeness {
	ALIKE,		/* the rest of the epoch must be alike */
	UNLIKE_AFTER,	/* the rest may differ */
	UNLIKE,
};

/*
 * Is this difference in the outcome of @r known?  @r is NULL at the end of an epoch; an
 * outcome that is missing is "nothing".
 */
enum likeness difference_known(const char *type, enum place place,
			       const struct request *r, const char *ours, const char *other);
/* Is this the outcome of a request that has succeeded? */
bool outcome_is_success(const char *text);
/* Does a queue pair keep state across RESET after @failed has failed? */
bool reset_is_partial(const char *type, const struct request *failed);
/* Prints the known differences, and how often each was seen. */
void known_say(void);

void program_make(struct program *p, __u32 seed);
/* Records the outcome in @t. */
void program_run(struct type *t, struct program *p);
/* Prints how many completions of each status all programs had. */
void statuses_say(void);
enum ibv_qp_type kind_type(enum kind kind);
bool kind_is_reliable(enum kind kind);
__u32 request_length(const struct request *r);
bool op_takes_receive(enum ibv_wr_opcode op);
bool op_has_target(enum ibv_wr_opcode op);
bool op_is_atomic(enum ibv_wr_opcode op);
/* Does the request concern a key of its own end only? */
bool op_is_local(enum ibv_wr_opcode op);
/* Does the request write to memory of its own end? */
bool op_returns(enum ibv_wr_opcode op);
/* The result is valid until the next call. */
const char *step_describe(const struct step *step);

#endif
