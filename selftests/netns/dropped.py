#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - responses that the requester's host drops are requested again

The ACK timeout is infinite.  The wire loses only responses that are not needed.
"""

import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from lone import (Absent, Lone, Peer, case, counter, done, setting, mac_in, os,  # noqa: E402
                  roce, wait_for)

MTU = 4096
READ = roce.OPCODES["RC_RDMA_READ_REQUEST"]


@contextlib.contextmanager
def ends(**more):
    """A queue pair that READs, and its peer"""
    with Lone("sr1", "10.9.0.2", "10.9.0.1", **more) as lone:
        lone.to_init().to_rtr().to_rts(timeout=0)
        with Peer(lone, "nsA", "veth0", mac_in("veth1")) as peer:
            yield lone, peer


def absent(memory):
    return {"addr": memory.addr, "size": memory.size, "odp": True}


def read_begins(lone, peer, packets):
    text = os.urandom(packets * MTU)
    lone.post_read(len(text))
    bth = peer.answer()
    assert (bth.opcode, bth.psn, bth[roce.RETH].dmalen) == (READ, 0, len(text))
    return text


def response(peer, psn, text):
    last = psn == len(text) // MTU - 1
    return peer.response("LAST" if last else "MIDDLE" if psn else "FIRST", psn, text)


def unanswered(peer):
    """Skips what has been requested again."""
    while peer.answer(wait=False):
        pass


def read_ends(lone, peer, text):
    assert peer.serve(text).status == 0
    assert lone.read(len(text)) == text


def aged():
    """Three responses wait behind one whose page does not arrive for a long time."""
    memory = Absent(1 << 16)
    before = counter("sr1", "rx_drop_out_of_order")
    with ends(**absent(memory)) as (lone, peer):
        text = read_begins(lone, peer, 4)
        peer.send([response(peer, psn, text) for psn in (3, 2, 1, 0)])
        assert memory.wanted()
        wait_for(lambda: counter("sr1", "rx_drop_out_of_order") == before + 3)
        unanswered(peer)
        memory.come()
        read_ends(lone, peer, text)


def waiting():
    """
    More responses wait for a page than the memory for them permits.  The first do not exceed it,
    so that none arrives behind a missing one.
    """
    memory = Absent(1 << 16)
    before = counter("sr1", "rx_drop_nobuf")
    with setting("sr1", "user_share", 100), setting("sr1", "rx_kbytes", 32), \
            ends(**absent(memory)) as (lone, peer):
        text = read_begins(lone, peer, 8)
        peer.send([response(peer, psn, text) for psn in range(8)])
        assert memory.wanted()
        wait_for(lambda: counter("sr1", "rx_drop_nobuf") > before)
        memory.come()
        read_ends(lone, peer, text)


def early():
    """There is no memory for a response out of order."""
    before = counter("sr1", "rx_drop_out_of_order")
    with setting("sr1", "rx_kbytes", 0), ends() as (lone, peer):
        text = read_begins(lone, peer, 3)
        peer.send([response(peer, psn, text) for psn in (0, 2, 1)])
        wait_for(lambda: counter("sr1", "rx_drop_out_of_order") == before + 1)
        read_ends(lone, peer, text)


case("that have waited for too long", aged)
case("that there is no memory for", waiting)
case("that come early without memory for them", early)
done()
