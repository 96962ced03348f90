#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A wire between two TUN or TAP netdevs: what one host sends comes in at the other.

usage: tun_wire.py tun|tap NETNS DEVICE NETNS DEVICE

Creates the netdevs and prints "up"; they are deleted when it exits.
"""
import ctypes
import fcntl
import os
import select
import struct
import sys

TUNSETIFF = 0x400454ca
IFF_NO_PI = 0x1000
MODES = {"tun": 0x0001, "tap": 0x0002}
CLONE_NEWNET = 0x40000000
MAX_PACKET = 65536


def open_end(mode, netns, name):
    """Such a netdev belongs to the namespace in which it is asked for."""
    with open(f"/run/netns/{netns}", "rb") as ns:
        if ctypes.CDLL(None, use_errno=True).setns(ns.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {netns}")
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), mode | IFF_NO_PI))
    return fd


def carry(source, sink):
    """All that waits there; a netdev that is down takes nothing."""
    try:
        while True:
            packet = os.read(source, MAX_PACKET)
            try:
                os.write(sink, packet)
            except OSError:
                pass
    except BlockingIOError:
        pass


def main():
    mode = MODES[sys.argv[1]]
    ends = [open_end(mode, *sys.argv[2:4]), open_end(mode, *sys.argv[4:6])]
    other = {ends[0]: ends[1], ends[1]: ends[0]}
    print("up", flush=True)
    while True:
        for fd in select.select(ends, [], [])[0]:
            carry(fd, other[fd])


main()
