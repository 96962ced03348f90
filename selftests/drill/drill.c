// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - drill: scripts of packets against a live device
 *
 * usage: drill [-d DEV@NS] [-n NETDEV] [-p PEER@NS] [-k KNOWN] [-w PCAP]
 * SCRIPT...
 *        drill -l PCAP SCRIPT...
 *
 * -d is the RDMA device under test, -n its netdev, -p the netdev at the other
 * end of the wire.  Each script is a test.  KNOWN lists the scripts that this
 * device is known to fail, one per line, with the reason.  -w captures all
 * packets.  -l needs no device: it writes the packets that the scripts would
 * inject, and lists the fields of each.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drill.h"
#include "../lib/tap.h"

#define SILENCE		30000	/* us without a packet for "nothing" */
#define LAST_SILENCE	5000	/* us without a packet at the end of a script */
#define STALL		4000	/* us without being scheduled that excuse a failure: a probe */
#define ATTEMPTS	10	/* to run a script without such a stall */

bool dry;
__u64 patience;

static FILE *script;
static int line_number;
static char line_text[512];
static char title[256];
static jmp_buf script_over;
static char verdict[1400];
static __u64 last_us;	/* time of the last packet sent or received */
static __u64 tick_us;	/* time of the last tick() */
static __u64 stall_us;	/* longest time that the runner was not scheduled */

enum { SCRIPT_OK, SCRIPT_FAILED, SCRIPT_TIMED, SCRIPT_SKIPPED };

void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(verdict, sizeof(verdict), fmt, ap);
	va_end(ap);
	longjmp(script_over, SCRIPT_FAILED);
}

void fail_timed(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(verdict, sizeof(verdict), fmt, ap);
	va_end(ap);
	longjmp(script_over, SCRIPT_TIMED);
}

void late(const char *what)
{
	tap_late("%s", what);
}

void tick(__u64 slept)
{
	__u64 now = now_us();

	if (now > tick_us + slept && now - tick_us - slept > stall_us)
		stall_us = now - tick_us - slept;
	tick_us = now;
}

void skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(verdict, sizeof(verdict), fmt, ap);
	va_end(ap);
	longjmp(script_over, SCRIPT_SKIPPED);
}

/* ---- statements about packets ---- */

static void do_inject(struct line *l)
{
	struct packet p;

	packet_make(&p, l);
	line_end(l);
	wire_queue(&p);
	last_us = p.us;
	if (dry)
		packet_list(&p, stdout);
}

/* A packet that arrives later is left for the statements that follow. */
static void expect_silence(__u64 us)
{
	__u64 end = now_us() + us;
	struct packet p;

	if (!wire_receive(&p, us))
		return;
	if (p.us >= end)
		wire_return(&p);
	else
		fail_timed("expected nothing, got: %s", packet_show(&p));
}

/* "nothing", or "nothing 50ms" */
static void do_expect_nothing(struct line *l)
{
	const char *time = line_word(l, 2);
	__u64 us = SILENCE;

	if (time && !time_parse(time, &us))
		fail("'%s' is not a time", time);
	line_end(l);
	expect_silence(us);
}

/* Time since the last packet: at least "after" and at most "before" */
static void expect_time(const struct packet *p, __u64 after, __u64 before)
{
	long long us = p->us - last_us;

	/*
	 * an earlier expectation may have been met late, so the difference may
	 * be negative
	 */
	if ((after && us < (long long)after) || us > (long long)before)
		fail_timed("%lld us after the packet before it: %s", us,
			   packet_show(p));
}

static void do_expect(struct line *l)
{
	const char *op = line_word(l, 1);
	__u64 after = line_time(l, "after", 0);
	__u64 before = line_time(l, "before", 60000000);
	struct packet p;

	if (op && !strcmp(op, "nothing")) {
		do_expect_nothing(l);
		return;
	}
	do {
		if (!wire_receive(&p, patience)) {
			late("packet");
			fail("no packet arrived");
		}
	} while (op && !strcmp(op, "ACKS") && packet_is_before(&p, l));
	packet_expect(&p, l);
	expect_time(&p, after, before);
	line_end(l);
	last_us = p.us;
}

static void do_wait(struct line *l)
{
	const char *time = line_word(l, 1);
	__u64 us;

	if (!time || !time_parse(time, &us))
		fail("wait for how long?");
	line_end(l);
	usleep(us);
	tick(us);
}

/* From here on the script expects the device's SACKs. */
static void do_sacks(struct line *l)
{
	line_end(l);
	wire_sacks = true;
}

/* A retransmitting device may send one more packet than the script expected. */
static void do_drain(struct line *l)
{
	line_end(l);
	wire_drain();
}

/*
 * why SENTENCE: srnic-doctor says this about the queue pair.  "*" in the sentence stands for
 * any text.
 */
static void do_why(struct line *l)
{
	const char *want = line_text + strspn(line_text, " \t");
	char cmd[128], said[1024] = "";
	int status;
	FILE *f;

	want += strlen(l->word[0]);
	want += strspn(want, " \t");
	snprintf(cmd, sizeof(cmd), "srnic-doctor --terse --dev %s --qp %u",
		 ibv_get_device_name(device->device), qp ? qp->qpn : 0);
	f = popen(cmd, "r");
	if (!f || !fgets(said, sizeof(said), f))
		said[0] = 0;
	status = f ? pclose(f) : -1;
	tick_us = now_us();
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		skip("not installed: srnic-doctor or python3");
	if (status)
		fail("failed: %s", cmd);
	said[strcspn(said, "\n")] = 0;
	if (fnmatch(want, said, 0))
		fail("srnic-doctor says: %s", said);
}

/* ---- scripts ---- */

static const struct statement {
	const char	*name;
	statement_fn	*fn;
	bool		without;	/* works without a device, too */
} statements[] = {
	{ "<", do_inject, true },
	{ ">", do_expect },
	{ "wait", do_wait },
	{ "drain", do_drain },
	{ "sacks", do_sacks, true },
	{ "qp", do_qp, true },
	{ "use", do_use, true },
	{ "mr", do_mr, true },
	{ "mw", do_mw, true },
	{ "srq", do_srq, true },
	{ "dereg", do_dereg },
	{ "modify", do_modify },
	{ "recv", do_recv },
	{ "post", do_post },
	{ "cqe", do_cqe },
	{ "mem", do_mem },
	{ "word", do_word },
	{ "put", do_put },
	{ "state", do_state },
	{ "event", do_event },
	{ "why", do_why },
};

static void line_run(char *text)
{
	struct line l;
	size_t i;

	if (!line_cut(&l, text))
		return;
	tick(0);
	for (i = 0; i < ARRAY_SIZE(statements); i++) {
		if (strcmp(statements[i].name, l.word[0]))
			continue;
		if (statements[i].fn != do_inject)
			wire_flush();
		if (!dry || statements[i].without)
			statements[i].fn(&l);
		return;
	}
	fail("unknown statement '%s'", l.word[0]);
}

/* Executes all lines; at the end no packet and no completion may be left. */
static void script_run(void)
{
	char copy[sizeof(line_text)];

	while (fgets(line_text, sizeof(line_text), script)) {
		line_number++;
		line_text[strcspn(line_text, "\n")] = 0;
		snprintf(copy, sizeof(copy), "%s", line_text);
		line_run(copy);
	}
	wire_flush();
	snprintf(line_text, sizeof(line_text), "(the end)");
	if (dry)
		return;
	expect_silence(LAST_SILENCE);
	cqs_are_empty();
}

/* The title is the first comment after the licence. */
static void title_read(FILE *f)
{
	char text[512];

	snprintf(title, sizeof(title), "no title");
	while (fgets(text, sizeof(text), f) && text[0] == '#') {
		if (text[1] != ' ' || strstr(text, "SPDX"))
			continue;
		text[strcspn(text, "\n")] = 0;
		snprintf(title, sizeof(title), "%.250s", text + 2);
		break;
	}
	rewind(f);
}

/* Reason for which the device is known to fail the script, "" if it is not */
static const char *known_read(const char *known, const char *script)
{
	static char why[256];
	FILE *f = known ? fopen(known, "r") : NULL;
	char text[512], *space;

	why[0] = 0;
	while (f && fgets(text, sizeof(text), f)) {
		text[strcspn(text, "\n")] = 0;
		space = strpbrk(text, " \t");
		if (text[0] == '#' || !space)
			continue;
		*space++ = 0;
		if (!strcmp(text, script))
			snprintf(why, sizeof(why), "%s", space + strspn(space, " \t"));
	}
	if (f)
		fclose(f);
	return why;
}

static int script_try(const char *name)
{
	int how;

	script = fopen(name, "r");
	line_number = 0;
	wire_sacks = false;
	line_text[0] = 0;
	how = setjmp(script_over);
	if (!how) {
		if (!script)
			fail("cannot be read");
		title_read(script);
		if (!dry)
			wire_drain();
		last_us = now_us();
		tick_us = last_us;
		stall_us = 0;
		script_run();
	}
	tick(0);
	if (script)
		fclose(script);
	wire_forget();
	objects_undo();
	return how;
}

/*
 * A device retransmits requests that are not answered in time, so a script is repeated if it
 * may have failed because the runner was not scheduled: by an unexpected or missing packet,
 * but not by a completion, by memory or by the contents of a packet.
 */
static int script_judge(const char *name)
{
	int i, how;

	for (i = 0; i < ATTEMPTS; i++) {
		how = script_try(name);
		if (how != SCRIPT_TIMED || stall_us < STALL || *tap_late_what)
			break;
		tap_remark("%s: the runner was not scheduled for %llu us: %s", name,
			   (unsigned long long)stall_us, verdict);
	}
	if (i == ATTEMPTS)
		late("the runner to be scheduled");
	return how;
}

static void script_test(const char *name, const char *known)
{
	const char *directive = NULL, *why = known_read(known, name);
	bool failed;
	int how;

	if (why[0] == '!') {	/* the script would crash the kernel or taint its log */
		tap_point(true, "SKIP", why + 1, "%s", name);
		return;
	}
	/* a script that is known to fail need not wait for long */
	patience = *why ? 3000000 : tap_bound() * 1000000ULL;
	how = *why ? script_try(name) : script_judge(name);
	failed = how == SCRIPT_FAILED || how == SCRIPT_TIMED;
	if (how == SCRIPT_SKIPPED)
		directive = "SKIP";
	else if (failed && *why)
		directive = "TODO";
	tap_point(!failed, directive, failed ? why : verdict, "%s: %s", name, title);
	if (failed)
		tap_remark("%s:%d: %s\n# %s", name, line_number, line_text, verdict);
	else if (*why)
		tap_remark("this was known to fail: %s", why);
}

static int list(int num, char **names)
{
	int i, failed = 0;

	for (i = 0; i < num; i++) {
		if (script_try(names[i]) != SCRIPT_FAILED)
			continue;
		fprintf(stderr, "%s:%d: %s\n", names[i], line_number, verdict);
		failed = 1;
	}
	return failed;
}

static char *cut_at(char *name)
{
	char *at = strchr(name, '@');

	if (at)
		*at++ = 0;
	return at;
}

int main(int argc, char **argv)
{
	char *dev = strdup("sr0@nsA"), *peer = strdup("veth1@nsB");
	const char *netdev = "veth0", *known = NULL, *dev_ns, *peer_ns;
	int i, opt;

	while ((opt = getopt(argc, argv, "d:n:p:k:w:l:")) != -1) {
		switch (opt) {
		case 'd':
			dev = optarg;
			break;
		case 'n':
			netdev = optarg;
			break;
		case 'p':
			peer = optarg;
			break;
		case 'k':
			known = optarg;
			break;
		case 'l':
			dry = true;
			wire_log(optarg);
			break;
		case 'w':
			wire_log(optarg);
			break;
		default:
			return 2;
		}
	}
	argv += optind;
	argc -= optind;
	if (dry)
		return list(argc, argv);
	dev_ns = cut_at(dev);
	peer_ns = cut_at(peer);
	if (wire_open(peer, peer_ns, netdev, dev_ns) || device_open(dev, dev_ns)) {
		fprintf(stderr, "drill: no %s, or no %s\n", dev, peer);
		return 2;
	}
	tap_plan(argc);
	for (i = 0; i < argc; i++)
		script_test(argv[i], known);

	return tap_end();
}
