// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: cases by name, run through a device file
 *
 * A process opens /dev/kverbs, writes "BOUND DEVICE DEVICE CASE", and reads the result: "ok",
 * "ok: NOTE", "failed REASON", or "late REASON" if a step took more than BOUND seconds.  Without
 * a case it reads the names of all cases.  The first device has the regions, the second one the
 * peer; they may be the same.
 */
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kverbs.h"

static const struct kv_case * const kv_sets[] = {
	kv_region_cases,
	kv_refuse_cases,
	kv_work_cases,
	kv_queue_cases,
	kv_orders_cases,
	kv_integrity_cases,
	kv_masked_cases,
};

/* A device, while it is registered */
struct kv_device {
	struct list_head	list;
	struct ib_device	*dev;
};

static struct ib_client kv_client;
static LIST_HEAD(kv_devices);
/* Protects the list, and keeps devices while a case runs. */
static DEFINE_MUTEX(kv_lock);

void kv_fail(struct kv *t, const char *fmt, ...)
{
	va_list args;
	int n;

	if (!kv_goes_on(t))
		return;

	n = scnprintf(t->why, sizeof(t->why), "step %u: ", t->step);
	va_start(args, fmt);
	vscnprintf(t->why + n, sizeof(t->why) - n, fmt, args);
	va_end(args);
}

bool kv_goes_on(const struct kv *t)
{
	return !t->why[0];
}

static int kv_add(struct ib_device *dev)
{
	struct kv_device *one = kzalloc(sizeof(*one), GFP_KERNEL);

	if (!one)
		return -ENOMEM;

	one->dev = dev;
	mutex_lock(&kv_lock);
	list_add(&one->list, &kv_devices);
	mutex_unlock(&kv_lock);
	ib_set_client_data(dev, &kv_client, one);

	return 0;
}

static void kv_remove(struct ib_device *dev, void *data)
{
	struct kv_device *one = data;

	mutex_lock(&kv_lock);
	list_del(&one->list);
	mutex_unlock(&kv_lock);
	kfree(one);
}

static struct ib_client kv_client = {
	.name	= "kverbs",
	.add	= kv_add,
	.remove	= kv_remove,
};

static struct ib_device *kv_find_device(const char *name)
{
	struct kv_device *one;

	lockdep_assert_held(&kv_lock);

	list_for_each_entry(one, &kv_devices, list)
		if (!strcmp(dev_name(&one->dev->dev), name))
			return one->dev;

	return NULL;
}

static const struct kv_case *kv_find_case(const char *name)
{
	const struct kv_case *one;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kv_sets); i++)
		for (one = kv_sets[i]; one->name; one++)
			if (!strcmp(one->name, name))
				return one;

	return NULL;
}

static void kv_tell(const struct kv *t, char *text)
{
	if (kv_goes_on(t))
		scnprintf(text, PAGE_SIZE, t->note ? "ok: %s\n" : "ok\n", t->note);
	else
		scnprintf(text, PAGE_SIZE, "%s %s\n", t->late ? "late" : "failed", t->why);
}

/* Cases read and write memory by the addresses that the devices have for it. */
static int kv_check_devices(const struct kv *t)
{
	if (!t->dev[0] || !t->dev[1])
		return -ENODEV;
	if (!ib_uses_virt_dma(t->dev[0]) || !ib_uses_virt_dma(t->dev[1]))
		return -EOPNOTSUPP;

	return 0;
}

static int kv_run(struct kv *t, const char *own, const char *peer, const struct kv_case *one,
		  char *text)
{
	int err;

	mutex_lock(&kv_lock);
	t->dev[0] = kv_find_device(own);
	t->dev[1] = kv_find_device(peer);
	err = kv_check_devices(t);
	if (!err) {
		one->run(t);
		kv_destroy(t);
		kv_tell(t, text);
	}
	mutex_unlock(&kv_lock);

	return err;
}

/* Return: an error if @line is none, or the case cannot be run */
static int kv_parse(char *line, char *text)
{
	char *name = strim(line);
	char *bound = strsep(&name, " ");
	char *own = strsep(&name, " ");
	char *peer = strsep(&name, " ");
	const struct kv_case *one;
	struct kv *t;
	int err;

	if (!name)
		return -EINVAL;

	one = kv_find_case(name);
	if (!one)
		return -ENOENT;

	t = kvzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;

	err = kstrtouint(bound, 10, &t->bound) ?: kv_run(t, own, peer, one, text);
	kvfree(t);

	return err;
}

static void kv_list(char *text)
{
	const struct kv_case *one;
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(kv_sets); i++)
		for (one = kv_sets[i]; one->name; one++)
			n += scnprintf(text + n, PAGE_SIZE - n, "%s\n", one->name);
}

static int kv_open(struct inode *inode, struct file *file)
{
	char *text = (char *)get_zeroed_page(GFP_KERNEL);

	if (!text)
		return -ENOMEM;

	kv_list(text);
	file->private_data = text;

	return 0;
}

static int kv_release(struct inode *inode, struct file *file)
{
	free_page((unsigned long)file->private_data);

	return 0;
}

static ssize_t kv_file_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	const char *text = file->private_data;

	return simple_read_from_buffer(buf, len, pos, text, strlen(text));
}

static ssize_t kv_file_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char *line;
	int err;

	if (len >= PAGE_SIZE)
		return -EINVAL;

	line = memdup_user_nul(buf, len);
	if (IS_ERR(line))
		return PTR_ERR(line);

	err = kv_parse(line, file->private_data);
	kfree(line);

	return err ?: len;
}

static const struct file_operations kv_fops = {
	.owner		= THIS_MODULE,
	.open		= kv_open,
	.release	= kv_release,
	.read		= kv_file_read,
	.write		= kv_file_write,
};

static struct miscdevice kv_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "kverbs",
	.fops	= &kv_fops,
};

static int __init kv_init(void)
{
	int err;

	err = ib_register_client(&kv_client);
	if (err)
		return err;

	err = misc_register(&kv_misc);
	if (err)
		ib_unregister_client(&kv_client);

	return err;
}

static void __exit kv_exit(void)
{
	misc_deregister(&kv_misc);
	ib_unregister_client(&kv_client);
}

module_init(kv_init);
module_exit(kv_exit);

MODULE_DESCRIPTION("Tests of the verbs of kernel consumers");
MODULE_LICENSE("GPL");
