// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct rxe_create_ah_resp, 5.16 */
#include <rdma/rdma_user_rxe.h>

u32 probe(const struct rxe_create_ah_resp *resp);
u32 probe(const struct rxe_create_ah_resp *resp)
{
	return resp->ah_num;
}
