# SPDX-License-Identifier: Apache-2.0
"""The declarations that cffi reads, made from the public headers.

usage: declarations.py OUTPUT.py [--compiler CC]

The preprocessor expands the tables (*.def), so that every enumerator has its value. What cffi does not
read is left out: attributes, inline functions and functions with a va_list. OUTPUT.py is a module of
cffi's ABI mode: it needs no compiler, and serves every Python 3.
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = os.path.join(ROOT, "include")

ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
# Bodies with at most three braces inside each other.
INLINE = re.compile(r"static inline[^;{]*\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\}")
STATIC_ASSERT = re.compile(r"_Static_assert\([^;]*\);")
VA_LIST = re.compile(r"[^;{}]*\bva_list\b[^;{}]*;")
ENUM = re.compile(r"\benum\b[^;{}]*\{([^{}]*)\}")
ENUMERATOR = re.compile(r"(\w+)\s*=\s*\(int\)\(1u\s*<<\s*(\w+)\)")
# '# 12 "/usr/include/stdint.h" 1 3': where the following lines come from.
MARKER = re.compile(r'^# \d+ "([^"]*)"')


def read_own_lines(compiler):
    """The preprocessed lines that stand in our headers; those of libc are cffi's to know."""
    text = subprocess.run([*compiler.split(), "-E", "-std=c11", "-I", INCLUDE, "-x", "c", "-"],
                          input='#include "grout/grout.h"\n', capture_output=True, text=True, check=True).stdout
    own = False
    for line in text.splitlines():
        marker = MARKER.match(line)
        if marker:
            own = os.path.realpath(marker.group(1)).startswith(os.path.realpath(INCLUDE) + os.sep)
        elif own:
            yield line


def make_declarations(compiler="cc"):
    text = "\n".join(read_own_lines(compiler))
    for pattern in (ATTRIBUTE, INLINE, STATIC_ASSERT, VA_LIST):
        text = pattern.sub("", text)
    return compute_bits(text)


def compute_bits(text):
    """Enumerators that are a bit, (int)(1u << OTHER), as numbers: cffi reads no such expression."""
    values = {}
    for body in ENUM.findall(text):
        value = -1
        for item in filter(None, map(str.strip, body.split(","))):
            name, _, written = (part.strip() for part in item.partition("="))
            value = int(written, 0) if re.fullmatch(r"-?(0[xX])?[0-9a-fA-F]+", written) else value + 1
            values[name] = value

    def compute(match):
        bit = 1 << values[match.group(2)]
        return f"{match.group(1)} = {bit - (1 << 32) if bit >> 31 else bit}"

    return ENUMERATOR.sub(compute, text)


def find_structs(declarations):
    """Names of the structs whose fields are public."""
    return sorted(set(re.findall(r"typedef struct (grout_\w+) \{", declarations)))


def write_module(output, compiler="cc", module="grout._declarations"):
    import cffi
    builder = cffi.FFI()
    builder.cdef(make_declarations(compiler))
    builder.set_source(module, None)
    builder.emit_python_code(output)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("output")
    parser.add_argument("--compiler", default=os.environ.get("CC", "cc"))
    arguments = parser.parse_args()
    write_module(arguments.output, arguments.compiler)
    return 0


if __name__ == "__main__":
    sys.exit(main())
