// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - tests of each single rule of loss recovery and of the window
 *
 * Every rule is tested with several initial PSNs, so that comparisons are also
 * made across the wrap at 2^24.
 */

#include <linux/kernel.h>
#include <linux/time64.h>

#include "recovery_state.h"
#include "tap.h"
#include "wire/psn.h"
#include "xport/flight.h"
#include "xport/loss.h"
#include "xport/recovery.h"
#include "xport/rto.h"

#define USEC	((u64)NSEC_PER_USEC)
#define MSEC	((u64)NSEC_PER_MSEC)
#define SEC	((u64)NSEC_PER_SEC)

#define SHORT	(20 * USEC)	/* round trip within a rack */
#define LONG	(10 * MSEC)	/* long round trip */
#define TIMEOUT	(67 * MSEC)
#define RETRIES	7
#define PLACES	16	/* READs that the peer remembers */

static struct srnic_recovery f;
static u64 now;
static u32 first;	/* PSN of packet 0 */

#define must(holds)							\
	do {								\
		if (!(holds))						\
			tap_fault("first PSN %#x, line %d: %s", first,	\
				  __LINE__, #holds);			\
	} while (0)

static void state_must_hold(int line)
{
	const char *fault = recovery_state_fault(&f);

	if (fault)
		tap_fault("first PSN %#x, line %d: not: %s", first, line, fault);
}

/* PSN of packet @i */
static u32 psn(u32 i)
{
	return srnic_psn_add(first, i);
}

static u32 span(u32 left, u8 places)
{
	f.reads.places = places;

	return srnic_flight_span(&f, left);
}

static bool may_read(bool first, u8 places)
{
	f.reads.places = places;

	return srnic_flight_may_read(&f, first);
}

static u32 num_lost(void)
{
	return f.sb.in[SRNIC_HOLE_LOST];
}

static u32 sent(void)
{
	return srnic_psn_diff(f.high, f.una);
}

/* Sends a packet if the window allows it, and arms the timer by the rules. */
static bool send_one(bool awaited)
{
	bool ask;

	if (!srnic_flight_open(&f))
		return false;
	if (f.next == f.psn)
		srnic_flight_assign(&f, 1);
	ask = srnic_flight_wants_ack(&f, awaited);
	srnic_recovery_sent(&f, 1, false, ask, now);
	if (!f.silence)
		srnic_rto_arm(&f, now);
	state_must_hold(__LINE__);

	return true;
}

static u32 send_many(u32 num)
{
	u32 n = 0;

	while (n < num && send_one(false))
		n++;

	return n;
}

static u32 fill(void)
{
	return send_many(2 * SRNIC_CWND_MAX);
}

static void read_one(u32 npsn)
{
	if (f.next == f.psn)
		srnic_flight_assign(&f, npsn);
	srnic_recovery_sent(&f, npsn, true, true, now);
	if (!f.silence)
		srnic_rto_arm(&f, now);
	state_must_hold(__LINE__);
}

static struct srnic_recovery_todo ack_hole(u32 i, u32 hole)
{
	struct srnic_recovery_todo todo = srnic_recovery_acked(&f, psn(i), hole, now);

	if (hole != SRNIC_RECOVERY_KEPT)
		state_must_hold(__LINE__);

	return todo;
}

/* Acknowledges all packets before packet @i. */
static struct srnic_recovery_todo ack(u32 i)
{
	return ack_hole(i, 0);
}

/* The packet at una is missing, and a later one has arrived. */
static struct srnic_recovery_todo nak(u32 gap)
{
	struct srnic_recovery_todo todo = srnic_recovery_missing(&f, gap, now);

	state_must_hold(__LINE__);

	return todo;
}

static struct srnic_recovery_todo rnr(u64 nsec)
{
	struct srnic_recovery_todo todo = srnic_recovery_rnr(&f, nsec, now);

	state_must_hold(__LINE__);

	return todo;
}

/* Lets @f.deadline expire. */
static struct srnic_recovery_todo expire(void)
{
	struct srnic_recovery_todo todo;

	now = max(now, f.deadline);
	todo = srnic_recovery_timeout(&f, false, now);
	state_must_hold(__LINE__);

	return todo;
}

/* Lets deadlines expire until there is something to do, or no deadline is set. */
static struct srnic_recovery_todo wait(void)
{
	struct srnic_recovery_todo todo = {};
	u32 i;

	for (i = 0; i < 100 && f.deadline && !todo.cause; i++)
		todo = expire();

	return todo;
}

static bool is(struct srnic_recovery_todo todo, enum srnic_recovery_act act,
	       enum srnic_recovery_cause cause)
{
	return todo.act == act && todo.cause == cause;
}

static bool is_nothing(struct srnic_recovery_todo todo)
{
	return todo.act == SRNIC_RECOVERY_NOTHING;
}

static void begin(u32 at)
{
	first = at;
	now = SEC;
	srnic_recovery_start(&f, first);
	f.cwnd.window = SRNIC_CWND_SHORT;	/* as on a short path after some round trips */
	srnic_recovery_set_limits(&f, TIMEOUT, RETRIES, RETRIES, PLACES);
}

/* Like begin(), with the round trip measured by packet 0 */
static void begin_path(u32 at, u64 rtt)
{
	begin(at);
	send_one(true);
	now += rtt;
	ack(1);
}

/* Sends a packet whose ACK arrives after @rtt. */
static void measure(u64 rtt)
{
	u32 i = srnic_psn_diff(f.next, first);

	send_one(true);
	now += rtt;
	ack(i + 1);
}

/* The window */

static void window(u32 at)
{
	begin(at);
	must(fill() == SRNIC_CWND_SHORT);
	must(!srnic_flight_open(&f));
}

static void window_reopens(u32 at)
{
	begin(at);
	fill();
	now += SHORT;
	ack(5);
	must(fill() == 5);
}

static void window_of_reads(u32 at)
{
	begin(at);
	read_one(100);
	must(srnic_flight_open(&f) && sent() == 100);
	read_one(28);
	must(!srnic_flight_open(&f));
}

static void asks_first(u32 at)
{
	begin(at);
	must(srnic_flight_wants_ack(&f, false));
}

static void asks_if_awaited(u32 at)
{
	begin_path(at, SHORT);
	must(!srnic_flight_wants_ack(&f, false));
	must(srnic_flight_wants_ack(&f, true));
}

/* The window starts after a packet that requested an ACK. */
static void asks_each(u32 at)
{
	u32 since = 0, asks = 0;

	begin_path(at, SHORT);
	while (srnic_flight_open(&f)) {
		since++;
		srnic_flight_assign(&f, 1);
		if (srnic_flight_wants_ack(&f, false)) {
			must(since <= 32);
			since = 0;
			asks++;
			srnic_recovery_sent(&f, 1, false, true, now);
		} else {
			srnic_recovery_sent(&f, 1, false, false, now);
		}
	}
	must(!since);
	must(asks == SRNIC_CWND_SHORT / 32);
}

static void asks_in_small_window(u32 at)
{
	u32 n;

	begin_path(at, SHORT);
	for (n = 1; n <= 128; n++) {
		u32 asked = f.asked;

		f.cwnd.window = n;
		must(send_many(n + 1) == n);
		must(srnic_psn_diff(f.asked, asked) > 0 && f.asked == f.next);
		ack(srnic_psn_diff(f.next, first));
	}
}

static void ask(u32 at)
{
	begin_path(at, LONG);
	send_many(3);
	must(!srnic_flight_asked(&f));
	must(f.deadline > now && f.deadline <= now + MSEC);
	must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_ASK));
	must(f.next == psn(3));
	must(srnic_flight_wants_ack(&f, false));
	must(srnic_recovery_sent(&f, 1, false, true, now));
	must(f.next == psn(4) && srnic_flight_asked(&f));
}

static void ask_once(u32 at)
{
	begin_path(at, LONG);
	send_many(3);
	expire();
	send_one(false);
	must(!is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_ASK));
}

static void ask_is_free(u32 at)
{
	begin_path(at, LONG);
	send_many(3);
	expire();
	must(f.retry_left == RETRIES && f.mode == SRNIC_RECOVERY_OPEN);
	must(f.cwnd.window == SRNIC_CWND_SHORT);
}

static void no_ask_if_asked(u32 at)
{
	begin_path(at, LONG);
	send_many(3);
	send_one(true);
	must(srnic_flight_asked(&f));
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
}

/* Round trips: RFC 6298, (2.2) and (2.3), with alpha 1/8 and beta 1/4 */

static void rtt_first(u32 at)
{
	begin_path(at, 80 * MSEC);
	must(f.rtt.srtt == 80 * MSEC && f.rtt.var == 40 * MSEC);
	must(f.rtt.last == 80 * MSEC && f.rtt.min == 80 * MSEC);
}

static void rtt_next(u32 at)
{
	/*   R                SRTT                       RTTVAR                  */
	static const struct {
		u64 r, srtt, rttvar;
	} steps[] = {
		{ 120 * MSEC,  85000 * USEC,              40000 * USEC },
		{  85 * MSEC,  85000 * USEC,              30000 * USEC },
		{   5 * MSEC,  75000 * USEC,              42500 * USEC },
		{ 155 * MSEC,  85000 * USEC,              51875 * USEC },
	};
	u32 i;

	begin_path(at, 80 * MSEC);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		measure(steps[i].r);
		must(f.rtt.srtt == steps[i].srtt && f.rtt.var == steps[i].rttvar);
		must(f.rtt.last == steps[i].r);
	}
	must(f.rtt.min == 5 * MSEC);
}

/* After one round trip of a minute, a loss is still detected as soon as before. */
static void rtt_late_once(u32 at)
{
	u64 from;

	begin_path(at, SHORT);
	measure(60 * SEC);
	must(send_one(true));
	from = now;
	must(wait().act == SRNIC_RECOVERY_SEEK);
	must(now - from <= 2 * TIMEOUT);
}

/* RFC 6298, 2.2: after the first measurement R the timeout is R + 4 * R / 2. */
static void rtt_first_timeout(u32 at)
{
	u64 from;

	begin_path(at, 2 * TIMEOUT);
	must(send_one(true));
	from = now;
	must(wait().cause == SRNIC_CAUSE_TIMEOUT);
	must(now - from == 6 * TIMEOUT);
}

/* The minimum follows the path: an old minimum expires. */
static void rtt_min_ages(u32 at)
{
	u64 from;

	begin_path(at, SHORT);
	from = now;
	while (now < from + 5 * SEC)
		measure(LONG);
	must(f.rtt.min == SHORT);
	while (now < from + 60 * SEC)
		measure(LONG);
	must(f.rtt.min == LONG);
	measure(SHORT);
	must(f.rtt.min == SHORT);
}

static void rtt_of_youngest(u32 at)
{
	begin(at);
	send_one(true);
	now += 7 * MSEC;
	send_many(40);
	send_one(true);
	now += LONG;
	ack(42);
	must(f.rtt.last == LONG);
}

static void rtt_karn(u32 at)
{
	begin_path(at, SHORT);
	send_many(40);
	now += SHORT;
	must(nak(0).act == SRNIC_RECOVERY_SEEK);
	send_one(false);
	now += 30 * MSEC;
	ack(41);
	must(f.rtt.last == SHORT && f.rtt.min == SHORT && f.rtt.srtt == SHORT);
}

static void rtt_zero(u32 at)
{
	begin(at);
	send_one(true);
	ack(1);
	must(f.rtt.srtt && f.rtt.min);
}

/* The ACK of the first packet arrives after the timeout. */
static void rtt_beyond_timeout(u32 at)
{
	struct srnic_recovery_todo todo;

	begin(at);
	send_one(true);
	do {
		todo = wait();
		send_one(true);
	} while (!is(todo, SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_TIMEOUT));
	now = SEC + 100 * MSEC;
	ack(1);
	must(f.rtt.srtt > 0 && f.rtt.srtt <= 100 * MSEC);
	must(!f.rtt.min);
	measure(100 * MSEC);
	must(f.rtt.srtt == 100 * MSEC && f.rtt.min == 100 * MSEC);
}

static void rtt_of_retries(u32 at)
{
	struct srnic_recovery_todo todo;

	begin(at);
	send_one(true);
	do {
		todo = wait();
		send_one(true);
	} while (f.retry_left);
	must(now > SEC + RETRIES * TIMEOUT);
	ack(1);
	must(todo.act == SRNIC_RECOVERY_SEEK && f.rtt.srtt <= 2 * TIMEOUT);
}

/* A timeout shorter than the round trip is not used. */
static void timeout_beyond_rtt(u32 at)
{
	u64 from;

	begin_path(at, 100 * MSEC);
	send_one(true);
	from = now;
	must(wait().cause != SRNIC_CAUSE_NONE);
	must(now >= from + 100 * MSEC);
}

static void samples_limited(u32 at)
{
	u32 i;

	begin(at);
	for (i = 0; i < SRNIC_CWND_SHORT; i++)
		send_one(true);
	must(f.rtt.num_samples <= SRNIC_RTT_SAMPLES);
	must(f.rtt.num_samples >= SRNIC_RTT_SAMPLES / 2);
}

/* Growth */

/* One round trip with a full window; requested ACKs arrive after @rtt. */
static void round_trip(u64 rtt)
{
	u32 i, n, from = srnic_psn_diff(f.una, first);

	fill();
	n = sent();
	now += rtt;
	for (i = 32; i < n; i += 32) {
		ack(from + i);
		fill();
	}
	ack(from + n);
}

static void grows_fast(u32 at)
{
	begin_path(at, LONG);
	round_trip(LONG);
	must(f.cwnd.window >= SRNIC_CWND_SHORT * 3 / 2);
	must(f.cwnd.window <= SRNIC_CWND_SHORT * 2);
}

static void grows_to_the_end(u32 at)
{
	u32 i;

	begin_path(at, LONG);
	for (i = 0; i < 20; i++) {
		round_trip(LONG);
		must(f.cwnd.window <= SRNIC_CWND_MAX);
	}
	must(f.cwnd.window == SRNIC_CWND_MAX);
}

static void grows_clear(u32 at)
{
	u32 was;

	begin_path(at, LONG);
	f.cwnd.startup = false;
	was = f.cwnd.window;
	round_trip(LONG);
	must(f.cwnd.window > was && f.cwnd.window <= was + was / 8);
}

static void grows_queued(u32 at)
{
	u32 was;

	begin_path(at, LONG);
	round_trip(LONG);
	was = f.cwnd.window;
	fill();
	now += 2 * LONG;
	send_one(true);
	ack(srnic_psn_diff(f.next, first));
	was = f.cwnd.window;
	round_trip(2 * LONG);
	must(f.cwnd.window >= was && f.cwnd.window <= was + 2);
}

/* The window was full of packets whose round trip nobody knows: all were probed for. */
static void grows_unmeasured(u32 at)
{
	begin(at);
	f.cwnd.window = SRNIC_CWND_FIRST;
	must(fill() == SRNIC_CWND_FIRST);
	must(wait().cause == SRNIC_CAUSE_PROBE);
	fill();
	now += SEC;
	ack(SRNIC_CWND_FIRST);
	must(!f.rtt.min);
	must(f.cwnd.window == SRNIC_CWND_FIRST);
	round_trip(SHORT);
	must(f.cwnd.window > SRNIC_CWND_FIRST);
}

/* A round trip that takes long, as if there was a queue, and one that does not */
static void grows_after_pause(u32 at)
{
	u32 was;

	begin_path(at, LONG);
	f.cwnd.window = 16;
	round_trip(4 * LONG);
	must(f.cwnd.window <= 18);
	was = f.cwnd.window;
	round_trip(LONG);
	must(f.cwnd.window > was + 2);
}

static void grows_late(u32 at)
{
	begin_path(at, TIMEOUT);
	f.cwnd.window = 16;
	round_trip(2 * TIMEOUT);
	must(f.cwnd.window <= 18);
}

static void grows_if_limited(u32 at)
{
	u32 i;

	begin_path(at, LONG);
	for (i = 0; i < 50; i++)
		measure(LONG);
	must(f.cwnd.window == SRNIC_CWND_SHORT);
}

/* ACKs that are processed together grow it as much as ACKs that come one by one. */
static void grows_by_each(u32 at)
{
	u32 i, n;

	begin_path(at, LONG);
	fill();
	n = sent();
	now += LONG;
	for (i = 8; i <= n; i += 8)
		ack(1 + i);
	must(f.cwnd.window >= SRNIC_CWND_SHORT + SRNIC_CWND_SHORT / 2);
}

static void grows_on_short(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	for (i = 0; i < 50; i++)
		round_trip(SHORT);
	must(f.cwnd.window > 8 * SRNIC_CWND_SHORT);
}

/* Each packet takes as long as the others: the round trip is that of a queue. */
static void grows_not_queue(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	for (i = 0; i < 200; i++) {
		round_trip(SHORT * f.cwnd.window / SRNIC_CWND_SHORT);
		must(f.cwnd.window <= SRNIC_CWND_SHORT * 5 / 4);
	}
}

static void grows_not_full(u32 at)
{
	u32 i;

	begin_path(at, LONG);
	for (i = 0; i < 20; i++)
		round_trip(9 * LONG);
	must(f.cwnd.window <= SRNIC_CWND_SHORT + SRNIC_CWND_SHORT);
	must(!srnic_flight_open(&f) || f.cwnd.window < 2 * SRNIC_CWND_SHORT);
}

static void grows_back(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	f.cwnd.window = 4;
	f.cwnd.startup = false;
	for (i = 0; i < 500; i++)
		round_trip(SHORT);
	must(f.cwnd.window >= SRNIC_CWND_SHORT);
}

/* Losses */

static void cut(u32 at)
{
	begin_path(at, SHORT);
	measure(SHORT + 5 * MSEC);
	must(fill() == 128);
	now += 5 * MSEC;
	nak(0);
	must(f.cwnd.window == 128 * 7 / 10);
}

static void cut_once(u32 at)
{
	u32 i = 2;

	begin_path(at, SHORT);
	measure(SHORT + 5 * MSEC);
	fill();
	now += 5 * MSEC;
	nak(0);
	send_one(false);
	now += 5 * MSEC;
	must(ack(i + 10).act == SRNIC_RECOVERY_SEEK);
	must(f.cwnd.window == 128 * 7 / 10);
	send_one(false);
	now += 5 * MSEC;
	ack(srnic_psn_diff(f.high, first));
	must(f.mode == SRNIC_RECOVERY_OPEN);
	must(f.cwnd.window == 128 * 7 / 10);
}

static void cut_again(u32 at)
{
	u32 was;

	begin_path(at, SHORT);
	measure(SHORT + 5 * MSEC);
	fill();
	now += 5 * MSEC;
	nak(0);
	send_one(false);
	now += 5 * MSEC;
	ack(srnic_psn_diff(f.high, first));
	was = f.cwnd.window;
	fill();
	now += 5 * MSEC;
	nak(0);
	must(f.cwnd.window == was * 7 / 10);
}

static void cut_not_by_chance(u32 at)
{
	begin_path(at, LONG);
	fill();
	now += LONG;
	nak(0);
	wait();
	must(f.mode == SRNIC_RECOVERY_REPAIR);
	must(f.cwnd.window == SRNIC_CWND_SHORT);
}

static void cut_by_run(u32 at)
{
	begin_path(at, SHORT);
	read_one(100);
	now += SHORT;
	nak(50);
	must(f.mode == SRNIC_RECOVERY_SELECT);
	must(f.cwnd.window == 70);
}

/* Each ACK reveals the next hole, @every packets later, until @holes are repaired. */
static void repair_holes(u32 holes, u32 every)
{
	u32 at = srnic_psn_diff(f.una, first), i;

	nak(0);
	for (i = 1; i < holes; i++) {
		send_one(false);
		now += SHORT;
		must(is(ack(at + i * every), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
		must(f.run < 2);
	}
}

static void cut_by_holes(u32 at)
{
	begin_path(at, SHORT);
	must(fill() == 128);
	repair_holes(9, 2);
	must(f.cwnd.window == 128);
	begin_path(at, SHORT);
	fill();
	repair_holes(10, 2);
	must(f.cwnd.window >= 64 && f.cwnd.window <= 128 * 7 / 10);
}

static void cut_not_by_old_holes(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	fill();
	repair_holes(6, 2);
	for (i = 0; i < 2; i++) {
		send_one(false);
		now += SHORT;
		ack(srnic_psn_diff(f.high, first));
		fill();
	}
	must(f.mode == SRNIC_RECOVERY_OPEN);
	repair_holes(6, 2);
	must(f.cwnd.window >= 128);
}

static void cut_by_half_at_most(u32 at)
{
	begin_path(at, SHORT);
	measure(SHORT + 5 * MSEC);
	fill();
	f.cwnd.cut = srnic_psn_add(f.una, 100);
	nak(0);
	must(f.cwnd.window == 128);
	send_one(false);
	now += 5 * MSEC;
	ack(2 + 120);
	must(f.cwnd.window == 64);
}

static void cut_at_least_one(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	f.cwnd.window = 1;
	for (i = 1; i < 20; i++) {
		send_many(1);
		now = max(now, f.deadline);
		wait();
		send_many(1);
		must(f.cwnd.window == 1);
		now += SHORT;
		ack(i + 1);
	}
}

/* 2^23 PSNs after a cut, the PSN of that cut must not compare as ahead. */
static void cut_much_later(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	measure(SHORT + 5 * MSEC);
	fill();
	nak(0);
	send_one(false);
	now += 5 * MSEC;
	ack(srnic_psn_diff(f.high, first));
	for (i = 0; i < SRNIC_PSN_MASK / 2 + 50000; i += 50) {
		srnic_flight_assign(&f, 50);
		srnic_recovery_sent(&f, 50, false, true, now);
		now += SHORT;
		srnic_recovery_acked(&f, f.high, 0, now);
	}
	state_must_hold(__LINE__);
	f.cwnd.window = 100;
	must(fill() == 100);
	now += SHORT + 5 * MSEC;
	srnic_recovery_acked(&f, srnic_psn_add(f.una, 60), 0, now);
	fill();
	nak(0);
	must(f.cwnd.window <= 71);
}

/* Bursts */

/* A full queue drops a packet; there is no ACK that would release new ones. */
static void released_after_cut(u32 at)
{
	begin_path(at, LONG);
	measure(LONG + 5 * MSEC);
	f.keeps = SRNIC_KEEPS_ALL;
	fill();
	now += LONG + 5 * MSEC;
	nak(0);
	must(f.mode == SRNIC_RECOVERY_SUSPECT && !f.cwnd.tick);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.cwnd.window < SRNIC_CWND_SHORT);
	send_one(false);
	must(!srnic_flight_open(&f));
	while (!srnic_flight_open(&f) && f.cwnd.tick && f.cwnd.tick < f.silence)
		expire();
	must(fill());
}

/* Response to a NAK */

static void nak_is_doubted(u32 at)
{
	begin_path(at, LONG);
	send_many(10);
	now += LONG;
	must(is_nothing(nak(0)));
	must(f.mode == SRNIC_RECOVERY_SUSPECT && f.retry_left == RETRIES);
	must(send_one(false));
	must(f.deadline > now && f.deadline <= now + LONG);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.mode == SRNIC_RECOVERY_REPAIR && f.next == psn(1));
}

/* Reordering seen so far was shorter than half a round trip. */
static void nak_is_doubted_as_long(u32 at)
{
	begin_path(at, LONG);
	f.rtt.reorder = LONG / 10;
	send_many(10);
	now += LONG;
	must(is_nothing(nak(0)));
	must(f.suspect_until >= now + LONG / 2);
}

static void nak_on_short_path(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	now += SHORT;
	must(is(nak(0), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.mode == SRNIC_RECOVERY_REPAIR && f.next == psn(1));
	must(f.retry_left == RETRIES - 1);
}

static void repair_is_one(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	nak(0);
	must(srnic_flight_wants_ack(&f, false));
	must(srnic_recovery_sent(&f, 1, false, true, now));
	must(f.next == psn(11) && f.mode == SRNIC_RECOVERY_REPAIR);
	must(send_one(false) && f.high == psn(12));
}

static void reordered(u32 at)
{
	begin_path(at, LONG);
	send_many(10);
	now += LONG;
	nak(0);
	now += MSEC;
	must(is_nothing(ack(11)));
	must(f.mode == SRNIC_RECOVERY_OPEN && f.next == psn(11));
	must(f.cwnd.window == SRNIC_CWND_SHORT && f.retry_left == RETRIES);
	must(!f.deadline && !f.cwnd.tick);
}

/* A response arrives late, and then another one is missing. */
static void reordered_twice(u32 at)
{
	begin_path(at, LONG);
	read_one(60);
	now += LONG;
	nak(2);
	now += MSEC;
	must(is_nothing(ack_hole(11, 3)));
	must(f.mode == SRNIC_RECOVERY_SELECT && !num_lost() && f.retry_left == RETRIES);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(11) && f.detour == 3);
}

static void nak_again(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	nak(0);
	send_one(false);
	now += SHORT / 2;
	must(is_nothing(nak(0)));
	must(f.retry_left == RETRIES - 1);
}

static void nak_of_nothing(u32 at)
{
	begin_path(at, SHORT);
	must(is_nothing(nak(0)));
	must(f.mode == SRNIC_RECOVERY_OPEN && f.retry_left == RETRIES);
}

/* The retransmission is lost, too. */
static void lost_again(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	nak(0);
	send_one(false);
	now += 100 * SHORT;
	must(is(nak(0), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(1));
}

/* The first response of a connection is lost; the 127 others arrive. */
static void responses_before_rtt(u32 at)
{
	u32 i;

	begin(at);
	read_one(128);
	now += LONG;
	for (i = 1; i < 128; i++) {
		must(nak(1).act != SRNIC_RECOVERY_FAIL);
		if (f.detour)
			read_one(1);
		now += 10 * USEC;
	}
	must(f.retry_left + 2 >= RETRIES);
}

/* ACKs that arrive too early to be for a retransmission */

static void spurious_repair(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	nak(0);
	send_one(false);
	now += SHORT / 4;
	ack(11);
	must(f.mode == SRNIC_RECOVERY_OPEN);
	must(f.rtt.reorder > 0 && f.rtt.reorder <= f.rtt.srtt);
}

/* The ACK may be for the first or for the second retransmission. */
static void spurious_second(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	nak(0);
	send_one(false);
	now += 10 * SHORT;
	must(is(nak(0), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	send_one(false);
	now += SHORT / 4;
	ack(11);
	must(!f.rtt.reorder);
}

static void spurious_fades(u32 at)
{
	u32 i, end = 11;
	u64 was;

	spurious_repair(at);
	was = f.rtt.reorder;
	for (i = 0; i < 8; i++, end += 10) {
		send_many(10);
		nak(0);
		wait();
		send_one(false);
		now += SHORT;
		ack(end + 10);
		must(f.mode == SRNIC_RECOVERY_OPEN);
	}
	must(f.rtt.reorder < was / 2);
}

/*
 * A packet is lost @num times, and the answer to each retransmission takes a quarter of the
 * round trip that was measured.
 */
static void answer_early(u32 num)
{
	u32 at = srnic_psn_diff(f.una, first), i;

	for (i = 0; i < num; i++) {
		must(f.rtt.min == SHORT);
		nak(0);
		wait();
		must(f.mode == SRNIC_RECOVERY_REPAIR);
		send_one(false);
		now += SHORT / 4;
		ack(at + i + 1);
	}
}

static void spurious_thrice(u32 at)
{
	begin_path(at, SHORT);
	send_many(20);
	answer_early(3);
	must(f.mode != SRNIC_RECOVERY_OPEN);
	must(!f.rtt.min && f.rtt.srtt == SHORT / 4 && !f.rtt.reorder);
	must(f.cwnd.window == SRNIC_CWND_SHORT);
}

static void spurious_measured(u32 at)
{
	begin_path(at, SHORT);
	send_many(20);
	answer_early(2);
	send_one(true);
	now += SHORT;
	ack(srnic_psn_diff(f.high, first));
	send_many(20);
	answer_early(1);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.rtt.min == SHORT);
}

static void spurious_holes(u32 at)
{
	begin_path(at, SHORT);
	fill();
	repair_holes(10, 2);
	send_one(false);
	now += SHORT / 4;
	ack(60);
	must(f.mode == SRNIC_RECOVERY_OPEN && !f.cwnd.holes);
}

/* Responses that were reported missing have arrived late. */
static void spurious_gap(u32 at)
{
	begin_path(at, SHORT);
	read_one(8);
	send_many(1);
	nak(3);
	read_one(3);
	now += SHORT / 4;
	ack(10);
	must(f.mode == SRNIC_RECOVERY_OPEN && !f.sb.num);
}

static void spurious_is_remembered(u32 at)
{
	spurious_repair(at);
	send_many(10);
	must(is_nothing(nak(0)));
	must(f.mode == SRNIC_RECOVERY_SUSPECT);
	must(f.suspect_until >= now + f.rtt.srtt / 2 && f.suspect_until <= now + f.rtt.srtt);
}

static void spurious_not(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	nak(0);
	send_one(false);
	now += SHORT;
	ack(11);
	must(!f.rtt.reorder);
}

/* While no round trip is known, no ACK is too early. */
static void spurious_not_before_rtt(u32 at)
{
	begin(at);
	send_many(10);
	now += LONG;
	nak(0);
	wait();
	send_one(true);
	now += LONG;
	ack(1);
	must(!f.rtt.reorder);
	must(!f.rtt.min || f.rtt.min >= LONG);
}

static void spurious_probe(u32 at)
{
	begin_path(at, LONG);
	send_many(9);
	send_one(true);
	must(wait().cause == SRNIC_CAUSE_PROBE);
	send_one(false);
	now += LONG / 4;
	ack(6);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.next == psn(11) && !f.detour);
	must(!f.rtt.reorder && f.cwnd.window == SRNIC_CWND_SHORT);
	must(!f.cwnd.tick && !f.cwnd.extra);
}

/* Two packets of 16 requested an ACK, none came, and a probe was sent some time ago. */
static void probe_in_queue(u32 at)
{
	begin_path(at, SHORT);
	send_many(4);
	send_one(true);
	send_many(10);
	send_one(true);
	must(wait().cause == SRNIC_CAUSE_PROBE);
	send_one(false);
	now += 4 * SHORT;
}

/* The queue has become longer, so the answers arrive late, one after the other. */
static void spurious_late_probe(u32 at)
{
	probe_in_queue(at);
	ack(6);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.next == f.high && !f.detour);
	must(f.rtt.last > 4 * SHORT && !f.rtt.probes);
}

/* The ACK answers the probe; the probed packet was missing, and so is the next. */
static void needed_probe(u32 at)
{
	probe_in_queue(at);
	must(is(ack(9), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(9));
}

static void spurious_timeout(u32 at)
{
	struct srnic_recovery_todo todo;

	begin_path(at, LONG);
	send_many(9);
	send_one(true);
	do {
		todo = wait();
		send_one(false);
	} while (todo.cause == SRNIC_CAUSE_PROBE);
	must(is(todo, SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_TIMEOUT));
	must(f.next == psn(2));
	now += LONG / 4;
	must(ack(6).act == SRNIC_RECOVERY_SEEK);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.next == psn(11));
}

/* Silence caused by tail drop */
static void timeout_cuts(u32 at)
{
	begin_path(at, SHORT);
	fill();
	f.rtt.probes = 16;
	must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_TIMEOUT));
	must(f.cwnd.window == SRNIC_CWND_SHORT);	/* the answers may be late */
	send_one(false);
	now += SHORT;
	ack(2);
	must(f.cwnd.window == SRNIC_CWND_SHORT * 7 / 10);
}

/* The initial window stays. */
static void timeout_first(u32 at)
{
	begin(at);
	f.cwnd.window = SRNIC_CWND_FIRST;
	fill();
	f.rtt.probes = 16;
	must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_TIMEOUT));
	send_one(false);
	now += LONG;
	ack(1);
	must(f.cwnd.window == SRNIC_CWND_FIRST);
}

/* Doubles while a window takes one round trip, and no longer. */
static void window_starts(u32 at)
{
	u32 i, sum = 0;

	first = at;
	now = SEC;
	srnic_recovery_start(&f, first);
	srnic_recovery_set_limits(&f, TIMEOUT, RETRIES, RETRIES, PLACES);
	for (i = SRNIC_CWND_FIRST; i <= SRNIC_CWND_SHORT; i *= 2) {
		must(fill() == i && !srnic_flight_open(&f));
		sum += i;
		now += SHORT;
		ack(sum);
	}
	must(f.cwnd.window == SRNIC_CWND_SHORT);

	srnic_recovery_start(&f, first);
	srnic_recovery_set_limits(&f, TIMEOUT, RETRIES, RETRIES, PLACES);
	must(fill() == SRNIC_CWND_FIRST);
	now += 100 * USEC;
	ack(SRNIC_CWND_FIRST);
	must(fill() == 2 * SRNIC_CWND_FIRST);
	now += 500 * USEC;
	ack(3 * SRNIC_CWND_FIRST);
	must(f.cwnd.window == 2 * SRNIC_CWND_FIRST);
}

/* Sends packet @i, and retransmits it until its answer arrives after @rtt. */
static void answer_late(u32 i, u64 rtt)
{
	u64 end = now + rtt;

	send_one(true);
	while (f.deadline && f.deadline < end) {
		must(expire().act != SRNIC_RECOVERY_FAIL);
		send_one(false);
	}
	now = end;
	ack(i + 1);
}

/*
 * Round trips of 30 timeouts, one packet at a time: each answer may be one to a
 * retransmission, until there is none.
 */
static void late_answers(u32 at)
{
	u32 i;

	begin(at);
	for (i = 0; i < 20 && !f.rtt.min; i++)
		answer_late(i, 30 * TIMEOUT + TIMEOUT / 3);
	must(i < 20 && f.rtt.min > 30 * TIMEOUT);
	for (; f.rtt.srtt < 30 * TIMEOUT && i < 30; i++)
		answer_late(i, 30 * TIMEOUT + TIMEOUT / 3);
	send_one(true);
	must(f.deadline > now + 30 * TIMEOUT && !f.rtt.wait && !f.rtt.backoff);
}

/* Timeouts become longer, up to 8 times; the first measured round trip ends that. */
static void timeouts_back_off(u32 at)
{
	static const u8 factors[] = { 1, 2, 4, 8, 8, 8 };
	u64 from;
	u32 i;

	begin_path(at, SHORT);
	for (i = 0; i < ARRAY_SIZE(factors); i++) {
		send_one(true);
		f.rtt.probes = 16;
		srnic_rto_arm(&f, now);
		from = now;
		must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_TIMEOUT));
		must(now - from == factors[i] * TIMEOUT);
	}
	send_one(true);
	now += SHORT;
	ack(2);
	measure(SHORT);
	send_one(true);
	f.rtt.probes = 16;
	srnic_rto_arm(&f, now);
	must(f.deadline == now + TIMEOUT);
}

/* A live peer renews the retries, a limited number of times. */
static void heard(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, TIMEOUT, 1, RETRIES, PLACES);
	send_one(true);
	for (i = 0; i < 100; i++) {
		f.rtt.probes = 16;
		srnic_rto_arm(&f, now);
		if (expire().act == SRNIC_RECOVERY_FAIL)
			break;
		send_one(true);
		srnic_recovery_heard(&f);
		must(f.retry_left == 1 || i >= 16);
	}
	must(i == 17);
}

/* Retransmits until the timeout has expired once more. */
static void until_timeout(void)
{
	struct srnic_recovery_todo todo;

	do {
		todo = wait();
		send_many(1);
	} while (todo.cause == SRNIC_CAUSE_PROBE);
	must(is(todo, SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_TIMEOUT));
}

/* Before a round trip is known, a timeout discards the measurements in progress. */
static void spurious_measures_nothing(u32 at)
{
	u32 i;

	begin(at);
	for (i = 0; i < 40; i++)
		send_one(true);
	until_timeout();
	f.cwnd.window = SRNIC_CWND_SHORT;
	f.burst = 16;
	for (i = 1; i <= 5; i++) {
		now += SHORT;
		ack(i);
		send_many(SRNIC_CWND_SHORT);
	}
	must(srnic_psn_diff(f.next, psn(17)) >= 0);
	until_timeout();
	now += SHORT;
	ack(8);
	must(f.mode == SRNIC_RECOVERY_OPEN);
	now += SHORT;
	ack(20);
	must(!f.rtt.min);
}

/* All packets are lost, and the path becomes shorter: each must be retransmitted. */
static void spurious_not_one(u32 at)
{
	struct srnic_recovery_todo todo;
	u32 i;

	begin_path(at, LONG);
	must(send_many(100) == 100);
	do {
		todo = wait();
		fill();
	} while (!is(todo, SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_TIMEOUT));
	for (i = 2; i < 10; i++) {
		now += LONG / 4;
		ack(i);
		must(f.mode == SRNIC_RECOVERY_BACK);
		if (f.next == f.una)
			send_one(false);
	}
}

/* Several holes */

static void hole_after_hole(u32 at)
{
	begin_path(at, SHORT);
	send_many(20);
	nak(0);
	send_one(false);
	now += SHORT;
	must(is(ack(6), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.mode == SRNIC_RECOVERY_REPAIR && f.next == psn(6) && f.detour == 1);
	must(f.keeps == SRNIC_KEEPS_ALL && f.retry_left == RETRIES);
	send_one(false);
	must(f.next == psn(21));
	now += SHORT;
	must(is(ack(13), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(13));
	send_one(false);
	now += SHORT;
	must(is_nothing(ack(21)));
	must(f.mode == SRNIC_RECOVERY_OPEN && f.next == psn(21));
}

/* Packets sent after the retransmission may still be in flight. */
static void hole_of_later(u32 at)
{
	begin_path(at, SHORT);
	send_many(20);
	nak(0);
	send_one(false);
	must(send_many(5) == 5);
	now += SHORT;
	must(is_nothing(ack(21)));
	must(f.mode == SRNIC_RECOVERY_OPEN && f.next == psn(26));
}

static void run_of_lost(u32 at)
{
	begin_path(at, SHORT);
	f.keeps = SRNIC_KEEPS_ALL;
	send_many(20);
	nak(0);
	send_one(false);
	now += SHORT;
	must(is(ack(2), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(2) && f.detour == 2);
	send_many(2);
	must(f.next == psn(21));
	now += SHORT;
	must(is(ack(4), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(4) && f.detour == 4);
}

static void run_of_lost_on_long_path(u32 at)
{
	begin_path(at, LONG);
	f.keeps = SRNIC_KEEPS_ALL;
	send_many(100);
	nak(0);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.detour == 1);
	send_one(false);
	now += LONG;
	must(is(ack(2), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(2) && f.detour == f.cwnd.window / SRNIC_CWND_QUEUE_PART);
}

static void responses_missing(u32 at)
{
	begin_path(at, SHORT);
	read_one(60);
	must(is(nak(5), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(1) && f.detour == 5);
	must(span(5, 16) == 5);
	read_one(5);
	must(f.next == psn(61) && f.reads.num == 1);
	now += SHORT;
	must(is(ack_hole(11, 3), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(11) && f.detour == 3);
}

static void responses_kept(u32 at)
{
	begin_path(at, SHORT);
	read_one(60);
	must(is(nak(1), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	read_one(1);
	now += SHORT;
	must(is_nothing(ack_hole(2, SRNIC_RECOVERY_KEPT)));
	must(is_nothing(ack_hole(3, SRNIC_RECOVERY_KEPT)));
	must(f.next == psn(61) && !f.detour);
	must(is(ack_hole(4, 2), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(4) && f.detour == 2);
}

/* Of three READs, from packet 1 on, the first request is lost and sent again. */
static void lose_read(u32 at, u64 rtt)
{
	u32 i;

	begin_path(at, rtt);
	for (i = 0; i < 3; i++)
		read_one(4);
	nak(0);
	if (f.mode == SRNIC_RECOVERY_SUSPECT)
		wait();
	must(f.mode == SRNIC_RECOVERY_REPAIR && f.next == psn(1));
	read_one(4);
	now += rtt;
	for (i = 2; i < 5; i++)
		must(is_nothing(ack_hole(i, SRNIC_RECOVERY_DUE)));
}

/* It is requested again, but answered before it could have been. */
static void request_was_kept(u32 at)
{
	u64 reorder;

	lose_read(at, SHORT);
	reorder = f.rtt.reorder;
	must(is(ack_hole(5, SRNIC_RECOVERY_DUE), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(5) && f.keeps == SRNIC_KEEPS_UNKNOWN);
	read_one(1);
	now += SHORT / 10;
	must(is(ack_hole(6, SRNIC_RECOVERY_DUE), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_NONE));
	must(f.mode == SRNIC_RECOVERY_OPEN && f.next == psn(13));
	must(f.keeps == SRNIC_KEEPS_ALL && f.rtt.reorder <= reorder);
}

static void request_was_not_kept(u32 at)
{
	lose_read(at, SHORT);
	ack_hole(5, SRNIC_RECOVERY_DUE);
	read_one(4);
	now += SHORT;
	must(is_nothing(ack_hole(6, SRNIC_RECOVERY_DUE)));
	must(f.mode == SRNIC_RECOVERY_BACK && f.keeps == SRNIC_KEEPS_UNKNOWN);
}

static void request_follows(u32 at)
{
	u64 rtts[] = { SHORT, LONG };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rtts); i++) {
		lose_read(at, rtts[i]);
		f.keeps = SRNIC_KEEPS_ALL;
		f.gbn_runs = 2;
		must(is_nothing(ack_hole(5, SRNIC_RECOVERY_DUE)));
		must(f.deadline > now && f.deadline <= now + max(rtts[i] / 2, 50 * USEC));
		must(is_nothing(ack_hole(6, SRNIC_RECOVERY_DUE)));
		must(f.mode == SRNIC_RECOVERY_OPEN && f.next == psn(13));
		must(f.keeps == SRNIC_KEEPS_ALL && !f.gbn_runs);
	}
}

/* The time passes, or the peer reports it. */
static void request_follows_not(u32 at)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		lose_read(at, LONG);
		f.keeps = SRNIC_KEEPS_ALL;
		ack_hole(5, SRNIC_RECOVERY_DUE);
		must(is(i ? nak(0) : wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
		must(f.mode == SRNIC_RECOVERY_REPAIR && f.next == psn(5) && f.detour > 1);
		must(f.retry_left == RETRIES && !f.gbn_runs);
	}
}

/* The response to the second READ is lost, too, but not all of it. */
static void request_follows_in_part(u32 at)
{
	lose_read(at, LONG);
	f.keeps = SRNIC_KEEPS_ALL;
	ack_hole(5, SRNIC_RECOVERY_DUE);
	must(is_nothing(nak(2)));
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(5) && f.detour == 2);
}

/* Responses that this end keeps out of order say nothing about the peer. */
static void responses_teach_nothing(u32 at)
{
	begin_path(at, SHORT);
	read_one(30);
	read_one(30);
	nak(2);
	read_one(2);
	now += SHORT;
	must(is(ack_hole(10, SRNIC_RECOVERY_DUE), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	read_one(21);
	now += SHORT;
	ack_hole(31, 0);
	must(f.keeps == SRNIC_KEEPS_UNKNOWN && !f.peer_keeps);
}

/* The peer may have kept all READs, and would answer them at once. */
static void no_ticks_for_reads(u32 at)
{
	begin_path(at, LONG);
	f.keeps = SRNIC_KEEPS_ALL;
	read_one(60);
	nak(0);
	must(f.mode == SRNIC_RECOVERY_SUSPECT && !f.cwnd.tick);
}

/*
 * Response 1 is lost, and so is response 5, whose request was sent after the retransmission.
 * When response 1 arrives, so have all others but 5; that must not take a timeout.
 */
static void hole_behind_recovery(u32 at)
{
	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, 0, RETRIES, RETRIES, PLACES);
	read_one(4);
	must(is(nak(1), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	read_one(1);
	read_one(4);
	now += SHORT;
	must(is_nothing(ack_hole(2, SRNIC_RECOVERY_KEPT)));
	must(is_nothing(ack_hole(3, SRNIC_RECOVERY_KEPT)));
	must(is_nothing(ack_hole(4, SRNIC_RECOVERY_KEPT)));
	must(is(ack_hole(5, 1), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.mode == SRNIC_RECOVERY_SELECT && f.next == psn(5) && f.detour == 1);
}

/* A response arrived late, so a later one may only be reordered, too. */
static void hole_behind_reordered(u32 at)
{
	begin_path(at, SHORT);
	read_one(60);
	must(is(nak(1), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	read_one(1);
	now += SHORT / 4;
	must(is_nothing(ack_hole(4, 2)));
	must(f.mode == SRNIC_RECOVERY_SELECT && f.sb.missing == 2 && !num_lost());
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(4) && f.detour == 2);
}

/* Tells of what was kept: packets with even numbers before packet @end.  Return: how many. */
static u32 recall(u32 end)
{
	u32 i, n = 0;

	while (srnic_loss_recalls(&f)) {
		i = srnic_psn_diff(f.sb.top, first);
		i += i & 1;
		if (i >= end) {
			srnic_loss_recalled(&f);
			break;
		}
		srnic_recovery_recall(&f, psn(i), 1, now);
		n++;
	}
	state_must_hold(__LINE__);

	return n;
}

/* Every other response of a READ is missing, which are more than the scoreboard has room for. */
static void hole_forgotten(u32 at)
{
	u32 end = 6 * SRNIC_SCOREBOARD_HOLES, recalled = 0, i;

	begin_path(at, SHORT);
	f.cwnd.window = end;
	read_one(end);
	nak(1);
	for (i = 2; i < end; i += 2)
		srnic_recovery_arrived(&f, psn(i), now);
	must(f.sb.num == SRNIC_SCOREBOARD_HOLES && !recall(end));
	for (i = 1; i < end; i += 2) {
		while (f.detour)
			read_one(f.detour);
		now += SHORT;
		ack_hole(i + 2 < end ? i + 2 : end + 1, i + 2 < end);
		recalled += recall(end);
		must(f.sb.num == SRNIC_SCOREBOARD_HOLES || !f.sb.forgot);
	}
	must(recalled == 2 * SRNIC_SCOREBOARD_HOLES - 1 && f.mode == SRNIC_RECOVERY_OPEN);
	must(!srnic_loss_recalls(&f));
}

static void kept_in_doubt(u32 at)
{
	begin_path(at, SHORT);
	f.rtt.reorder = SHORT / 2;
	read_one(60);
	must(is_nothing(nak(1)));
	must(f.mode == SRNIC_RECOVERY_SELECT && f.sb.missing == 1);
	must(f.suspect_until == now + SHORT / 2);
	now += SHORT / 4;
	must(is_nothing(ack_hole(2, SRNIC_RECOVERY_KEPT)));
	must(is_nothing(ack_hole(3, 4)));
	must(f.sb.missing == 4 && f.suspect_until == now + f.rtt.reorder);
	must(f.rtt.reorder > SHORT / 3);
}

/* Some responses arrive before all of them have been requested again. */
static void detour_goes_on(u32 at)
{
	begin_path(at, SHORT);
	read_one(60);
	must(is(nak(5), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	read_one(1);
	must(f.next == psn(2) && f.detour == 4);
	now += SHORT;
	must(is(ack_hole(4, 2), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_NONE));
	must(f.next == psn(4) && f.detour == 2);
	read_one(2);
	must(f.next == psn(61) && !f.detour);
}

static void responses_make_room(u32 at)
{
	u32 i;

	begin_path(at, LONG);
	read_one(SRNIC_CWND_SHORT);
	must(!srnic_flight_open(&f));
	now += LONG;
	for (i = 0; i < 10; i++) {
		must(is_nothing(nak(1)));
		must(is_nothing(srnic_recovery_arrived(&f, psn(2 + i), now)));
		state_must_hold(__LINE__);
	}
	must(f.mode == SRNIC_RECOVERY_SELECT && srnic_flight_open(&f));
	must(fill() == 10 + f.cwnd.window - SRNIC_CWND_SHORT);
}

static void ticks(u32 at)
{
	u64 from;

	begin_path(at, LONG);
	f.keeps = SRNIC_KEEPS_ALL;
	must(fill() == 128);
	now += LONG;
	from = now;
	nak(0);
	must(!srnic_flight_open(&f));
	while (now < from + LONG / 4 + MSEC && f.deadline) {
		expire();
		fill();
	}
	must(sent() > 128 && sent() <= 256);
	must(f.deadline);
}

/* A probe is lost while ticks continue: the timer for the rest stays armed. */
static void ticks_leave_timer(u32 at)
{
	u32 i;

	begin_path(at, LONG);
	f.keeps = SRNIC_KEEPS_ALL;
	fill();
	now += LONG;
	nak(0);
	for (i = 0; i < 1000 && f.deadline; i++) {
		if (expire().act == SRNIC_RECOVERY_FAIL)
			break;
		fill();
	}
	must(f.deadline && i < 1000);	/* the retries are exhausted in the end */
}

/* What is known to be missing is retransmitted selectively. */

/* A SACK lists @num pairs of first packet and end in @kept; packets before @seen were seen. */
static struct srnic_recovery_todo sack(const u32 (*kept)[2], u32 num, u32 seen)
{
	struct srnic_recovery_todo todo = {};
	u32 i;

	if (srnic_recovery_sacked(&f, f.una, now)) {
		for (i = 0; i < num; i++)
			srnic_loss_kept(&f, psn(kept[i][0]), kept[i][1] - kept[i][0], now);
		todo = srnic_recovery_select(&f, psn(seen), now);
	}
	state_must_hold(__LINE__);

	return todo;
}

/* Sends all that is to be retransmitted, as single packets.  Return: how many. */
static u32 retransmit(void)
{
	u32 n = 0;

	while (f.detour && n < 10000 && send_one(false))
		n++;

	return n;
}

/* Packets 1, 5 to 6, and 9 of the 11 from 1 on are missing. */
static const u32 three_holes[][2] = { { 2, 5 }, { 7, 9 }, { 10, 12 } };

static struct srnic_recovery_todo sack_three_holes(void)
{
	return sack(three_holes, ARRAY_SIZE(three_holes), 12);
}

static void select_all_holes(u32 at)
{
	static const u32 order[] = { 1, 5, 6, 9 };
	u32 i;

	begin_path(at, SHORT);
	send_many(11);
	must(is(sack_three_holes(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.mode == SRNIC_RECOVERY_SELECT && f.sb.num == 3 && num_lost() == 4);
	must(f.keeps == SRNIC_KEEPS_ALL && f.retry_left == RETRIES - 1);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		must(f.detour && f.next == psn(order[i]));
		must(send_one(false));
	}
	must(!f.detour && f.next == psn(12) && !num_lost());
	now += SHORT;
	must(is_nothing(ack(12)));
	must(f.mode == SRNIC_RECOVERY_OPEN && f.retry_left == RETRIES);
}

/* However many SACKs list it, a hole is retransmitted once until the answer is due. */
static void select_once(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	send_many(11);
	sack_three_holes();
	must(retransmit() == 4);
	for (i = 0; i < 10; i++) {
		now += SHORT / 11;
		must(sack_three_holes().cause == SRNIC_CAUSE_NONE && !retransmit());
	}
	now += SHORT;
	must(is(sack_three_holes(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(retransmit() == 4 && f.retry_left == RETRIES - 2);
}

/* Of 128 packets five arrive.  Those retransmitted are lost, too, but count once. */
static void select_counts(u32 at)
{
	static const u32 few[][2] = {
		{ 6, 7 }, { 30, 31 }, { 60, 61 }, { 90, 91 }, { 128, 129 },
	};
	const u32 num = ARRAY_SIZE(few);

	begin_path(at, SHORT);
	must(fill() == 128);
	must(is(sack(few, num, 129), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(num_lost() == 123 && f.cwnd.window == 5);
	must(retransmit() == 5 && num_lost() == 118);
	now += 3 * SHORT;
	sack(few, num, 129);
	must(num_lost() == 123 && f.cwnd.window == 5);
}

/* The peer reports the same holes so often that all retries are used up. */
static void report_holes(u32 at, u64 timeout)
{
	u32 i;

	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, timeout, RETRIES, RETRIES, PLACES);
	send_many(11);
	for (i = 0; i < RETRIES; i++) {
		must(is(sack_three_holes(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
		retransmit();
		now += 100 * SHORT << i;
	}
	must(!f.retry_left);
}

static void select_exhausts(u32 at)
{
	report_holes(at, 0);
	must(is(sack_three_holes(), SRNIC_RECOVERY_FAIL, SRNIC_CAUSE_GAP));
	/* none are allowed */
	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, TIMEOUT, 0, 0, PLACES);
	send_many(11);
	must(sack_three_holes().act != SRNIC_RECOVERY_FAIL);
	must(is(wait(), SRNIC_RECOVERY_FAIL, SRNIC_CAUSE_GAP));
}

static void select_is_patient(u32 at)
{
	struct srnic_recovery_todo todo = {};
	u32 i;

	report_holes(at, 1000 * TIMEOUT);
	must(is(sack_three_holes(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP) && retransmit() == 4);
	for (i = 0; i < 100 && todo.act != SRNIC_RECOVERY_FAIL; i++) {
		todo = wait();
		retransmit();
	}
	must(is(todo, SRNIC_RECOVERY_FAIL, SRNIC_CAUSE_TIMEOUT));
}

/* Many packets that have been acknowledged do not make later reports doubtful. */
static void select_believes(u32 at)
{
	static const u32 last[][2] = { { 100, 101 } }, behind[][2] = { { 102, 104 } };
	u32 i;

	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, 1000 * TIMEOUT, RETRIES, RETRIES, PLACES);
	send_many(100);
	sack(last, 1, 101);
	retransmit();
	now += SHORT;
	ack(101);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.una == f.high && send_many(3) == 3);
	for (i = 0; i <= RETRIES; i++) {
		must(is(sack(behind, 1, 104), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
		retransmit();
		now += 100 * SHORT << i;
	}
}

/* What was retransmitted in mode REPAIR is in flight. */
static void select_after_repair(u32 at)
{
	begin_path(at, SHORT);
	send_many(11);
	must(is(nak(0), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(send_one(false) && f.mode == SRNIC_RECOVERY_REPAIR);
	now += USEC;
	must(is(sack_three_holes(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.mode == SRNIC_RECOVERY_SELECT && f.next == psn(5) && f.retry_left == RETRIES - 1);
	must(retransmit() == 3);
}

/* The packet at una may only be late. */
static void select_after_doubt(u32 at)
{
	begin_path(at, LONG);
	send_many(11);
	must(is_nothing(nak(0)) && f.mode == SRNIC_RECOVERY_SUSPECT);
	must(sack_three_holes().cause == SRNIC_CAUSE_NONE);
	must(f.mode == SRNIC_RECOVERY_SELECT && !num_lost() && !f.detour);
	must(f.deadline == now + LONG / 2);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(1) && retransmit() == 4);
}

static void select_within_window(u32 at)
{
	static const u32 odd[][2] = { { 2, 3 }, { 40, 41 } };

	begin_path(at, SHORT);
	send_many(60);
	f.cwnd.window = 10;
	must(is(sack(odd, 2, 41), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(num_lost() == 38);
	must(f.next == psn(1) && send_one(false));	/* however many are in flight */
	must(f.next == psn(3) && !srnic_flight_open(&f) && !retransmit());
	now += SHORT;
	ack(3);
	must(srnic_flight_open(&f));
}

/* A peer that is not srnic need not answer a part of a READ that precedes another one. */
static void select_one_of_read(u32 at)
{
	begin_path(at, SHORT);
	read_one(20);
	read_one(20);
	must(is(nak(2), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	srnic_recovery_arrived(&f, psn(3), now);
	srnic_recovery_arrived(&f, psn(6), now);
	srnic_recovery_arrived(&f, psn(30), now);
	must(f.sb.num == 3 && num_lost() == 27);
	read_one(2);
	must(f.sb.num == 3 && f.next != psn(4));
	must(f.next == f.high && !f.detour);

	begin_path(at, SHORT);
	f.selects = true;
	read_one(20);
	nak(2);
	srnic_recovery_arrived(&f, psn(3), now);
	srnic_recovery_arrived(&f, psn(6), now);
	read_one(2);
	must(f.next == psn(4) && f.detour == 2);
}

/* A peer that says "kept" and "missing" in turn puts no timer off. */
static void select_toggles(u32 at)
{
	struct srnic_recovery_todo todo = {};
	static const u32 whole[][2] = { { 1, 9 } };
	u32 i;

	begin_path(at, LONG);
	f.selects = true;
	read_one(8);
	for (i = 0; i < 100 && todo.act != SRNIC_RECOVERY_SEEK; i++) {
		now += LONG / 4;
		if (f.silence && now >= f.silence)
			todo = srnic_recovery_timeout(&f, false, now);
		else if (i & 1)
			todo = sack(whole, 1, 1);
		else
			todo = nak(0);
	}
	must(i < 20);
}

/* The peer has all before packet @i, it says, and nothing behind it. */
static struct srnic_recovery_todo sack_before(u32 i)
{
	struct srnic_recovery_todo todo = {};

	if (srnic_recovery_sacked(&f, psn(i), now))
		todo = srnic_recovery_select(&f, psn(i), now);
	state_must_hold(__LINE__);

	return todo;
}

/* The peer takes back every @nsec what it has reported before. */
static void take_back(u32 at, u64 nsec)
{
	struct srnic_recovery_todo todo = {};
	static const u32 behind[][2] = { { 2, 9 } };
	u32 i;

	begin_path(at, LONG);
	send_many(8);
	for (i = 0; i < 10000 && todo.act != SRNIC_RECOVERY_FAIL; i++) {
		now += nsec;
		if (f.silence && now >= f.silence)
			todo = srnic_recovery_timeout(&f, false, now);
		else
			todo = i & 1 ? sack_before(9) : sack(behind, 1, 9);
		if (todo.act == SRNIC_RECOVERY_SEEK && !retransmit())
			send_one(false);
	}
	must(todo.act == SRNIC_RECOVERY_FAIL);
}

/* Nor if packets are known to have arrived before, and mode SELECT ends and begins. */
static void select_takes_back(u32 at)
{
	take_back(at, LONG / 8);
	take_back(at, LONG / 4);
	take_back(at, LONG / 2);
	take_back(at, LONG);
	take_back(at, 2 * LONG);
}

/* The peer has kept the READ of packets 1 to 8, it says. */
static void sack_read(void)
{
	static const u32 whole[][2] = { { 1, 9 } };

	sack(whole, 1, 1);
}

/* The peer has all of packets 1 to 8. */
static void sack_all(void)
{
	sack_before(9);
}

static void retransmit_any(void)
{
	if (!retransmit())
		send_one(false);
}

static void read_again(void)
{
	read_one(8);
}

static void send_or_read_again(void)
{
	if (f.next == psn(0))
		send_one(false);
	else
		read_again();
}

/*
 * Each time that the peer reports the oldest packet as missing, every @nsec, it has said something
 * else just before, by @other.  @again: retransmits what it misses.
 */
static void contradict(u64 nsec, void (*other)(void), void (*again)(void))
{
	struct srnic_recovery_todo todo = {};
	u32 i;

	for (i = 0; i < 10000 && todo.act != SRNIC_RECOVERY_FAIL; i++) {
		now += nsec;
		other();
		todo = nak(0);
		if (f.deadline && now >= f.deadline && todo.act != SRNIC_RECOVERY_FAIL)
			todo = srnic_recovery_timeout(&f, false, now);
		if (todo.act == SRNIC_RECOVERY_SEEK)
			again();
	}
	must(todo.act == SRNIC_RECOVERY_FAIL);
}

static void begin_selects(u32 at, u64 timeout, u8 retries)
{
	begin_path(at, LONG);
	srnic_recovery_set_limits(&f, timeout, retries, RETRIES, PLACES);
	f.selects = true;
}

static void contradict_packets(u32 at, u8 retries)
{
	begin_selects(at, TIMEOUT, retries);
	send_many(8);
	contradict(LONG / 8, sack_all, retransmit_any);
}

static void contradict_read(u32 at, u8 retries)
{
	begin_selects(at, TIMEOUT, retries);
	read_one(8);
	contradict(LONG / 8, sack_read, read_again);
}

/* Nor if no packet is ever late for long enough, as it is missing only since then. */
static void select_contradicts(u32 at)
{
	contradict_packets(at, RETRIES);
	contradict_packets(at, 0);
	contradict_read(at, RETRIES);
	contradict_read(at, 0);
}

/* Mode SELECT does not end meanwhile, as a READ is due, and no round trip is ever measured. */
static void select_contradicts_first(u32 at)
{
	begin(at);
	f.selects = true;
	send_one(true);
	read_one(8);
	now += MSEC;
	sack_read();
	must(f.sb.num == 2 && f.suspect_until == now + MSEC);
	contradict(MSEC / 4, sack_all, send_or_read_again);
}

/* A report that is not new comes when a packet has been late for too long, before the timer. */
static void select_report_late(u32 at)
{
	begin_path(at, LONG);
	send_many(10);
	send_one(true);
	must(is_nothing(sack_three_holes()) && f.suspect_until > now);
	now = f.suspect_until + 1;
	must(is(sack_three_holes(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(retransmit() == 4);
	must(f.deadline > now);
	must(is_nothing(srnic_recovery_timeout(&f, false, now)));
	must(!f.rtt.probes);
}

/* What seemed late is due: the answer to a retransmission is waited for as long as without it. */
static void select_due_late(u32 at)
{
	static const u32 one[][2] = { { 2, 3 } }, two[][2] = { { 2, 3 }, { 11, 12 } };
	static const u32 whole[][2] = { { 2, 12 } };
	u64 again;

	begin_selects(at, 16 * MSEC, 1);
	send_many(2);
	now += LONG / 2 + MSEC;
	read_one(8);
	send_one(false);
	now += LONG / 2 - MSEC;
	sack(one, 1, 3);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP) && retransmit() == 1);
	again = now;
	now += MSEC;
	sack(two, 2, 12);
	must(f.sb.in[SRNIC_HOLE_NEW] == 8 && f.deadline == now + LONG / 2);
	now += MSEC;
	sack(whole, 1, 12);
	must(f.sb.in[SRNIC_HOLE_DUE] == 8 && !f.suspect_until);
	must(f.deadline > again + 2 * LONG && f.deadline <= again + 4 * LONG);
}

/* Without retries only the oldest is waited for: others are retransmitted free of charge. */
static void select_free(u32 at)
{
	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, TIMEOUT, 0, 0, PLACES);
	send_many(11);
	must(is(sack_three_holes(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(5) && retransmit() == 3);
	now += SHORT;
	must(ack(5).act != SRNIC_RECOVERY_FAIL);
	now += 100 * SHORT;
	must(sack(three_holes, ARRAY_SIZE(three_holes), 12).act != SRNIC_RECOVERY_FAIL);
	ack(12);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.una == f.high);
}

/* In a window of @n, the pace spreads @npsn responses over many round trips. */
static void answer_slowly(u32 at, u32 n, u32 npsn)
{
	u32 i;

	begin_path(at, SHORT);
	f.selects = true;
	read_one(npsn + 1);
	nak(npsn);
	read_one(npsn);
	now += SHORT;
	must(f.sb.in[SRNIC_HOLE_SENT] == npsn);
	for (i = 2; i < npsn; i++) {
		f.cwnd.window = n;
		ack(i);
		must(f.mode == SRNIC_RECOVERY_SELECT && !f.detour);
		now += SHORT / n;
	}
	now += 8 * SHORT;
	srnic_recovery_arrived(&f, psn(npsn), now);
	must(f.detour == 1);
}

static void select_paced_read(u32 at)
{
	answer_slowly(at, 1, 19);
	answer_slowly(at, 2, 19);
	answer_slowly(at, 8, 19);
	answer_slowly(at, 40, 200);
}

/* The hole at una alone is requested while this end has no memory for more. */
static void select_cramped(u32 at)
{
	begin_path(at, SHORT);
	f.selects = true;
	read_one(20);
	srnic_recovery_full(&f, 0, now);
	nak(2);
	srnic_recovery_arrived(&f, psn(3), now);
	srnic_recovery_arrived(&f, psn(6), now);
	must(f.next == psn(1) && f.detour == 2);
	read_one(2);
	must(!f.detour && num_lost() == 2);
}

/* Nothing that is too far ahead for this end's memory is requested, until there is more. */
static void select_far(u32 at)
{
	begin_path(at, SHORT);
	f.selects = true;
	read_one(20);
	read_one(20);
	must(is(nak(2), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	srnic_recovery_full(&f, 15, now);
	srnic_recovery_arrived(&f, psn(3), now);
	srnic_recovery_arrived(&f, psn(6), now);
	srnic_recovery_arrived(&f, psn(18), now);
	srnic_recovery_arrived(&f, psn(20), now);
	read_one(2);
	must(f.next == psn(4));
	read_one(2);
	must(f.next == psn(7));		/* not psn(19) */
	read_one(11);
	must(!f.detour && num_lost() == 1);
	must(f.next == psn(41) && !span(20, 16));
	now += SHORT;
	must(is(ack_hole(7, 11), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(19));
	read_one(1);
	must(!span(20, 16));
	ack_hole(20, SRNIC_RECOVERY_KEPT);
	ack_hole(41, 0);
	must(f.mode == SRNIC_RECOVERY_OPEN && span(20, 16) == 20);
}

/* Requests need no memory of this end. */
static void select_far_writes(u32 at)
{
	begin_path(at, SHORT);
	f.selects = true;
	read_one(20);
	send_many(10);
	read_one(1);
	must(is(nak(2), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	srnic_recovery_full(&f, 1, now);
	srnic_recovery_arrived(&f, psn(20), now);
	srnic_loss_kept(&f, psn(25), 6, now);
	must(is_nothing(srnic_recovery_select(&f, psn(31), now)) && f.sb.num == 3);
	read_one(2);
	must(f.next == psn(21) && f.detour == 4);
}

/* Two READs of 20 PSNs are in flight, and responses to the first are missing. */
static void miss_two_of_forty(u32 at)
{
	begin_path(at, SHORT);
	read_one(20);
	read_one(20);
	nak(2);
	read_one(2);
	must(!f.detour && f.next == psn(41));
}

/* What is requested has its full size, and what is missing is requested as memory gets free. */
static void select_far_enough(u32 at)
{
	u32 i;

	miss_two_of_forty(at);
	srnic_recovery_full(&f, 58, now);
	must(!span(20, 16));
	miss_two_of_forty(at);
	srnic_recovery_full(&f, 59, now);
	must(span(20, 16) == 20);

	begin_path(at, SHORT);
	f.selects = true;
	srnic_recovery_full(&f, 0, now);
	for (i = 1; i <= 12; i++) {
		send_one(true);
		ack(i + 1);
	}
	read_one(20);
	nak(2);
	srnic_recovery_arrived(&f, psn(15), now);
	read_one(2);
	must(!f.detour);
	srnic_recovery_arrived(&f, psn(17), now);
	must(f.next == psn(16) && f.detour == 1);
}

/* This end needs no memory for the answers to WRITEs. */
static void select_writes(u32 at)
{
	begin_path(at, SHORT);
	srnic_recovery_full(&f, 0, now);
	send_many(11);
	must(is(sack_three_holes(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(retransmit() == 4);
}

/* Parts of a request that the peer may never have got would be as many READs to it. */
static void select_whole(u32 at)
{
	begin_path(at, SHORT);
	f.selects = true;
	read_one(10);
	read_one(20);
	read_one(20);
	must(is(nak(2), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	srnic_recovery_arrived(&f, psn(3), now);
	srnic_recovery_arrived(&f, psn(31), now);
	f.cwnd.window = 30;
	read_one(2);
	/* the rest of the first, which it has got, and the second */
	must(f.next == psn(4) && f.detour == 27 && span(7, 16) == 7);
	f.cwnd.window = 26;
	must(span(7, 16) == 5);
	f.cwnd.window = 30;
	read_one(7);
	must(f.next == psn(11) && f.detour == 20);
	must(!srnic_flight_open(&f));		/* 28 of 30 are in flight */
	srnic_recovery_arrived(&f, psn(50), now);
	f.cwnd.window = 30;
	must(f.next == psn(11) && srnic_flight_open(&f));
	must(span(20, 16) == 20);
	f.cwnd.window = 10;
	must(!srnic_flight_open(&f));
	ack_hole(11, 20);
	must(srnic_flight_open(&f) && span(20, 16) == 20);
}

/* Part of a READ that the peer may never have got is a READ of its own, and the rest another. */
static void probe_splits(u32 at)
{
	begin_path(at, SHORT);
	read_one(10);
	read_one(10);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE) && f.detour == 1);
	must(span(10, 2) == 1);
	read_one(1);
	must(f.reads.num == 3 && !f.detour && f.next == psn(21));
	/* it is requested again as it was; the rest waits if the peer remembers two READs */
	now += 100 * SHORT;
	f.reads.places = 2;
	must(is(nak(20), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP) && f.next == psn(1));
	must(span(10, 2) == 1);
	read_one(1);
	srnic_recovery_arrived(&f, psn(20), now);
	must(f.reads.num == 3 && !f.detour && num_lost() == 18);
	now += SHORT;
	must(is(ack_hole(2, 18), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.reads.num == 2 && f.next == psn(2) && may_read(false, 2) && span(9, 2) == 9);
	read_one(9);
	must(f.reads.num == 2);
}

/* If it remembers three, the rest is requested at once. */
static void probe_splits_freely(u32 at)
{
	begin_path(at, SHORT);
	read_one(10);
	read_one(10);
	wait();
	read_one(1);
	now += 100 * SHORT;
	f.reads.places = 3;
	nak(20);
	read_one(1);
	srnic_recovery_arrived(&f, psn(20), now);
	must(f.next == psn(2) && f.detour == 18 && may_read(false, 3));
	must(!may_read(false, 2));
}

/* A READ that has been answered has been executed. */
static void probe_in_answer(u32 at)
{
	begin_path(at, SHORT);
	read_one(10);
	ack_hole(4, SRNIC_RECOVERY_DUE);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
	must(f.next == psn(4) && span(7, 16) == 1);
	read_one(1);
	must(f.reads.num == 1);
}

/* With as many READs as there is room for */
static void probe_whole(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	for (i = 0; i < SRNIC_MAX_RD_ATOMIC; i++)
		read_one(2);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
	must(span(2, SRNIC_MAX_RD_ATOMIC) == 2);
	read_one(2);
	must(f.reads.num == SRNIC_MAX_RD_ATOMIC && f.next == f.high);
}

/* The peer reports that it has not got the request at una. */
static void sacked_whole(u32 at)
{
	static const u32 kept[][2] = { { 11, 12 } };

	begin_path(at, SHORT);
	read_one(10);
	send_many(1);
	must(is(sack(kept, 1, 12), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP) && f.next == psn(1));
	must(span(10, 16) == 10);
}

static void select_early(u32 at)
{
	begin_path(at, SHORT);
	send_many(11);
	sack_three_holes();
	must(retransmit() == 4 && !f.rtt.reorder);
	now += SHORT / 4;
	must(is_nothing(ack(5)));
	must(f.rtt.reorder == SHORT / 2);
}

/* The pace spreads a retransmission over time: when its end is sent, its start is answered. */
static void select_slow(u32 at)
{
	static const u32 one[][2] = { { 4, 12 } };

	begin_path(at, SHORT);
	send_many(11);
	sack(one, 1, 12);
	must(f.detour == 3 && send_one(false));
	now += SHORT;
	must(retransmit() == 2);
	now += SHORT / 4;
	ack(2);
	must(f.mode == SRNIC_RECOVERY_SELECT && !f.rtt.reorder);
	ack(12);
	must(f.mode == SRNIC_RECOVERY_OPEN && !f.rtt.reorder);
}

/* All holes are filled: what else was sent before has been lost, but not what was sent since. */
static void select_tail(u32 at)
{
	static const u32 one[][2] = { { 2, 5 } };

	begin_path(at, SHORT);
	send_many(11);
	sack(one, 1, 5);
	must(retransmit() == 1);
	send_many(3);
	now += SHORT;
	must(is(ack(5), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(5) && f.detour == 7 && f.sb.missing == 7);
}

/* What was sent before a retransmission is not missing if that has not arrived. */
static void select_no_tail(u32 at)
{
	static const u32 kept[][2] = { { 5, 8 } };

	/* the answer was one to the original */
	begin_path(at, SHORT);
	f.rtt.reorder = SHORT;
	send_many(19);
	send_one(true);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE) && send_one(false));
	ack(3);
	must(f.mode == SRNIC_RECOVERY_OPEN);
	must(is_nothing(sack(kept, 1, 8)) && f.sb.missing == 2);
	now += SHORT / 4;
	ack(8);
	must(f.mode == SRNIC_RECOVERY_OPEN);

	/* nor if it has not been sent */
	begin_path(at, SHORT);
	f.rtt.reorder = SHORT;
	send_many(19);
	send_one(true);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE) && f.detour == 1);
	sack(kept, 1, 8);
	must(f.sb.missing == 4 && !num_lost());
	now += SHORT / 4;
	ack(8);
	must(f.mode == SRNIC_RECOVERY_OPEN);
}

static void select_probe(u32 at)
{
	begin_path(at, SHORT);
	send_many(11);
	sack_three_holes();
	must(retransmit() == 4);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
	must(f.next == psn(1) && f.detour == 1 && f.retry_left == RETRIES - 1);
	must(retransmit() == 1);
}

/* Probes remain without an answer until the ACK timeout expires. */
static void wait_for_timeout(void)
{
	u32 i;

	for (i = 0; i < 10 && wait().cause != SRNIC_CAUSE_TIMEOUT; i++)
		retransmit();
	must(i < 10);
}

/* What is known to have arrived counts until two timeouts in a row. */
static void select_timeout(u32 at)
{
	begin_path(at, SHORT);
	send_many(11);
	sack_three_holes();
	retransmit();
	wait_for_timeout();
	must(f.mode == SRNIC_RECOVERY_SELECT && f.sb.num == 3 && f.retry_left == RETRIES - 2);
	must(f.next == psn(1) && f.detour == 1 && retransmit() == 1);
	srnic_recovery_heard(&f);
	must(f.retry_left == RETRIES);
	wait_for_timeout();
	must(f.mode == SRNIC_RECOVERY_BACK && f.retry_left == RETRIES - 1);
}

static void select_ends(u32 at)
{
	begin_path(at, SHORT);
	send_many(11);
	sack_three_holes();
	must(is_nothing(rnr(MSEC)) && !f.sb.num);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_RNR) && f.next == psn(1));

	begin_path(at, SHORT);
	send_many(11);
	sack_three_holes();
	retransmit();
	while (f.mode == SRNIC_RECOVERY_SELECT) {
		must(wait().act == SRNIC_RECOVERY_SEEK);
		retransmit();
	}
	must(f.mode == SRNIC_RECOVERY_BACK && !f.sb.num && !f.sb.missing);
}

static bool hole_is_due(u32 i)
{
	return f.sb.holes[i].state == SRNIC_HOLE_DUE;
}

/* The peer has kept the request, and responds once it has got those before. */
static void select_due(u32 at)
{
	static const u32 kept[][2] = { { 2, 12 } };

	begin_path(at, SHORT);
	send_many(1);
	read_one(10);
	must(is(sack(kept, 1, 12), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.sb.num == 2 && num_lost() == 1 && f.sb.in[SRNIC_HOLE_DUE]);
	must(retransmit() == 1 && !f.detour);
	now += 100 * SHORT;
	must(sack(kept, 1, 12).act == SRNIC_RECOVERY_SEEK);
	must(retransmit() == 1);
	/* the first response is lost */
	must(is(srnic_recovery_arrived(&f, psn(4), now), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(!f.sb.in[SRNIC_HOLE_DUE] || f.sb.holes[f.sb.num - 1].psn == psn(5));
}

/* What they wait for is retransmitted, however many responses are due. */
static void select_before_due(u32 at)
{
	begin_path(at, SHORT);
	read_one(2);
	read_one(20);
	read_one(20);
	f.cwnd.window = 10;
	must(srnic_recovery_sacked(&f, psn(3), now));
	srnic_loss_kept(&f, psn(23), 20, now);
	must(is(srnic_recovery_select(&f, psn(43), now), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.sb.in[SRNIC_HOLE_DUE] == 22 && f.una == psn(1));
	must(f.next == psn(3) && f.detour == 20);
	read_one(10);
	must(f.detour == 10 && !srnic_flight_open(&f));
}

/* What has arrived before the rest is retransmitted makes room for it. */
static void select_in_part(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	f.selects = true;
	for (i = 0; i < 4; i++)
		read_one(10);
	now += SHORT;
	nak(1);
	for (i = 2; i < 41; i++)
		if (i < 11 || i > 30)
			srnic_recovery_arrived(&f, psn(i), now);
	f.cwnd.window = 15;
	read_one(1);
	read_one(10);
	must(f.next == psn(21) && f.detour == 10 && !srnic_flight_open(&f));
	for (i = 11; i < 21; i++)
		srnic_recovery_arrived(&f, psn(i), now + SHORT);
	must(f.next == psn(21) && f.detour == 10 && srnic_flight_open(&f));
}

/* The first hole does not wait for room that another one needs. */
static void select_unblocked(u32 at)
{
	begin_path(at, SHORT);
	f.selects = true;
	read_one(1);
	read_one(1);
	read_one(20);
	read_one(1);
	nak(1);
	srnic_recovery_arrived(&f, psn(2), now);
	srnic_recovery_arrived(&f, psn(23), now);
	f.cwnd.window = 10;
	read_one(1);
	must(f.next == psn(3) && f.detour == 20 && !srnic_flight_open(&f));
	now += 3 * SHORT;
	must(is(nak(1), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP) && f.next == psn(1));
	must(srnic_flight_open(&f) && f.detour == 1);
}

/* What has been requested of the first hole is not requested again for what waits behind it. */
static void select_goes_on(u32 at)
{
	begin_path(at, SHORT);
	read_one(20);
	read_one(40);
	read_one(1);
	f.cwnd.window = 50;
	must(srnic_recovery_sacked(&f, psn(1), now));
	srnic_loss_kept(&f, psn(61), 1, now);
	srnic_recovery_select(&f, psn(62), now);
	must(f.next == psn(1) && f.detour == 60 && srnic_flight_open(&f));
	read_one(20);
	must(f.next == psn(21) && f.detour == 40 && !srnic_flight_open(&f));
	must(srnic_recovery_sacked(&f, psn(1), now));
	srnic_loss_kept(&f, psn(61), 1, now);
	srnic_recovery_select(&f, psn(62), now);
	must(f.next == psn(21) && f.detour == 40);
}

/* Nothing that was requested behind a lost request is in the network. */
static void select_before_unknown(u32 at)
{
	begin_path(at, SHORT);
	read_one(2);
	read_one(20);
	read_one(20);
	read_one(20);
	f.cwnd.window = 25;
	must(srnic_recovery_sacked(&f, psn(3), now));
	srnic_loss_kept(&f, psn(23), 20, now);
	srnic_recovery_select(&f, psn(43), now);
	must(f.next == psn(3) && f.detour == 20);
	must(srnic_flight_open(&f) && span(20, 16) == 20);
	f.cwnd.window = 21;
	must(!srnic_flight_open(&f));		/* 2 of 21 are in flight */
	/* unless that has been answered: then 1 and 2 are lost */
	f.cwnd.window = 25;
	srnic_recovery_arrived(&f, psn(23), now);
	must(f.next == psn(1) && f.detour == 2);
}

/* The peer has executed a READ, whose responses have arrived but for two. */
static void select_not_due(u32 at)
{
	begin_path(at, SHORT);
	read_one(10);
	read_one(10);
	nak(2);
	srnic_recovery_arrived(&f, psn(3), now);
	must(srnic_recovery_sacked(&f, psn(21), now));
	must(f.sb.num == 3 && !hole_is_due(0) && hole_is_due(1) && hole_is_due(2));
	must(f.sb.in[SRNIC_HOLE_DUE] == 17);
}

/* The peer goes on to say that it has kept a READ whose turn it is, and never responds. */
static void select_due_for_ever(u32 at)
{
	static const u32 kept[][2] = { { 3, 12 } };
	struct srnic_recovery_todo todo = {};
	u32 i;

	begin_path(at, SHORT);
	send_many(1);
	read_one(10);
	sack(kept, 1, 12);
	retransmit();
	srnic_scoreboard_due(&f.sb, psn(2), 1, now);
	now += SHORT;
	ack_hole(2, SRNIC_RECOVERY_DUE);
	for (i = 0; i < 1000000 && todo.cause != SRNIC_CAUSE_PROBE; i++) {
		now += SHORT;
		todo = sack(kept, 1, 12);
		if (f.deadline && now >= f.deadline)
			todo = expire();
		if (todo.act == SRNIC_RECOVERY_SEEK)
			while (f.detour && srnic_flight_open(&f))
				read_one(f.detour);
	}
	must(i < 1000000);
}

/* An ACK request is sent behind all that was sent, whatever is to be retransmitted. */
static void select_asks(u32 at)
{
	begin_path(at, SHORT);
	send_many(20);
	must(!srnic_flight_asked(&f));
	sack_three_holes();
	must(f.detour && !srnic_flight_asked(&f));
	must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_ASK));
	must(f.next == psn(20) && f.detour == 1 && send_one(false));
	must(num_lost() == 4 && f.next == psn(1) && retransmit() == 4);

	/* nor does it wait for the window */
	begin_path(at, SHORT);
	send_many(20);
	f.cwnd.window = 1;
	sack_three_holes();
	must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_ASK));
	must(send_one(false) && srnic_flight_asked(&f));
}

/* What is to be retransmitted waits, not for the window but for the rate or the device. */
static void select_unsent(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, TIMEOUT, 1, RETRIES, PLACES);
	send_many(10);
	send_one(true);
	must(is(sack_three_holes(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP) && !f.retry_left);
	for (i = 0; i < 100; i++)
		must(is_nothing(expire()));
	must(f.next == psn(1) && f.detour == 1 && !f.rtt.probes && retransmit() == 4);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
}

/* Packet 1 has arrived, and so has the last of the 11. */
static struct srnic_recovery_todo sack_last(void)
{
	struct srnic_recovery_todo todo = {};

	if (srnic_recovery_sacked(&f, psn(2), now)) {
		srnic_loss_kept(&f, psn(11), 1, now);
		todo = srnic_recovery_select(&f, psn(12), now);
	}
	state_must_hold(__LINE__);

	return todo;
}

/* Nothing but the packet at una can be retransmitted. */
static void select_refused(u32 at)
{
	u32 n = 0, others = 0;

	begin_path(at, SHORT);
	send_many(11);
	sack_three_holes();
	while (f.detour && n < 100) {
		if (f.next == f.una) {
			must(send_one(false));
			n++;
		} else {
			must(is(srnic_recovery_refused(&f, now), SRNIC_RECOVERY_SEEK,
				SRNIC_CAUSE_ASK));
			others++;
		}
	}
	must(n == 1 + others && others == 2 && srnic_flight_asked(&f));

	/* whenever something was retransmitted last */
	begin_path(at, SHORT);
	send_many(11);
	must(is(sack_last(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(2) && f.retry_left == RETRIES - 1);
	must(is(srnic_recovery_refused(&f, now), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_ASK));
	must(send_one(false) && is_nothing(sack_last()) && f.retry_left == RETRIES - 1);
}

/* A packet that is late is not lost, however long ago others were. */
static void select_long_after(u32 at)
{
	const u32 part = 1U << 19, parts = (SRNIC_PSN_MASK + 1) / part;
	static const u32 kept[][2] = { { 2, 12 } };
	u32 n, i;

	begin_path(at, SHORT);
	send_many(11);
	sack_three_holes();
	retransmit();
	now += SHORT;
	ack(12);
	f.rtt.reorder = SHORT;
	for (n = 1; n < parts; n += 5) {
		for (i = 0; i < n; i++) {
			first = f.una;
			srnic_flight_assign(&f, part);
			srnic_recovery_sent(&f, part, false, true, now);
			now += SHORT;
			ack(part);
		}
		first = psn(part - 1);
		send_many(11);
		must(is_nothing(sack(kept, 1, 12)) && f.sb.missing == 1);
		now += SHORT / 2;
		must(is_nothing(ack(12)) && f.mode == SRNIC_RECOVERY_OPEN);
	}
	first = at;
}

/* A peer that goes back N */

/* The peer drops the packet at una and all packets after it, once. */
static void drop_all(void)
{
	u32 lost = f.una;

	send_many(10);
	nak(0);
	while (f.una != f.high) {
		while (f.next != f.high && send_one(false))
			;
		now += SHORT;
		if (f.una == lost)	/* retransmitted alone */
			ack(srnic_psn_diff(lost, first) + 1);
		else
			ack(srnic_psn_diff(f.next, first));
	}
}

static void back_is_learned(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	for (i = 0; i < 3; i++) {
		must(f.keeps == SRNIC_KEEPS_UNKNOWN);
		drop_all();
	}
	must(f.keeps == SRNIC_KEEPS_NONE);
}

/* What the answer to a probe has told of the peer is not told again by the next recovery. */
static void back_is_learned_anew(u32 at)
{
	begin_path(at, SHORT);
	send_many(4);
	read_one(10);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE) && send_one(false));
	now += SHORT;
	ack_hole(5, SRNIC_RECOVERY_DUE);
	must(is(nak(2), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.mode == SRNIC_RECOVERY_SELECT && f.keeps == SRNIC_KEEPS_UNKNOWN);
	read_one(2);
	now += SHORT;
	ack(15);
	must(f.mode == SRNIC_RECOVERY_OPEN);
	drop_all();
	must(f.keeps == SRNIC_KEEPS_UNKNOWN && f.gbn_runs == 1);

	/* nor if the peer had no receive then, until it had all */
	begin_path(at, SHORT);
	send_many(4);
	send_one(true);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE) && send_one(false));
	now += SHORT;
	ack(3);
	must(is_nothing(rnr(MSEC)));
	ack(6);
	must(f.mode == SRNIC_RECOVERY_OPEN);
	drop_all();
	must(f.keeps == SRNIC_KEEPS_UNKNOWN && f.gbn_runs == 1);
}

/* All that is acknowledged was retransmitted, though the ACK had to be requested by packet 1. */
static void back_is_asked(u32 at)
{
	begin_path(at, LONG);
	f.keeps = SRNIC_KEEPS_NONE;
	f.gbn_runs = 3;
	send_many(20);
	nak(0);
	must(f.mode == SRNIC_RECOVERY_BACK && send_many(3) == 3);
	must(is(srnic_recovery_refused(&f, now), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_ASK));
	must(f.next == psn(1) && f.detour == 1);
	now += LONG;
	ack(4);
	must(f.mode == SRNIC_RECOVERY_BACK && f.next == psn(4) && !f.peer_keeps);

	/* nor does it show that no packet was lost */
	begin(at);
	must(fill() == 128);
	while (wait().cause != SRNIC_CAUSE_TIMEOUT)
		send_one(false);
	while (f.burst < 16) {
		fill();
		now += LONG;
		ack(srnic_psn_diff(f.next, first));
	}
	must(send_many(2) == 2);
	must(is(srnic_recovery_refused(&f, now), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_ASK));
	must(f.mode == SRNIC_RECOVERY_BACK && !f.rtt.min && f.detour == 1);
	now += LONG;
	ack(srnic_psn_diff(f.resume, first));
	must(f.mode == SRNIC_RECOVERY_BACK);
}

static void back_from_hole(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	nak(0);
	send_one(false);
	now += SHORT;
	must(ack(2).act == SRNIC_RECOVERY_SEEK);
	must(f.mode == SRNIC_RECOVERY_BACK && f.next == psn(2) && !f.detour);
}

static void back_at_once(u32 at)
{
	begin_path(at, LONG);
	f.keeps = SRNIC_KEEPS_NONE;
	send_many(10);
	must(is(nak(0), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.mode == SRNIC_RECOVERY_BACK && f.next == psn(1));
}

static void back_is_unlearned(u32 at)
{
	begin_path(at, SHORT);
	f.keeps = SRNIC_KEEPS_NONE;
	f.gbn_runs = 5;
	send_many(10);
	nak(0);
	send_many(1);
	f.repaired_at = now;
	now += SHORT;
	ack(11);		/* covers much more than was retransmitted */
	must(f.mode == SRNIC_RECOVERY_OPEN);
	must(f.keeps == SRNIC_KEEPS_ALL && !f.gbn_runs);
}

static void back_is_doubted(u32 at)
{
	u32 i, back = 0;

	begin_path(at, SHORT);
	f.keeps = SRNIC_KEEPS_NONE;
	f.gbn_runs = 3;
	for (i = 0; i < 100 && f.keeps == SRNIC_KEEPS_NONE; i++) {
		send_many(4);
		nak(0);
		back++;
		while (f.una != f.high) {
			send_many(1);
			now += SHORT;
			ack(srnic_psn_diff(f.una, first) + 1);
		}
	}
	must(back < 100);
	must(f.keeps == SRNIC_KEEPS_UNKNOWN);
}

/* A burst would overflow the same queue again. */
static void back_with_care(u32 at)
{
	begin_path(at, SHORT);
	f.keeps = SRNIC_KEEPS_NONE;
	fill();
	while (wait().cause != SRNIC_CAUSE_TIMEOUT)
		fill();
	must(f.mode == SRNIC_RECOVERY_BACK && fill() == 1);
	must(srnic_flight_asked(&f));
}

/* All packets of the first window are lost. */
static void back_from_start(u32 at)
{
	struct srnic_recovery_todo todo;
	u32 i;

	begin(at);
	must(fill() == 128);
	do {
		todo = wait();
		fill();
	} while (!is(todo, SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_TIMEOUT));
	for (i = 1; i < 128; i++) {
		must(f.mode == SRNIC_RECOVERY_BACK);
		if (f.next == f.una)
			send_one(false);
		now += LONG;
		ack(i);
	}
}

static void back_doubles(u32 at)
{
	begin_path(at, LONG);
	must(fill() == 128);
	while (wait().cause == SRNIC_CAUSE_PROBE)
		send_one(false);
	must(f.mode == SRNIC_RECOVERY_BACK);
	must(fill() == 1);
	now += LONG;
	ack(2);
	must(fill() == 2);
	now += LONG;
	ack(4);
	must(fill() == 4);
	now += LONG;
	ack(8);
	must(fill() == 8);
}

/* An ACK of each packet does not make it grow faster than one of all. */
static void back_counts(u32 at)
{
	u32 i;

	begin_path(at, LONG);
	must(fill() == 128);
	while (wait().cause == SRNIC_CAUSE_PROBE)
		send_one(false);
	must(f.mode == SRNIC_RECOVERY_BACK);
	must(fill() == 1);
	now += LONG;
	for (i = 2; i < 10; i++) {
		ack(i);
		must(fill() == 2 && f.burst == i);
	}
}

static void back_skips(u32 at)
{
	begin_path(at, LONG);
	must(fill() == 128);
	while (wait().cause == SRNIC_CAUSE_PROBE)
		send_one(false);
	fill();
	now += LONG;
	must(ack(50).act == SRNIC_RECOVERY_SEEK);
	must(f.next == psn(50) && f.mode == SRNIC_RECOVERY_BACK);
}

/* A READ that a peer which goes back N has dropped is requested in one. */
static void back_whole(u32 at)
{
	begin_path(at, SHORT);
	f.keeps = SRNIC_KEEPS_NONE;
	f.cwnd.window = 8;
	read_one(10);
	read_one(10);
	must(is(nak(0), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP) && f.burst < 10);
	must(srnic_flight_open(&f) && span(10, 16) == 10);
	read_one(10);
	must(f.reads.num == 2 && f.next == psn(11) && !srnic_flight_open(&f));
	/* the next one waits for room */
	now += SHORT;
	ack_hole(9, SRNIC_RECOVERY_DUE);
	must(f.mode == SRNIC_RECOVERY_BACK && srnic_flight_open(&f));
	must(!span(10, 16));
	ack_hole(11, SRNIC_RECOVERY_DUE);
	must(span(10, 16) == 10);
}

/* All but responses 1, 2 and 4 of a READ have arrived, and then nothing, for two timeouts. */
static void time_out_twice(u32 at, u64 rtt)
{
	u32 i;

	begin_path(at, rtt);
	read_one(10);
	nak(2);
	for (i = 3; i < 11; i++)
		if (i != 4)
			srnic_recovery_arrived(&f, psn(i), now);
	wait_for_timeout();
	retransmit();
	wait_for_timeout();
	must(f.mode == SRNIC_RECOVERY_BACK && f.next == psn(1));
}

/* Nor is more than one response requested of a READ then. */
static void back_splits(u32 at)
{
	begin_path(at, SHORT);
	read_one(10);
	wait_for_timeout();
	must(f.mode == SRNIC_RECOVERY_BACK && f.reads.num == 1 && span(10, 16) == 1);
	read_one(1);
	must(f.reads.num == 2);
}

/* What is requested doubles then, as for other requests. */
static void back_splits_doubles(u32 at)
{
	u32 i, n;

	begin_path(at, LONG);
	read_one(100);
	wait_for_timeout();
	for (i = 1, n = 1; n <= 32; i += n, n *= 2) {
		must(srnic_flight_open(&f) && span(100, 16) == n);
		read_one(n);
		now += LONG;
		ack_hole(i + n, SRNIC_RECOVERY_DUE);
	}
}

/* Once the peer answers, only what is missing is requested. */
static void back_recalls(u32 at)
{
	time_out_twice(at, SHORT);
	f.selects = true;
	read_one(1);
	now += SHORT;
	must(ack_hole(2, 1).act == SRNIC_RECOVERY_SEEK && f.mode == SRNIC_RECOVERY_SELECT);
	must(srnic_loss_recalls(&f));
	srnic_recovery_recall(&f, psn(3), 1, now);
	srnic_recovery_recall(&f, psn(5), 6, now);
	srnic_loss_recalled(&f);
	must(f.sb.num == 2 && f.sb.missing == 2 && f.sb.top == psn(11));
	must(retransmit() == 2 && f.next == psn(11));
	now += SHORT;
	ack(11);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.next == f.high);
	/* on a long path it may be late, but the cursor moves at once */
	time_out_twice(at, LONG);
	read_one(1);
	now += LONG;
	must(is(ack_hole(2, 1), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_NONE));
	must(f.next == psn(11) && f.asked == psn(11) && !f.peer_keeps);
}

/* Part of what was requested may still arrive: another part would be one more READ. */
static void back_waits(u32 at)
{
	time_out_twice(at, SHORT);
	read_one(2);
	now += SHORT;
	ack_hole(2, 1);
	must(f.mode == SRNIC_RECOVERY_BACK && f.next == psn(3));
	/* not ready to receive: what was behind it has been dropped */
	time_out_twice(at, SHORT);
	rnr(MSEC);
	wait();
	read_one(1);
	now += SHORT;
	ack_hole(2, 1);
	must(f.mode == SRNIC_RECOVERY_BACK && f.next == psn(2));
}

static void back_ends(u32 at)
{
	u32 i, next;

	begin_path(at, LONG);
	fill();
	while (wait().cause == SRNIC_CAUSE_PROBE)
		send_one(false);
	for (i = 0; i < 20 && f.una != psn(129); i++) {
		fill();
		now += LONG;
		next = srnic_psn_diff(f.next, first);
		ack(min(next, 129U));
	}
	must(f.mode == SRNIC_RECOVERY_OPEN && f.una == psn(129));
	must(i >= 7 && i <= 9);
}

/* RNR */

static void rnr_waits(u32 at)
{
	u64 until;

	begin_path(at, SHORT);
	send_many(10);
	until = now + 5 * MSEC;
	must(is_nothing(rnr(5 * MSEC)));
	must(!srnic_flight_open(&f) && f.deadline == until);
	must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_RNR));
	must(f.next == psn(1) && srnic_flight_open(&f));
	must(f.retry_left == RETRIES && f.rnr_left == 7);
}

static void rnr_is_no_loss(u32 at)
{
	begin_path(at, SHORT);
	measure(SHORT + 5 * MSEC);
	fill();
	rnr(5 * MSEC);
	expire();
	must(f.cwnd.window == SRNIC_CWND_SHORT);
	must(send_one(false));
	now += SHORT;
	ack(3);
	must(f.cwnd.window == SRNIC_CWND_SHORT);
}

static void rnr_retries(u32 at)
{
	u32 i;

	begin(at);
	srnic_recovery_set_limits(&f, TIMEOUT, RETRIES, 3, PLACES);
	for (i = 0; i < 3; i++) {
		send_many(1);
		must(is_nothing(rnr(MSEC)));
		must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_RNR));
	}
	send_many(1);
	must(is(rnr(MSEC), SRNIC_RECOVERY_FAIL, SRNIC_CAUSE_RNR));
}

static void rnr_none(u32 at)
{
	begin(at);
	srnic_recovery_set_limits(&f, TIMEOUT, RETRIES, 0, PLACES);
	send_many(1);
	must(is(rnr(MSEC), SRNIC_RECOVERY_FAIL, SRNIC_CAUSE_RNR));
}

static void rnr_without_end(u32 at)
{
	u32 i;

	begin(at);
	for (i = 0; i < 1000; i++) {
		send_many(1);
		must(is_nothing(rnr(MSEC)));
		must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_RNR));
	}
}

/* A peer that sends RNR NAKs is alive, whatever is lost in between. */
static void rnr_is_an_answer(u32 at)
{
	struct srnic_recovery_todo todo;
	u32 i;

	begin(at);
	for (i = 0; i < 3 * RETRIES; i++) {
		send_many(1);
		do {
			todo = wait();
			send_many(1);
		} while (todo.cause == SRNIC_CAUSE_PROBE);
		must(is(todo, SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_TIMEOUT));
		must(is_nothing(rnr(MSEC)));
		must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_RNR));
	}
}

static void rnr_counts_once(u32 at)
{
	begin(at);
	srnic_recovery_set_limits(&f, TIMEOUT, RETRIES, 1, PLACES);
	send_many(2);
	must(is_nothing(rnr(MSEC)));
	now += MSEC / 2;
	must(is_nothing(rnr(MSEC)));
	must(f.deadline == now + MSEC / 2);
}

static void rnr_progress(u32 at)
{
	u32 i;

	begin(at);
	srnic_recovery_set_limits(&f, TIMEOUT, RETRIES, 1, PLACES);
	for (i = 0; i < 10; i++) {
		send_many(1);
		must(is_nothing(rnr(MSEC)));
		expire();
		send_many(1);
		now += SHORT;
		ack(i + 1);
	}
}

static void rnr_overtaken(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	rnr(MSEC);
	ack(11);
	wait();
	must(srnic_flight_is_idle(&f) && f.mode == SRNIC_RECOVERY_OPEN);
	must(srnic_flight_open(&f));
}

/* Silence */

static void probe(u32 at)
{
	u64 from;

	begin_path(at, LONG);
	send_many(9);
	send_one(true);
	from = now;
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
	/* SRTT + max(4 * RTTVAR, 250 us) */
	must(now - from == LONG + 2 * LONG);
	must(f.next == psn(1) && f.detour == 1);
	must(f.retry_left == RETRIES && f.cwnd.window == SRNIC_CWND_SHORT);
	must(srnic_flight_wants_ack(&f, false));
}

static void probe_backs_off(u32 at)
{
	u64 last, waited = 0;
	u32 i;

	begin_path(at, SHORT);
	send_one(true);
	for (i = 0; i < 3; i++) {
		last = now;
		must(wait().cause == SRNIC_CAUSE_PROBE);
		must(!waited || now - last == 2 * waited);
		waited = now - last;
		send_one(false);
	}
	now += SHORT;
	ack(2);
	must(f.rtt.probes == 3);
	send_one(true);
	now += SHORT;
	ack(3);
	must(!f.rtt.probes);
}

static void probe_then_timeout(u32 at)
{
	struct srnic_recovery_todo todo;
	u64 last;

	begin_path(at, LONG);
	send_one(true);
	do {
		last = now;
		todo = wait();
		send_one(false);
	} while (todo.cause == SRNIC_CAUSE_PROBE);
	must(is(todo, SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_TIMEOUT));
	must(now - last == TIMEOUT);
	must(f.retry_left == RETRIES - 1);
}

static void timeouts_exhaust(u32 at)
{
	struct srnic_recovery_todo todo;
	u32 retries, timeouts;

	for (retries = 0; retries <= RETRIES; retries++) {
		begin_path(at, LONG);
		srnic_recovery_set_limits(&f, TIMEOUT, retries, 0, PLACES);
		send_one(true);
		timeouts = 0;
		do {
			todo = wait();
			if (todo.cause == SRNIC_CAUSE_TIMEOUT)
				timeouts++;
			if (todo.act == SRNIC_RECOVERY_SEEK)
				send_one(false);
		} while (todo.act == SRNIC_RECOVERY_SEEK);
		must(is(todo, SRNIC_RECOVERY_FAIL, SRNIC_CAUSE_TIMEOUT));
		must(timeouts == retries + 1);
	}
}

static void timeouts_last(u32 at)
{
	struct srnic_recovery_todo todo;
	u64 from;

	begin_path(at, SHORT);
	send_one(true);
	from = now;
	do {
		todo = wait();
		if (todo.act == SRNIC_RECOVERY_SEEK)
			send_one(false);
	} while (todo.act == SRNIC_RECOVERY_SEEK);
	must(now - from >= (RETRIES + 1) * TIMEOUT);
	must(now - from <= 8 * (RETRIES + 1) * TIMEOUT);
}

static void naks_exhaust(u32 at)
{
	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, TIMEOUT, 0, 0, PLACES);
	send_many(10);
	must(is_nothing(nak(0)));
	must(is(wait(), SRNIC_RECOVERY_FAIL, SRNIC_CAUSE_GAP));
	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, 0, 0, 0, PLACES);
	send_many(10);
	must(is(nak(0), SRNIC_RECOVERY_FAIL, SRNIC_CAUSE_GAP));
}

/* Packets that have overtaken others are no loss, for which there would be no retry. */
static void reordered_without_retries(u32 at)
{
	static const u32 fourth[][2] = { { 4, 5 } };

	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, TIMEOUT, 0, 0, PLACES);
	send_many(2);
	must(is_nothing(nak(0)));
	now += SHORT;
	ack(3);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.una == f.high);
	send_many(2);
	must(is_nothing(nak(0)) && is_nothing(sack(fourth, 1, 5)));
	now += SHORT;
	ack(5);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.una == f.high);
}

static void progress_restores(u32 at)
{
	u32 i;

	begin_path(at, SHORT);
	for (i = 1; i <= 50; i++) {
		send_many(2);
		must(nak(0).act == SRNIC_RECOVERY_SEEK);
		must(f.retry_left == RETRIES - 1);
		send_one(false);
		now += SHORT;
		ack(2 * i + 1);
		must(f.retry_left == RETRIES && f.mode == SRNIC_RECOVERY_OPEN);
	}
}

static void timeout_none(u32 at)
{
	begin_path(at, LONG);
	srnic_recovery_set_limits(&f, 0, RETRIES, RETRIES, PLACES);
	send_one(true);
	must(!f.deadline);
}

static void timeout_early(u32 at)
{
	begin_path(at, LONG);
	send_one(true);
	must(is_nothing(srnic_recovery_timeout(&f, false, f.deadline - 1)));
	must(f.deadline && f.mode == SRNIC_RECOVERY_OPEN);
}

static void idle_is_silent(u32 at)
{
	begin_path(at, LONG);
	must(!f.deadline);
	send_one(true);
	must(f.deadline);
	now += LONG;
	ack(2);
	must(!f.deadline && srnic_flight_is_idle(&f));
}

static void ack_rearms(u32 at)
{
	u64 was;

	begin_path(at, LONG);
	send_many(64);
	was = f.deadline;
	now += LONG;
	ack(20);
	must(f.deadline > was);
}

static void busy(u32 at)
{
	begin_path(at, LONG);
	send_one(true);
	now = f.deadline;
	must(is_nothing(srnic_recovery_timeout(&f, true, now)));
	must(f.late && !f.deadline && f.retry_left == RETRIES);
	now += SEC;
	srnic_rto_arm(&f, now);
	must(!f.late && f.deadline > now);
	must(wait().cause == SRNIC_CAUSE_PROBE);
}

static void put_off(u32 at)
{
	u32 n = 0;

	begin_path(at, LONG);
	send_one(true);
	must(!srnic_rto_postpone(&f, now));
	for (now = f.deadline; n < 100 && srnic_rto_postpone(&f, now); now = f.deadline) {
		must(f.deadline > now && f.retry_left == RETRIES && !f.rtt.probes);
		n++;
	}
	must(n == 3);
	must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
	send_one(true);
	now += LONG;
	ack(2);
	send_one(true);
	now = f.deadline;
	must(srnic_rto_postpone(&f, now));
}

/* The deadline that expires is not that for an answer. */
static void put_off_no_doubt(u32 at)
{
	begin_path(at, LONG);
	send_many(4);
	nak(0);
	must(f.mode == SRNIC_RECOVERY_SUSPECT);
	must(!srnic_rto_postpone(&f, f.deadline));
}

static void put_off_no_ask(u32 at)
{
	begin_path(at, LONG);
	send_one(false);
	must(f.deadline && !srnic_rto_postpone(&f, f.deadline));
}

static void put_off_no_hold(u32 at)
{
	begin_path(at, LONG);
	send_many(4);
	rnr(MSEC);
	now = f.deadline;
	must(!srnic_rto_postpone(&f, now));
	must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_RNR));
}

static void slack(u32 at)
{
	begin_path(at, LONG);
	send_one(true);
	must(srnic_rto_slack(&f) == MSEC);
	srnic_recovery_set_limits(&f, MSEC / 10, RETRIES, RETRIES, PLACES);
	must(srnic_rto_slack(&f) == MSEC / 10);
	f.cwnd.lossy = true;
	must(!srnic_rto_slack(&f));
}

static void slack_without_timeout(u32 at)
{
	begin_path(at, LONG);
	srnic_recovery_set_limits(&f, 0, RETRIES, RETRIES, PLACES);
	send_many(3);
	send_one(true);
	nak(0);
	must(wait().cause == SRNIC_CAUSE_GAP && send_one(true));
	must(f.deadline && srnic_rto_slack(&f) == MSEC);
}

static void no_slack(u32 at)
{
	begin_path(at, LONG);
	must(!srnic_rto_slack(&f));
	send_one(false);
	must(f.deadline && !srnic_rto_slack(&f));
	srnic_rto_solicit_ack(&f, now);
	must(f.deadline && !srnic_rto_slack(&f));

	begin_path(at, LONG);
	send_many(3);
	nak(0);
	must(f.mode == SRNIC_RECOVERY_SUSPECT && f.deadline && !srnic_rto_slack(&f));

	begin_path(at, LONG);
	send_one(true);
	srnic_recovery_rnr(&f, 10 * USEC, now);
	must(f.deadline && !srnic_rto_slack(&f));

	begin_path(at, LONG);
	send_one(true);
	srnic_rto_stall(&f, 10 * USEC, now);
	must(f.deadline && !srnic_rto_slack(&f));
}

static void hurry(u32 at)
{
	begin_path(at, LONG);
	send_many(3);
	srnic_rto_solicit_ack(&f, now);
	must(f.deadline == now);
	must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_ASK));
}

static void hurry_in_vain(u32 at)
{
	u64 was;

	begin_path(at, LONG);
	srnic_rto_solicit_ack(&f, now);
	must(!f.deadline);
	send_one(true);
	was = f.deadline;
	srnic_rto_solicit_ack(&f, now);
	must(f.deadline == was);
}

static void hurry_in_doubt(u32 at)
{
	begin_path(at, LONG);
	send_many(3);
	nak(0);
	must(f.mode == SRNIC_RECOVERY_SUSPECT);
	srnic_rto_solicit_ack(&f, now);
	must(expire().cause != SRNIC_CAUSE_GAP || now >= f.suspect_until);
}

static void stall(u32 at)
{
	begin_path(at, LONG);
	send_one(true);
	srnic_rto_stall(&f, 200 * USEC, now);
	must(!srnic_flight_open(&f) && srnic_rto_is_held(&f));
	must(f.deadline == now + 200 * USEC);
	must(is(expire(), SRNIC_RECOVERY_NOTHING, SRNIC_CAUSE_MEMORY));
	must(srnic_flight_open(&f) && !srnic_rto_is_held(&f));
	must(f.retry_left == RETRIES);
}

/* The packet that could not be allocated is acknowledged meanwhile. */
static void stall_and_nothing_left(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	nak(0);
	srnic_rto_stall(&f, 200 * USEC, now);
	ack(6);
	if (f.detour)
		srnic_rto_stall(&f, 200 * USEC, now);
	expire();
	fill();
	must(f.una == f.high || f.deadline);
}

/* READs */

static void places(u32 at)
{
	u32 i;

	begin(at);
	for (i = 0; i < 16; i++) {
		must(may_read(false, 16));
		read_one(3);
	}
	must(f.reads.num == 16 && !may_read(false, 16));
	now += SHORT;
	ack(2);
	must(f.reads.num == 16);
	ack(3);
	must(f.reads.num == 15 && may_read(false, 16));
	ack(48);
	must(!f.reads.num);
}

static void places_wrap(u32 at)
{
	u32 i;

	begin(at);
	for (i = 0; i < 1000; i++) {
		read_one(1 + i % 3);
		if (i >= 100) {
			u32 was = f.reads.num;

			now += SHORT;
			srnic_recovery_acked(&f, srnic_reads_at(&f.reads, 0)->end, 0, now);
			must(f.reads.num == was - 1);
		}
	}
	must(f.reads.num == 100);
}

static void places_again(u32 at)
{
	begin_path(at, SHORT);
	read_one(10);
	read_one(10);
	nak(1);
	read_one(1);
	must(f.reads.num == 2);
}

static void reads_begin_again(u32 at)
{
	begin_path(at, SHORT);
	read_one(10);
	read_one(10);
	read_one(10);
	while (wait().cause == SRNIC_CAUSE_PROBE)
		read_one(1);
	must(f.mode == SRNIC_RECOVERY_BACK);
	must(may_read(false, 4));
	read_one(10);
	must(f.next == psn(11) && may_read(false, 4));
	srnic_recovery_pass(&f, 3);
	must(!may_read(false, 4));
	must(may_read(true, 4));	/* after a WRITE */
	srnic_recovery_pass(&f, 7);
	must(may_read(false, 4));
}

static void span_is_bounded(u32 at)
{
	u32 left, npsn;

	begin_path(at, LONG);
	f.cwnd.window = SRNIC_CWND_MAX;
	for (left = 1; left < 100; left++)
		must(span(left, 128) == left);
	npsn = span(100000, 128);
	must(npsn > SRNIC_FLIGHT_READ - 10 && npsn < SRNIC_FLIGHT_READ + 10);
}

/* A last part that is small would take the place of a large one. */
static void span_of_equal_parts(u32 at)
{
	begin_path(at, LONG);
	f.cwnd.window = 700;
	must(span(256, 128) == 85);
	read_one(85);
	must(span(171, 128) == 85);
	read_one(85);
	must(span(86, 128) == 86);
}

/* A READ that waits for a lost response must not keep the window from being filled. */
static void span_of_last_places(u32 at)
{
	u32 i;

	begin_path(at, LONG);
	f.cwnd.window = 1000;
	must(span(100000, 16) < 200);
	for (i = 0; i < 14; i++)
		read_one(1);
	must(span(100000, 16) >= 450);
	read_one(1);
	must(span(100000, 16) >= 900);
}

/* With few READs outstanding each must be larger to fill the window. */
static void span_fills_window(u32 at)
{
	u32 n;

	for (n = 1; n <= 16; n++) {
		u32 i;

		begin_path(at, LONG);
		f.cwnd.window = 4096;
		for (i = 0; i < n; i++) {
			u32 npsn = srnic_flight_open(&f) ?
				   span(100000, n) : 0;

			if (npsn)
				read_one(npsn);
		}
		must(sent() >= (n == 1 ? 4096 : 4096 / 2) && sent() <= 4096);
	}
}

static void span_not_small(u32 at)
{
	begin_path(at, SHORT);
	read_one(127);
	must(srnic_flight_open(&f));
	must(!span(100, 16));
	must(span(1, 16) == 1);
}

/* Responses that are paced come one by one: the next READ is requested meanwhile. */
static void span_ahead(u32 at)
{
	begin_path(at, LONG);
	f.cwnd.window = 100;
	f.selects = true;
	while (sent() < 90)
		read_one(10);
	must(sent() == 90 && span(20, 16) == 20);
	read_one(20);
	must(!srnic_flight_open(&f));
	now += LONG;
	ack_hole(12, SRNIC_RECOVERY_DUE);
	must(srnic_flight_open(&f) && span(20, 16) == 20);
	/* not by more than half of the window, if few READs are left */
	must(span(100000, 11) == f.cwnd.window / 2);
	/* and not from a peer that does not pace them */
	f.selects = false;
	must(!span(20, 16));
}

static void span_ahead_of_all(u32 at)
{
	u32 n;

	begin_path(at, LONG);
	f.cwnd.window = SRNIC_CWND_MAX;
	f.selects = true;
	while (srnic_flight_open(&f) && (n = span(100000, 16)))
		read_one(n);
	must(sent() > SRNIC_CWND_MAX / 2 && sent() <= SRNIC_CWND_MAX);
}

static void span_of_one(u32 at)
{
	begin_path(at, SHORT);
	f.cwnd.window = 1;
	must(span(100, 16) == 1);
}

/* Other rules */

static void assign(u32 at)
{
	begin(at);
	must(srnic_flight_assign(&f, 5) == psn(0));
	must(srnic_flight_assign(&f, 1 << 20) == psn(5));
	must(f.psn == psn(5 + (1 << 20)) && f.next == psn(0));
}

static void skip(u32 at)
{
	begin_path(at, SHORT);
	send_many(10);
	srnic_recovery_skip(&f, psn(1000));
	must(srnic_flight_is_idle(&f));
	must(srnic_flight_assign(&f, 1) == psn(1000));
	must(f.next == psn(1000) && f.una == psn(1000) && f.high == psn(1000));
}

static void forget(u32 at)
{
	begin(at);
	send_many(10);
	srnic_flight_forget(&f);
	must(f.una == psn(10) && !srnic_flight_asked(&f));
	must(srnic_flight_is_idle(&f));
}

static void pass(u32 at)
{
	begin_path(at, SHORT);
	read_one(10);
	nak(3);
	must(!srnic_recovery_pass(&f, 2) && f.next == psn(3));
	must(srnic_recovery_pass(&f, 1) && f.next == psn(11));
}

/* Later requests cannot be sent, and earlier packets have not requested an ACK. */
static void refused(u32 at)
{
	begin_path(at, LONG);
	send_many(3);
	must(!srnic_flight_asked(&f));
	must(is(srnic_recovery_refused(&f, now), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_ASK));
	must(f.next == f.una && send_one(false) && srnic_flight_asked(&f));
	must(f.next == psn(4) && is_nothing(srnic_recovery_refused(&f, now)));
	now += LONG;
	ack(4);
	must(is_nothing(srnic_recovery_refused(&f, now)));
}

/* The refused request is after the end of a detour that has not been reached. */
static void refused_in_detour(u32 at)
{
	u32 i;

	begin_path(at, LONG);
	send_many(20);
	send_one(true);
	f.keeps = SRNIC_KEEPS_ALL;
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
	must(send_one(false));
	now += LONG;
	ack(2);
	must(send_one(false) && f.detour);
	must(is(srnic_recovery_refused(&f, now), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_ASK));
	must(f.next == f.una && send_one(false) && !f.detour);
	srnic_rto_arm(&f, now);
	for (i = 0; i < 100 && wait().act == SRNIC_RECOVERY_SEEK; i++)
		must(send_one(false));
	must(i < 100 && !f.retry_left);
}

/* The peer may drop what was sent behind a gap, and says so once. */
static void nak_without_timeout(u32 at)
{
	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, 0, RETRIES, RETRIES, PLACES);
	send_many(4);
	srnic_rto_solicit_ack(&f, now);
	expire();
	send_one(false);
	must(!f.deadline);
	nak(0);
	must(send_one(false) && f.deadline);
	/* only what was retransmitted has arrived */
	now += SHORT;
	ack(2);
	must(send_one(false) && f.deadline);
	nak(0);
	must(f.deadline == now + 300 * MSEC);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
	/* doubled once for the same packet, but not for another one */
	must(send_one(false) && f.deadline == now + 600 * MSEC);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
	must(send_one(false) && f.deadline == now + 600 * MSEC);
	ack(3);
	must(send_one(false) && f.deadline == now + 300 * MSEC);
}

/* The packet was late; those behind it may have been dropped. */
static void late_without_timeout(u32 at)
{
	begin_path(at, LONG);
	srnic_recovery_set_limits(&f, 0, RETRIES, RETRIES, PLACES);
	send_many(2);
	send_one(true);
	must(!f.deadline);
	must(is_nothing(nak(0)));
	now += USEC;
	ack(2);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.deadline);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
}

/* The NAK was late, so packets behind the missing one may have been dropped. */
static void late_nak_without_timeout(u32 at)
{
	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, 0, RETRIES, RETRIES, PLACES);
	send_one(true);
	must(!f.deadline);
	srnic_recovery_dropped(&f, false, now);
	must(f.deadline);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
}

/* Dropped packets are found even if earlier probes were not answered. */
static void dropped_again(u32 at)
{
	u32 n;

	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, 0, RETRIES, RETRIES, PLACES);
	read_one(4);
	srnic_recovery_dropped(&f, true, now);
	for (n = 0; n < 100 && f.deadline; n++) {
		now = f.deadline;
		if (srnic_recovery_timeout(&f, false, now).act)
			read_one(4);
	}
	must(n && n < 100);
	srnic_recovery_dropped(&f, true, now);
	must(f.deadline);
}

/* The answer to a probe may be the original: then the others follow, or are lost. */
static void probed_response_is_late(u32 at)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		begin_path(at, LONG);
		f.rtt.last = 2 * LONG;	/* a queue */
		read_one(8);
		must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
		must(f.next == psn(1));
		read_one(1);
		now += LONG;
		must(is_nothing(ack_hole(2, SRNIC_RECOVERY_DUE)));
		must(f.mode == SRNIC_RECOVERY_SUSPECT && f.cwnd.window == SRNIC_CWND_SHORT);
		if (i) {
			must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
			must(f.next == psn(2) && f.cwnd.window < SRNIC_CWND_SHORT);
		} else {
			must(is_nothing(ack_hole(3, SRNIC_RECOVERY_DUE)));
			must(f.mode == SRNIC_RECOVERY_OPEN);
		}
	}
}

/* Waiting for those behind it takes a retry: without one they are requested at once. */
static void probed_without_retries(u32 at)
{
	begin_path(at, LONG);
	f.retry_cnt = 0;
	f.retry_left = 0;
	read_one(8);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
	read_one(1);
	now += LONG;
	must(is(ack_hole(2, SRNIC_RECOVERY_DUE), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(2));
}

/* Responses kept out of order are dropped when the missing one is about to be handled. */
static void dropped_without_timeout(u32 at)
{
	begin_path(at, LONG);
	srnic_recovery_set_limits(&f, 0, RETRIES, RETRIES, PLACES);
	read_one(4);
	nak(1);
	must(is_nothing(ack_hole(2, SRNIC_RECOVERY_KEPT)));
	srnic_recovery_dropped(&f, true, now);
	must(is_nothing(ack_hole(3, SRNIC_RECOVERY_DUE)));
	must(f.mode == SRNIC_RECOVERY_OPEN && f.deadline);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
	must(f.next == psn(3));
	read_one(1);
	now += LONG;
	must(is(ack_hole(4, SRNIC_RECOVERY_DUE), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
	must(f.next == psn(4));
	read_one(1);
	now += LONG;
	ack(5);
	must(f.mode == SRNIC_RECOVERY_OPEN && !f.deadline);
}

/* A packet is dropped for a gap only if it follows the missing packet. */
static void rnr_without_timeout(u32 at)
{
	begin_path(at, SHORT);
	srnic_recovery_set_limits(&f, 0, RETRIES, RETRIES, PLACES);
	send_many(4);
	rnr(MSEC);
	must(is(expire(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_RNR));
	must(send_one(true) && !f.deadline);
	now += SHORT;
	ack(2);
	must(send_one(true) && !f.deadline);
	must(send_one(true) && f.deadline);
	must(is(wait(), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_PROBE));
}

/* Seven tenths of a window that is twice as large as the path still fill it. */
static void cut_in_full_queue(u32 at)
{
	begin_path(at, SHORT);
	measure(2 * SHORT);
	f.cwnd.window = 10;
	fill();
	nak(0);
	must(f.cwnd.window == 10);

	begin_path(at, SHORT);
	measure(2 * SHORT + 1);
	f.cwnd.window = 10;
	fill();
	nak(0);
	must(f.cwnd.window == 7);

	/* a larger window bears some loss by chance */
	begin_path(at, SHORT);
	measure(2 * SHORT + 1);
	f.cwnd.window = 32;
	fill();
	nak(0);
	must(f.cwnd.window == 32);
}

/* The queue does not run empty while the packet is retransmitted. */
static void released_on_short_path(u32 at)
{
	u32 n = 0;

	begin_path(at, 200 * USEC);
	measure(600 * USEC);
	f.cwnd.window = 10;
	f.keeps = SRNIC_KEEPS_ALL;
	fill();
	nak(0);
	must(f.cwnd.window == 7 && f.cwnd.tick);
	must(send_one(false) && !srnic_flight_open(&f));
	while (f.cwnd.tick && f.deadline == f.cwnd.tick && n < 100) {
		must(is_nothing(expire()));
		n += fill();
	}
	must(n > 0 && n <= 7);
}

/* The first NAK comes before the first round trip is complete. */
static void first_is_doubted(u32 at)
{
	begin(at);
	fill();
	now += MSEC;
	must(is_nothing(nak(0)));
	must(f.mode == SRNIC_RECOVERY_SUSPECT && f.suspect_until == now + MSEC);
	now += MSEC - USEC;
	ack(1);
	must(f.mode == SRNIC_RECOVERY_OPEN && f.rtt.min == 2 * MSEC - USEC);

	/* not on a path that may be short */
	begin(at);
	fill();
	now += SHORT;
	must(is(nak(0), SRNIC_RECOVERY_SEEK, SRNIC_CAUSE_GAP));
}

static void rate(u32 at)
{
	begin(at);
	must(!srnic_flight_rate(&f, now));
	begin_path(at, LONG);
	must(send_many(100) == 100);
	must(srnic_flight_rate(&f, now) == 100 * SEC / LONG);
}

static const struct {
	const char	*sentence;
	void		(*rule)(u32 at);
} rules[] = {
	{ "the initial window doubles until the path is full", window_starts },
	{ "the window limits the packets in flight", window },
	{ "an ACK allows as many new packets as it covers", window_reopens },
	{ "a READ counts the PSNs of its response", window_of_reads },
	{ "the first packet requests an ACK", asks_first },
	{ "a signalled request requests an ACK", asks_if_awaited },
	{ "every 32nd packet and the last of a window request an ACK", asks_each },
	{ "the last packet of a window of any size requests an ACK", asks_in_small_window },
	{ "without an ACK request one is sent within 1 ms", ask },
	{ "a separate ACK request is sent once", ask_once },
	{ "an ACK request uses no retry and does not cut the window", ask_is_free },
	{ "no ACK request is sent if an ACK was requested", no_ask_if_asked },

	{ "the first round trip is SRTT, and half of it RTTVAR", rtt_first },
	{ "SRTT and RTTVAR are updated according to RFC 6298", rtt_next },
	{ "one very late ACK does not delay loss detection as much", rtt_late_once },
	{ "a timeout shorter than round trips is that of RFC 6298", rtt_first_timeout },
	{ "the shortest round trip is that of the last seconds", rtt_min_ages },
	{ "an ACK of several packets measures the last one", rtt_of_youngest },
	{ "retransmitted packets are not measured", rtt_karn },
	{ "a round trip time of 0 is valid", rtt_zero },
	{ "the first ACK may come after the timeout", rtt_beyond_timeout },
	{ "a series of timeouts is not taken for a round trip", rtt_of_retries },
	{ "a timer shorter than the round trip is not used", timeout_beyond_rtt },
	{ "a limited number of packets is measured", samples_limited },

	{ "on a long path the window grows by half per round trip", grows_fast },
	{ "the window grows up to its limit", grows_to_the_end },
	{ "after startup the window grows by a fraction per round trip", grows_clear },
	{ "with a queue the window grows by a packet per round trip", grows_queued },
	{ "the window does not grow before a round trip is measured", grows_unmeasured },
	{ "after a pause the window doubles again", grows_after_pause },
	{ "the window does not double when a queue takes longer than the timeout", grows_late },
	{ "a window that is not full does not grow", grows_if_limited },
	{ "ACKs processed together grow the window one by one", grows_by_each },
	{ "on a short path the window grows while round trips do not", grows_on_short },
	{ "on a short path the window does not grow into a queue", grows_not_queue },
	{ "the window does not grow if round trips have multiplied", grows_not_full },
	{ "a small window grows to the initial size on any path", grows_back },

	{ "a loss with a queue cuts the window to 7/10", cut },
	{ "all losses of a window cut it once", cut_once },
	{ "losses of the next window cut it again", cut_again },
	{ "a loss without a queue does not cut the window", cut_not_by_chance },
	{ "a run of losses cuts the window", cut_by_run },
	{ "missing packets that exceed a sixteenth of the window cut it", cut_by_holes },
	{ "missing packets of several round trips are not added up", cut_not_by_old_holes },
	{ "a loss in a full queue cuts a small window", cut_in_full_queue },
	{ "a cut leaves at least half of the window", cut_by_half_at_most },
	{ "a window has at least one packet", cut_at_least_one },
	{ "a cut does not suppress another one 2^23 PSNs later", cut_much_later },

	{ "into a full queue packets are released once the window is cut", released_after_cut },
	{ "on a short path the cut releases packets, too", released_on_short_path },

	{ "on a long path a retransmission waits for reordering", nak_is_doubted },
	{ "the wait for reordering is at least half a round trip", nak_is_doubted_as_long },
	{ "before a round trip is known, it is as long as the NAK took", first_is_doubted },
	{ "on a short path the packet is retransmitted at once", nak_on_short_path },
	{ "only the reported packet is retransmitted, and new ones continue", repair_is_one },
	{ "reordered packets are not retransmitted", reordered },
	{ "the next hole is not repaired unless it persists", reordered_twice },
	{ "a duplicate NAK is ignored", nak_again },
	{ "a NAK with nothing in flight is ignored", nak_of_nothing },
	{ "a lost retransmission is retransmitted", lost_again },
	{ "with no round trip known gaps use few retries", responses_before_rtt },

	{ "an ACK sooner than a round trip indicates reordering", spurious_repair },
	{ "the next NAK waits for reordered packets", spurious_is_remembered },
	{ "an early ACK does not, if the packet was retransmitted twice", spurious_second },
	{ "each recovery without reordering reduces the wait", spurious_fades },
	{ "repeated early ACKs restart the measurement of round trips", spurious_thrice },
	{ "they do not if a round trip was measured meanwhile", spurious_measured },
	{ "packets that were not lost do not count as missing", spurious_holes },
	{ "responses that were not lost are not known to be missing", spurious_gap },
	{ "an ACK after a round trip does not indicate reordering", spurious_not },
	{ "no ACK does before a round trip is known", spurious_not_before_rtt },
	{ "a spurious probe changes nothing", spurious_probe },
	{ "a probe sent long before the answer changes nothing", spurious_late_probe },
	{ "an unsolicited answer to a probe shows the next gap", needed_probe },
	{ "a spurious timeout ends retransmission", spurious_timeout },
	{ "a timeout is not undone by ACKs of single packets", spurious_not_one },
	{ "packets of a spurious timeout are not measured", spurious_measures_nothing },

	{ "hole after hole is repaired", hole_after_hole },
	{ "packets sent after the retransmission are not taken for lost", hole_of_later },
	{ "in a run of losses each retransmission doubles", run_of_lost },
	{ "on a long path a run of losses takes few round trips", run_of_lost_on_long_path },
	{ "all responses known to be missing are requested", responses_missing },
	{ "a kept response is not part of a hole", responses_kept },
	{ "a READ answered right behind a lost one was kept by the peer", request_was_kept },
	{ "a READ answered after a round trip was not kept", request_was_not_kept },
	{ "if the peer is known to keep READs, nothing is requested twice", request_follows },
	{ "a READ whose response does not follow is requested again", request_follows_not },
	{ "the rest of a partial response is requested again", request_follows_in_part },
	{ "missing responses do not show what the peer keeps", responses_teach_nothing },
	{ "behind a lost READ no others are released by time", no_ticks_for_reads },
	{ "responses missing behind a recovery are requested", hole_behind_recovery },
	{ "responses missing behind a reordered one are doubted", hole_behind_reordered },
	{ "behind kept responses the wait for reordered ones restarts", kept_in_doubt },
	{ "holes that were forgotten are recalled", hole_forgotten },
	{ "a detour leaves out acknowledged packets", detour_goes_on },
	{ "each response that arrives allows a new packet", responses_make_room },
	{ "each eighth of a round trip allows an eighth of the window", ticks },
	{ "ticks do not stop the timer", ticks_leave_timer },

	{ "all holes are retransmitted, one after another", select_all_holes },
	{ "a hole is retransmitted once in the time of an answer", select_once },
	{ "and counts once as lost", select_counts },
	{ "holes that are lost each time exhaust the retries", select_exhausts },
	{ "unless the ACK timeout decides", select_is_patient },
	{ "as it does after many packets have been acknowledged", select_believes },
	{ "what was retransmitted is not when other holes are known", select_after_repair },
	{ "on a long path holes are retransmitted after a wait", select_after_doubt },
	{ "the window limits retransmissions, but not that at una", select_within_window },
	{ "a READ is repaired hole by hole unless the peer selects", select_one_of_read },
	{ "nor while it is answered slowly", select_paced_read },
	{ "reports that contradict each other do not put off a timer", select_toggles },
	{ "nor do they if they bring news each time", select_takes_back },
	{ "nor if what they say is missing has just gone missing", select_contradicts },
	{ "nor before a round trip is known", select_contradicts_first },
	{ "a late report that is not new leaves time for an answer", select_report_late },
	{ "so does one by which nothing is late any more", select_due_late },
	{ "without retries what is not the oldest is retransmitted at once", select_free },
	{ "without memory for responses only the first is requested", select_cramped },
	{ "an early packet raises the wait for reordered ones", select_early },
	{ "not if it was retransmitted first of many, some time ago", select_slow },
	{ "behind the last hole what was sent before is lost", select_tail },
	{ "but not before a retransmission that has not arrived", select_no_tail },
	{ "nor what is beyond the memory for responses", select_far },
	{ "but all that is not", select_far_enough },
	{ "and missing requests, wherever they are", select_far_writes },
	{ "WRITEs take no memory for responses", select_writes },
	{ "a READ that may not have arrived is requested in one", select_whole },
	{ "also if a SACK reports only its begin", sacked_whole },
	{ "a probe splits a READ in two", probe_splits },
	{ "and requests both if the peer remembers another READ", probe_splits_freely },
	{ "unless it has been executed", probe_in_answer },
	{ "or there is no room for another", probe_whole },
	{ "a probe retransmits the packet at una", select_probe },
	{ "so does a timeout, once", select_timeout },
	{ "an RNR NAK and timeouts forget the holes", select_ends },
	{ "a READ that the peer has kept is not requested again", select_due },
	{ "what it waits for is, beside any window", select_before_due },
	{ "nor how many were requested behind it", select_before_unknown },
	{ "nor what has arrived of it", select_in_part },
	{ "nor does the first hole wait for the room of another", select_unblocked },
	{ "nor does what waits in the first hole have all of it requested again", select_goes_on },
	{ "a response is not due if a later one has arrived", select_not_due },
	{ "a READ that is kept and never answered is probed", select_due_for_ever },
	{ "a late packet long after others were lost", select_long_after },
	{ "an ACK request does not end a detour that waits", select_asks },
	{ "no retry is used up for what has yet to be retransmitted", select_unsent },
	{ "holes that cannot be retransmitted are tried once", select_refused },

	{ "a peer that has kept nothing three times is taken for go-back-N", back_is_learned },
	{ "what one recovery has told of it does not count in the next", back_is_learned_anew },
	{ "go-back-N retransmits everything from the hole on", back_from_hole },
	{ "it starts at once if the peer is known to go back", back_at_once },
	{ "a peer whose ACK skips packets is taken to keep them", back_is_unlearned },
	{ "not if what it covers was retransmitted", back_is_asked },
	{ "the conclusion about a peer is revised after some time", back_is_doubted },
	{ "after a timeout a single packet with an ACK request is sent", back_with_care },
	{ "a lost first window is retransmitted completely", back_from_start },
	{ "go-back-N starts with one packet and doubles", back_doubles },
	{ "go-back-N grows by what is acknowledged", back_counts },
	{ "go-back-N skips acknowledged packets", back_skips },
	{ "a READ is requested in one after a gap", back_whole },
	{ "after a timeout one response of it is", back_splits },
	{ "and twice as many in each round trip", back_splits_doubles },
	{ "what was kept counts again once go-back-N is answered", back_recalls },
	{ "but not while that may be part of the answer, nor after RNR", back_waits },
	{ "go-back-N ends when all packets are acknowledged", back_ends },

	{ "after an RNR NAK nothing is sent, then everything again", rnr_waits },
	{ "an RNR NAK is not a loss", rnr_is_no_loss },
	{ "rnr_retry RNR NAKs in a row are tolerated", rnr_retries },
	{ "no RNR NAK is tolerated if rnr_retry is 0", rnr_none },
	{ "any number of RNR NAKs is tolerated if rnr_retry is 7", rnr_without_end },
	{ "an RNR NAK resets the transport retries", rnr_is_an_answer },
	{ "RNR NAKs during the wait do not count", rnr_counts_once },
	{ "progress resets the RNR retries", rnr_progress },
	{ "an ACK of all packets ends the wait", rnr_overtaken },

	{ "after SRTT and four times RTTVAR a probe is sent", probe },
	{ "the interval doubles with each probe", probe_backs_off },
	{ "probes end with the timeout", probe_then_timeout },
	{ "retry_cnt timeouts in a row are tolerated", timeouts_exhaust },
	{ "their total time follows the configured timeout", timeouts_last },
	{ "a NAK fails if retry_cnt is 0, after a wait", naks_exhaust },
	{ "but not if the packet was only overtaken", reordered_without_retries },
	{ "progress resets the retries", progress_restores },
	{ "a timeout cuts the window to 7/10", timeout_cuts },
	{ "a timeout before a round trip is known does not cut the window", timeout_first },
	{ "timeouts back off until a round trip is measured", timeouts_back_off },
	{ "round trips of 30 timeouts are measured", late_answers },
	{ "packets from the peer renew the retries", heard },
	{ "timeout 0 disables the timer", timeout_none },
	{ "timeout 0, packets behind a gap may have been dropped: probed", nak_without_timeout },
	{ "timeout 0, the missing packet arrived late: probed", late_without_timeout },
	{ "timeout 0, a late NAK: probed", late_nak_without_timeout },
	{ "a response may come late, although it was probed", probed_response_is_late },
	{ "without retries a probed response is not waited for", probed_without_retries },
	{ "timeout 0, responses were dropped here: probed", dropped_without_timeout },
	{ "timeout 0, responses were dropped after unanswered probes: probed", dropped_again },
	{ "timeout 0, one packet is retransmitted behind another: probed", rnr_without_timeout },
	{ "nothing happens before the deadline", timeout_early },
	{ "there is no deadline with nothing in flight", idle_is_silent },
	{ "an ACK restarts the timer", ack_rearms },
	{ "the timer is off while a page is fetched", busy },
	{ "the timer is put off while packets wait that may be the answer", put_off },
	{ "the timer is not put off after an RNR NAK", put_off_no_hold },
	{ "the timer is not put off while packets may be out of order", put_off_no_doubt },
	{ "the timer is not put off if no ACK has been requested", put_off_no_ask },
	{ "the timer of an answer may be late unless the window has been cut", slack },
	{ "it may be late with an infinite timeout, too", slack_without_timeout },
	{ "timers for RNR, reordering, memory and ACK requests are not late", no_slack },
	{ "srnic_rto_solicit_ack() requests an ACK at once", hurry },
	{ "it does not with nothing in flight, or if an ACK was requested", hurry_in_vain },
	{ "it does not shorten the wait after a NAK", hurry_in_doubt },
	{ "a failed allocation delays sending", stall },
	{ "after the delay sending continues, even with nothing to send", stall_and_nothing_left },

	{ "a READ is outstanding until its response is complete", places },
	{ "the table of READs wraps", places_wrap },
	{ "a repeated READ request is not counted twice", places_again },
	{ "repeated READs begin where the original ones began", reads_begin_again },
	{ "a READ requests what is left, up to a limit", span_is_bounded },
	{ "READ requests of a message ask for equal parts", span_of_equal_parts },
	{ "the last READs that may be outstanding ask for more", span_of_last_places },
	{ "with few READs outstanding the limit is higher", span_fills_window },
	{ "a READ waits until the window has enough room", span_not_small },
	{ "but not if responses are paced", span_ahead },
	{ "no more are requested than can be kept", span_ahead_of_all },
	{ "a window of one packet has enough room", span_of_one },

	{ "PSNs are assigned consecutively", assign },
	{ "sending may continue at another PSN", skip },
	{ "packets without acknowledgment are forgotten", forget },
	{ "packets that need no retransmission are skipped", pass },
	{ "an ACK is requested before an invalid request", refused },
	{ "within a detour an ACK is requested before an invalid request", refused_in_detour },
	{ "the rate is what is in flight over the round trip", rate },
};

int main(void)
{
	static const u32 starts[] = {
		0, 77, 0x7fffff, 0xffffff, 0xfffffe, 0xffffff - 7, 0xffffff - 64, 0xffffff - 150,
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		for (k = 0; k < ARRAY_SIZE(starts); k++)
			rules[i].rule(starts[k]);
		tap_done(rules[i].sentence);
	}

	return tap_end();
}
