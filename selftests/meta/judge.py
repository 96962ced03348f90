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
    return dict({"hook": hook, "family": "inet", "table": "t", "chain": hook,
                 "names_port": False}, **more)


def renamed(found):
    """A netdev that a container has renamed; what is proposed must be safe to paste."""
    found["netdevs"]["$(id)"] = found["netdevs"].pop("veth0")
    device = found["devices"][0]
    device["netdev"] = found["peer"]["route"]["dev"] = "$(id)"
    for entry in device["gids"]:
        entry["netdev"] = "$(id)"


PHYSICAL = [put("netdevs/veth0/below", "veth0"), put("processors", 8)]
SEEN = "verbs/devices/sr0"
LOCK = "memlock/privileged"

MISSING = [put("module/loaded", False), put("module/installed", False), put("devices", [])]
# level, check, part of the text or of the command, changes
CASES = (
    ("BAD", "kernel", "lacks ib_uverbs, rdma_ucm -> apt install --reinstall linux-image-7.3.4",
     MISSING + [put("kernel/missing", ["ib_uverbs", "rdma_ucm"])]),
    ("hint", "kernel", "cannot use rdma_cm", [put("kernel/missing", ["rdma_ucm"])]),
    ("BAD", "kernel", "no modules for kernel 7.3.4 in /lib/modules -> reboot",
     MISSING + [put("kernel/missing", None)]),
    ("ok", "kernel", "not visible here", [put("kernel/missing", None)]),
    ("BAD", "module", "not installed", [put("module/loaded", False),
                                        put("module/installed", False)]),
    ("BAD", "module", "modprobe srnic", [put("module/loaded", False)]),
    ("hint", "module", "modprobe -r srnic", [put("module/source", "A"),
                                            put("module/source_installed", "B")]),
    ("BAD", "devices", "rdma link add", [put("devices", [])]),
    ("BAD", "devices", "sr1 is in another", [put("devices", []), put("elsewhere", ["sr1"])]),
    ("hint", "ecn", "echo Y", [put("module/ecn", "N")]),
    ("?", "ecn", "cannot be read", [put("module/ecn", None)]),
    ("BAD", "memlock", "only 64 KiB", [put(LOCK, False), put("memlock/bytes", 65536)]),
    ("hint", "memlock", "only 8 MiB", [put(LOCK, False), put("memlock/bytes", 8 << 20)]),
    ("ok", "memlock", "unlimited", [put(LOCK, False), put("memlock/bytes", None)]),
    ("ok", "memlock", "1024 MiB", [put(LOCK, False), put("memlock/bytes", 1 << 30)]),
    ("BAD", "device", "modprobe ib_uverbs", [put("devices/0/uverbs", None)]),
    ("BAD", "cgroup", "echo 'sr0 hca_handle=max' > /g/rdma.max", [put("cgroups", [
        {"cgroup": "/g", "limits": {"sr0": {"hca_handle": 2}},
         "used": {"sr0": {"hca_handle": 2}}}])]),
    ("ok", "cgroup", "no limit", [put("cgroups", [
        {"cgroup": "/g", "limits": {"sr0": {"hca_handle": 2, "hca_object": None}},
         "used": {"sr0": {"hca_handle": 1, "hca_object": 9}}}])]),
    ("?", "cgroup", "cannot be read", [put("cgroups", None)]),
    ("BAD", "provider", "no libibverbs", [put("verbs", {"library": None, "said": "gone"})]),
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
    ("BAD", "provider", "chmod a+rw", [put(SEEN, {"errno": 13, "mtu": None})]),
    ("BAD", "link", "ip link set dev veth0 up", [put("netdevs/veth0/up", False),
                                                put("devices/0/state", "DOWN")]),
    ("BAD", "link", "ip link set dev '$(id)' up", [
        put("netdevs/veth0/up", False), put("devices/0/state", "DOWN"), renamed]),
    ("BAD", "port", "type srnic netdev '$(id)'", [put("devices/0/state", "DOWN"), renamed]),
    ("BAD", "mtu", "dev '$(id)' mtu 4200", [put("netdevs/veth0/mtu", 1500), renamed]),
    ("BAD", "cgroup", "> '/g;id'/rdma.max", [put("cgroups", [
        {"cgroup": "/g;id", "limits": {"sr0": {"hca_handle": 2}},
         "used": {"sr0": {"hca_handle": 2}}}])]),
    ("BAD", "link", "no carrier", [put("netdevs/veth0/carrier", False),
                                   put("devices/0/state", "DOWN")]),
    ("BAD", "port", "the port is DOWN", [put("devices/0/state", "DOWN")]),
    ("BAD", "mtu", "mtu 4200", [put("netdevs/veth0/mtu", 1500)]),
    ("BAD", "addresses", "no IP address", [put("netdevs/veth0/addresses", [])]),
    ("BAD", "addresses", "is tentative", [put("netdevs/veth0/addresses/0/tentative", True)]),
    ("BAD", "addresses", "is a duplicate", [put("netdevs/veth0/addresses/0/dadfailed", True)]),
    ("BAD", "gids", "10.9.0.1 has no GID", [put("devices/0/gids", [])]),
    ("hint", "qdisc", "root fq_codel ecn", [put("netdevs/veth0/qdisc", "fq_codel")]),
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
    ("BAD", "neighbour", "does not answer ARP", [put("peer/neighbour", "FAILED")]),
    ("?", "ping", "as root", [put("peer/echo", None), put("peer/mtu", None)]),
    ("hint", "ping", "may drop ICMP", [put("peer/echo", False), put("peer/mtu", None)]),
    ("BAD", "path mtu", "mtu 1500", [put("peer/mtu", 1024)]),
    ("BAD", "path mtu", "nor do those of 256", [put("peer/mtu", None)]),
    ("BAD", "firewall", "iptables -I OUTPUT", [put("peer/udp", "EPERM"), put("peer/cm", "silent")]),
    ("BAD", "firewall", "nft insert rule inet t egress", silent([], udp="ENOBUFS") + [
        put("firewall", [chain("input"), chain("egress")])]),
    ("BAD", "firewall", "on the way in", silent(["cm"])),
    ("BAD", "firewall", "nft insert rule inet t ingress", silent(["cm", "perf"]) + [
        put("firewall", [chain("input"), chain("ingress", names_port=True)])]),
    ("BAD", "firewall", "refuses UDP port 4791 (ECONNREFUSED)", silent([], udp="ECONNREFUSED")),
    ("BAD", "firewall", "no packet can be sent", silent([], udp="EMSGSIZE")),
    ("BAD", "firewall", "firewall there or between", silent([])),
    ("BAD", "firewall", "between or here", silent(None)),
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


def expect(level, check, text, changes):
    """Only that check may differ, besides those that it prevents."""
    lines = judged(changes)
    mine = [line for line in lines if line.check == check]
    assert len(mine) == 1 and mine[0].level == level, mine
    assert text in f"{mine[0].text} -> {mine[0].command}", mine
    others = [line for line in lines if line.check != check and line.level in ("BAD", "hint")]
    assert not others, others
    assert bool(mine[0].command) or level in ("ok", "?"), mine


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
    ("ID=other", "6.18.2", ["ib_core", "rdma_ucm"], "install the other modules of the kernel"),
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
GROUP, MOUNTED = "a\v\x85b\u2028", "x\xa0/home/u\xa0cgroup2\xa0rw"


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


def names_keep_their_bytes():
    with Fake({"/a": b" v\xff\x1c \n"}):
        assert facts.encoded(facts.read("/a")) == b"v\xff\x1c"
    found = facts.parse(facts.decoded(b'{"a": "it\\\'s \\\\ \xff\x01"}'))
    assert found == {"a": "it's \\ \udcff\x01"}, found


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


def icrc():
    """That of the test library, which was compared with scapy's"""
    for family, own, other in HOSTS:
        packet = peer.question()
        code = peer.icrc(family, own, other, 4711, packet)
        udp = struct.pack(">HHHH", 4711, peer.PORT, 8 + len(packet) + 4, 0x1234)
        if family == socket.AF_INET:
            head = struct.pack(">BBHHHBBH", 0x45, 2, 20 + len(udp + packet) + 4, 0, 0x4000, 63,
                               socket.IPPROTO_UDP, 0xabcd)
            layer = scapy.IP
        else:
            head = struct.pack(">IHBB", 0x60200000, len(udp + packet) + 4, socket.IPPROTO_UDP, 63)
            layer = scapy.IPv6
        whole = head + socket.inet_pton(family, own) + socket.inet_pton(family, other) + \
            udp + packet + code
        assert scapy.icrc(layer(whole)) == code


def answers():
    """An answer is recognised, a packet of another host or to another port is not."""
    answer = struct.pack(">HHHH", 4711, peer.PORT, 0, 0) + peer.question() + bytes(4)
    for family, own, other in HOSTS:
        head = bytes(9) + b"\x11" + bytes(2) if family == socket.AF_INET else \
            bytes(6) + b"\x11" + bytes(1)
        packet = head + socket.inet_pton(family, other) + socket.inet_pton(family, own) + answer
        assert peer.management_class(family, packet, other) == "perf"
        assert peer.management_class(family, packet, own) is None
        assert peer.management_class(family, packet[:-40], other) is None
        wrong = packet.replace(struct.pack(">H", peer.PORT), b"\0\1")
        assert peer.management_class(family, wrong, other) is None


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
                          no_modules, limits, texts_with_names, names_keep_their_bytes,
                          gid_goes, answers, icrc, facts_here)]
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
