#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - what srnic-doctor says about recorded facts

judge.json is the output of "srnic-doctor --facts PEER" on a healthy pair of hosts.  Each
case changes it and expects one line that is not ok, and no other.  Prints TAP.
"""

import copy
import json
import pathlib
import select
import shlex
import socket
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent.parent / "tools"), str(HERE.parent / "lib")]
from doctor import facts, health, peer  # noqa: E402
from tap import Tap  # noqa: E402
try:
    import roce as scapy
except ImportError:
    scapy = None

RECORDED = json.loads((HERE / "judge.json").read_text(encoding="utf-8"))
HOSTS = ((socket.AF_INET, "10.9.0.1", "10.9.0.2"), (socket.AF_INET6, "fd09::1", "fd09::2"))


def put(path, value):
    """Sets facts["a"]["b"] for the path a/b"""
    def change(found):
        *folders, last = path.split("/")
        for name in folders:
            found = found[int(name) if isinstance(found, list) else name]
        found[int(last) if isinstance(found, list) else last] = value
    return change


def silent(tap, cm="silent", udp=None):
    return [put("peer/cm", cm), put("peer/tap", tap), put("peer/udp", udp)]


def chain(hook, **more):
    return dict({"hook": hook, "family": "inet", "table": "t", "chain": hook, "devs": [],
                 "names_port": False}, **more)


def renamed_to(name):
    """A netdev that a container has renamed; what is proposed must be safe to paste."""
    def change(found):
        found["netdevs"][name] = found["netdevs"].pop("veth0")
        device = found["devices"][0]
        device["netdev"] = found["peer"]["route"]["dev"] = name
        for entry in device["gids"]:
            entry["netdev"] = name
    return change


def link_local(zone, own="fe80::1"):
    """The peer's address is fe80::2."""
    return [put("peer/address", "fe80::2"), put("peer/zone", zone), put("peer/ipv4", False),
            put("peer/route/own", own)]


renamed = renamed_to("$(id)")
NFT_JSON = ('{"nftables": [{"insert": {"rule": {"family": "inet", "table": "x; flush ruleset", '
            '"chain": "input", "expr": [{"match": {"op": "==", "right": 4791, "left": {"payload": '
            '{"protocol": "udp", "field": "dport"}}}}, {"accept": null}]}}}]}')


PHYSICAL = [put("netdevs/veth0/below", "veth0"), put("processors", 8)]
SEEN = "verbs/devices/sr0"
LOCK = "memlock/privileged"

MISSING = [put("module/loaded", False), put("module/installed", False), put("devices", [])]
# level, check, part of the text or of the command, changes
CASES = (
    ("BAD", "kernel", "lacks ib_uverbs, rdma_ucm -> apt install --reinstall linux-image-7.3.4",
     MISSING + [put("kernel/missing", ["ib_uverbs", "rdma_ucm"])]),
    ("hint", "kernel", "cannot use rdma_cm", [put("kernel/missing", ["rdma_ucm"])]),
    ("BAD", "kernel", "no modules for kernel 7.3.4 in /lib/modules -> # reboot",
     MISSING + [put("kernel/missing", None)]),
    ("ok", "kernel", "not visible here", [put("kernel/missing", None)]),
    ("BAD", "module", "not installed", [put("module/loaded", False),
                                        put("module/installed", False)]),
    ("BAD", "module", "modprobe srnic", [put("module/loaded", False)]),
    ("hint", "module", "modprobe -r srnic", [put("module/source", "A"),
                                            put("module/source_installed", "B")]),
    ("BAD", "devices", "rdma link add", [put("devices", [])]),
    ("BAD", "devices", "sr1 is in another", [put("devices", []), put("elsewhere", ["sr1"])]),
    ("BAD", "memlock", "only 64 KiB", [put(LOCK, False), put("memlock/bytes", 65536)]),
    ("hint", "memlock", "only 8 MiB", [put(LOCK, False), put("memlock/bytes", 8 << 20)]),
    ("ok", "memlock", "unlimited", [put(LOCK, False), put("memlock/bytes", None)]),
    ("ok", "memlock", "1024 MiB", [put(LOCK, False), put("memlock/bytes", 1 << 30)]),
    ("BAD", "device", "modprobe ib_uverbs", [
        put("devices/0/uverbs", None), put("devices/0/abi", None), put("devices/0/gids", [])]),
    ("BAD", "cgroup", "echo 'sr0 hca_handle=max' > /g/rdma.max", [put("cgroups", [
        {"cgroup": "/g", "limits": {"sr0": {"hca_handle": 2}},
         "used": {"sr0": {"hca_handle": 2}}}])]),
    ("ok", "cgroup", "no limit", [put("cgroups", [
        {"cgroup": "/g", "limits": {"sr0": {"hca_handle": 2, "hca_object": None}},
         "used": {"sr0": {"hca_handle": 1, "hca_object": 9}}}])]),
    ("?", "cgroup", "cannot be read", [put("cgroups", None)]),
    ("BAD", "provider", "is not installed -> apt install libibverbs1", [put("verbs", {
        "library": None, "said": "OSError: libibverbs.so.1: cannot open shared object file"})]),
    ("BAD", "provider", "fails: no message says why -> ibv_devinfo", [
        put("verbs", {"library": None, "said": ""})]),
    ("BAD", "provider", "python3 returned -11 -> ibv_devinfo", [
        put("verbs", {"library": None, "said": "python3 returned -11"})]),
    ("BAD", "provider", "srnic.driver is missing", [put("verbs/devices", {}),
                                                    put("verbs/drivers", ["rxe"])]),
    ("BAD", "provider", "libsrnic-rdmav34.so is missing", [put("verbs/devices", {}),
                                                           put("verbs/providers", [])]),
    ("BAD", "provider", "PABI 34, and the provider is libsrnic-rdmav57.so",
     [put("verbs/devices", {}), put("verbs/providers", ["libsrnic-rdmav57.so"])]),
    ("BAD", "provider", "ABI 1001: warning", [put("verbs/devices", {}),
                                              put("verbs/said", "warning\nmore")]),
    ("BAD", "provider", "rxe.driver is missing", [
        put("verbs/devices", {}), put("verbs/drivers", ["srnic"]), put("devices/0/abi", 2)]),
    ("BAD", "provider", "(EACCES) -> chmod a+rw", [put(SEEN, {"errno": 13, "mtu": None})]),
    ("BAD", "provider", "(EPERM) -> # give the container the device", [
        put(SEEN, {"errno": 1, "mtu": None})]),
    ("BAD", "provider", "(ENOENT) -> # give the container the device", [
        put(SEEN, {"errno": 2, "mtu": None})]),
    ("BAD", "provider", "(error 9999) -> dmesg", [put(SEEN, {"errno": 9999, "mtu": None})]),
    ("BAD", "link", "ip link set dev veth0 up", [put("netdevs/veth0/up", False),
                                                put("devices/0/state", "DOWN")]),
    ("BAD", "link", "ip link set dev '$(id)' up", [
        put("netdevs/veth0/up", False), put("devices/0/state", "DOWN"), renamed]),
    ("BAD", "port", "type srnic netdev '$(id)'", [put("devices/0/state", "DOWN"), renamed]),
    ("BAD", "mtu", "dev '$(id)' mtu 4200", [put("netdevs/veth0/mtu", 1500), renamed]),
    ("BAD", "cgroup", "> '/g;id'/rdma.max", [put("cgroups", [
        {"cgroup": "/g;id", "limits": {"sr0": {"hca_handle": 2}},
         "used": {"sr0": {"hca_handle": 2}}}])]),
    ("BAD", "link", r"dev $'a\033b\337\303\251' up", [
        put("netdevs/veth0/up", False), put("devices/0/state", "DOWN"),
        renamed_to("a\x1bb\udcdf\xe9")]),
    ("BAD", "port", "rdma link del sr0 && rdma -- link add sr0 type srnic netdev -j", [
        put("devices/0/state", "DOWN"), renamed_to("-j")]),
    ("BAD", "link", "no carrier", [put("netdevs/veth0/carrier", False),
                                   put("devices/0/state", "DOWN")]),
    ("BAD", "port", "the port is DOWN", [put("devices/0/state", "DOWN")]),
    ("BAD", "mtu", "mtu 4200", [put("netdevs/veth0/mtu", 1500)]),
    ("BAD", "addresses", "no IP address", [put("netdevs/veth0/addresses", [])]),
    ("BAD", "addresses", "is tentative", [put("netdevs/veth0/addresses/0/tentative", True)]),
    ("BAD", "addresses", "is a duplicate", [put("netdevs/veth0/addresses/0/dadfailed", True)]),
    ("BAD", "gids", "10.9.0.1 has no GID", [put("devices/0/gids", [])]),
    ("hint", "ecn", "echo 1 > /sys/class/infiniband/sr0/ecn", [put("devices/0/ecn", "0")]),
    ("?", "ecn", "cannot be read", [put("devices/0/ecn", None)]),
    ("hint", "qdisc", "tc qdisc replace dev veth0 root codel ecn", [
        put("netdevs/veth0/qdisc", "codel")]),
    ("hint", "qdisc", "-> tc qdisc show dev veth0 # ", [put("netdevs/veth0/qdisc", "red")]),
    ("ok", "qdisc", "marks", [put("netdevs/veth0/qdisc", "fq_codel"),
                              put("netdevs/veth0/marks", True)]),
    ("?", "qdisc", "tc", [put("netdevs/veth0/qdisc", None)]),
    ("hint", "receive", "echo ff > ", PHYSICAL + [put("netdevs/veth0/rps", ["0"])]),
    ("ok", "receive", "RPS", PHYSICAL + [put("netdevs/veth0/rps", ["0,000000ff"])]),
    ("hint", "receive", "udp4 sdfn", PHYSICAL + [put("netdevs/veth0/rps", ["0", "0"]),
                                                put("netdevs/veth0/hash", False)]),
    ("ok", "receive", "2 receive queues", PHYSICAL + [put("netdevs/veth0/rps", ["0", "0"]),
                                                      put("netdevs/veth0/hash", True)]),
    ("BAD", "route", "has no address", [put("peer/address", None), put("peer/error", "unknown")]),
    ("BAD", "route", "no route", [put("peer/route", None)]),
    ("BAD", "route", "netdev eth7", [put("peer/route/dev", "eth7")]),
    ("BAD", "route", "is an address of this host -> #", [put("peer/route/dev", "lo"),
                                                        put("peer/route/local", True)]),
    ("BAD", "route", "name the network device, too -> srnic-doctor fe80::2%NETDEV",
     [*link_local(None), put("peer/route", None)]),
    ("BAD", "route", "no route to fe80::2%veth0 -> ip route get fe80::2 dev veth0",
     [*link_local("veth0"), put("peer/route", None)]),
    ("hint", "ping", "ping 'fe80::2%$(id)'", [
        put("peer/echo", False), put("peer/mtu", None), *link_local("$(id)")]),
    ("BAD", "neighbour", "does not answer ARP", [put("peer/neighbour", "FAILED")]),
    ("?", "ping", "as root", [put("peer/echo", None), put("peer/mtu", None)]),
    ("hint", "ping", "may drop ICMP", [put("peer/echo", False), put("peer/mtu", None)]),
    ("BAD", "path mtu", "mtu 1500", [put("peer/mtu", 1024)]),
    ("BAD", "path mtu", "-> # raise the MTU of the path", [put("peer/mtu", 512)]),
    ("?", "path mtu", "longer pings", [put("peer/mtu", None)]),
    ("BAD", "firewall", "iptables -I OUTPUT", [put("peer/udp", "EPERM"), put("peer/cm", "silent")]),
    ("BAD", "firewall", "nft insert rule inet t egress", silent([], udp="ENOBUFS") + [
        put("firewall", [chain("input"), chain("egress")])]),
    ("BAD", "firewall", "on the way in", silent(["cm"])),
    ("BAD", "firewall", "ip6tables -I INPUT", silent(["cm"]) + [put("peer/ipv4", False)]),
    ("BAD", "firewall", f"nft -j '{NFT_JSON}'", silent(["cm"]) + [
        put("firewall", [chain("input", table="x; flush ruleset")])]),
    ("BAD", "firewall", "nft insert rule netdev t ingress", silent(["cm"]) + [put("firewall", [
        chain("input", family="ip6", names_port=True),
        chain("input", family="arp", names_port=True),
        chain("ingress", family="netdev", devs=["veth7"], names_port=True),
        chain("ingress", family="netdev", devs=["veth0"])])]),
    ("BAD", "firewall", "-> # on fe80::2%veth0: srnic-doctor fe80::1%NETDEV",
     silent([]) + link_local("veth0")),
    ("BAD", "firewall", "nft insert rule inet t ingress", silent(["cm", "perf"]) + [
        put("firewall", [chain("input"), chain("ingress", names_port=True)])]),
    ("BAD", "firewall", "refuses UDP port 4791 (ECONNREFUSED)", silent([], udp="ECONNREFUSED")),
    ("BAD", "firewall", "no packet can be sent", silent([], udp="EMSGSIZE")),
    ("BAD", "firewall", "firewall there or between", silent([])),
    ("BAD", "firewall", "between or here", silent(None)),
    ("BAD", "firewall", "between or here", silent(None, udp="EPERM")),
    ("ok", "firewall", "open both ways", [put("peer/udp", "EPERM"), put("peer/tap", None)]),
    ("ok", "firewall", "open both ways", [put("peer/udp", "ENOBUFS")]),    # a full queue
    ("BAD", "firewall", "rdma_cm cannot use the path: ENODEV", silent([], "ENODEV")),
    ("hint", "firewall", "no ib_cm there", silent(["perf"])),
    ("?", "firewall", "modprobe rdma_ucm", silent(["perf"], None)),
    ("?", "firewall", "may not be captured", silent(None, None)),
    ("BAD", "firewall", "firewall there or between", silent([], None)),
)


def judged(changes):
    found = copy.deepcopy(RECORDED)
    for change in changes:
        change(found)
    return health.judge(found)


PROGRAMS = {"apt", "chmod", "dmesg", "dnf", "echo", "ethtool", "getent", "ibv_devinfo", "ip",
            "ip6tables", "iptables", "modprobe", "nft", "ping", "rdma", "srnic-doctor", "tc"}


def pasteable(command):
    """Can it be typed as it is?  What is meant for the reader is a comment."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    programs = words[:1] + [words[number + 1] for number, word in enumerate(words)
                            if word in ("&&", ";")]
    return set(programs) <= PROGRAMS and not any(word[-1:] in (",", ":") for word in words)


def expect(level, check, text, changes):
    """Only that check may differ, besides those that it prevents."""
    lines = judged(changes)
    mine = [line for line in lines if line.check == check]
    assert len(mine) == 1 and mine[0].level == level, mine
    assert text in f"{mine[0].text} -> {mine[0].command}", mine
    others = [line for line in lines if line.check != check and line.level in ("BAD", "hint")]
    assert not others, others
    assert bool(mine[0].command) or level in ("ok", "?"), mine
    assert all(pasteable(line.command) for line in lines), mine


def healthy():
    lines = judged([])
    assert {line.level for line in lines} == {"ok"}, lines
    checks = [check.name for table in (health.HOST, health.DEVICE, health.PEER) for check in table]
    assert [line.check for line in lines] == checks, lines


def tested():
    """Every check has a case that is not ok."""
    checks = {check.name for table in (health.HOST, health.DEVICE, health.PEER) for check in table}
    assert checks == {case[1] for case in CASES if case[0] != "ok"}


def another_device():
    """A second device that is broken does not keep the peer from being looked at."""
    second = dict(copy.deepcopy(RECORDED["devices"][0]), name="sr9", netdev="eth9", gids=[])
    lines = judged([lambda found: found["devices"].append(second),
                    put("netdevs/eth9", dict(RECORDED["netdevs"]["veth0"], up=False))])
    assert [line.subject for line in lines if line.level == "BAD"] == ["sr9", "sr9"], lines
    assert all(line.level == "ok" for line in lines if line.subject == RECORDED["peer"]["name"])


# ID and ID_LIKE of os-release, release of the kernel, what is neither built in nor a module
# and not loaded, what to type
SYSTEMS = (
    ('ID=ubuntu\nID_LIKE="debian"', "6.14.0-1015-aws", ["rdma_ucm"],
     "apt install linux-modules-extra-6.14.0-1015-aws"),
    ('ID=linuxmint\nID_LIKE="ubuntu debian"', "6.8.0-51-generic", ["ib_uverbs", "rdma_ucm"],
     "apt install linux-modules-extra-6.8.0-51-generic"),
    ("ID=debian", "6.1.0-56-cloud-amd64", ["ip6_udp_tunnel"],
     "apt install --reinstall linux-image-6.1.0-56-cloud-amd64"),
    ('ID=fedora', "6.17.4-300.fc43.x86_64", ["ib_core", "ib_uverbs", "rdma_ucm"],
     "dnf install kernel-modules-6.17.4-300.fc43.x86_64"),
    ('ID="rocky"\nID_LIKE="rhel centos fedora"', "6.12.0-55.el10.x86_64", ["ib_core"],
     "dnf install kernel-modules-6.12.0-55.el10.x86_64"),
    ("ID=other", "6.18.2", ["ib_core", "rdma_ucm"], "# install the other modules of the kernel"),
)


def system(root, release, text, missing):
    """A tree with what is not missing: modules, built in, and loaded"""
    folder = root / "lib/modules" / release
    folder.mkdir(parents=True)
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text(f"NAME='x=y'\n{text}\n", encoding="utf-8")
    has = [name for name in facts.MODULES if name not in missing]
    (root / "sys/module" / has.pop()).mkdir(parents=True)
    built_in = f"kernel/net/{has.pop()}.ko\n"
    modules = "".join(f"kernel/core/{name.replace('_', '-')}.ko.xz: kernel/lib/ib_core_x.ko\n"
                      for name in has)
    (folder / "modules.builtin").write_text(built_in, encoding="utf-8")
    (folder / "modules.dep").write_text(modules, encoding="utf-8")


def modules_by_distribution():
    for text, release, missing, command in SYSTEMS:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            system(root, release, text, missing)
            seen = facts.kernel(root, release)
            assert seen["missing"] == missing and seen["release"] == release, seen
            line = judged(MISSING + [put("kernel", seen)])[0]
            assert line.check == "kernel" and line.command.startswith(command), line
            assert all(name in line.text for name in missing), line


def no_modules():
    with tempfile.TemporaryDirectory() as folder:
        seen = facts.kernel(pathlib.Path(folder), "6.1.0")
    assert seen == {"release": "6.1.0", "distribution": [], "missing": None}, seen


def limits():
    assert facts.parse_limits("sr0 hca_handle=2 hca_object=max\n") == \
        {"sr0": {"hca_handle": 2, "hca_object": None}}
    assert facts.parse_limits(None) == {}


class Fake:
    """Files of the system, in this block"""

    def __init__(self, files):
        self.files = files

    def __enter__(self):
        self.real = facts.contents
        facts.contents = lambda path: self.files.get(str(path))

    def __exit__(self, *_):
        facts.contents = self.real


# name of a group; what a user has called a file system in user space, see fusermount(1)
GROUP, MOUNTED = "a\v\x85b\u2028 \t", "x\xa0/home/u\xa0cgroup2\xa0rw"


def texts_with_names():
    """Names in texts that are separated by spaces and newlines may have other white space."""
    files = {"/proc/self/cgroup": f"0::/{GROUP}\n",
             "/proc/self/mounts": f"{MOUNTED} /home/u/m fuse.x rw 0 0\n"
                                  "cgroup2 /mnt/with\\040space cgroup2 rw 0 0\n",
             f"/mnt/with space/{GROUP}/rdma.max": "sr0 hca_handle=2 hca_object=max\nodd x=\n"}
    with Fake({name: text.encode() for name, text in files.items()}):
        found = facts.cgroups()
    assert [one["cgroup"] for one in found] == \
        [f"/mnt/with space/{GROUP}", "/mnt/with space"], found
    assert found[0]["limits"] == {"sr0": {"hca_handle": 2, "hca_object": None}}, found


def chains_that_drop():
    place = {"family": "inet", "table": "t"}
    chain_of = dict(place, name="c", hook="input", policy="accept")
    rules = {word: dict(place, chain="c", expr=[{"match": {"right": 4791}}, {word: None}])
             for word in ("accept", "drop", "reject")}
    elsewhere = [dict(rules["drop"], **{key: "other"}) for key in ("family", "table", "chain")]
    assert facts.base_chain(chain_of, [rules["accept"], *elsewhere]) is None
    assert facts.base_chain({**place, "name": "c"}, [rules["drop"]]) is None
    for one in rules["drop"], rules["reject"]:
        assert facts.base_chain(chain_of, [one])["names_port"]
    assert not facts.base_chain(dict(chain_of, policy="drop"), [rules["accept"]])["names_port"]


def names_keep_their_bytes():
    with Fake({"/a": b" v\xff\x1c \n"}):
        assert facts.encoded(facts.read("/a")) == b"v\xff\x1c"
    found = facts.parse(facts.decoded(b'{"a": "it\\\'s \\\\ \xff\x01"}'))
    assert found == {"a": "it's \\ \udcff\x01"}, found


def netdev_names():
    assert facts.netdev_name("a'\udcff%") == "a'\udcff%"
    for name in ("", "a b", "a\n", "a/b", "a:b", ".", "..", "a" * 16, "\xe9" * 8):
        assert facts.known(facts.netdev_name, name) is None, name


def gid_goes():
    """One may be deleted between two files of sysfs; the file is empty, or cannot be read."""
    base = facts.SYS / "class/infiniband/sr0/ports/1"
    files = {f"{base}/gid_attrs/types/{index}": b"RoCE v2\n" for index in range(3)}
    files[f"{base}/gids/0"] = b"0000:0000:0000:0000:0000:ffff:0a09:0001\n"
    files[f"{base}/gids/1"] = b""
    with Fake(files):
        found = [facts.known(facts.gid_entry, base, str(index)) for index in range(4)]
    assert found == [{"index": 0, "gid": "::ffff:10.9.0.1", "type": "RoCE v2", "netdev": None},
                     None, None, None], found


def udp_packet(family, source, target, packet):
    """As it arrives: routers and senders choose the other fields."""
    length = len(packet) + 12
    if family == socket.AF_INET:
        head = struct.pack(">BBHHHBBH", 0x45, 2, 20 + length, 0xabcd, 0x4000, 63,
                           socket.IPPROTO_UDP, 0xabcd)
    else:
        head = struct.pack(">IHBB", 0x60212345, length, socket.IPPROTO_UDP, 63)
    whole = head + socket.inet_pton(family, source) + socket.inet_pton(family, target) + \
        struct.pack(">HHHH", 4711, peer.PORT, length, 0x1234) + packet
    return whole + peer.icrc(family, whole)


def icrc():
    """That of the test library, which was compared with scapy's; of what is sent, too"""
    for family, own, other in HOSTS:
        layer = scapy.IP if family == socket.AF_INET else scapy.IPv6
        whole = udp_packet(family, own, other, peer.question(1))
        assert scapy.icrc(layer(whole)) == whole[-4:]
        sent = peer.headers(family, own, other, 4711, len(peer.question(1))) + peer.question(1)
        assert scapy.icrc(layer(sent + bytes(4))) == peer.icrc(family, sent)


def mad(kind, method, transaction, attribute, data=b"", queue_pair=1):
    return peer.BTH.pack(peer.UD_SEND_ONLY, 0x40, 0xffff, queue_pair, 0) + \
        peer.DETH.pack(peer.GSI_QKEY, 1) + \
        (peer.MAD.pack(1, kind, 2, method, 0, 0, transaction, attribute, 0, 0) +
         data).ljust(peer.MAD_BYTES, b"\0")


# transaction of the question, communication ID of the request
ASKED, MINE = 0x12345678, 0x9abcdef0
REQUEST = mad(7, 3, 1, 0x10, struct.pack(">IIQ", MINE, 0, 0x01060009))
REJECT = mad(7, 3, 1, 0x12, struct.pack(">II", 0, MINE))
REPLY = mad(7, 3, 1, 0x13, struct.pack(">II", 5, MINE))
PERF = mad(4, 0x81, ASKED, 1)
# packets of this host and of the peer, what they answer
ON_THE_WIRE = (
    ([], [PERF], {"perf"}),
    ([], [mad(4, 0x81, ASKED + 1, 1)], set()),              # of another question
    ([], [mad(4, 0x81, ASKED, 2), mad(4, 1, ASKED, 1)], set()),     # no answer to it
    ([], [mad(4, 0x81, ASKED, 1, queue_pair=7)], set()),
    ([REQUEST], [REJECT], {"cm"}),
    ([REQUEST], [REPLY, PERF], {"cm", "perf"}),
    ([], [REJECT, REPLY, REQUEST], set()),                  # not asked for by this host
    ([REQUEST], [mad(7, 3, 1, 0x12, struct.pack(">II", MINE, 7))], set()),
    ([REQUEST], [mad(7, 3, 1, 0x11, struct.pack(">II", 0, MINE))], set()),
    ([mad(7, 3, 1, 0x10, struct.pack(">IIQ", MINE, 0, 0x01060007))], [REJECT], set()),
)


def seen_of(family, own, other, sent, received):
    exchange = peer.Exchange(family, own, other, ASKED)
    for packet in sent:
        exchange.look(udp_packet(family, own, other, packet), True)
    for packet in received:
        exchange.look(packet, False)
    return exchange.answered


def answers():
    """Those of the peer to what was asked are recognised, and nothing else."""
    for family, own, other in HOSTS:
        for sent, received, expected in ON_THE_WIRE:
            packets = [udp_packet(family, other, own, packet) for packet in received]
            seen = seen_of(family, own, other, sent, packets)
            assert seen == expected, (sent, received, seen)


def forged():
    """An answer with a bit that is wrong, which the device does not get, is none."""
    for family, own, other in HOSTS:
        packet = udp_packet(family, other, own, PERF)
        assert seen_of(family, own, other, [], [packet + b"\0"]) == {"perf"}   # padding
        for wrong in (packet[:-1], packet[:30], b"", udp_packet(family, own, other, PERF),
                      packet[:-1] + bytes((packet[-1] ^ 1,)),
                      packet.replace(b"\x12\xb7", b"\0\1")):
            assert not seen_of(family, own, other, [], [wrong]), wrong


def tapped():
    """Packets that cannot be an answer do not fill the buffer of the socket that captures them."""
    for family, own, other in HOSTS:
        wanted = [udp_packet(family, other, own, packet) for packet in (PERF, REJECT)]
        data, transport = bytearray(wanted[0]), bytearray(wanted[0])
        data[peer.header_bytes(family) + 8] = 4     # SEND only of RC
        transport[9 if family == socket.AF_INET else 6] = socket.IPPROTO_TCP
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with here, there:
            here.setblocking(False)
            peer.tap_filter(here, family)
            for packet in (data, transport, wanted[0], b"", wanted[0][:30], wanted[1],
                           udp_packet(family, other, own, mad(4, 0x81, ASKED, 1, queue_pair=7)),
                           wanted[0].replace(b"\x12\xb7", b"\0\1")):
                there.send(packet)
            assert [here.recv(2048), here.recv(2048)] == wanted
            assert not select.select([here], [], [], 0)[0]


def tap_of_any_name():
    """Without privileges there is no socket, with them no such device."""
    assert peer.tap_open(socket.AF_INET, "\udcff") is None


def strangers():
    """What others send to the socket of the question is no error, and does not stay in it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.sendto(b"x", sock.getsockname())
        exchange = peer.Exchange(socket.AF_INET, "127.0.0.1", "127.0.0.1", ASKED)
        assert peer.answers(sock, None, exchange, 0) is None
        assert not select.select([sock], [], [], 0)[0]


def echo_replies():
    for family, _, _ in HOSTS:
        asked = peer.echo_request(family, 84)
        assert len(asked) == 84 - peer.header_bytes(family)
        reply = bytes((0 if family == socket.AF_INET else 129,)) + asked[1:]
        renumbered = reply[:2] + b"xxyy" + reply[6:]
        assert peer.is_reply(family, asked, reply) and peer.is_reply(family, asked, renumbered)
        for wrong in (asked, reply[8:], reply[1:], reply[:-1], reply + b"\0", b"",
                      reply[:-9] + reply[:9], b"\3" + reply[1:], reply[:1] + b"\1" + reply[2:]):
            assert not peer.is_reply(family, asked, wrong), wrong
    for kind, data, message in ((socket.SOCK_RAW, b"\x46" + bytes(23) + b"abc", b"abc"),
                                (socket.SOCK_RAW, b"\x4f", b""), (socket.SOCK_RAW, b"", b""),
                                (socket.SOCK_DGRAM, b"abc", b"abc")):
        assert peer.icmp_of(socket.AF_INET, kind, data) == message
    assert peer.icmp_of(socket.AF_INET6, socket.SOCK_RAW, b"abc") == b"abc"


class Pinged:
    """A socket on which that address answers each request"""
    type = socket.SOCK_DGRAM

    def __init__(self, source):
        self.source, self.ends = source, socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for end in self.ends:
            end.close()

    def setsockopt(self, *_):
        pass

    def fileno(self):
        return self.ends[0].fileno()

    def sendto(self, packet, _):
        self.ends[1].send(bytes((129,)) + packet[1:])

    def recvfrom(self, length):
        return self.ends[0].recv(length), self.source


def echo_of_another_host():
    real = peer.echo_socket
    try:
        for source, answered in (("fe80::2%veth0", True), ("fe80::3%veth0", False)):
            peer.echo_socket = lambda _, source=source: Pinged((source, 0, 0, 7))
            assert peer.echo(socket.AF_INET6, ("fe80::2", 0, 0, 7), 84, 0.1) == answered, source
    finally:
        peer.echo_socket = real


class Events(peer.Cm):
    """An id of rdma_cm that has these events"""

    def __init__(self, *events):
        self.events = list(events)

    def event(self, end):
        return self.events.pop(0) if self.events else None

    def command(self, number, body, out=0):
        pass


def connections():
    """What is no answer of the peer is none: an error, or a device that goes"""
    resolved = ((0, 0), (2, 0))
    for events, outcome in (
            ((*resolved, (8, 28)), "answered"), ((*resolved, (5, 0)), "answered"),
            ((*resolved, (7, -110)), "silent"), (resolved, "silent"), ((), "ETIMEDOUT"),
            (((1, -113),), "EHOSTUNREACH"), (((0, 0), (3, -1234)), "no device"),
            ((*resolved, (11, 0)), "no device"), ((*resolved, (6, -111)), "ECONNREFUSED")):
        cm = Events(*events)
        cm.id = 1
        found = peer.cm_exchange(cm, socket.AF_INET, "10.9.0.1", ("10.9.0.2", 1), 0)
        assert found == outcome, (events, found)


def link_local_peer():
    """One needs a network device, from which the route is asked for; bad names have no address."""
    asked = []

    def run_json(*command):
        asked.append(command)
    real, facts.run_json = facts.run_json, run_json
    try:
        found = peer.probe("fe80::2%lo", 0)
        assert (found["address"], found["zone"], found["route"]) == ("fe80::2", "lo", None), found
        assert asked == [("ip", "-j", "route", "get", "fe80::2", "dev", "lo")], asked
        found = peer.probe("fe80::2", 0)
        assert (found["zone"], found["route"]) == (None, None) and len(asked) == 1, asked
        assert [peer.probe(name, 0)["address"] for name in ("a..b", "\udcff")] == [None, None]
    finally:
        facts.run_json = real


def zone_of_any_name():
    """The libc gets the bytes of a zone, which is no domain name; other names go by IDNA."""
    asked, real = [], socket.getaddrinfo
    socket.getaddrinfo = lambda name, *_, **__: asked.append(name) or [(0, 0, 0, "", ())]
    try:
        for name in "fe80::2%\xe9\udcff", "b\xfccher.example":
            peer.resolve(name)
    finally:
        socket.getaddrinfo = real
    assert asked == [b"fe80::2%\xc3\xa9\xff", "b\xfccher.example"], asked


def facts_here():
    """Without the module, without privileges: facts of this machine can be judged."""
    program = HERE.parent.parent / "tools/srnic-doctor"
    done = subprocess.run([program, "--facts", "127.0.0.1"], stdout=subprocess.PIPE, check=True)
    assert health.judge(json.loads(done.stdout))


def main():
    cases = [(f"{level} {check}: {text}", expect, (level, check, text, changes))
             for level, check, text, changes in CASES]
    cases += [(one.__name__.replace("_", " "), one, ())
              for one in (healthy, tested, another_device, modules_by_distribution,
                          no_modules, limits, texts_with_names, chains_that_drop,
                          names_keep_their_bytes, netdev_names,
                          gid_goes, answers, forged, tapped, tap_of_any_name, strangers,
                          echo_replies, echo_of_another_host, connections,
                          link_local_peer, zone_of_any_name, icrc, facts_here)]
    tap = Tap(len(cases))
    for name, function, arguments in cases:
        if function is icrc and not scapy:
            tap.skip(name, "scapy is not installed")
            continue
        try:
            function(*arguments)
            tap.check(name, True)
        except (AssertionError, *facts.UNREADABLE, subprocess.CalledProcessError) as error:
            tap.check(name, False, f"{type(error).__name__}: {error}")
    tap.end()


main()
