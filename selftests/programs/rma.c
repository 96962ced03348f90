// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - MPI ranks write to, read from and count in the memory of each other;
 * each of them verifies all that it has received
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX	1048576
#define ROUNDS	20

/* Words behind the data of a window, in a page: all ranks count in those of the first one */
enum { WORD_SUM, WORD_CAS, WORD_SWAP };

#define SIZE	(MAX + 4096)

/* the last one is a terminator */
static const int sizes[] = { 1, 8, 1000, 4096, 65536, MAX, -1 };

static int rank, ranks;
static unsigned char *data;	/* of this rank's window */
static MPI_Win win;

static int report(const char *what, int size)
{
	fprintf(stderr, "rank %d: %s of %d is wrong\n", rank, what, size);

	return 1;
}

/* Byte @i of @size that rank @owner writes */
static unsigned char pattern(int i, int size, int owner)
{
	return i * 13 + size + owner * 59;
}

static void fill(unsigned char *buf, int size, int owner)
{
	int i;

	for (i = 0; i < size; i++)
		buf[i] = pattern(i, size, owner);
}

static int differs(const unsigned char *buf, int size, int owner)
{
	int i;

	for (i = 0; i < size && buf[i] == pattern(i, size, owner); i++)
		;

	return i < size;
}

/* What other ranks have written is seen, and they see what this one has */
static void meet(void)
{
	MPI_Win_flush_all(win);
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
}

/* Each rank writes to the next one, and reads it back */
static int put_get(unsigned char *buf, int size)
{
	int next = (rank + 1) % ranks;
	int prev = (rank + ranks - 1) % ranks;
	int bad = 0;

	fill(buf, size, rank);
	MPI_Put(buf, size, MPI_BYTE, next, 0, size, MPI_BYTE, win);
	meet();
	if (differs(data, size, prev))
		bad += report("a put", size);

	fill(buf, size, ranks);
	MPI_Get(buf, size, MPI_BYTE, next, 0, size, MPI_BYTE, win);
	meet();
	if (differs(buf, size, rank))
		bad += report("a get", size);

	return bad;
}

static unsigned long long fetch(int word, unsigned long long value, MPI_Op op)
{
	unsigned long long old;

	MPI_Fetch_and_op(&value, &old, MPI_UNSIGNED_LONG_LONG, 0,
			 MAX + word * sizeof(old), op, win);
	MPI_Win_flush(0, win);

	return old;
}

static void add_by_cas(int word, unsigned long long value)
{
	unsigned long long now = fetch(word, 0, MPI_NO_OP), old, sum;

	for (;;) {
		old = now;
		sum = old + value;
		MPI_Compare_and_swap(&sum, &old, &now, MPI_UNSIGNED_LONG_LONG, 0,
				     MAX + word * sizeof(now), win);
		MPI_Win_flush(0, win);
		if (now == old)
			return;
	}
}

/*
 * All ranks add to two words of the first one and swap a third.  A value that was
 * swapped in is swapped out once, or is the last: the sums tell.
 */
static int atomics(void)
{
	unsigned long long in = 0, out = 0, sum[2], all[2], expected, value;
	int i, bad = 0;

	for (i = 0; i < ROUNDS; i++) {
		fetch(WORD_SUM, rank + 1, MPI_SUM);
		add_by_cas(WORD_CAS, rank + 1);
		value = ((rank + 1ULL) << 32) + i;
		in += value;
		out += fetch(WORD_SWAP, value, MPI_REPLACE);
	}
	meet();

	sum[0] = in;
	sum[1] = out;
	MPI_Allreduce(sum, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	expected = 1ULL * ROUNDS * ranks * (ranks + 1) / 2;
	if (fetch(WORD_SUM, 0, MPI_NO_OP) != expected)
		bad += report("a sum", 8);
	if (fetch(WORD_CAS, 0, MPI_NO_OP) != expected)
		bad += report("a compare and swap", 8);
	if (all[1] + fetch(WORD_SWAP, 0, MPI_NO_OP) != all[0])
		bad += report("a swap", 8);
	meet();

	return bad;
}

int main(int argc, char **argv)
{
	unsigned char *buf = malloc(MAX);
	int all, bad = 0, i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks < 2 || !buf)
		MPI_Abort(MPI_COMM_WORLD, 1);

	MPI_Win_allocate(SIZE, 1, MPI_INFO_NULL,
			 MPI_COMM_WORLD, &data, &win);
	for (i = 0; i < SIZE; i++)
		data[i] = 0;
	MPI_Win_lock_all(0, win);
	meet();
	for (i = 0; sizes[i] >= 0; i++)
		bad += put_get(buf, sizes[i]);
	bad += atomics();
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);

	MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	free(buf);

	return all != 0;
}
