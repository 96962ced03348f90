/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - counters of one device, one set per CPU
 *
 * The list is X(field, name).  The names are those of rdma_rxe, or else of mlx5, for
 * counters with the same meaning, so that existing tools can read them.
 */
#ifndef SRNIC_STATS_H
#define SRNIC_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

#define SRNIC_COUNTERS(X)						\
	X(SENT_PKTS,		"sent_pkts")				\
	X(RCVD_PKTS,		"rcvd_pkts")				\
	X(SENT_BYTES,		"sent_bytes")				\
	X(RCVD_BYTES,		"rcvd_bytes")				\
	X(SENT_MCAST,		"sent_mcast_pkts")			\
	X(RCVD_MCAST,		"rcvd_mcast_pkts")			\
	X(DUP_REQ,		"duplicate_request")			\
	X(OUT_OF_SEQ,		"out_of_seq_request")			\
	X(RCVD_RNR,		"rcvd_rnr_err")				\
	X(SEND_RNR,		"send_rnr_err")				\
	X(RCVD_SEQ_ERR,		"rcvd_seq_err")				\
	X(RETRY_EXCEEDED,	"retry_exceeded_err")			\
	X(RNR_EXCEEDED,		"retry_rnr_exceeded_err")		\
	X(SEND_ERR,		"send_err")				\
	X(LINK_DOWNED,		"link_downed")				\
	X(RDMA_SENDS,		"rdma_sends")				\
	X(RDMA_RECVS,		"rdma_recvs")				\
	X(ACK_TIMEOUT,		"local_ack_timeout_err")		\
	X(IMPLIED_NAK,		"implied_nak_seq_err")			\
	X(OUT_OF_BUFFER,	"out_of_buffer")			\
	X(RX_WRITE,		"rx_write_requests")			\
	X(RX_READ,		"rx_read_requests")			\
	X(RX_ATOMIC,		"rx_atomic_requests")			\
	X(GO_BACK,		"go_back")				\
	X(ACK_DELAYED,		"delayed_acks")				\
	X(ACK_LATE,		"delayed_acks_late")			\
	X(RX_ICRC,		"rx_icrc_error")			\
	X(RX_MALFORMED,		"rx_malformed")				\
	X(RX_BAD_PKEY,		"rx_bad_pkey")				\
	X(RX_BAD_QKEY,		"rx_bad_qkey")				\
	X(RX_BAD_ADDR,		"rx_bad_addr")				\
	X(RX_BAD_STATE,		"rx_bad_state")				\
	X(PAGE_FAULTS,		"page_faults")				\
	X(RX_NOBUF,		"rx_drop_nobuf")			\
	X(RX_EARLY,		"rx_drop_out_of_order")			\
	X(RX_TOO_LONG,		"rx_drop_too_long")			\
	X(TX_SUPER,		"tx_super_skb")				\
	X(RX_SUPER,		"rx_super_skb")				\
	X(TX_NOBUF,		"tx_drop_nobuf")			\
	X(DOORBELLS,		"doorbell_syscalls")			\
	X(POLLS,		"doorbell_polled")			\
	X(HANDED_OVER,		"doorbell_handed_over")			\
	X(LOCAL,		"local_requests")			\
	X(RDMA_WRITES,		"rdma_writes")				\
	X(RDMA_READS,		"rdma_reads")				\
	X(RDMA_ATOMICS,		"rdma_atomics")				\
	X(RETRANS,		"retrans_pkts")				\
	X(OUT_OF_SEQ_PKTS,	"out_of_sequence")			\
	X(REQ_ERR,		"req_cqe_error")			\
	X(REQ_FLUSH,		"req_cqe_flush_error")			\
	X(REQ_INV_REQ,		"req_remote_invalid_request")		\
	X(REQ_REM_ACC,		"req_remote_access_errors")		\
	X(REQ_REM_OP,		"req_remote_op_errors")			\
	X(RESP_ERR,		"resp_cqe_error")			\
	X(RESP_FLUSH,		"resp_cqe_flush_error")			\
	X(RESP_LENGTH,		"resp_local_length_error")		\
	X(RESP_ACCESS,		"resp_remote_access_errors")		\
	X(ECN_MARKED,		"np_ecn_marked_roce_packets")		\
	X(CNP_SENT,		"np_cnp_sent")				\
	X(CNP_HANDLED,		"rp_cnp_handled")			\
	X(CNP_IGNORED,		"rp_cnp_ignored")			\
	X(SACK_SENT,		"sack_sent")				\
	X(SACK_RCVD,		"sack_rcvd")				\
	X(SACK_IGNORED,		"sack_ignored")

#define X(field, name) SRNIC_CNT_##field,
enum srnic_counter {
	SRNIC_COUNTERS(X)
	SRNIC_CNT_NUM
};
#undef X

struct srnic_stats {
	u64	val[SRNIC_CNT_NUM];
};

extern const char * const srnic_counter_names[SRNIC_CNT_NUM];

/*
 * Context: BH disabled, never hard interrupt.  The add therefore need not be atomic,
 * except on PREEMPT_RT, where BH-disabled sections can preempt each other.
 */
static inline void srnic_count_add(struct srnic_stats __percpu *stats,
				   enum srnic_counter what, u64 n)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		this_cpu_add(stats->val[what], n);
	else
		__this_cpu_add(stats->val[what], n);
}

static inline void srnic_count(struct srnic_stats __percpu *stats,
			       enum srnic_counter what)
{
	srnic_count_add(stats, what, 1);
}

/* Sum over all CPUs; not a snapshot, since counting continues. */
u64 srnic_stats_sum(struct srnic_stats __percpu *stats, enum srnic_counter what);

/* Adds the sums of the @num counters in @what to sums[what[i]], all in one pass. */
void srnic_stats_add(struct srnic_stats __percpu *stats, const u8 *what,
		     unsigned int num, u64 *sums);

#endif /* SRNIC_STATS_H */
