# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
srnic-doctor - health: what the facts mean

Each check is a function of the facts (facts.gather()) and of its subject, which yields
lines: ok, BAD (what is wrong, what to type), hint (it works, but could be better or
faster) or ? (it could not be checked).  A check is skipped where one that it needs has
found something bad, so one cause gives one line.  Nothing here reads the system.
"""

import collections
import errno
import ipaddress
import json
import re
import shlex

from doctor.facts import encoded, link_local

Line = collections.namedtuple("Line", "level subject check text command")
Found = collections.namedtuple("Found", "level text command", defaults=("",))
Check = collections.namedtuple("Check", "name needs function")

SRNIC_ABI_FIRST = 1000
PROVIDERS = {"srnic": "srnic", "srnic_rxe": "rxe"}
# Registered memory of a small program, and of most; the usual default is 8 MiB.
MEMLOCK_LEAST, MEMLOCK_USUAL = 1 << 20, 64 << 20
# MTU of a network device for each path MTU
NETDEV_MTU = {4096: 4200, 2048: 2200, 1024: 1500, 512: 640, 256: 384}
# What installs the other modules of a kernel, by a name in os-release; the flavour is part of
# the kernel's release.  On Ubuntu linux-modules has ib_core and the UDP tunnels; whether
# ib_uverbs and rdma_ucm are there, too, depends on the flavour.  On Fedora and its relatives
# kernel-core has the UDP tunnels, kernel-modules the rest.  Debian has one package, in which
# the cloud flavours have all of them.
PACKAGES = {
    "ubuntu": "apt install linux-modules-extra-{release}",
    "debian": "apt install --reinstall linux-image-{release}",
    "fedora": "dnf install kernel-modules-{release}",
    "rhel": "dnf install kernel-modules-{release}",
}
# A name that nft reads as one; anything else of its command line is parsed again
NFT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
HOOKS_IN, HOOKS_OUT = ("ingress", "prerouting", "input"), ("output", "postrouting", "egress")


# --- words -------------------------------------------------------------------------------
# Names are data, and what is proposed may be pasted: words for the reader follow a '#'.


def quote(name):
    """A word of the shell, of printable ASCII whatever is in the name"""
    if name.isascii() and name.isprintable():
        return shlex.quote(name)
    return "$'" + "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:03o}"
                          for byte in encoded(name)) + "'"


def typed(program, *words):
    """A word for a program that would take a name with a leading dash for an option"""
    end = ("--",) if any(word.startswith("-") for word in words) else ()
    return " ".join(map(quote, (program, *end, *words)))


def good(text):
    return Found("ok", text)


def bad(text, command=""):
    return Found("BAD", text, command)


def hint(text, command=""):
    return Found("hint", text, command)


def unknown(text, command=""):
    return Found("?", text, command)


def last_line(said):
    return (said.splitlines() or ["no message says why"])[-1]


# --- the host ----------------------------------------------------------------------------


def modules_installed_by(release, names):
    """The command that installs more modules of that kernel; *names* begins with the ID of the
    distribution"""
    known = [name for name in names if name in PACKAGES]
    if not known:
        return "# install the other modules of the kernel, which are not in its main package"
    return PACKAGES[known[0]].format(release=quote(release))


def kernel(facts, _):
    has = facts["kernel"]
    release, missing = has["release"], has["missing"]
    if missing is None and facts["module"]["loaded"]:
        yield good(f"srnic is loaded in kernel {release}, whose modules are not visible here")
    elif missing is None:
        yield bad(f"there are no modules for kernel {release} in /lib/modules",
                  "# reboot if the kernel was updated; in a container, load srnic on the host")
    elif missing:
        verdict = hint if missing == ["rdma_ucm"] else bad
        yield verdict(f"kernel {release} lacks {', '.join(missing)}" +
                      (": programs cannot use rdma_cm" if verdict is hint else ""),
                      modules_installed_by(release, has["distribution"]))
    else:
        yield good(f"kernel {release} has the modules that srnic needs")


def module(facts, _):
    has = facts["module"]
    if not has["loaded"]:
        if has["installed"]:
            yield bad("srnic is not loaded", "modprobe srnic")
        else:
            yield bad(f"srnic is not installed for kernel {has['kernel']}",
                      "apt install srnic-dkms # or make install in its source")
    elif has["source"] and has["source_installed"] and has["source"] != has["source_installed"]:
        yield hint("the module that is loaded is not the one that is installed",
                   "modprobe -r srnic && modprobe srnic # this deletes all links of srnic")
    else:
        version = f", source version {has['source']}" if has["source"] else ""
        yield good(f"srnic is loaded in kernel {has['kernel']}{version}")


def devices(facts, _):
    if not facts["devices"]:
        others = ", ".join(facts["elsewhere"])
        yield bad("no RDMA device of srnic in this network namespace" +
                  (f"; {others} is in another" if others else ""),
                  "rdma link add srnic0 type srnic netdev NETDEV")
    else:
        yield good(", ".join(f"{device['name']} on {device['netdev']}"
                             for device in facts["devices"]))


def size(number):
    return f"{number >> 20} MiB" if number >= 1 << 20 else f"{number >> 10} KiB"


def memlock(facts, _):
    limit = facts["memlock"]["bytes"]
    if facts["memlock"]["privileged"]:
        yield good("this user may register any amount of memory (CAP_IPC_LOCK)")
    elif limit is None:
        yield good("RLIMIT_MEMLOCK is unlimited")
    elif limit < MEMLOCK_USUAL:
        verdict = bad if limit < MEMLOCK_LEAST else hint
        yield verdict(f"this user may register only {size(limit)} of memory (RLIMIT_MEMLOCK)",
                      "echo '* - memlock unlimited' >> /etc/security/limits.d/rdma.conf "
                      "# then log in again; for a service, LimitMEMLOCK=infinity")
    else:
        yield good(f"this user may register {size(limit)} of memory (RLIMIT_MEMLOCK)")


# --- a device ----------------------------------------------------------------------------


def link_type(device):
    return "srnic" if (device["abi"] or 0) >= SRNIC_ABI_FIRST else "srnic_rxe"


def netdev_of(facts, device):
    return facts["netdevs"].get(device["netdev"])


def uverbs(_, device):
    if not device["uverbs"]:
        yield bad("programs have no access to the device: ib_uverbs is not loaded",
                  "modprobe ib_uverbs")
    else:
        yield good(f"link type {link_type(device)}, firmware {device['firmware']}, "
                   f"ABI {device['abi']}")


def cgroup(facts, device):
    if facts["cgroups"] is None:
        yield unknown("the limits of the cgroup cannot be read here")
        return
    for group in facts["cgroups"]:
        limits = group["limits"].get(device["name"], {})
        used = group["used"].get(device["name"], {})
        full = [key for key, most in limits.items()
                if most is not None and (used.get(key) or 0) >= most]
        if full:
            yield bad(f"cgroup {group['cgroup']} has used up its {full[0]}, {limits[full[0]]}",
                      f"echo {quote(device['name'] + ' ' + full[0] + '=max')} > "
                      f"{quote(group['cgroup'])}/rdma.max")
            return
    yield good("no limit of the rdma controller is reached")


def provider_missing(verbs, device):
    """The reason why a device is not listed, if files show it"""
    name = PROVIDERS[link_type(device)]
    install = ("apt install ibverbs-providers" if name == "rxe" else
               "apt install ibverbs-provider-srnic # or make install-provider in its source")
    wanted = f"lib{name}-rdmav{verbs['pabi']}.so"
    others = [one for one in verbs["providers"] if one.startswith(f"lib{name}-rdmav")]
    if name not in verbs["drivers"]:
        return bad(f"no file of /etc/libibverbs.d names the provider: {name}.driver is missing",
                   install)
    if wanted not in verbs["providers"] and others:
        return bad(f"libibverbs has PABI {verbs['pabi']}, and the provider is {others[0]}", install)
    if wanted not in verbs["providers"]:
        return bad(f"{verbs['folder']}/{wanted} is missing", install)
    said = (verbs["said"].splitlines() or ["no message says why"])[0]
    return bad(f"{wanted} does not accept ABI {device['abi']}: {said}", install)


def library_missing(said):
    if "libibverbs.so.1: cannot open" in said:
        return bad("libibverbs is not installed", "apt install libibverbs1")
    return bad(f"a program that uses libibverbs fails: {last_line(said)}", "ibv_devinfo")


def not_opened(path, code):
    """What to do depends on who refuses: the permissions of the file, or a container."""
    name = errno.errorcode.get(code, f"error {code}")
    command = {"EACCES": f"chmod a+rw {quote(path)}",
               "EPERM": f"# give the container the device {quote(path)}",
               "ENOENT": f"# give the container the device {quote(path)}"}.get(name, "dmesg")
    return bad(f"{path} cannot be opened ({name})", command)


def provider(facts, device):
    verbs = facts["verbs"]
    if not verbs["library"]:
        yield library_missing(verbs["said"])
        return
    seen = verbs["devices"].get(device["name"])
    if seen is None:
        yield provider_missing(verbs, device)
    elif seen["errno"]:
        yield not_opened(f"/dev/infiniband/{device['uverbs']}", seen["errno"])
    else:
        yield good(f"lib{PROVIDERS[link_type(device)]}-rdmav{verbs['pabi']}.so opens it, for "
                   f"{verbs['library']}")


def link_add(name, kind, netdev):
    return typed("rdma", "link", "add", name, "type", kind, "netdev", netdev)


def made_again(device):
    """What deletes the link of a device and adds it again.  Its ABI tells of which type it is."""
    name = device["name"]
    return typed("rdma", "link", "del", name) + " && " + link_add(
        name, link_type(device), device["netdev"])


def link(facts, device):
    name, netdev = device["netdev"], netdev_of(facts, device)
    if not netdev:
        yield unknown(f"the network device {name or ''} is not visible here")
    elif not netdev["up"]:
        yield bad(f"{name} is down", f"ip link set dev {quote(name)} up")
    elif not netdev["carrier"]:
        yield bad(f"{name} has no carrier: cable, switch port or virtual peer",
                  f"ip link show dev {quote(name)}")
    else:
        yield good(f"{name} is up and has carrier")


def port(_, device):
    if device["state"] == "ACTIVE":
        yield good("ACTIVE")
    else:
        yield bad(f"the port is {device['state'] or 'in an unknown state'}, and its network "
                  "device is up",
                  made_again(device))


def mtu(facts, device):
    netdev = netdev_of(facts, device)
    seen = (facts["verbs"].get("devices") or {}).get(device["name"])
    if not netdev or not seen or not seen["mtu"]:
        yield unknown("the active MTU cannot be read")
        return
    text = f"MTU {netdev['mtu']} of {device['netdev']}, path MTU {seen['mtu']}"
    if seen["mtu"] >= netdev["mtu"]:
        yield bad(f"{text}: packets do not fit", f"ip link set dev {quote(device['netdev'])} "
                  f"mtu {NETDEV_MTU[seen['mtu']]}")
    else:
        yield good(text)


def embedded(gid):
    """The address of a GID, as ip prints it"""
    address = ipaddress.IPv6Address(gid)
    return str(address.ipv4_mapped or address)


def addresses(facts, device):
    netdev = netdev_of(facts, device)
    if not netdev:
        yield unknown("the addresses are not visible here")
        return
    name = device["netdev"]
    for entry in netdev["addresses"]:
        if entry["dadfailed"]:
            yield bad(f"{entry['address']} is a duplicate: another host uses it",
                      f"ip addr del {entry['address']}/{entry['prefix']} dev {quote(name)}")
        elif entry["tentative"]:
            yield bad(f"{entry['address']} is tentative: no neighbour can be resolved until "
                      "duplicate address detection ends",
                      f"ip addr show dev {quote(name)} tentative # until it shows nothing")
    if not any(entry["scope"] == "global" for entry in netdev["addresses"]):
        yield bad(f"{name} has no IP address", f"ip addr add ADDRESS/PREFIX dev {quote(name)}")
    elif not any(entry["tentative"] or entry["dadfailed"] for entry in netdev["addresses"]):
        yield good(", ".join(entry["address"] for entry in netdev["addresses"]))


def gids(facts, device):
    has = {embedded(entry["gid"]) for entry in device["gids"] if "v2" in entry["type"]}
    netdev = netdev_of(facts, device) or {"addresses": []}
    lacking = [entry["address"] for entry in netdev["addresses"]
               if entry["scope"] == "global" and entry["address"] not in has]
    if lacking:
        yield bad(f"{lacking[0]} has no GID",
                  made_again(device))
    elif not has:
        yield bad("no GID", f"ip addr add ADDRESS/PREFIX dev {quote(device['netdev'])}")
    else:
        yield good(", ".join(f"{entry['index']}: {embedded(entry['gid'])}"
                             for entry in device["gids"]) + " (RoCE v2)")


def ecn(_, device):
    if device["ecn"] == "0":
        yield hint("ecn is off: marked packets do not slow senders down",
                   f"echo 1 > /sys/class/infiniband/{quote(device['name'])}/ecn")
    elif device["ecn"] is None:
        yield unknown("whether ecn is on cannot be read")
    else:
        yield good("packets are ECN capable, and marked ones are answered by CNPs")


def marking(netdev, qdisc):
    """tc changes no default qdisc, but replaces it; red has parameters without a default."""
    if qdisc == "red":
        return f"tc qdisc show dev {quote(netdev)} # and add ecn to these parameters"
    return f"tc qdisc replace dev {quote(netdev)} root {qdisc} ecn"


def queueing(facts, device):
    netdev = netdev_of(facts, device)
    if not netdev or not netdev["qdisc"]:
        yield unknown("the queueing discipline cannot be read (tc)")
    elif netdev["marks"]:
        yield good(f"{netdev['qdisc']} of {device['netdev']} marks packets (ECN)")
    elif netdev["qdisc"] in ("fq_codel", "codel", "red", "pie", "fq_pie"):
        yield hint(f"{netdev['qdisc']} of {device['netdev']} drops packets, without ECN",
                   marking(device["netdev"], netdev["qdisc"]))
    else:
        yield good(f"{netdev['qdisc']} of {device['netdev']} does not mark packets; switches may")


def spread(facts, device):
    """Are packets received by more than one processor?"""
    netdev = netdev_of(facts, device)
    if not netdev:
        yield unknown("the receive queues are not visible here")
    elif not netdev["below"]:
        yield good(f"{device['netdev']} is virtual: packets arrive on their sender's processor")
    elif facts["processors"] == 1:
        yield good("one processor receives everything")
    elif len(netdev["rps"]) > 1 and netdev["hash"] is False:
        yield hint(f"{netdev['below']} chooses the receive queue by addresses alone: two hosts "
                   "use one queue", f"ethtool -N {quote(netdev['below'])} rx-flow-hash udp4 sdfn")
    elif len(netdev["rps"]) > 1:
        yield good(f"{netdev['below']} has {len(netdev['rps'])} receive queues")
    elif any(mask and int(mask.replace(",", ""), 16) for mask in netdev["rps"]):
        yield good(f"RPS spreads the packets of {netdev['below']}")
    else:
        mask = (1 << min(facts["processors"], 32)) - 1
        yield hint(f"one processor receives all packets of {netdev['below']}",
                   f"echo {mask:x} > /sys/class/net/{quote(netdev['below'])}/queues/rx-0/rps_cpus")


# --- the peer ----------------------------------------------------------------------------


def device_for(facts):
    """The device that has a GID of the network device towards the peer, or None"""
    way = facts["peer"].get("route") or {}
    return next((device for device in facts["devices"] if way.get("dev") in
                 (device["netdev"], *(entry["netdev"] for entry in device["gids"]))), None)


def there(peer):
    """The peer's address, with the network device if that is part of it"""
    return peer["address"] + (f"%{peer['zone']}" if peer["zone"] else "")


def route_get(peer):
    zone = f" dev {quote(peer['zone'])}" if peer["zone"] else ""
    return f"ip route get {peer['address']}{zone}"


def route(facts, _):
    peer = facts["peer"]
    way = peer.get("route")
    if not peer["address"]:
        yield bad(f"{peer['name']} has no address: {peer['error']}",
                  typed("getent", "hosts", peer["name"]))
    elif link_local(peer["address"]) and not peer["zone"]:
        yield bad(f"{peer['address']} is link-local: name the network device, too",
                  f"srnic-doctor {peer['address']}%NETDEV")
    elif not way or not way["own"]:
        yield bad(f"there is no route to {there(peer)}", route_get(peer))
    elif not device_for(facts) and way["local"]:
        yield bad(f"{there(peer)} is an address of this host", "# name another host")
    elif not device_for(facts):
        yield bad(f"the route to {there(peer)} goes through {way['dev']}, which has no device "
                  "of srnic", link_add("srnic1", "srnic", way["dev"]))
    else:
        via = f" via {way['gateway']}" if way["gateway"] else ""
        yield good(f"{there(peer)}{via} through {way['dev']} from {way['own']}")


def neighbour(facts, _):
    peer, way = facts["peer"], facts["peer"]["route"]
    host = way["gateway"] or there(peer)
    if peer["neighbour"] in ("FAILED", "INCOMPLETE"):
        asked = "ARP" if peer["ipv4"] else "neighbour solicitations"
        yield bad(f"{host} does not answer {asked}: it is down, on another link, or does not have "
                  "this address",
                  f"ip neigh show dev {quote(way['dev'])}")
    else:
        yield good(f"{host} is {peer['neighbour'] or 'reached without resolution'}")


def echo(facts, _):
    peer = facts["peer"]
    if peer["echo"] is None:
        yield unknown("ping is not permitted: run this as root")
    elif peer["echo"]:
        yield good(f"{there(peer)} answers")
    else:
        level = hint if peer["cm"] == "answered" else bad
        yield level(f"{there(peer)} does not answer; a firewall may drop ICMP",
                    f"ping {quote(there(peer))}")


def accept_rule(chain):
    """The command that inserts a rule; names that nft would not parse as such need JSON."""
    place = {key: chain[key] for key in ("family", "table", "chain")}
    if all(map(NFT_NAME.fullmatch, place.values())):
        return " ".join(("nft insert rule", *place.values(), "udp dport 4791 accept"))
    port = {"match": {"op": "==", "right": 4791,
                      "left": {"payload": {"protocol": "udp", "field": "dport"}}}}
    rule = dict(place, expr=[port, {"accept": None}])
    return "nft -j " + quote(json.dumps({"nftables": [{"insert": {"rule": rule}}]}))


def accept(facts, hooks):
    """The command that lets packets pass the chain that probably drops them"""
    peer = facts["peer"]
    families = ("inet", "netdev", "bridge", "ip" if peer["ipv4"] else "ip6")
    chains = [chain for chain in facts["firewall"] or []
              if chain["hook"] in hooks and chain["family"] in families and
              (not chain["devs"] or peer["route"]["dev"] in chain["devs"])]
    if not chains:
        return f"{'iptables' if peer['ipv4'] else 'ip6tables'} -I " \
            f"{'INPUT' if 'input' in hooks else 'OUTPUT'} -p udp --dport 4791 " \
            "-j ACCEPT # or the same in the firewall that you use"
    return accept_rule(max(chains, key=lambda one: one["names_port"]))


def elsewhere(peer):
    """The command to run at the peer, where a link-local address of this host has another zone"""
    own = peer["route"]["own"]
    return f"# on {quote(there(peer))}: srnic-doctor {own}" + ("%NETDEV" if link_local(own) else "")


def firewall(facts, _):
    peer = facts["peer"]
    if peer["udp"] == "EPERM" and peer["tap"] is None:
        # not a firewall: only users who may open a packet socket can send to the port
        peer = {**peer, "udp": None}
    if peer["cm"] == "answered":
        yield good(f"the RDMA device of {there(peer)} answers: UDP port 4791 is open both ways")
    elif peer["udp"] in ("EPERM", "ENOBUFS"):
        yield bad("the firewall of this host drops UDP port 4791 on the way out",
                  accept(facts, HOOKS_OUT))
    elif peer["udp"] in ("ECONNREFUSED", "EHOSTUNREACH", "EACCES"):
        yield bad(f"{there(peer)} refuses UDP port 4791 ({peer['udp']}): it has no RoCE device "
                  "on that address, or its firewall rejects", elsewhere(peer))
    elif peer["udp"]:
        yield bad(f"no packet can be sent to UDP port 4791 ({peer['udp']})", route_get(peer))
    elif peer["cm"] == "silent" and "cm" in (peer["tap"] or []):
        yield bad("the firewall of this host drops UDP port 4791 on the way in: the answer of "
                  f"{there(peer)} arrives, but the device does not receive it",
                  accept(facts, HOOKS_IN))
    else:
        yield from silence(peer)


def silence(peer):
    """No answer came by rdma_cm, and nothing on this host is known to have dropped one."""
    if peer["cm"] not in (None, "silent"):
        yield bad(f"rdma_cm cannot use the path: {peer['cm']}", "rdma link show && ip route")
    elif peer["tap"]:
        text = f"the RDMA device of {there(peer)} answers"
        if peer["cm"] is None:
            yield unknown(f"{text}, but whether its answer passes the firewall here is not known: "
                          "/dev/infiniband/rdma_cm cannot be opened", "modprobe rdma_ucm")
        else:
            yield hint(f"{text}, but not to connection requests: no ib_cm there",
                       "# on the peer: modprobe rdma_ucm")
    elif peer["tap"] is None and peer["cm"] is None:
        yield unknown("rdma_ucm is not loaded and packets may not be captured", "modprobe rdma_ucm")
    else:
        where = "a firewall there or between" if peer["tap"] is not None else \
            "a firewall there, between or here (as root srnic-doctor tells them apart)"
        yield bad(f"no answer from {there(peer)} on UDP port 4791: {where} drops it in one "
                  "direction, or the address has no RoCE device", elsewhere(peer))


def path_mtu(facts, _):
    """No MTU below 1280 is proposed, as for path MTU 512: it would disable IPv6."""
    peer = facts["peer"]
    seen = (facts["verbs"].get("devices") or {}).get(device_for(facts)["name"]) or {}
    here = seen.get("mtu")
    if not peer["echo"] or not here:
        yield unknown("without ping and the active MTU, the path MTU cannot be measured")
    elif not peer["mtu"]:
        yield unknown("pings of 84 bytes are answered, longer pings are not, not even those of "
                      "path MTU 256: a firewall may drop them")
    elif peer["mtu"] >= here:
        yield good(f"packets of path MTU {here} arrive")
    else:
        netdev = peer["route"]["dev"]
        yield bad(f"packets of path MTU {here} do not arrive, those of {peer['mtu']} do: the MTU "
                  f"of {netdev} is larger than that of the path",
                  f"ip link set dev {quote(netdev)} mtu {NETDEV_MTU[peer['mtu']]} # or raise that "
                  "of the path" if peer["mtu"] >= 1024 else
                  "# raise the MTU of the path: IPv6 needs 1280")


# --- the tables --------------------------------------------------------------------------

HOST = (
    Check("kernel", (), kernel),
    Check("module", ("kernel",), module),
    Check("devices", ("module",), devices),
    Check("memlock", (), memlock),
)
DEVICE = (
    Check("device", (), uverbs),
    Check("cgroup", (), cgroup),
    Check("provider", ("device", "cgroup"), provider),
    Check("link", (), link),
    Check("port", ("device", "link"), port),
    Check("mtu", ("provider",), mtu),
    Check("addresses", ("link",), addresses),
    Check("gids", ("device", "link", "addresses"), gids),
    Check("ecn", (), ecn),
    Check("qdisc", (), queueing),
    Check("receive", (), spread),
)
PEER = (
    Check("route", ("devices", "link", "addresses"), route),
    Check("neighbour", ("route",), neighbour),
    Check("ping", ("neighbour",), echo),
    Check("firewall", ("neighbour", "port", "gids"), firewall),
    Check("path mtu", ("ping", "mtu"), path_mtu),
)


def lines_of(facts, checks, name, subject, failed):
    """*failed* has the checks that found something bad, and grows."""
    for check in checks:
        causes = [need for need in check.needs if need in failed]
        found = [unknown(f"not checked, because of {causes[0]}")] if causes else \
            list(check.function(facts, subject))
        for one in found:
            if one.level == "BAD" or causes:
                failed.add(check.name)
            yield Line(one.level, name, check.name, one.text, one.command)


def judge(facts):
    """All lines.  A check of the peer needs those of the device towards it."""
    host = set()
    lines = list(lines_of(facts, HOST, "", None, host))
    failed = {}
    for device in facts["devices"]:
        failed[device["name"]] = set(host)
        lines += lines_of(facts, DEVICE, device["name"], device, failed[device["name"]])
    if facts["peer"]:
        towards = device_for(facts)
        before = failed[towards["name"]] if towards else host.union(*failed.values())
        lines += lines_of(facts, PEER, facts["peer"]["name"], facts["peer"], before)
    return lines
