# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - a queue pair whose peer is a script

  class Lone          a queue pair on a device of this host, connected to a peer
                      that does not exist
  class Absent        memory for it whose pages are absent
  class Peer          that peer: sends packets in its name, and receives the replies
  netns(name)         context manager: sockets opened in it belong to that host
  check(what, good)   one line of TAP;  done() ends the program

Runs on the host of the queue pair; the peer's packets enter the wire at the other
host.  Needs pyverbs and scapy, which the distribution's /usr/bin/python3 has.
"""

import contextlib
import ctypes
import fcntl
import json
import mmap
import os
import struct
import subprocess
import sys
import time
import traceback

import roce
import tap
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.enums import (
    IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_ON_DEMAND, IBV_ACCESS_REMOTE_READ,
    IBV_ACCESS_REMOTE_WRITE, IBV_QP_ACCESS_FLAGS, IBV_QP_AV, IBV_QP_DEST_QPN,
    IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER,
    IBV_QP_PATH_MTU, IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_QKEY,
    IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY, IBV_QP_RQ_PSN, IBV_QP_SQ_PSN,
    IBV_QP_STATE, IBV_QP_TIMEOUT, IBV_QPS_ERR, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
    IBV_QPT_RAW_PACKET, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_MTU_4096,
    IBV_SEND_SIGNALED, IBV_WR_RDMA_READ)
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR
from scapy.compat import raw

TYPES = {"RC": IBV_QPT_RC, "UC": IBV_QPT_UC, "UD": IBV_QPT_UD,
         "RAW": IBV_QPT_RAW_PACKET}
ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
    IBV_ACCESS_REMOTE_READ
CLONE_NEWNET = 0x40000000

_tap = tap.Tap()
check = _tap.check
done = _tap.end


def case(what, function, *args):
    """*function* is a check by itself; it fails by an assertion."""
    try:
        function(*args)
    except Exception:  # pylint: disable=broad-except
        return check(what, False, traceback.format_exc())
    return check(what, True)


def poll(condition, seconds):
    """Until *condition()* holds or that time has passed; returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.01)


def wait_for(condition):
    """Until *condition()* holds, which only a hang prevents; returns its value."""
    value = poll(condition, tap.tap_bound())
    if not value:
        tap.tap_late(traceback.extract_stack(limit=2)[0].line)
    return value


@contextlib.contextmanager
def netns(name):
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", "rb") as here, \
            open(f"/run/netns/{name}", "rb") as there:
        if libc.setns(there.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {name}")
        try:
            yield
        finally:
            libc.setns(here.fileno(), CLONE_NEWNET)


@contextlib.contextmanager
def setting(dev, name, value):
    """Sets an attribute of a device of this host temporarily."""
    path = f"/sys/class/infiniband/{dev}/{name}"
    with open(path, "r+", encoding="ascii") as file:
        before = file.read()
        file.write(str(value))
    try:
        yield
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def counter(dev, name):
    words = run("rdma", "statistic", "show", "link", f"{dev}/1").split()
    return int(words[words.index(name) + 1])


def gid_of(address):
    """The GID of an IP address, as pyverbs prints it"""
    import ipaddress
    ip = ipaddress.ip_address(address)
    if ip.version == 4:
        ip = ipaddress.ip_address(f"::ffff:{address}")
    return ip.exploded


class Absent:
    """Memory whose pages are provided on request only"""

    API, REGISTER, ZEROPAGE = 0xc018aa3f, 0xc020aa00, 0xc020aa04

    def __init__(self, size):
        self.map = mmap.mmap(-1, size)
        self.size = size
        self.view = ctypes.c_char.from_buffer(self.map)
        self.addr = ctypes.addressof(self.view)
        self.fd = ctypes.CDLL(None, use_errno=True).syscall(323, os.O_CLOEXEC)
        assert self.fd >= 0, os.strerror(ctypes.get_errno())
        fcntl.ioctl(self.fd, self.API, struct.pack("QQQ", 0xaa, 0, 0))
        fcntl.ioctl(self.fd, self.REGISTER,
                    struct.pack("QQQQ", self.addr, size, 1, 0))

    def wanted(self):
        """A page fault waits."""
        return len(os.read(self.fd, 32)) == 32

    def come(self):
        fcntl.ioctl(self.fd, self.ZEROPAGE,
                    struct.pack("QQQq", self.addr, self.size, 0, 0))
        self.close()

    def vanish(self):
        """The page is never provided: requests that wait for it fail."""
        assert not ctypes.CDLL(None).mprotect(ctypes.c_void_p(self.addr),
                                              ctypes.c_size_t(self.size), 0)
        self.close()

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


class Lone:
    """
    A queue pair of *dev*, which has the address *own*, for a peer of address
    *peer*.  Its memory, at .addr with key .rkey, may be read and written by that.
    """

    def __init__(self, dev, own, peer, kind="RC", dqpn=0x123456, rq_psn=0,
                 sq_psn=0, size=1 << 16, receives=8, mtu=IBV_MTU_4096,
                 addr=None, odp=False, qkey=0x11111111, gid_index=None):
        self.kind = kind
        self.dev = dev
        self.own, self.peer = own, peer
        self.dqpn, self.rq_psn, self.sq_psn, self.mtu = dqpn, rq_psn, sq_psn, mtu
        self.qkey = qkey
        self.ctx = Context(name=dev)
        self.gid_index = gid_index
        self.pd = PD(self.ctx)
        self.cq = CQ(self.ctx, 256)
        access = ACCESS | (IBV_ACCESS_ON_DEMAND if odp else 0)
        if addr is None:
            self.mr = MR(self.pd, size, access)
        else:
            self.mr = MR(self.pd, size, access, address=addr)
        cap = QPCap(max_send_wr=16, max_recv_wr=64, max_send_sge=1,
                    max_recv_sge=1)
        self.qp = QP(self.pd, QPInitAttr(qp_type=TYPES[kind], scq=self.cq,
                                         rcq=self.cq, cap=cap))
        self.receives = receives

    addr = property(lambda self: self.mr.buf)
    rkey = property(lambda self: self.mr.rkey)
    qpn = property(lambda self: self.qp.qp_num)

    def post_recv(self, wr_id):
        sge = SGE(self.mr.buf, 8192, self.mr.lkey)
        self.qp.post_recv(RecvWR(wr_id=wr_id, num_sge=1, sg=[sge]))

    def post_read(self, length, wr_id=0, sink=None):
        """A READ of the peer's memory at 0x1000, by key 0x100, to *sink*, or to ours."""
        sink = sink or self.mr
        wr = SendWR(wr_id=wr_id, opcode=IBV_WR_RDMA_READ, num_sge=1,
                    sg=[SGE(sink.buf, length, sink.lkey)],
                    send_flags=IBV_SEND_SIGNALED)
        wr.set_wr_rdma(0x100, 0x1000)
        self.qp.post_send(wr)

    def gid(self):
        want = gid_of(self.own)
        for i in range(self.ctx.query_port(1).gid_tbl_len):
            if self.ctx.query_gid(1, i).gid == want and \
                    "v2" in self.gid_type(i):
                return i
        raise LookupError(f"{self.dev} has no GID {want}")

    def gid_type(self, index):
        path = f"/sys/class/infiniband/{self.dev}/ports/1/gid_attrs/types/{index}"
        with open(path, encoding="ascii") as file:
            return file.read()

    def modify(self, mask, **fields):
        attr = QPAttr(port_num=1)
        for name, value in fields.items():
            setattr(attr, name, value)
        self.qp.modify(attr, mask)

    def to_init(self):
        if self.kind == "RAW":
            self.modify(IBV_QP_STATE | IBV_QP_PORT, qp_state=IBV_QPS_INIT)
        elif self.kind == "UD":
            self.modify(IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
                        IBV_QP_QKEY, qp_state=IBV_QPS_INIT, pkey_index=0,
                        qkey=self.qkey)
        else:
            self.modify(IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
                        IBV_QP_ACCESS_FLAGS, qp_state=IBV_QPS_INIT,
                        pkey_index=0, qp_access_flags=ACCESS)
        for i in range(self.receives):
            self.post_recv(i)
        return self

    def path(self, peer=None):
        index = self.gid() if self.gid_index is None else self.gid_index
        route = GlobalRoute(dgid=self.dgid(peer or self.peer),
                            sgid_index=index, hop_limit=64)
        return AHAttr(gr=route, is_global=1, port_num=1)

    @staticmethod
    def dgid(address):
        from pyverbs.addr import GID
        return GID(gid_of(address))

    def to_rtr(self):
        mask = IBV_QP_STATE
        fields = {"qp_state": IBV_QPS_RTR}
        if self.kind in ("RC", "UC"):
            mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
            fields.update(ah_attr=self.path(), path_mtu=self.mtu,
                          dest_qp_num=self.dqpn, rq_psn=self.rq_psn)
        if self.kind == "RC":
            mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER
            fields.update(max_dest_rd_atomic=16, min_rnr_timer=12)
        self.modify(mask, **fields)
        return self

    # the timeout is longer than a script may need to answer
    def to_rts(self, timeout=21, retry=7):
        mask = IBV_QP_STATE
        fields = {"qp_state": IBV_QPS_RTS}
        if self.kind != "RAW":
            mask |= IBV_QP_SQ_PSN
            fields.update(sq_psn=self.sq_psn)
        if self.kind == "RC":
            mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
                IBV_QP_MAX_QP_RD_ATOMIC
            fields.update(timeout=timeout, retry_cnt=retry, rnr_retry=7,
                          max_rd_atomic=16)
        self.modify(mask, **fields)
        return self

    def up(self):
        return self.to_init().to_rtr().to_rts()

    def to_error(self):
        self.modify(IBV_QP_STATE, qp_state=IBV_QPS_ERR)

    def completions(self, wait=False):
        """The completions in the queue; if there are none, waits for some."""
        def come():
            return self.cq.poll(16)[1]

        return wait_for(come) if wait else come()

    def read(self, length, offset=0):
        return self.mr.read(length, offset)

    def info(self):
        """The queue pair as shown by rdma(8), which shows PSNs in lists only"""
        text = run("rdma", "-j", "-dd", "res", "show", "qp", "link", f"{self.dev}/1")
        mine = next(qp for qp in json.loads(text) if qp["lqpn"] == self.qpn)
        return {name.removeprefix("drv_"): str(value) for name, value in mine.items()}

    def close(self):
        for thing in (self.qp, self.mr, self.cq, self.pd, self.ctx):
            thing.close()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()


class Peer:
    """
    The peer of a Lone: packets for the Lone are sent from *dev* of the host *ns*, and its
    packets are received there.
    """

    def __init__(self, lone, ns, dev, mac, vlan=None, src=None):
        self.lone, self.ns, self.dev, self.mac = lone, ns, dev, mac
        self.vlan = vlan
        self.src = src or lone.peer
        with netns(ns):
            self.capture = roce.Capture(dev, self.is_answer)
            self.frame_src = mac_in(dev)

    def is_answer(self, pkt):
        return roce.is_roce(pkt) and \
            roce.ip_of(pkt).src == self.lone.own and \
            roce.ip_of(pkt).dst == self.src and \
            pkt[roce.BTH].dqpn == self.lone.dqpn

    def packet(self, opcode, psn, *headers, **more):
        more.setdefault("dst", self.lone.own)
        return roce.packet(more.pop("src", self.src), more.pop("dst"), opcode,
                           more.pop("qpn", self.lone.qpn), psn, *headers, **more)

    def write(self, psn, payload, offset=0, **more):
        """An RDMA WRITE of one packet."""
        reth = roce.RETH(va=self.lone.addr + offset, rkey=self.lone.rkey,
                         dmalen=len(payload))
        more.setdefault("ackreq", 1)
        return self.packet(f"{self.lone.kind}_RDMA_WRITE_ONLY", psn, reth,
                           payload=payload, **more)

    def response(self, which, psn, text):
        """A packet of the response to a READ of *text* that began with PSN 0."""
        aeth = [] if which == "MIDDLE" else [roce.AETH(syndrome=0x1f, msn=1)]
        return self.packet(f"RC_RDMA_READ_RESPONSE_{which}", psn, *aeth,
                           payload=text[4096 * psn:4096 * (psn + 1)])

    def serve(self, text):
        """Answers READs of *text*, whole or in parts, until *text* completes."""
        def served():
            bth = self.answer(wait=False)
            if bth is not None and bth.opcode == roce.OPCODES["RC_RDMA_READ_REQUEST"]:
                n = -(-bth[roce.RETH].dmalen // 4096)
                which = ["FIRST"] + ["MIDDLE"] * (n - 2) + ["LAST"] if n > 1 else ["ONLY"]
                self.send([self.response(which[i], bth.psn + i, text) for i in range(n)])
            return bth is None and self.lone.completions()

        return wait_for(served)[0]

    def send(self, packets, times=1, vlan=-1):
        vlan = self.vlan if vlan == -1 else vlan
        if not isinstance(packets, (list, tuple)):
            packets = [packets]
        frames = [roce.frame(p, self.frame_src, self.mac, vlan) for p in packets]
        for _ in range(times):
            for data in frames:
                self.capture.sock.send(data)

    def answer(self, wait=True):
        """The next packet of the queue pair; its BTH, None if there is none."""
        pkt = self.capture.next(wait)
        return pkt and pkt[roce.BTH]

    def close(self):
        self.capture.close()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()


def mac_in(dev):
    """The address of *dev*, wherever /sys was mounted."""
    return run("ip", "-o", "link", "show", dev).split("link/ether ")[1].split()[0]


__all__ = [name for name in dir() if name[0] != "_"] + ["raw", "os"]
