#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - a queue pair works while it answers a long READ of its peer

long_read.py CASE...: on nsB, whose device sr1 sends through a token bucket
"""

import contextlib
import ctypes
import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from lone import (ACCESS, MR, Absent, Lone, Peer, case, counter, done, setting,  # noqa: E402
                  mac_in, os, roce, run, wait_for)

LONG = 64 << 20
MTU = 4096
READ, ONLY, FIRST, MIDDLE, LAST, ACK = (
    roce.OPCODES[f"RC_{name}"] for name in (
        "RDMA_READ_REQUEST", "RDMA_READ_RESPONSE_ONLY", "RDMA_READ_RESPONSE_FIRST",
        "RDMA_READ_RESPONSE_MIDDLE", "RDMA_READ_RESPONSE_LAST", "ACKNOWLEDGE"))


numbers = itertools.count(0x10000)


def line(rate):
    run("tc", "qdisc", "change", "dev", "veth1", "root", "tbf", "rate", rate,
        "burst", "16k", "limit", "1m")


@contextlib.contextmanager
def ends(rate, size=LONG, **more):
    """A queue pair on a line of *rate*, and its peer"""
    line(rate)
    try:
        # packets of earlier queue pairs may still be in the token bucket
        with Lone("sr1", "10.9.0.2", "10.9.0.1", size=size, dqpn=next(numbers),
                  **more).up() as lone, Peer(lone, "nsA", "veth0", mac_in("veth1")) as peer:
            yield lone, peer
    finally:
        line("1gbit")


def request(peer, psn, length):
    """A READ of the first *length* bytes"""
    return peer.packet("RC_RDMA_READ_REQUEST", psn,
                       roce.RETH(va=peer.lone.addr, rkey=peer.lone.rkey, dmalen=length))


def until(peer, *opcodes):
    """Skips packets of the queue pair up to one of these."""
    while True:
        bth = peer.answer()
        assert bth is not None, "it sends nothing"
        if bth.opcode in opcodes:
            return bth
        assert bth.opcode in (FIRST, MIDDLE), bth.show(dump=True)


def beside(lone, peer, length, answers):
    """
    The queue pair's own READ completes, by the packets answers(text), while it answers one
    of the peer.
    """
    text = os.urandom(length)
    peer.send(request(peer, 0, LONG))
    until(peer, FIRST)
    lone.post_read(length)
    assert until(peer, READ).psn == 0
    peer.send(answers(text))
    assert lone.completions(wait=True)[0].status == 0
    assert lone.read(length) == text
    assert not any(pkt[roce.BTH].opcode == LAST for pkt in peer.capture.all())


def read():
    with ends("1mbit") as (lone, peer):
        beside(lone, peer, 64, lambda text: peer.response("ONLY", 0, text))


def behind_requests():
    """The peer sends WRITEs, which wait."""
    with ends("1mbit") as (lone, peer):
        psn = LONG // MTU
        lone.mr.write(bytes(192), 192, 8192)

        def answers(text):
            return [peer.write(psn, b"w" * 64, 8192),
                    peer.write(psn + 1, b"w" * 64, 8256),
                    peer.response("ONLY", 0, text),
                    peer.write(psn + 2, b"w" * 64, 8320)]

        beside(lone, peer, 64, answers)
        assert lone.read(192, 8192) == bytes(192)


def kept():
    """Responses in order and out of order"""
    with ends("1mbit") as (lone, peer):
        beside(lone, peer, 3 * MTU, lambda text: [
            peer.response(which, psn, text)
            for which, psn in (("LAST", 2), ("MIDDLE", 1), ("FIRST", 0))])


def lots():
    """More packets wait than the memory for them permits."""
    text = os.urandom(2 << 20)
    with setting("sr1", "rx_kbytes", 1024), ends("1mbit") as (lone, peer):
        peer.send(request(peer, 0, LONG))
        until(peer, FIRST)
        lone.post_read(len(text))
        assert peer.serve(text).status == 0
        assert lone.read(len(text)) == text


def crowded():
    """The requests that wait leave memory to responses."""
    text = os.urandom(MTU)
    with setting("sr1", "rx_kbytes", 1024), ends("1mbit") as (lone, peer):
        peer.send(request(peer, 0, LONG))
        until(peer, FIRST)
        lone.post_read(MTU)
        assert until(peer, READ).psn == 0
        before = counter("sr1", "rx_drop_nobuf")
        psn = itertools.count(LONG // MTU)

        def is_full():
            peer.send([peer.write(next(psn), text) for _ in range(64)])
            return counter("sr1", "rx_drop_nobuf") > before

        wait_for(is_full)
        peer.send(peer.response("ONLY", 0, text))
        assert lone.completions(wait=True)[0].status == 0
        assert lone.read(MTU) == text


def absent():
    """The memory that the peer READs is absent until the own READ has completed."""
    memory, text = Absent(1 << 16), os.urandom(64)
    with ends("1gbit", size=memory.size, addr=memory.addr, odp=True) as (lone, peer), \
            MR(lone.pd, 64, ACCESS) as sink:
        peer.send(request(peer, 0, 64))
        assert memory.wanted()
        lone.post_read(64, sink=sink)
        assert until(peer, READ).psn == 0
        peer.send(peer.response("ONLY", 0, text))
        assert lone.completions(wait=True)[0].status == 0
        assert sink.read(64, 0) == text
        memory.come()
        assert until(peer, ONLY).psn == 0


def gone():
    """
    Neither the memory that the peer READs nor the sink of an own READ exists: both fail,
    whichever is checked first.
    """
    for _ in range(4):
        memory = Absent(1 << 16)
        with ends("1gbit", size=memory.size, addr=memory.addr, odp=True) as (lone, peer):
            lone.post_read(64)
            assert until(peer, READ).psn == 0
            peer.send(request(peer, 0, 64))
            assert memory.wanted()
            peer.send(peer.response("ONLY", 0, bytes(64)))
            memory.vanish()
            assert lone.completions(wait=True)[0].status != 0


def repeated():
    """
    Executed requests are acknowledged although the queue pair fails while it answers a READ
    again.  The second request and the WRITE wait until the first READ is answered.
    """
    length = 2 << 20
    with ends("4mbit") as (lone, peer):
        peer.send([request(peer, 0, length), peer.write(length // MTU, b"w" * 64),
                   request(peer, 0, length)])
        until(peer, LAST)
        bth = until(peer, FIRST, ACK)
        if bth.opcode == FIRST:
            lone.to_error()
            bth = until(peer, ACK, LAST)
        if bth.opcode == LAST:  # this host was slow to send
            bth = until(peer, ACK)
        assert bth.psn == length // MTU


CASES = {"read": read, "behind_requests": behind_requests, "kept": kept,
         "lots": lots, "crowded": crowded, "absent": absent, "gone": gone, "repeated": repeated}

for name in sys.argv[1:]:
    case(name, CASES[name])
done()
