// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - random programs: corruption of commands between the
 * libraries and the kernel
 *
 * These functions override those of the C library, in libibverbs and the
 * provider as well.  They send damaged copies of commands ahead of the
 * originals, and map rings a second time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "verbs.h"

#define MAX_ATTRS	32
#define SCRATCH		(MAX_ATTRS * 65536)
#define MAX_TWINS	64

static __u8 *scratch_of(void)
{
	static __thread __u8 *scratch;

	if (!scratch)
		scratch = mmap(NULL, SCRATCH, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return scratch;
}

/* Copies by a system call, which fails if part of the memory is not readable. */
static bool bytes_copy(void *to, __u64 from, size_t len)
{
	bool done;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK))
		return false;
	done = syscall(SYS_write, fd[1], from, len) == (long)len &&
	       read(fd[0], to, len) == (ssize_t)len;
	close(fd[0]);
	close(fd[1]);
	return done;
}

/*
 * Replaces a pointer to readable memory by one to a copy, even if the length is
 * 0, since a mutation may increase it.
 */
static void attr_move(struct ib_uverbs_attr *a, __u8 *to)
{
	if (a->data >= 65536 && bytes_copy(to, a->data, a->len ? a->len : 1))
		a->data = (uintptr_t)to;
}

static void command_spoil(struct ib_uverbs_ioctl_hdr *h, struct dice *d)
{
	/* the number of attributes may be damaged */
	__u32 num = h->num_attrs <= MAX_ATTRS ? h->num_attrs : MAX_ATTRS;
	struct ib_uverbs_attr *a = &h->attrs[num ? roll(d, num) : 0];
	__u32 *word;

	switch (roll(d, 12)) {
	case 0:
		a->len = odd_number(d);
		break;
	case 1:
		a->attr_id ^= 1 << roll(d, 16);
		break;
	case 2:
		a->flags = odd_number(d);
		break;
	case 3:
		a->data = odd_number(d);
		break;
	case 4:
		a->data = roll(d, 40);
		break;
	case 5:
		h->method_id = roll(d, 8);
		break;
	case 6:
		h->object_id = roll(d, 24);
		break;
	case 7:
		h->num_attrs += roll(d, 3) - 1;
		h->length = sizeof(*h) + h->num_attrs * sizeof(*a);
		break;
	case 8:
		h->length += odd_number(d);
		break;
	case 9:
		h->driver_id = odd_number(d);
		break;
	case 10:
		*a = h->attrs[0];
		break;
	default:
		word = (__u32 *)scratch_of() + roll(d, MAX_ATTRS) * 16384;
		word[roll(d, 24)] ^= 1U << roll(d, 32);
	}
}

static int raw_ioctl(int fd, unsigned long request, void *arg)
{
	return syscall(SYS_ioctl, fd, request, arg);
}

/*
 * Commands that the core executes without the driver: opening a second context
 * on a file, and those whose result depends on the core's copy of a work
 * queue's state.
 */
static bool command_is_cores(const struct ib_uverbs_ioctl_hdr *h)
{
	const __u32 modify_wq = IB_USER_VERBS_CMD_FLAG_EXTENDED |
				IB_USER_VERBS_EX_CMD_MODIFY_WQ;
	size_t i;

	if (h->object_id != UVERBS_OBJECT_DEVICE)
		return false;
	if (h->method_id == UVERBS_METHOD_GET_CONTEXT)
		return true;
	for (i = 0; i < h->num_attrs && i < MAX_ATTRS; i++)
		if ((__u32)h->attrs[i].data == modify_wq)
			return true;
	return false;
}

/* The result does not matter, but an error code must be a valid one. */
static void command_scribbled(int fd, const struct ib_uverbs_ioctl_hdr *real)
{
	struct dice d = { .state = dice_next(&me->dice) };
	size_t n = roll(&d, 3) + 1;
	union {
		struct ib_uverbs_ioctl_hdr h;
		__u8 bytes[4096];
	} copy = {};
	size_t i;

	if (real->num_attrs > MAX_ATTRS)
		return;
	memcpy(&copy, real, real->length);
	for (i = 0; i < copy.h.num_attrs; i++)
		attr_move(&copy.h.attrs[i], scratch_of() + i * 65536);
	while (n--)
		command_spoil(&copy.h, &d);
	if (command_is_cores(&copy.h))
		return;
	(*commands_done)++;
	if (raw_ioctl(fd, RDMA_VERBS_IOCTL, &copy))
		went(me, COMMAND, errno);
}

/* Overrides the C library's function, in libibverbs as well. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (me && me->scribble && request == RDMA_VERBS_IOCTL &&
	    rarely(&me->dice, 2))
		command_scribbled(fd, arg);
	return raw_ioctl(fd, request, arg);
}

/* Sends a damaged copy of a command by write(), with another address for the response. */
static void written_scribbled(int fd, const void *buf, size_t count)
{
	struct dice d = { .state = dice_next(&me->dice) };
	struct ib_uverbs_cmd_hdr *hdr;
	__u32 words[256];
	__u64 scratch;

	if (count < 16 || count > sizeof(words) / 2)
		return;
	memset(words, 0, sizeof(words));
	memcpy(words, buf, count);
	hdr = (struct ib_uverbs_cmd_hdr *)words;
	switch (roll(&d, 5)) {
	case 0:
		hdr->command = roll(&d, 2) ? roll(&d, 64) : odd_number(&d);
		break;
	case 1:
		hdr->in_words = odd_number(&d);
		break;
	case 2:
		hdr->out_words = odd_number(&d);
		break;
	case 3:
		words[roll(&d, count / 4)] = odd_number(&d);
		break;
	default:
		count = roll(&d, sizeof(words));
	}
	scratch = (uintptr_t)scratch_of();
	memcpy(&words[2], &scratch, sizeof(scratch));
	(*commands_done)++;
	if (syscall(SYS_write, fd, words, count) < 0)
		went(me, COMMAND, errno);
}

ssize_t write(int fd, const void *buf, size_t count)
{
	if (me && me->scribble && me->ctx && fd == me->ctx->cmd_fd &&
	    rarely(&me->dice, 2))
		written_scribbled(fd, buf, count);
	return syscall(SYS_write, fd, buf, count);
}

static pthread_mutex_t twins_lock = PTHREAD_MUTEX_INITIALIZER;
static struct twin twins[MAX_TWINS];
static __u32 num_twins;

struct twin twin_take(struct dice *d)
{
	__u32 which = dice_next(d) >> 32;
	struct twin t = {};

	pthread_mutex_lock(&twins_lock);
	if (num_twins) {
		which %= num_twins;
		t = twins[which];
		twins[which] = twins[--num_twins];
	}
	pthread_mutex_unlock(&twins_lock);
	return t;
}

void twin_give(struct twin t)
{
	bool room;

	if (!t.len)
		return;
	pthread_mutex_lock(&twins_lock);
	room = num_twins < MAX_TWINS;
	if (room)
		twins[num_twins++] = t;
	pthread_mutex_unlock(&twins_lock);
	if (!room)
		munmap(t.p, t.len);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p = (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
	void *twin;

	if (!me || !me->ctx || fd != me->ctx->cmd_fd || p == MAP_FAILED)
		return p;
	twin = (void *)syscall(SYS_mmap, NULL, len, prot, flags & ~MAP_FIXED,
			       fd, off);
	if (twin != MAP_FAILED)
		twin_give((struct twin) { twin, len });
	return p;
}

/* The name used by programs with large file support */
void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t off)
{
	return mmap(addr, len, prot, flags, fd, off);
}
