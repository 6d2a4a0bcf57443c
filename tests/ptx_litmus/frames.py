"""Litmus programs in PTX without the lines that all have.

A file FOLDER/NAME.litmus has the comments of litmus_text.h, declarations and instructions. Without a line 'launch' the
grid is one CTA of 64 threads. Around them come the
version, the target (sm_100a where the program has tcgen05), the entry with its parameter, and registers:

    %d: the array; %t, %c: number of the thread and of its CTA; %n: of the thread in the grid, if the program has it
    %r0.., %rd0.., %p0..: free

    thread 32 of CTA 0:

begins what this thread alone does, up to the next line of that form, or to the end.

    part NAME, part NAME: VALUE

is lines of parts.txt, and

    until %p7: INSTRUCTION

is a loop that ends when the predicate is true; with %r0, when the register is not 0.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import functools
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
PART = re.compile(r" *part ([^:]+)(?:: (.+))?$")
UNTIL = re.compile(r" *until (%[pr]\d): (.+)$")
LAUNCH = re.compile(r"// launch: grid \d+ cluster \d+ block (\d+)$")
THREAD = re.compile(r"thread (\d+) of CTA (\d+):$")
FRAME = """// SPDX-License-Identifier: Apache-2.0
{comments}
.version 8.7
.target {target}
.address_size 64

.visible .entry k(.param .u64 data)
{{
    .reg .pred %p<8>;
    .reg .b32 %r<{registers}>, %t, %c, %n;
    .reg .b64 %d, %rd<8>;
{declarations}    ld.param.u64 %d, [data];
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
{body}    ret;
}}
"""

# name: FOLDER/PROGRAM.ptx
Program = collections.namedtuple("Program", "name text")


class FrameError(Exception):
    """A file is no program."""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@functools.lru_cache
def read_parts():
    """Name -> lines."""
    parts, lines = {}, []
    for line in read(os.path.join(HERE, "parts.txt")).splitlines():
        part = PART.match(line)
        if part:
            lines = parts[part.group(1)] = []
        elif not line.startswith("#"):
            lines.append(line)
    return {name: "\n".join(lines).rstrip("\n").split("\n") for name, lines in parts.items()}


def expand(lines, name):
    """The lines with those of their parts and loops."""
    for line in lines:
        part, until = PART.match(line), UNTIL.match(line)
        if part:
            if part.group(1) not in read_parts():
                raise FrameError(f"{name}: there is no part '{part.group(1)}'")
            yield from expand([text.replace("<>", part.group(2) or "<>") for text in read_parts()[part.group(1)]], name)
        elif until:
            what, instruction = until.groups()
            yield from ("wait:", f"    {instruction}")
            if what.startswith("%p"):
                yield f"    @!{what} bra wait;"
            else:
                yield from (f"    setp.eq.u32 %p1, {what}, 0;", "    @%p1 bra wait;")
        else:
            yield line


def list_instructions(lines, block):
    """The lines of the body, with what lets one thread do its part."""
    out, label = [], None
    parts = 0
    for line in [*lines, None]:
        thread = THREAD.match(line or "")
        if label and (thread or line is None):
            at = len(out) - 1
            while not out[at].strip():
                at -= 1
            out.insert(at + 1, label + ":")
            label = None
        if thread:
            parts += 1
            label = f"after{parts}"
            out += [f"    // {line[:-1]}",
                    f"    setp.ne.u32 %p0, %n, {int(thread.group(2)) * block + int(thread.group(1))};",
                    f"    @%p0 bra {label};"]
        elif line is not None:
            out.append(line)
    return out


def add_frame(text, name):
    """The PTX of a file."""
    comments, empty, rest = text.partition("\n\n")
    about, expect, more = comments.partition("\n// expect: ")
    if not empty or not expect:
        raise FrameError(f"{name}: no line '// expect: ..', or no empty line after the comments")
    about, _, size = about.partition("\n// launch: ")
    launch = LAUNCH.match(f"// launch: {size or 'grid 1 cluster 1 block 64'}")
    if not launch:
        raise FrameError(f"{name}: '// launch: {size}' is not '// launch: grid G cluster C block B'")
    block = int(launch.group(1))
    comments = f"{about}\n//\n{launch.group(0)}{expect}{more}"
    lines = list(expand(rest.rstrip("\n").split("\n"), name))
    count = next(number for number, line in enumerate([*lines, ""]) if not line.startswith("    ."))
    body = list_instructions(lines[count:], block)
    if any("%n" in line for line in body):
        body.insert(0, f"    mad.lo.u32 %n, %c, {block}, %t;")
    is_tensor = any("tcgen05." in line for line in [text, *lines])
    return FRAME.format(comments=comments + "\n", target="sm_100a" if is_tensor else "sm_90a",
                        registers=32 if is_tensor else 16, declarations="".join(f"{line}\n" for line in lines[:count]),
                        body="".join(f"{line}\n" for line in body))


def list_programs():
    programs = []
    for folder, _, names in os.walk(HERE):
        for name in names:
            path = os.path.join(folder, name)
            place = os.path.splitext(os.path.relpath(path, HERE))[0] + ".ptx"
            if name.endswith(".ptx"):
                programs.append(Program(place, read(path)))
            elif name.endswith(".litmus"):
                programs.append(Program(place, add_frame(read(path), place)))
    return sorted(programs)


def write_programs(folder, programs=None):
    """Each program as a file, in folders as here. The paths."""
    paths = []
    for program in programs or list_programs():
        path = os.path.join(folder, program.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(program.text)
        paths.append(path)
    return paths
