/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - FLUSH to persistence, in pieces
 *
 * Writing a range back takes as long as copying it, and a range may be a whole region.
 * So each run does what its share allows, and later ones the rest.
 */
#ifndef SRNIC_XPORT_PERSIST_H
#define SRNIC_XPORT_PERSIST_H

#include "../exec/task.h"
#include "../mem/mem.h"

/**
 * srnic_persist() - write back the rest of a range
 * @task: task whose share of the run is used
 * @mr: region, held by the caller
 * @addr: start of the range, within @mr
 * @len: length of the whole range, bytes
 * @done: bytes that earlier runs have written back; 0 again when the range is done
 *
 * Return: true if the range is done, false if the share was used up before.
 */
bool srnic_persist(struct srnic_task *task, const struct srnic_mr *mr,
		   u64 addr, u64 len, u64 *done);

#endif /* SRNIC_XPORT_PERSIST_H */
