#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Create a pair of netkit devices, as "ip link add type netkit" of iproute2 6.10 does.

usage: netkit.py l2|l3 MTU NAMESPACE DEV PEER-NAMESPACE PEER-DEV
"""

import os
import socket
import struct
import sys

RTM_NEWLINK = 16
NLMSG_ERROR = 2
NLM_F_REQUEST, NLM_F_ACK, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x200, 0x400
IFLA_IFNAME, IFLA_MTU, IFLA_LINKINFO, IFLA_NET_NS_FD = 3, 4, 18, 28
IFLA_INFO_KIND, IFLA_INFO_DATA = 1, 2
IFLA_NETKIT_PEER_INFO, IFLA_NETKIT_MODE = 1, 5
MODES = {"l2": 0, "l3": 1}
IFINFOMSG = bytes(16)


def attribute(kind, payload):
    head = struct.pack("HH", 4 + len(payload), kind)
    return head + payload + bytes(-len(payload) % 4)


def u32(kind, value):
    return attribute(kind, struct.pack("I", value))


def device(namespace, name, mtu):
    file = os.open(f"/var/run/netns/{namespace}", os.O_RDONLY)
    return (attribute(IFLA_IFNAME, name.encode() + b"\0") + u32(IFLA_MTU, mtu) +
            u32(IFLA_NET_NS_FD, file))


def main(mode, mtu, namespace, name, peer_namespace, peer_name):
    peer = IFINFOMSG + device(peer_namespace, peer_name, int(mtu))
    data = u32(IFLA_NETKIT_MODE, MODES[mode]) + attribute(IFLA_NETKIT_PEER_INFO, peer)
    info = attribute(IFLA_INFO_KIND, b"netkit") + attribute(IFLA_INFO_DATA, data)
    body = IFINFOMSG + device(namespace, name, int(mtu)) + attribute(IFLA_LINKINFO, info)
    flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_EXCL | NLM_F_CREATE
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as route:
        route.send(struct.pack("IHHII", 16 + len(body), RTM_NEWLINK, flags, 1, 0) + body)
        answer = route.recv(65536)
    kind, = struct.unpack_from("H", answer, 4)
    error, = struct.unpack_from("i", answer, 16)
    if kind != NLMSG_ERROR or error:
        sys.exit(os.strerror(-error))


main(*sys.argv[1:])
