/* SPDX-License-Identifier: GPL-2.0 */
/* srnic selftests - what /proc says of threads */
#ifndef HUNT_PROCS_H
#define HUNT_PROCS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/**
 * struct thread_stat - part of /proc/PID/stat
 * @state: a letter, as ps(1) prints it
 * @ticks: processor time
 */
struct thread_stat {
	char	name[100];
	char	state;
	long	ticks;
};

/* @path: of the file.  Return: false if there is no such thread any more. */
static inline bool thread_stat_read(const char *path, struct thread_stat *stat)
{
	unsigned long user, system;
	FILE *f = fopen(path, "r");
	int got;

	if (!f)
		return false;
	got = fscanf(f, "%*d (%99[^)]) %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
		     stat->name, &stat->state, &user, &system);
	fclose(f);
	stat->ticks = user + system;
	return got == 4;
}

/* Number of threads of a process; 0 if it has gone */
static inline int threads_of(pid_t pid)
{
	struct dirent *entry;
	char path[32];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

#endif
