// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - transport: module init and exit
 */
#include "deliver.h"
#include "poll.h"
#include "qp_table.h"
#include "raw.h"
#include "srq.h"
#include "xport.h"

int srnic_xport_init(void)
{
	int err;

	err = srnic_poll_init();
	if (err)
		return err;
	srnic_tap_set_receiver(srnic_raw_frame);
	err = srnic_net_init(&srnic_xport_rx_ops);
	if (err)
		srnic_poll_exit();

	return err;
}

void srnic_xport_exit(void)
{
	srnic_net_exit();
	srnic_poll_exit();
	srnic_qp_table_exit();
	srnic_srq_exit();
}
