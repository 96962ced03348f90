# SPDX-License-Identifier: GPL-2.0
"""
srnic - the names that C sources declare and define

Sources are read without a compiler, with all branches of conditions at once, as a tree of
brackets.  Anything that may be a declaration counts as one: an extra name does no harm.  A
name is identified by its key:

  name               a type, a variable, a constant or a macro without parameters
  name(2)            a function or macro of two parameters; name(2+): or more
  owner.name         a field of a struct; owner.name(2): that points to a function
  .name              a field of some struct
"""

import functools
import re

KEY = re.compile(r"(?:(\w*)\.)?(\w+)(?:\((.*)\))?")
WORD = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'\s*#\s*include(?:_next)?\s*([<"])([^>"]+)')
DEFINE = re.compile(r"\s*#\s*define\s+(\w+)(?:\(([^)]*)\))?(.*)", re.DOTALL)
NOISE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
TOKEN = re.compile(r"""[A-Za-z_]\w*|\.?\d[\w.]*|->|\.\.\.|\#\#|""|[^\s\w]""")
CLOSERS = {"(": ")", "[": "]", "{": "}"}
AGGREGATES = ("struct", "union", "enum")
TYPES = frozenset("""
    auto char const double enum extern float inline int long register short signed static
    struct typedef union unsigned void volatile typeof _Bool __inline __inline__
    __extension__ __signed__ __volatile__ __typeof__""".split())
KEYWORDS = TYPES | frozenset("""
    asm break case continue default defined do else for goto if return sizeof switch while
    _Static_assert __asm__ __attribute__ __alignof__ __func__ __VA_ARGS__ __VA_OPT__""".split())


@functools.lru_cache(maxsize=None)
def parts(key):
    """(owner, name, number of parameters); None is for a part that is not there"""
    return KEY.fullmatch(key).groups()


class Token(str):
    """A piece of source, with the number of its line"""
    line = 0


class Group(list):
    """What is between two brackets"""

    def __init__(self, bracket=""):
        super().__init__()
        self.bracket = bracket


def is_name(item):
    return isinstance(item, str) and bool(WORD.match(item)) and item not in KEYWORDS


def is_group(item, bracket):
    return isinstance(item, Group) and item.bracket == bracket


def without_noise(text):
    """The text without comments and the contents of strings, on the same lines"""
    def blank(match):
        return {'"': '""', "'": "0"}.get(match[0][0], " ") + "\n" * match[0].count("\n")

    return NOISE.sub(blank, text)


def logical_lines(text):
    """(number, line), a macro with all its lines being one"""
    number, pending = 1, ""
    for line in without_noise(text).split("\n"):
        if line.endswith("\\"):
            pending += line[:-1] + "\n"
            continue
        yield number, pending + line
        number += pending.count("\n") + 1
        pending = ""


def tokens_of(number, line):
    for offset, part in enumerate(line.split("\n")):
        for match in TOKEN.findall(part):
            token = Token(match)
            token.line = number + offset
            yield token


def code(lines):
    """The tokens of all branches of conditions; of the first alone if it leaves a block
    open"""
    tokens, outer = [], []
    for number, line in lines:
        directive = re.match(r"\s*#\s*(if|el|endif)?", line)
        if not directive:
            tokens += tokens_of(number, line)
        elif directive[1] == "if":
            outer.append((tokens, []))
            tokens = []
        elif directive[1] and outer:
            before, branches = outer[-1]
            if branches.count("{") == branches.count("}"):
                branches += tokens
            tokens = []
            if directive[1] == "endif":
                tokens = before + branches
                outer.pop()
    return tokens


def nest(tokens):
    """The tree of their brackets; an unmatched closing bracket is ignored"""
    stack = [Group()]

    def close():
        group = stack.pop()
        stack[-1].append(group)
        return CLOSERS[group.bracket]

    for token in tokens:
        if token in CLOSERS:
            stack.append(Group(token))
        elif token not in CLOSERS.values():
            stack[-1].append(token)
        elif any(CLOSERS[group.bracket] == token for group in stack[1:]):
            while close() != token:
                pass
    while len(stack) > 1:
        close()
    return stack[0]


def parse(text):
    """[(number of the line, match of DEFINE)], and the statements"""
    lines = list(logical_lines(text))
    macros = [(number, DEFINE.match(line)) for number, line in lines]
    return ([(number, match) for number, match in macros if match],
            list(statements(nest(code(lines)))))


def split(items, separator):
    parts = [[]]
    for item in items:
        if item == separator:
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


def arity(group):
    """The number of parameters or arguments; "2+" for two or more"""
    parts = split(group, ",")
    if parts in ([[]], [["void"]]):
        return "0"
    if parts[-1][-1:] == ["..."]:
        return f"{len(parts) - 1}+"
    return str(len(parts))


def aggregate(items):
    """(kind, tag) if @items are the head of a struct, union or enum with a body, else None"""
    at = max((at for at, item in enumerate(items) if item in AGGREGATES), default=None)
    if at is None or "=" in items or "*" in items[at:] or "," in items[at:]:
        return None
    names = [item for item in items[at + 1:] if is_name(item)]
    tags = [name for name in names if not name.startswith("__")]
    return None if len(tags) > 1 else (items[at], (tags or names or [None])[0])


def statements(items):
    """The statements of a file or a block; the braces of a function or branch end one, too"""
    statement = []
    for item in items:
        if item != ";":
            statement.append(item)
        if item == ";" or is_group(item, "{") and "=" not in statement and \
                not aggregate(statement[:-1]):
            yield statement
            statement = []
    yield statement


def declarators(items):
    """(name, arity or None) of what a declaration declares, and of its attributes"""
    for part in split(items, ","):
        end = min((part.index(stop) for stop in ":=" if stop in part), default=len(part))
        part, found = part[:end], False
        for before, item, after in zip([None] + part, part, part[1:] + [None]):
            if not is_group(item, "("):
                continue
            inside, called = [name for name in item if is_name(name)], is_group(after, "(")
            if inside and (item[0] == "*" or called and not is_name(before)):
                yield inside[-1], arity(after) if called else None
                found = True
            elif is_name(before):
                yield before, arity(item)
                found |= not before.startswith("__")
        names = [item for item in part if is_name(item)]
        if names and not found:
            yield names[-1], None
            if names[-1].startswith("__") and names[1:]:
                yield names[-2], None


class Names:
    """The keys of the names that were read"""

    def __init__(self):
        self.keys = set()

    def add(self, name, count=None, owner=None):
        key = f"{owner}.{name}" if owner else str(name)
        self.keys.add(key if count is None else f"{key}({count})")

    def add_type(self, head, body):
        """Return: the fields, if they belong to no tag"""
        kind, tag = head
        if tag:
            self.add(tag)
        if kind == "enum":
            for part in split(body, ","):
                if part and is_name(part[0]):
                    self.add(part[0])
            return []
        fields = self.fields(body)
        for name, count in fields if tag else ():
            self.add(name, count, tag)
        return [] if tag else fields

    def declaration(self, items, inside=False):
        """Adds the types that it defines.  Return: what else it declares"""
        rest, anonymous = [], []
        for item in items:
            head = aggregate(rest) if is_group(item, "{") else None
            if head:
                anonymous += self.add_type(head, item)
                rest = []
            else:
                rest.append(item)
        found = list(declarators(rest))
        if inside:
            return found + anonymous
        for owner, _ in found:
            for name, count in anonymous:
                self.add(name, count, owner)
        return found

    def fields(self, body):
        found = []
        for items in split(body, ";"):
            macro = len(items) > 1 and is_name(items[0]) and is_group(items[1], "(")
            if macro and ";" in items[1]:		# struct_group(name, fields)
                found += self.fields([";" if item == "," else item for item in items[1]])
            if macro and len(items) == 2 and items[1][:1] != ["*"]:
                found += [(name, None) for name in items[1] if is_name(name)]
            else:
                found += self.declaration(items, inside=True)
        return found

    def macro(self, name, parameters, body):
        if parameters is not None:
            self.add(name, arity(nest(TOKEN.findall(parameters))))
        elif body.strip() != name:
            self.add(name)

    def read(self, text):
        self.take(*parse(text))

    def take(self, macros, declarations):
        for _, match in macros:
            self.macro(*match.groups())
        for items in declarations:
            for name, count in self.declaration(items):
                self.add(name, count)
            items = [item for item in items if item not in ("extern", "static")]
            if len(items) == 2 and is_group(items[1], "("):	# DECLARE_PER_CPU(type, name)
                for name in filter(is_name, items[1]):
                    self.add(name)
