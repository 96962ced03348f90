# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
srnic-doctor, srnic-top - facts: what the system says, without judging it

gather() returns a dictionary of plain values, which "srnic-doctor --facts" prints as
JSON.  A value is None if it could not be read, usually for lack of privileges or of a
tool.  Nothing here changes the system.

Texts of the system contain names that other users have chosen.  A name keeps every byte;
a text that is not as expected counts as one that could not be read.
"""

import ipaddress
import json
import os
import pathlib
import re
import resource
import socket
import subprocess
import sys

SYS = pathlib.Path("/sys")
# Modules of the kernel that srnic needs, and the one that gives programs rdma_cm
MODULES = ("ib_core", "ib_uverbs", "udp_tunnel", "ip6_udp_tunnel", "rdma_ucm")
CONFIG_DIR = pathlib.Path("/etc/libibverbs.d")
LINK_LOCAL = ipaddress.ip_network("fe80::/10")
MTUS = (4096, 2048, 1024, 512, 256)    # of a path
CAP_NET_ADMIN, CAP_IPC_LOCK = 12, 14
# Exceptions raised by a text that is not as expected, or that has disappeared
UNREADABLE = (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError)
# Programs come from folders of the system, whatever the caller's PATH is
ENV = dict(os.environ, LC_ALL="C",
           PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")

# Runs as a program of its own, because libibverbs and providers print warnings and may
# crash.  struct ibv_port_attr begins with the state and the largest and the active MTU.
VERBS = """
import ctypes, json, re
lib = ctypes.CDLL("libibverbs.so.1", use_errno=True)
path = next(re.findall(r"/\\S*libibverbs\\.so\\S*", line)[0]
            for line in open("/proc/self/maps") if "/libibverbs.so" in line)
lib.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
lib.ibv_get_device_name.restype = ctypes.c_char_p
lib.ibv_open_device.restype = ctypes.c_void_p
devices, count, port = {}, ctypes.c_int(0), (ctypes.c_int * 64)()
found = lib.ibv_get_device_list(ctypes.byref(count))
for entry in found[:count.value]:
    name = lib.ibv_get_device_name(ctypes.c_void_p(entry)).decode()
    context = lib.ibv_open_device(ctypes.c_void_p(entry))
    devices[name] = {"errno": 0 if context else ctypes.get_errno(), "mtu": None}
    if context and not lib.ibv_query_port(ctypes.c_void_p(context), 1, port):
        devices[name]["mtu"] = 128 << port[2]
print(json.dumps({"library": path, "devices": devices}))
"""


# --- texts -------------------------------------------------------------------------------


def decoded(data):
    """Bytes that are no UTF-8 are kept as surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encoded(text):
    """The inverse; ValueError for other surrogates"""
    return text.encode("utf-8", "surrogateescape")


def contents(path):
    """The bytes of a file, or None"""
    try:
        return pathlib.Path(path).read_bytes()
    except (OSError, ValueError):
        return None


def read(path):
    """The text of a file without the white space around it, or None"""
    data = contents(path)
    return None if data is None else decoded(data).strip(" \t\n")


def lines_of(path):
    """Those of a file.  Names may end in a space, and may have the other characters at which
    splitlines() splits."""
    return decoded(contents(path) or b"").split("\n")


def names(path, pattern="*"):
    try:
        return sorted(entry.name for entry in pathlib.Path(path).glob(pattern))
    except OSError:
        return []


def exists(path):
    return os.path.exists(path)


def run(*command):
    """(standard output or None if the command failed, standard error)"""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=120, check=False, env=ENV)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    said = decoded(done.stderr).strip()
    if done.returncode:
        return None, said or f"{command[0]} returned {done.returncode}"
    return decoded(done.stdout), said


def parse(text):
    """JSON of iproute2, or ValueError.  Names of programs may have control characters in it,
    and before 6.1 an apostrophe is escaped in them, which is no JSON."""
    found = json.loads(re.sub(r"\\(.)", lambda char: "'" if char[1] == "'" else char[0], text),
                       strict=False)
    if "\\u" in text:    # possibly half of a character, which cannot be printed
        encoded(json.dumps(found, ensure_ascii=False))
    return found


def resources(*command):
    """(the objects that the rdma tool lists, or None if it failed; what it said then)"""
    text, said = run("rdma", "-j", "-dd", "--", *command)
    found = known(parse, text and text.strip() or "[]")
    if text is None or not isinstance(found, list):
        return None, said or "rdma prints no list"
    return [thing for thing in found if isinstance(thing, dict)], said


def run_json(*command):
    text, _ = run(*command)
    try:
        return parse(text) if text is not None else None
    except ValueError:
        return None


def known(function, *args, otherwise=None):
    """The result of *function*, or *otherwise* if something it reads is not as expected"""
    try:
        return function(*args)
    except UNREADABLE:
        return otherwise


def number(value):
    """The driver shows numbers of 64 bits, and hexadecimal ones, as strings; the rdma tool prints
    others as signed ones of 32 bits."""
    value = int(value, 0) if isinstance(value, str) else value
    return value + 2**32 if value < 0 else value


def printable(text):
    """The text without control characters, which names may have"""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def seconds(text):
    """A time that the user gives; ValueError unless it is one"""
    value = float(text)
    if not 0 < value <= 86400:
        raise ValueError(text)
    return value


def address(text):
    """An IP address as ip prints it; ValueError unless it is one"""
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    return socket.inet_ntop(family, socket.inet_pton(family, text))


def link_local(text):
    """Is an address one that is only complete with a network device?"""
    return ipaddress.ip_address(text) in LINK_LOCAL


def netdev_name(text):
    """ValueError unless the kernel permits it as the name of a network device"""
    if not re.fullmatch(r"[^/:\0\s]+", text, re.ASCII) or len(encoded(text)) > 15 or \
            text in (".", ".."):
        raise ValueError(text)
    return text


# --- the host ----------------------------------------------------------------------------


def has_capability(number):
    """Is the capability effective in the initial user namespace?"""
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)$", read("/proc/self/status") or "",
                          re.MULTILINE)
    initial = (read("/proc/self/uid_map") or "").split() == ["0", "0", "4294967295"]
    return bool(effective and int(effective[1], 16) >> number & 1) and \
        (initial or number != CAP_IPC_LOCK)


def distribution(root):
    """The names in os-release of the distribution and of those that it is like"""
    text = read(root / "etc/os-release") or read(root / "usr/lib/os-release") or ""
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return " ".join(fields.get(key, "").strip("'\"") for key in ("ID", "ID_LIKE")).split()


def modules_of(folder):
    """The modules of a kernel and what is built into it, by the lists of depmod and kbuild"""
    lines = "\n".join(read(folder / name) or "" for name in ("modules.dep", "modules.builtin"))
    return {match.replace("-", "_") for match in
            re.findall(r"^(?:\S*/)?([^/\s]+)\.ko\b", lines, re.MULTILINE)}


def kernel(root=pathlib.Path("/"), release=os.uname().release):
    """Which modules are neither loaded nor installed; None if none are installed at all"""
    folder = root / "lib/modules" / release
    has = modules_of(folder)
    return {
        "release": release, "distribution": distribution(root),
        "missing": [name for name in MODULES
                    if name not in has and not exists(root / "sys/module" / name)]
        if has else None,
    }


def module():
    installed, _ = run("modinfo", "-F", "srcversion", "srnic")
    return {
        "loaded": exists(SYS / "module/srnic"),
        "kernel": os.uname().release,
        "installed": installed is not None,
        "source": read(SYS / "module/srnic/srcversion"),
        "source_installed": (installed or "").strip() or None,
    }


# --- its devices -------------------------------------------------------------------------


def gid_entry(port, index):
    kind = read(port / "gid_attrs/types" / index)
    return kind and {"index": int(index), "gid": address(read(port / "gids" / index)),
                     "type": kind,
                     "netdev": known(netdev_name, read(port / "gid_attrs/ndevs" / index))}


def gid_entries(port):
    """The GIDs in use, as (index, GID, type, network device); one may disappear meanwhile"""
    found = [known(gid_entry, port, index) for index in names(port / "gid_attrs/types")]
    return sorted(filter(None, found), key=lambda entry: entry["index"])


def uverbs_of(device):
    """The name of its character device, and the version of its user ABI"""
    for entry in names(SYS / "class/infiniband_verbs", "uverbs*"):
        base = SYS / "class/infiniband_verbs" / entry
        if read(base / "ibdev") == device:
            return entry, known(int, read(base / "abi_version"), otherwise=0)
    return None, None


def netdev_of(device, gids):
    """Its network device in this namespace; without the rdma tool, in whichever it is"""
    links = run_json("rdma", "-j", "--", "link", "show", f"{device}/1")
    if links is None:
        return gids[0]["netdev"] if gids else None
    return known(lambda: netdev_name(links[0]["netdev"]))


def devices():
    """Those of srnic; those of other drivers lack the text in hca_type."""
    found = []
    for name in names(SYS / "class/infiniband"):
        base = SYS / "class/infiniband" / name
        if read(base / "hca_type") != "srnic":
            continue
        gids = gid_entries(base / "ports/1")
        uverbs, abi = uverbs_of(name)
        found.append({
            "name": name, "uverbs": uverbs, "abi": abi, "gids": gids,
            "firmware": read(base / "fw_ver"), "ecn": read(base / "ecn"),
            "state": (read(base / "ports/1/state") or "").split(": ")[-1],
            "netdev": netdev_of(name, gids),
        })
    return found


def verbs_seen(text):
    """The output of VERBS"""
    found = json.loads(text)
    return {"library": os.path.realpath(found["library"]), "devices": {
        name: {"errno": int(one["errno"]), "mtu": one["mtu"] if one["mtu"] in MTUS else None}
        for name, one in found["devices"].items()}}


def verbs():
    """The libibverbs, providers and devices that a program gets"""
    text, said = run(sys.executable, "-I", "-c", VERBS)
    seen = known(verbs_seen, text)
    if seen is None:
        return {"library": None, "said": said}
    versions = re.findall(rb"IBVERBS_PRIVATE_(\d{1,9})", contents(seen["library"]) or b"")
    folder = os.path.join(os.path.dirname(seen["library"]), "libibverbs")
    drivers = [word for name in names(CONFIG_DIR, "*.driver")
               for line in lines_of(CONFIG_DIR / name)
               if line.startswith("driver ") for word in line.split()[1:2]]
    return dict(seen, pabi=int(versions[0]) if versions else None, folder=folder,
                providers=names(folder, "*-rdmav*.so"), drivers=drivers, said=said)


def rps(netdev):
    """The RPS masks of the receive queues of a network device"""
    base = SYS / "class/net" / netdev / "queues"
    masks = [read(base / queue / "rps_cpus") or "" for queue in names(base, "rx-*")]
    return [mask if re.fullmatch("[0-9a-f]+(,[0-9a-f]+)*", mask) else None for mask in masks]


def netdev_below(netdev):
    """The first physical device of a stack, or None"""
    base = SYS / "class/net" / netdev
    if exists(base / "device"):
        return netdev
    for lower in names(base, "lower_*"):
        below = netdev_below(lower[len("lower_"):])
        if below:
            return below
    return None


def ecn_qdisc(netdev):
    """(name of the root qdisc, whether it marks packets instead of dropping them)"""
    for qdisc in run_json("tc", "-j", "qdisc", "show", "dev", netdev) or []:
        if qdisc.get("root"):
            options = qdisc.get("options", {})
            return str(qdisc["kind"]), bool(options.get("ecn")) or qdisc["kind"] == "cake"
    return None, None


def hash_of_ports(netdev):
    """Do ports count when a network device chooses the queue of a UDP packet?"""
    text, _ = run("ethtool", "-n", netdev, "rx-flow-hash", "udp4")
    return None if text is None else "L4 bytes 0 & 1" in text


def address_entry(entry):
    return {"address": address(entry["local"]), "scope": str(entry["scope"]),
            "prefix": int(entry["prefixlen"]), "tentative": bool(entry.get("tentative")),
            "dadfailed": bool(entry.get("dadfailed"))}


def netdev_facts(netdev):
    shown = run_json("ip", "-j", "addr", "show", "dev", netdev)[0]
    below = netdev_below(netdev)
    qdisc, marks = known(ecn_qdisc, netdev, otherwise=(None, None))
    return {
        "up": "UP" in shown["flags"], "carrier": "LOWER_UP" in shown["flags"],
        "mtu": int(shown["mtu"]), "qdisc": qdisc, "marks": marks, "below": below,
        "rps": rps(below) if below else [],
        "hash": hash_of_ports(below) if below else None,
        "addresses": [address_entry(entry) for entry in shown["addr_info"] if "local" in entry],
    }


# --- limits and filters ------------------------------------------------------------------


def memlock():
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    return {"bytes": None if limit == resource.RLIM_INFINITY else limit,
            "privileged": has_capability(CAP_IPC_LOCK)}


def cgroup_mount(kind):
    """Spaces separate the words, and are escaped within them; a user may have named others."""
    for line in lines_of("/proc/self/mounts"):
        words = line.split(" ")
        if len(words) > 3 and words[2] == kind and \
                (kind == "cgroup2" or "rdma" in words[3].split(",")):
            return pathlib.Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)),
                                       words[1]))
    return None


def parse_limit(line):
    """(device, {resource: number, or None for max})"""
    name, *limits = line.split(" ")
    pairs = (limit.split("=") for limit in limits if limit)
    return limits and (name, {key: None if value == "max" else int(value)
                              for key, value in pairs})


def parse_limits(text):
    """{device: {resource: limit}} of rdma.max"""
    found = [known(parse_limit, line) for line in (text or "").split("\n")]
    return dict(filter(None, found))


def cgroups():
    """The limits of this process's cgroup and its ancestors; None: no such controller"""
    for line in lines_of("/proc/self/cgroup"):
        number, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        mount = cgroup_mount("cgroup2" if number == "0" else "cgroup")
        if mount is None or not (number == "0" or "rdma" in controllers.split(",")):
            continue
        group = mount / path.lstrip("/")
        chain = [group, *(above for above in group.parents if mount in (above, *above.parents))]
        return [{"cgroup": str(one), "limits": parse_limits(read(one / "rdma.max")),
                 "used": parse_limits(read(one / "rdma.current"))} for one in chain]
    return None


def base_chain(chain, rules):
    """A base chain of nftables that can drop packets, by its policy or a rule; None otherwise"""
    own = [json.dumps(rule.get("expr")) for rule in rules
           if all(rule[key] == chain[name] for key, name in
                  (("family", "family"), ("table", "table"), ("chain", "name")))]
    drops = [text for text in own if '"drop"' in text or '"reject"' in text]
    if "hook" not in chain or not (drops or chain.get("policy") == "drop"):
        return None
    devs = chain.get("dev", [])
    return {"hook": str(chain["hook"]), "family": str(chain["family"]),
            "table": str(chain["table"]), "chain": str(chain["name"]),
            "devs": [devs] if isinstance(devs, str) else list(devs),
            "names_port": any("4791" in text for text in drops)}


def firewall():
    """Base chains of nftables that can drop packets"""
    listed = run_json("nft", "-j", "list", "ruleset") if has_capability(CAP_NET_ADMIN) else None
    if listed is None:
        return None
    objects = listed["nftables"]
    rules = [entry["rule"] for entry in objects if "rule" in entry]
    return [found for found in (base_chain(entry["chain"], rules)
                                for entry in objects if "chain" in entry) if found]


def gather():
    everywhere = devices()
    found = [device for device in everywhere if device["netdev"]]
    netdevs = {device["netdev"] for device in found}
    return {
        "kernel": kernel(), "module": module(), "verbs": verbs(), "devices": found,
        "elsewhere": [device["name"] for device in everywhere if not device["netdev"]],
        "netdevs": {name: known(netdev_facts, name) for name in sorted(netdevs)},
        "memlock": memlock(), "cgroups": known(cgroups), "firewall": known(firewall),
        "processors": len(os.sched_getaffinity(0)), "peer": None,
    }
