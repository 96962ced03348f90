/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - drill: interface of the parts
 *
 *	drill.c		the program: scripts, statements, TAP
 *	line.c		a line of a script: words, values
 *	packet.c	a packet, in script notation and as bytes
 *	wire.c		the peer's end of the wire: packet sockets
 *	object.c	queue pairs, regions and other objects that statements create
 *	verbs.c		work requests, completions, states, memory
 */
#ifndef DRILL_H
#define DRILL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdnoreturn.h>
#include <infiniband/verbs.h>

#include "../lib/roce.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* The current line has failed or is invalid. */
noreturn void fail(const char *fmt, ...);

/* The current line has failed, possibly only because the runner was not scheduled. */
noreturn void fail_timed(const char *fmt, ...);

/* Says that the failure that follows is a timeout, waiting for @what, that means a hang. */
void late(const char *what);

/* Called often to measure for how long the runner was not scheduled; it slept for @us. */
void tick(__u64 us);

/* Skips the script, since the driver lacks a feature. */
noreturn void skip(const char *fmt, ...);

/* Without a device nothing is sent: packets are only written to the capture. */
extern bool dry;

/* Microseconds to wait for an expected packet, completion or event */
extern __u64 patience;

/* ---- line.c ---- */

#define MAX_WORDS	64

/**
 * struct line - a line of a script
 * @num: number of words
 * @word: KEY=VALUE, or just KEY
 * @used: the word has been processed
 */
struct line {
	int	num;
	char	*word[MAX_WORDS];
	bool	used[MAX_WORDS];
};

/* Splits @text, whose first word is the statement; returns false for an empty line. */
bool line_cut(struct line *l, char *text);
/* The value of @key: "" if it has none, NULL if it is missing */
const char *line_get(struct line *l, const char *key);
bool line_has(struct line *l, const char *key);
/* Word number @at after the statement, counted from 1; NULL if there is none */
const char *line_word(struct line *l, int at);
__u64 line_num(struct line *l, const char *key, __u64 otherwise);
/* in microseconds */
__u64 line_time(struct line *l, const char *key, __u64 otherwise);
/* Fails unless each word has been processed. */
void line_end(const struct line *l);

bool num_parse(const char *text, __u64 *num);
bool time_parse(const char *text, __u64 *us);

struct name {
	const char	*name;
	int		value;
};

/* Fails if the name is unknown. */
int name_value(const struct name *names, size_t num, const char *what,
	       const char *name);
const char *name_of(const struct name *names, size_t num, int value);

/* ---- packet.c ---- */

#define MAX_PAYLOAD	4200
#define MAX_FRAME	(MAX_PAYLOAD + 200)

/**
 * struct packet - a packet as on the wire
 * @t: from the BTH on; without the ICRC when built, with it when received
 * @len: bytes of @t
 * @payload: bytes of payload
 * @bad_icrc: the ICRC is wrong, or to be made wrong
 * @malformed: bytes are missing or extra, the opcode is reserved, or the destination port
 * is wrong
 * @us: time when it was sent or received
 */
struct packet {
	int	ip;
	__u8	src[16];
	__u8	dst[16];
	__u8	tos;
	__u8	ttl;
	bool	df;
	__u16	sport;
	__u16	dport;
	bool	bad_icrc;
	bool	malformed;
	int	payload;
	int	len;
	__u8	t[MAX_FRAME];
	__u64	us;
};

/* Builds the packet that a line "< ..." describes. */
void packet_make(struct packet *p, struct line *l);
/* Fails unless @p matches the line "> ...". */
void packet_expect(const struct packet *p, struct line *l);
/* Does an acknowledgment come before the one that a line "> ACKS" describes? */
bool packet_is_before(const struct packet *p, struct line *l);
/* In script notation; valid until the next call */
const char *packet_show(const struct packet *p);
/* Prints the packet in numbers only, for comparison with other programs. */
void packet_list(const struct packet *p, FILE *out);
__u8 stream_byte(char stream, size_t i);

/* ---- wire.c ---- */

/* @peer is a netdev; its wire leads to the netdev of device @dev. */
int wire_open(const char *peer, const char *peer_ns, const char *dev,
	      const char *dev_ns);
void wire_log(const char *file);
/*
 * Queues a packet.  Consecutive packets of a script are sent together before its next other
 * statement, as the runner might not be scheduled between them.
 */
void wire_queue(struct packet *p);
void wire_flush(void);
void wire_forget(void);
/* Are SACKs for the script?  Otherwise they are dropped. */
extern bool wire_sacks;
/* Returns false if no packet arrives in that time. */
bool wire_receive(struct packet *p, __u64 us);
/* Returns a packet to the queue, for the next wire_receive(). */
void wire_return(const struct packet *p);
void wire_drain(void);
__u64 now_us(void);
void ns_enter(const char *name);
void ns_leave(void);

/* ---- object.c and verbs.c ---- */

/**
 * struct region - a memory region, or a window on one
 * @name: its first letter selects the initial pattern
 * @mw: the window, or NULL for a region
 */
struct region {
	char		name[16];
	__u8		*p;
	size_t		len;
	struct ibv_mr	*mr;
	struct ibv_mw	*mw;
	__u32		rkey;
};

/**
 * struct qp - a queue pair under test
 * @peer: QPN of the peer
 * @transport: transport bits of its opcodes
 * @initiates: has retry attributes
 * @srqn: SRQ number of injected XRC requests, unless they name another
 * @wr_id: of the last posted send
 */
struct qp {
	char			name[16];
	enum ibv_qp_type	type;
	__u8			transport;
	bool			initiates;
	__u32			qpn;
	__u32			peer;
	int			ip;
	__u32			qkey;
	__u32			srqn;
	struct ibv_qp		*qp;
	struct ibv_cq		*scq;
	struct ibv_cq		*rcq;
	struct ibv_ah		*ah;
	__u64			wr_id;
};

/* The queue pair that lines refer to, NULL if there is none yet */
extern struct qp *qp;

int device_open(const char *name, const char *ns);
extern struct ibv_context *device;
/* Destroys all objects of the script. */
void objects_undo(void);

/* NULL if there is no such region */
struct region *region_find(const char *name);
/* "REGION+OFFSET"; fails if there is no such region, or fewer than @len bytes. */
__u8 *region_at(const char *text, size_t len);
struct region *region_of(const char *text);
/* An address, or a number; keys and SRQ numbers likewise */
__u64 address_of(const char *text);
__u32 key_of(const char *text);
__u32 srqn_of(const char *text);
struct ibv_srq *srq_of(const char *name);
void peer_address(int ip, __u8 *addr);
void device_address(int ip, __u8 *addr);

typedef void statement_fn(struct line *l);

statement_fn do_qp, do_use, do_mr, do_mw, do_srq, do_dereg, do_modify;
statement_fn do_recv, do_post, do_cqe, do_mem, do_word, do_put, do_state, do_event;

/* Returns false if no completion arrives in that time. */
bool cq_wait(struct ibv_cq *cq, struct ibv_wc *wc, __u64 us);
int access_of(const char *text);
void verbs_undo(void);

/* Fails if a completion is left. */
void cqs_are_empty(void);

#endif
