#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - a netdev whose MTU becomes too small for a RoCE packet, and large again

small_mtu.py: on nsA, whose device is sr0 on veth0
"""

import contextlib
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "lib"))
from lone import (SGE, IBV_SEND_SIGNALED, Lone, SendWR, case,  # noqa: E402
                  counter, done, roce, run, wait_for)
from pyverbs.addr import AH  # noqa: E402
from pyverbs.enums import (IBV_EVENT_PORT_ACTIVE,  # noqa: E402
                           IBV_EVENT_PORT_ERR, IBV_WC_SUCCESS, IBV_WR_SEND)

LENGTH = 1000  # more than the small MTU, less than the large one
SMALL, NORMAL = 300, 1500


@contextlib.contextmanager
def events(dev):
    """The asynchronous events of *dev*"""
    with subprocess.Popen(["stdbuf", "-oL", "ibv_asyncwatch", "-d", dev],
                          stdout=subprocess.PIPE, bufsize=0) as program:
        try:
            yield program.stdout
        finally:
            program.terminate()


def told(lines, event):
    """The next event of the port, other than GID changes"""
    while roce.readable(lines):
        found = re.search(r"event_type.*\((\d+)\)", lines.readline().decode())
        if found and int(found[1]) in (IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR):
            assert int(found[1]) == event, found[0]
            return
    raise AssertionError("no event")


def changes(mtu, state):
    run("ip", "link", "set", "veth0", "mtu", str(mtu))
    assert state in run("rdma", "link", "show", "sr0/1")


def sends(lone, ah, counts):
    before = {name: counter("sr0", name) for name in counts}
    wr = SendWR(opcode=IBV_WR_SEND, num_sge=1, send_flags=IBV_SEND_SIGNALED,
                sg=[SGE(lone.mr.buf, LENGTH, lone.mr.lkey)])
    wr.set_wr_ud(ah, lone.dqpn, lone.qkey)
    lone.qp.post_send(wr)
    assert lone.completions(wait=True)[0].status == IBV_WC_SUCCESS
    after = {name: counter("sr0", name) - before[name] for name in counts}
    assert after == counts, after


with Lone("sr0", "10.9.0.1", "10.9.0.2", kind="UD") as lone, events("sr0") as lines:
    lone.up()
    ah = wait_for(lambda: AH(lone.pd, attr=lone.path()))
    case("the port goes down", changes, SMALL, "state DOWN")
    case("programs are told", told, lines, IBV_EVENT_PORT_ERR)
    case("a datagram that is too long is not sent", sends, lone, ah,
         {"send_err": 1, "sent_pkts": 0})
    case("the port comes up", changes, NORMAL, "state ACTIVE")
    case("programs are told of that", told, lines, IBV_EVENT_PORT_ACTIVE)
    case("the datagram is sent", sends, lone, ah, {"send_err": 0, "sent_pkts": 1})
    ah.close()
done()
