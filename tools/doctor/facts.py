# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
srnic-doctor - facts: what the system says, without judging it

gather() returns a dictionary of plain values, which "srnic-doctor --facts" prints as
JSON.  A value is None if it could not be read, usually for lack of privileges or of a
tool.  Nothing here changes the system.
"""

import json
import os
import pathlib
import re
import resource
import subprocess
import sys

SYS = pathlib.Path("/sys")
# Modules of the kernel that srnic needs, and the one that gives programs rdma_cm
MODULES = ("ib_core", "ib_uverbs", "udp_tunnel", "ip6_udp_tunnel", "rdma_ucm")
CONFIG_DIR = pathlib.Path("/etc/libibverbs.d")
CAP_NET_ADMIN, CAP_IPC_LOCK = 12, 14
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


def read(path):
    """The text of a file, or None"""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def names(path, pattern="*"):
    try:
        return sorted(entry.name for entry in pathlib.Path(path).glob(pattern))
    except OSError:
        return []


def run(*command):
    """(standard output or None if the command failed, standard error)"""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace",
                              timeout=120, check=False, env=ENV)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    return (None if done.returncode else done.stdout), done.stderr.strip()


def parse(text):
    """JSON of iproute2, in which names of programs may have control characters"""
    return json.loads(text, strict=False)


def run_json(*command):
    text, _ = run(*command)
    try:
        return parse(text) if text is not None else None
    except ValueError:
        return None


def has_capability(number):
    """Is it effective, in the user namespace that the kernel asks about?"""
    effective = int(re.search(r"CapEff:\s*(\w+)", read("/proc/self/status") or "CapEff: 0")[1],
                    16)
    initial = (read("/proc/self/uid_map") or "").split() == ["0", "0", "4294967295"]
    return bool(effective >> number & 1) and (initial or number != CAP_IPC_LOCK)


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
                    if name not in has and not (root / "sys/module" / name).is_dir()]
        if has else None,
    }


def module():
    installed, _ = run("modinfo", "-F", "srcversion", "srnic")
    return {
        "loaded": (SYS / "module/srnic").is_dir(),
        "kernel": os.uname().release,
        "installed": installed is not None,
        "source": read(SYS / "module/srnic/srcversion"),
        "source_installed": (installed or "").strip() or None,
        "ecn": read(SYS / "module/srnic/parameters/ecn"),
    }


def gid_entries(port):
    """The GIDs in use, as (index, GID, type, network device)"""
    found = []
    for index in names(port / "gid_attrs/types"):
        kind = read(port / "gid_attrs/types" / index)
        if kind:
            found.append({"index": int(index), "gid": read(port / "gids" / index),
                          "type": kind, "netdev": read(port / "gid_attrs/ndevs" / index)})
    return sorted(found, key=lambda entry: entry["index"])


def uverbs_of(device):
    """The name of its character device, and the version of its user ABI"""
    for entry in names(SYS / "class/infiniband_verbs", "uverbs*"):
        base = SYS / "class/infiniband_verbs" / entry
        if read(base / "ibdev") == device:
            return entry, int(read(base / "abi_version") or 0)
    return None, None


def netdev_of(device, gids):
    """Its network device in this namespace; without the rdma tool, in whichever it is"""
    links = run_json("rdma", "-j", "link", "show", f"{device}/1")
    if links is None:
        return gids[0]["netdev"] if gids else None
    return links[0].get("netdev") if links else None


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
            "firmware": read(base / "fw_ver"),
            "state": (read(base / "ports/1/state") or "").split(": ")[-1],
            "netdev": netdev_of(name, gids),
        })
    return found


def verbs():
    """What a program gets from libibverbs"""
    text, said = run(sys.executable, "-I", "-c", VERBS)
    if text is None:
        return {"library": None, "said": said}
    found = json.loads(text)
    library = os.path.realpath(found["library"])
    with open(library, "rb") as binary:
        versions = re.findall(rb"IBVERBS_PRIVATE_(\d+)", binary.read())
    folder = os.path.join(os.path.dirname(library), "libibverbs")
    drivers = [line.split()[1] for name in names(CONFIG_DIR, "*.driver")
               for line in (read(CONFIG_DIR / name) or "").splitlines()
               if line.startswith("driver ")]
    return {"library": library, "pabi": int(versions[0]) if versions else None,
            "folder": folder, "providers": names(folder, "*-rdmav*.so"),
            "drivers": drivers, "devices": found["devices"], "said": said}


def rps(netdev):
    """The masks of its receive queues"""
    base = SYS / "class/net" / netdev / "queues"
    return [read(base / queue / "rps_cpus") for queue in names(base, "rx-*")]


def netdev_below(netdev):
    """The first physical device of a stack, or None"""
    base = SYS / "class/net" / netdev
    if (base / "device").exists():
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
            return qdisc["kind"], bool(options.get("ecn")) or qdisc["kind"] == "cake"
    return None, None


def hash_of_ports(netdev):
    """Do ports count when a network device chooses the queue of a UDP packet?"""
    text, _ = run("ethtool", "-n", netdev, "rx-flow-hash", "udp4")
    return None if text is None else "L4 bytes 0 & 1" in text


def netdev_facts(netdev):
    shown = run_json("ip", "-j", "addr", "show", "dev", netdev)
    if not shown:
        return None
    shown, below = shown[0], netdev_below(netdev)
    qdisc, marks = ecn_qdisc(netdev)
    return {
        "up": "UP" in shown["flags"], "carrier": "LOWER_UP" in shown["flags"],
        "mtu": shown["mtu"], "qdisc": qdisc, "marks": marks, "below": below,
        "rps": rps(below) if below else [],
        "hash": hash_of_ports(below) if below else None,
        "addresses": [{"address": entry["local"], "scope": entry["scope"],
                       "prefix": entry["prefixlen"],
                       "tentative": bool(entry.get("tentative")),
                       "dadfailed": bool(entry.get("dadfailed"))}
                      for entry in shown["addr_info"] if "local" in entry],
    }


def memlock():
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    return {"bytes": None if limit == resource.RLIM_INFINITY else limit,
            "privileged": has_capability(CAP_IPC_LOCK)}


def cgroup_mount(kind):
    for line in (read("/proc/self/mounts") or "").splitlines():
        words = line.split()
        if words[2] == kind and (kind == "cgroup2" or "rdma" in words[3].split(",")):
            return pathlib.Path(words[1])
    return None


def parse_limits(text):
    """{device: {resource: number, or None for max}} of rdma.max"""
    return {line.split()[0]: {key: None if value == "max" else int(value) for key, value in
                              (word.split("=") for word in line.split()[1:])}
            for line in (text or "").splitlines() if line.strip()}


def cgroups():
    """The limits of this process's cgroup and of those above it; None: no such controller"""
    for line in (read("/proc/self/cgroup") or "").splitlines():
        number, controllers, path = line.split(":", 2)
        mount = cgroup_mount("cgroup2" if number == "0" else "cgroup")
        if mount is None or not (number == "0" or "rdma" in controllers.split(",")):
            continue
        group = mount / path.lstrip("/")
        chain = [group, *(above for above in group.parents if mount in (above, *above.parents))]
        return [{"cgroup": str(one), "limits": parse_limits(read(one / "rdma.max")),
                 "used": parse_limits(read(one / "rdma.current"))} for one in chain]
    return None


def firewall():
    """Base chains of nftables that can drop packets: a policy or a rule says so"""
    listed = run_json("nft", "-j", "list", "ruleset") if has_capability(CAP_NET_ADMIN) else None
    if listed is None:
        return None
    objects = listed["nftables"]
    rules = [entry["rule"] for entry in objects if "rule" in entry]
    found = []
    for chain in (entry["chain"] for entry in objects if "chain" in entry):
        own = [json.dumps(rule["expr"]) for rule in rules
               if all(rule[key] == chain[name] for key, name in
                      (("family", "family"), ("table", "table"), ("chain", "name")))]
        drops = [text for text in own if '"drop"' in text or '"reject"' in text]
        if "hook" in chain and (drops or chain.get("policy") == "drop"):
            found.append({"hook": chain["hook"], "family": chain["family"],
                          "table": chain["table"], "chain": chain["name"],
                          "names_port": any("4791" in text for text in drops)})
    return found


def gather():
    everywhere = devices()
    found = [device for device in everywhere if device["netdev"]]
    netdevs = {device["netdev"] for device in found}
    return {
        "kernel": kernel(), "module": module(), "verbs": verbs(), "devices": found,
        "elsewhere": [device["name"] for device in everywhere if not device["netdev"]],
        "netdevs": {name: netdev_facts(name) for name in sorted(netdevs)},
        "memlock": memlock(), "cgroups": cgroups(), "firewall": firewall(),
        "processors": len(os.sched_getaffinity(0)), "peer": None,
    }
