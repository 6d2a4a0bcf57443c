"""Reads the text of a TTGIR module as a tree of operations, each with its place in the Python.

Only the shape of the text is known here: results, a name, the rest of the line, regions. What the rest of a line means
is for translate.py.

SPDX-License-Identifier: Apache-2.0
"""
import re

PLACE = re.compile(r' ?loc\((#loc\d*|unknown|"(?:[^"\\]|\\.)*"\(#loc\d*\))\)')
RESULTS = re.compile(r"(%[\w.$-]+(?::\d+)?(?:, %[\w.$-]+(?::\d+)?)*) = ")
NAME = re.compile(r'"?([a-z_]+\.[a-z_0-9.]+)"?')


class Op:
    """One operation; `heads` are the lines that open its regions, such as 'partition0(..) num_warps(1)'."""

    def __init__(self, name, results, rest, place):
        self.name, self.results, self.rest, self.place = name, results, rest, place
        self.heads, self.regions = [], []

    def walk(self):
        yield self
        for region in self.regions:
            for op in region:
                yield from op.walk()


def places(text):
    """For each #loc: its file and line, that of the innermost call if there are several."""
    lines = dict(re.findall(r"^(#loc\d*) = loc\((.*)\)$", text, re.M))
    found = {}

    def resolve(key):
        if key not in found:
            body = lines.get(key, "unknown")
            at = re.match(r'"([^"]*)":(\d+):\d+', body)
            inner = re.search(r"#loc\d*", body)
            found[key] = (at[1], int(at[2])) if at else resolve(inner[0]) if inner else None
        return found[key]

    for key in lines:
        resolve(key)
    return found


def aliases(text):
    """What #shared, #mma and the like mean."""
    return dict(re.findall(r"^#(\w+) = (#ttg\..*|#ttng\..*)$", text, re.M))


def parse(text):
    """The operations of the module's top level, of which each has its regions."""
    where = places(text)
    top = []
    blocks, owners = [top], []
    last = None
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith(("#", "//", "^")):
            continue
        keys = re.findall(r"#loc\d*", " ".join(PLACE.findall(line)))
        place = where.get(keys[-1]) if keys else None
        line = PLACE.sub("", line).strip()
        if line.startswith("}"):
            blocks.pop()
            last = owners.pop()
            last.place = place or last.place
            line = line.lstrip("}) ").strip()
            if not line.endswith("{"):
                continue
        opens = line.endswith("{")
        head = line.rstrip("({ ").strip() if opens else line
        if not re.match(r"(else|do|default|partition\d+)\b", head) and head:
            results = RESULTS.match(head)
            rest = head[results.end():] if results else head
            name = NAME.match(rest)
            if not name:
                if rest.startswith("module"):
                    name = re.match("(module)", rest)
                else:
                    raise SystemExit(f"no operation in: {line}")
            last = Op(name[1], results[1].split(", ") if results else [], rest[name.end():].strip(), place)
            blocks[-1].append(last)
        if opens:
            last.heads.append(head)
            last.regions.append([])
            blocks.append(last.regions[-1])
            owners.append(last)
    if len(blocks) != 1:
        raise SystemExit("a region is not closed")
    return top
