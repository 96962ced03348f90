#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - a netdev moves to another namespace while its RDMA device is in use

moved.py: on nsB, whose device is sr1 on veth1; moves that to nsC
"""

import contextlib
import ctypes
import itertools
import pathlib
import socket
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "lib"))
from lone import (SGE, IBV_SEND_SIGNALED, Lone, SendWR,  # noqa: E402
                  case, check, done, netns, roce, run, wait_for)
from pyverbs.enums import IBV_WC_WR_FLUSH_ERR, IBV_WR_RDMA_WRITE  # noqa: E402
from pyverbs.pyverbs_error import PyverbsRDMAError  # noqa: E402

GROUP = "ff02::1"  # every host is a member


@contextlib.contextmanager
def stuck(dev):
    """A program that is in a command of *dev* that does not end"""
    with subprocess.Popen([here / "stuck.py", dev], stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout.readline() == b"stuck\n"
            yield
        finally:
            program.terminate()


class QPInit(ctypes.Structure):
    """struct ibv_qp_init_attr"""
    _fields_ = [("context", ctypes.c_void_p), ("cqs", ctypes.c_void_p * 2),
                ("srq", ctypes.c_void_p), ("cap", ctypes.c_uint32 * 5),
                ("type", ctypes.c_int), ("all_signalled", ctypes.c_int)]


def join(dev):
    """A queue pair of *dev* is attached to the group, which pyverbs cannot do."""
    lib = ctypes.CDLL("libibverbs.so.1")
    for name in ("open_device", "alloc_pd", "create_cq", "create_qp"):
        getattr(lib, f"ibv_{name}").restype = ctypes.c_void_p
    lib.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
    lib.ibv_get_device_name.restype = ctypes.c_char_p

    def at(address):
        return ctypes.c_void_p(address)

    devices = itertools.takewhile(bool, lib.ibv_get_device_list(None))
    found = next(d for d in devices if lib.ibv_get_device_name(at(d)) == dev.encode())
    context = lib.ibv_open_device(at(found))
    pd = lib.ibv_alloc_pd(at(context))
    cq = lib.ibv_create_cq(at(context), 1, None, None, 0)
    init = QPInit(cqs=(cq, cq), cap=(1, 1, 1, 1, 0), type=4)
    qp = lib.ibv_create_qp(at(pd), ctypes.byref(init))
    group = socket.inet_pton(socket.AF_INET6, GROUP)
    assert lib.ibv_attach_mcast(at(qp), group, 0) == 0


def is_member():
    return GROUP in run("ip", "-n", "nsC", "maddr", "show", "dev", "veth1").split()


def connects(lone):
    """Waits until the neighbour is known, which takes a while for new addresses."""
    with contextlib.suppress(PyverbsRDMAError):
        return lone.to_rtr()
    return False


def write(lone):
    """A request to a peer that does not exist, which is retransmitted for hours"""
    wr = SendWR(opcode=IBV_WR_RDMA_WRITE, num_sge=1, send_flags=IBV_SEND_SIGNALED,
                sg=[SGE(lone.mr.buf, 64, lone.mr.lkey)])
    wr.set_wr_rdma(0x100, 0x1000)
    lone.qp.post_send(wr)


def moves():
    for command in (("-n", "nsB", "link", "set", "veth1", "netns", "nsC"),
                    ("-n", "nsC", "link", "set", "veth1", "up"),
                    ("-n", "nsC", "addr", "add", "fd09::3/64", "dev", "veth1", "nodad")):
        run("ip", *command)
    assert wait_for(is_member)


def is_flushed(lone):
    completed = lone.completions(wait=True)
    return completed and completed[0].status == IBV_WC_WR_FLUSH_ERR


def has_gone(dev):
    return not pathlib.Path(f"/sys/class/infiniband/{dev}").exists()


with Lone("sr1", "fd09::2", "fd09::1") as lone:
    join("sr1")
    lone.to_init()
    assert wait_for(lambda: connects(lone)).to_rts(timeout=31)
    with stuck("sr1"):
        write(lone)
        case("the netdev moves", moves)
        with netns("nsA"), roce.Capture("veth0") as capture:
            check("its packets do not", is_flushed(lone) and not capture.all())
    case("the device goes", wait_for, lambda: has_gone("sr1"))
    check("the other namespace stays in its group", is_member())
done()
