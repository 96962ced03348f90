# SPDX-License-Identifier: GPL-2.0
"""
srnic - the census: which names of the kernel each supported release has

selftests/meta/census has a file for each release.  That of the oldest release lists all its
names, the others list names added and removed.  After "+" or "-" a line has

  <linux/mm.h>       a header
  name(2)            the key of a name, see names.py
  owner: name ...    fields of a struct; without an owner, of structs whose names are not
                     in the census
"""

import re
import textwrap

from names import parts, without_noise

FOLDER = "selftests/meta/census"
DRIVER = ("drivers/srnic", "include/uapi")
COMPAT = "include/compat"

# Names that a macro of the kernel completes, as udp_set_bit() does
PASTED = {"NO_CHECK6_RX": "UDP_FLAGS_NO_CHECK6_RX"}


def by_age(release):
    *version, candidate = re.match(r"(\d+)\.(\d+)\.(\d+)(?:-rc(\d+))?", release).groups()
    return [int(number) for number in version], int(candidate or 1000), release


def parse(text):
    """The keys that a file adds, and those that it removes"""
    keys = {"+": set(), "-": set(), "#": set()}
    for line in text.splitlines():
        owner, colon, fields = line[1:].partition(": ")
        keys[line[0]] |= {f"{owner}.{field}" for field in fields.split()} if colon else {owner}
    return keys["+"], keys["-"]


def layout(sign, keys):
    """The lines for these keys"""
    fields = {}
    for key in sorted(keys):
        owner, dot, field = key.rpartition(".")
        if dot and key[0] != "<":
            fields.setdefault(owner, []).append(field)
        else:
            yield f"{sign}{key}"
    for owner, names in fields.items():
        for part in textwrap.wrap(" ".join(names), 96 - len(owner), break_long_words=False):
            yield f"{sign}{owner}: {part}"


def load(root):
    """release -> its keys, from the oldest on"""
    releases, keys = {}, set()
    for file in sorted((root / FOLDER).glob("[0-9]*"), key=lambda file: by_age(file.name)):
        added, removed = parse(file.read_text())
        releases[file.name] = keys = keys - removed | added
    return releases


def save(root, releases):
    before = set()
    (root / FOLDER).mkdir(exist_ok=True)
    for file in (root / FOLDER).glob("[0-9]*"):
        file.unlink()
    for release in sorted(releases, key=by_age):
        keys = releases[release]
        lines = [*layout("+", keys - before), *layout("-", before - keys)]
        lines.sort(key=lambda line: re.sub(r"[(:].*", "", line[1:]))
        (root / FOLDER / release).write_text(
            "\n".join(["# SPDX-License-Identifier: GPL-2.0", *lines, ""]))
        before = keys


def sources(root, folders):
    return [file for folder in folders for file in sorted((root / folder).rglob("*.[ch]"))]


def read(file):
    return without_noise(file.read_text(errors="replace"))


class Release:
    """The names of one release, for look-ups"""

    def __init__(self, keys):
        self.headers = {key for key in keys if key[0] == "<"}
        self.counts, self.fields, self.owners = {}, set(), set()
        for owner, name, count in map(parts, keys - self.headers):
            self.counts.setdefault((owner, name), set()).add(count)
            if owner is not None:
                self.fields.add(name)
                self.owners.add(owner)

    def has(self, name, owner=None, count=None):
        """A field of struct @owner, or else a name; that takes @count arguments"""
        counts = self.counts.get((owner, name), ())
        return any(takes(number, count) for number in counts)


def takes(parameters, count):
    if None in (parameters, count):
        return True
    if parameters[-1] == "+":
        return int(count) >= int(parameters[:-1])
    return parameters == count
