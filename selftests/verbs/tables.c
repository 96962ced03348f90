// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: the cases it has, by topic
 */
#include "vrb.h"

const struct vrb_case *const vrb_tables[] = {
	charge_cases, user_cases,
	data_cases, error_cases, queue_cases, cq_cases, domain_cases,
	state_cases, big_cases, flush_cases, hostile_cases, mr_cases,
	mw_cases, observe_cases, odp_cases, odp_storm_cases, srq_cases,
	uc_cases, ud_cases, xrc_cases, raw_cases, flow_cases,
	rss_cases, forged_cases, post_cases,
	NULL,
};
