# SPDX-License-Identifier: GPL-2.0
"""
srnic - which names of the kernel the driver uses, and where

The struct that a field belongs to is found for variables and fields that the driver itself
declares, and in initialisers.  Of other expressions only the name of the field is known.
"""

import re

from names import (AGGREGATES, INCLUDE, TYPES, WORD, Group, Names, arity, declarators,
                   is_group, is_name, logical_lines, nest, parse, parts, split, statements,
                   tokens_of)
from releases import COMPAT, DRIVER, sources

# Made by macros: counters and trace points of the driver, options, attributes of sysfs
MADE = re.compile(r"SRNIC_CNT_|trace_srnic_|srnic$|CONFIG_|dev_attr_|__builtin_")
ENTRY = re.compile(r"__entry->(\w+)")		# the fields of a trace point


class Use:
    """Use of a name, or of a field, of struct @owner if that is known

    @count: number of its arguments if it is called
    @value: what initialises the field, if that is a name
    """

    def __init__(self, token, owner=None, member=False, count=None, value=None):
        self.name, self.line = str(token), token.line
        self.owner, self.member, self.count, self.value = owner, member, count, value


def get(items, at):
    return items[at] if -len(items) <= at < len(items) else None


def arguments(item):
    return arity(item) if is_group(item, "(") else None


def is_declaration(items):
    first, after = get(items, 0), [item for item in items[1:] if item != "*"]
    pointer = is_group(get(after, 0), "(") and is_group(get(after, 1), "(")
    return isinstance(first, str) and \
        (first in TYPES or is_name(first) and (pointer or is_name(get(after, 0))))


def without_tags(items):
    return [item for before, item in zip([None] + items, items) if before not in AGGREGATES]


def declared(items, head=True):
    """The names of parameters in the @head, and of the variables of all blocks"""
    for item in items:
        if not isinstance(item, Group):
            continue
        block = item.bracket == "{" or ";" in item
        yield from declared(item, head and not block)
        for part in statements(item) if block else split(item, ",") if head else []:
            while ":" in part and "?" not in part:		# labels
                part = part[part.index(":") + 1:]
            if is_declaration(part) and item.bracket != "[":
                yield from (name for name, _ in declarators(without_tags(part)))
            elif block and len(part) == 2 and is_name(part[0]) and part[0].isupper():
                yield from filter(is_name, part[1])		# LIST_HEAD(name)


def structs(items):
    """(name, tag) of variables and fields that are structs or pointers to one"""
    for at, item in enumerate(items):
        if isinstance(item, Group):
            yield from structs(item)
        elif item in AGGREGATES and is_name(get(items, at + 1)):
            rest = [i for i in items[at + 2:] if i not in ("*", "const") and not
                    (is_name(i) and i.startswith("__"))]
            if is_name(get(rest, 0)):
                yield rest[0], items[at + 1]


def initialised(head, owner):
    """The struct whose fields are named by braces after @head"""
    if is_group(get(head, -1), "("):
        head = head[-1]					# a compound literal
    elif get(head, -1) != "=" or is_group(get(head, -2), "[") and "struct" not in head:
        return owner					# an entry of an array
    tags = [tag for before, tag in zip(head, head[1:]) if before in AGGREGATES]
    return get(tags, -1)


def field_use(items, at, variables, fields, owner):
    """The use of the field @items[@at]"""
    after, before = get(items, at + 1), [i for i in items[:at - 1] if not is_group(i, "[")]
    if items[at - 1] == "." and get(before, -1) in (None, ","):
        value = get(items, at + 2) if after == "=" else None
        return Use(items[at], owner, True, value=value if is_name(value) else None)
    known = fields if get(before, -2) in (".", "->") else variables
    whose = get(before, -1)
    return Use(items[at], known.get(whose) if is_name(whose) else None, True, arguments(after))


def uses(items, variables, fields, pasting, owner=None):
    """All uses of names, except names that are a whole argument of a @pasting macro"""
    for at, item in enumerate(items):
        before, after = get(items, at - 1) if at else None, get(items, at + 1)
        if is_group(item, "(") and is_name(before) and before in pasting:
            for part in split(item, ","):
                yield from uses(part[:0 if len(part) == 1 else None], variables, fields, pasting)
        elif isinstance(item, Group):
            inner = initialised(items[:at], owner) if item.bracket == "{" else None
            yield from uses(item, variables, fields, pasting, inner)
        elif not is_name(item) or "##" in (before, after) or before == "goto":
            continue
        elif before in (".", "->"):
            yield field_use(items, at, variables, fields, owner)
        elif after != ":" or not (before in (None, ";") or is_group(before, "{")):
            yield Use(item, count=arguments(after))


class Driver:
    """The names that the driver and include/compat define, and those they use of the kernel"""

    def __init__(self, root):
        own, compat = Names(), Names()
        self.texts = {file: file.read_text() for file in sources(root, DRIVER)}
        parsed = {file: parse(text) for file, text in self.texts.items()}
        for one in parsed.values():
            own.take(*one)
        for file in sources(root, [COMPAT]):
            compat.read(file.read_text())
        self.provided = {parts(key)[1] for key in compat.keys if "." not in key}
        self.fields = {name for text in self.texts.values() for name in ENTRY.findall(text)}
        self.counts = {}			# of the parameters of functions
        for owner, name, count in map(parts, own.keys):
            if owner is None:
                self.counts.setdefault(name, set()).add(count)
        self.fields |= {parts(key)[1] for key in own.keys | compat.keys if "." in key}
        macros = [(file, number, match) for file, (found, _) in parsed.items()
                  for number, match in found]
        self.pasting = {match[1] for _, _, match in macros if "#" in match[3]}
        self.pieces = [self.macro(*one) for one in macros
                       if one[2][1] not in self.provided and not one[2][1].startswith("TRACE_")]
        self.pieces += [(file, items, []) for file, (_, found) in parsed.items()
                        for items in found]
        self.types = {}				# of variables of files and fields, if unique
        for _, items, _ in self.pieces:
            if not any(is_group(item, "(") for item in items):
                for name, tag in structs(items):
                    self.types[name] = tag if self.types.get(name, tag) == tag else None

    @staticmethod
    def macro(file, number, match):
        """(file, items, parameters)"""
        body = "\n" * match.string[:match.start(3)].count("\n") + match[3]
        return file, nest(tokens_of(number, body)), WORD.findall(match[2] or "")

    def headers(self):
        """(file, line, name)"""
        for file, text in self.texts.items():
            for number, line in logical_lines(text):
                match = INCLUDE.match(line)
                if match and match[1] == "<":
                    yield file, number, match[2]

    def uses(self):
        """(file, use) of all names and fields that the driver does not define itself"""
        for file, items, parameters in self.pieces:
            scope = {*declared(items), *parameters}
            variables = self.types | dict(structs(items))
            for use in uses(items, variables, self.types, self.pasting | set(parameters)):
                if use.name in self.provided:
                    continue
                if use.member:
                    own = use.owner in self.counts or use.owner in self.provided
                else:
                    own = use.name in scope or use.name in self.counts or \
                        MADE.match(use.name) or use.count is None and use.name in self.fields
                if not own:
                    yield file, use
