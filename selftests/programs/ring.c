// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - messages of all sizes travel around a ring of MPI ranks, each of
 * which adds its number to every byte; the first rank verifies the result
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TAG	7

#define MAX	1048576

/* the last byte is a terminator */
static const int sizes[] = { 0, 1, 8, 1000, 4096, 65536, MAX, -1 };

/* Value of byte @i after the ranks before @rank have added their numbers */
static unsigned char expected(int i, int rank)
{
	return i * 13 + rank * (rank - 1) / 2;
}

static void fill(unsigned char *buf, int size, int rank)
{
	int i;

	for (i = 0; i < size; i++)
		buf[i] = expected(i, rank);
}

static int differs(const unsigned char *buf, int size, int rank)
{
	int i;

	for (i = 0; i < size && buf[i] == expected(i, rank); i++)
		;
	if (i < size)
		fprintf(stderr, "rank %d: byte %d of %d is wrong\n", rank, i,
			size);

	return i < size;
}

/*
 * Sends one message around the ring; the first rank starts it and receives it
 * in the end.
 */
static int ring(unsigned char *buf, int size, int rank, int ranks)
{
	int next = (rank + 1) % ranks;
	int prev = (rank + ranks - 1) % ranks;
	int bad;

	if (rank == 0) {
		fill(buf, size, 1);
		MPI_Send(buf, size, MPI_BYTE, next, TAG, MPI_COMM_WORLD);
	}
	MPI_Recv(buf, size, MPI_BYTE, prev, TAG, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	bad = differs(buf, size, rank ?: ranks);
	if (rank) {
		fill(buf, size, rank + 1);
		MPI_Send(buf, size, MPI_BYTE, next, TAG, MPI_COMM_WORLD);
	}

	return bad;
}

int main(int argc, char **argv)
{
	int bad = 0, all, i, rank, ranks;
	unsigned char *buf = malloc(MAX);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks < 2 || !buf)
		MPI_Abort(MPI_COMM_WORLD, 1);

	for (i = 0; sizes[i] >= 0; i++)
		bad += ring(buf, sizes[i], rank, ranks);
	MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	free(buf);

	return all != 0;
}
