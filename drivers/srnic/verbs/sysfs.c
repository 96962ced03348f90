// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - sysfs attributes of the device: its identity, and settings
 */
#include <linux/capability.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/sysfs.h>
#include <net/net_namespace.h>

#include "verbs.h"

/*
 * See Documentation/ABI/stable/sysfs-class-infiniband.  Tools that read sysfs, such as
 * Prometheus' node_exporter, skip all RDMA devices if one has no board_id.
 */
static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "srnic\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t board_id_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return hca_type_show(dev, attr, buf);
}
static DEVICE_ATTR_RO(board_id);

/* Printed by ibstat; the same as hw_ver of ibv_devinfo */
static ssize_t hw_rev_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);

	return sysfs_emit(buf, "%x\n", ibdev->attrs.hw_ver);
}
static DEVICE_ATTR_RO(hw_rev);

/* The netdev, as rdma_rxe has it; read by lldiscovery, Portals 4 and blktests */
static ssize_t parent_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);

	return sysfs_emit(buf, "%s\n", netdev_name(to_dev(ibdev)->ndev));
}
static DEVICE_ATTR_RO(parent);

/**
 * struct setting - attribute that can be set
 * @attr: the attribute
 * @offset: offset of its value, an unsigned int, in struct srnic_dev; not locked
 * @min: smallest value
 * @max: largest value
 * @changed: called after it was set; may be NULL
 */
struct setting {
	struct device_attribute	attr;
	size_t			offset;
	unsigned int		min;
	unsigned int		max;
	void			(*changed)(struct srnic_dev *dev);
};

static unsigned int *setting_value(struct device *dev, const struct setting *setting)
{
	return (void *)to_dev(rdma_device_to_ibdev(dev)) + setting->offset;
}

static ssize_t setting_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct setting *setting = container_of(attr, struct setting, attr);

	return sysfs_emit(buf, "%u\n", READ_ONCE(*setting_value(dev, setting)));
}

/*
 * In shared mode the device itself is in the initial network namespace, and the core shows it
 * in all others, with a struct ib_core_device and files for each.  Settings can be changed
 * in the namespace of the device and in that of its netdev.
 */
static bool view_may_set(struct device *dev)
{
	const struct ib_core_device *view = container_of(dev, struct ib_core_device, dev);
	struct ib_device *ibdev = view->owner;

	return view == &ibdev->coredev ||
	       net_eq(read_pnet(&view->rdma_net), to_dev(ibdev)->net);
}

/*
 * Changing a setting requires the capability that adding a link does (RDMA_NL_ADMIN_PERM).
 * Owning the file is not enough: root of a container without a user namespace owns it, and
 * the owner of a read-only file can make it writable.
 */
static ssize_t setting_store(struct device *dev, struct device_attribute *attr,
			     const char *buf, size_t count)
{
	const struct setting *setting = container_of(attr, struct setting, attr);
	unsigned int value;
	int err;

	if (!view_may_set(dev) || !capable(CAP_NET_ADMIN))
		return -EPERM;

	err = kstrtouint(buf, 0, &value);
	if (err)
		return err;
	if (value < setting->min || value > setting->max)
		return -ERANGE;

	WRITE_ONCE(*setting_value(dev, setting), value);
	if (setting->changed)
		setting->changed(to_dev(rdma_device_to_ibdev(dev)));

	return count;
}

#define SETTING(_name, _value, _min, _max) {				\
		.attr	= __ATTR(_name, 0644, setting_show, setting_store), \
		.offset	= offsetof(struct srnic_dev, _value),		\
		.min	= _min,						\
		.max	= _max,						\
	}

static DEFINE_MUTEX(integrity_mutex);	/* the flag is that of the setting */

/* Consumers look for the capability when they connect; nothing else changes these flags. */
static void integrity_changed(struct srnic_dev *dev)
{
	struct ib_device_attr *attrs = &dev->ib_dev.attrs;

	mutex_lock(&integrity_mutex);
	if (READ_ONCE(dev->integrity))
		attrs->kernel_cap_flags |= IBK_INTEGRITY_HANDOVER;
	else
		attrs->kernel_cap_flags &= ~IBK_INTEGRITY_HANDOVER;
	mutex_unlock(&integrity_mutex);
}

static struct setting setting_ecn = SETTING(ecn, tuning.ecn, 0, 1);
static struct setting setting_integrity = {
	.attr		= __ATTR(integrity, 0644, setting_show, setting_store),
	.offset		= offsetof(struct srnic_dev, integrity),
	.max		= SRNIC_HAVE_INTEGRITY,
	.changed	= integrity_changed,
};

static struct setting setting_loopback = SETTING(loopback, tuning.loopback, 0, 1);
static struct setting setting_odp_fallback = SETTING(odp_fallback, odp_fallback, 0, 1);
static struct setting setting_poll = SETTING(poll, tuning.poll, 0, 1);
static struct setting setting_rx_kbytes = SETTING(rx_kbytes, rx_kbytes, 0, UINT_MAX);
static struct setting setting_sack = SETTING(sack, tuning.sack, 0, 1);
static struct setting setting_user_share = SETTING(user_share, user_share, 1, 100);

static struct attribute *device_attrs[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	&dev_attr_hw_rev.attr,
	&dev_attr_parent.attr,
	&setting_ecn.attr.attr,
	&setting_integrity.attr.attr,
	&setting_loopback.attr.attr,
	&setting_odp_fallback.attr.attr,
	&setting_poll.attr.attr,
	&setting_rx_kbytes.attr.attr,
	&setting_sack.attr.attr,
	&setting_user_share.attr.attr,
	NULL
};

static umode_t device_attr_mode(struct kobject *kobj, struct attribute *attr, int index)
{
	return view_may_set(kobj_to_dev(kobj)) ? attr->mode : attr->mode & 0444;
}

const struct attribute_group srnic_device_group = {
	.attrs		= device_attrs,
	.is_visible	= device_attr_mode,
};
