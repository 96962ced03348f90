// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hostile packets: the storm
 *
 * Packet N is a function of the seed, of N, and of the current PSNs of the
 * connections.  When kcov reports that a packet reached new code, its mutations
 * are kept, and later packets are derived from it.
 */
#include "packets.h"

#define MUTATIONS_MAX	6
#define CORPUS_MAX	512
#define STEP		16	/* packets between two polls of the wire */

/* Mutations of a packet */
struct recipe {
	__u64	base;
	int	num;
	struct {
		int	which;
		__u64	seed;
	} step[MUTATIONS_MAX];
};

static struct recipe corpus[CORPUS_MAX];
static __u32 num_corpus;

static void recipe_add(struct recipe *p, struct dice *r)
{
	int at = p->num < MUTATIONS_MAX ? p->num++ :
					  (int)roll(r, MUTATIONS_MAX);

	p->step[at].which = roll(r, num_mutations);
	p->step[at].seed = dice_next(r);
}

/* Many packets are not mutated, and most of the others have one mutation. */
static void recipe_fresh(struct recipe *p, struct dice *r)
{
	p->num = 0;
	p->base = dice_next(r);
	if (rarely(r, 4))
		return;
	do {
		recipe_add(p, r);
	} while (rarely(r, 3));
}

static void recipe_kept(struct recipe *p, struct dice *r)
{
	*p = corpus[roll(r, num_corpus)];
	if (rarely(r, 3))
		p->base = dice_next(r);
	recipe_add(p, r);
}

static void recipe_keep(const struct recipe *p, struct dice *r)
{
	__u32 at = num_corpus < CORPUS_MAX ? num_corpus++ :
					     roll(r, CORPUS_MAX);

	corpus[at] = *p;
}

static void recipe_send(const struct recipe *p)
{
	struct dice r = { p->base };
	static struct forged f;
	int i;

	forge_base(&f, &r);
	for (i = 0; i < p->num; i++) {
		struct dice s = { p->step[i].seed };

		mutate(&f, p->step[i].which, &s);
	}
	forge_send(&f, &r);
}

static void storm_packet(__u64 n, struct dice *kept)
{
	struct dice r = { ((__u64)run_seed << 32) + n * 0x2545f4914f6cdd1dULL };
	__u32 before = wire_blocks;
	struct recipe p;

	if (n % 2 && num_corpus)
		recipe_kept(&p, kept);
	else
		recipe_fresh(&p, &r);
	recipe_send(&p);
	if (wire_blocks != before)
		recipe_keep(&p, kept);
}

static void storm(void)
{
	struct dice r = { run_seed }, kept = { ~(__u64)run_seed };
	__u64 n = 0;

	num_corpus = 0;
	links_make(&r);
	wire_open(run_seed & 1);
	links_renew(&r);
	while (wire_packets < (__u64)rounds) {
		storm_packet(n, &kept);
		if (++n % STEP)
			continue;
		wire_hold(rarely(&r, 3));
		wire_pump();
		links_step(&r);
		if (n % (STEP * 1024) == 0)
			links_check_memory();
	}
	wire_hold(false);
	wire_pump();
	links_prove(&r);
	links_check_memory();
	printf("# packets: %llu, completions: %llu, verified: %llu\n",
	       wire_packets, links_completed, links_verified);
	printf("# connections: %llu, blocks of code: %u, kept: %u\n",
	       links_renewed, wire_blocks, num_corpus);
}

static const struct vrb_case packet_cases[] = {
	{ "packets", "affect only connections they could belong to", storm },
};

VRB_CASES(packet_cases);
