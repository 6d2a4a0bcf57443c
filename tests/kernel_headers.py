"""The headers of the kernels of a text: what of them a script reads without grout.

SPDX-License-Identifier: Apache-2.0
"""
import re

# Parentheses inside the parameters are those of an init(..) and of its numbers: two levels.
NESTED = r"[^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*"
KERNEL = re.compile(r"^kernel @(\w+)\s*\((" + NESTED + r")\)", re.MULTILINE)
START = re.compile(r"^kernel @(\w+)", re.MULTILINE)
OUTPUT = re.compile(r"%(\w+)\s*:\s*(?:out|inout)\s+gmem")
INPUT = re.compile(r"%(\w+)\s*:\s*(?:in|inout)\s+gmem")


def list_parameters(text, pattern):
    """(name, the names of its parameters like this) of each kernel. ValueError if one is not understood."""
    kernels = [(match.group(1), pattern.findall(match.group(2))) for match in KERNEL.finditer(text)]
    if [name for name, _ in kernels] != START.findall(text):
        raise ValueError(f"of the kernels {START.findall(text)} only {[name for name, _ in kernels]} are understood")
    return kernels


def list_outputs(text):
    """(name, the names of the arrays that it writes) of each kernel."""
    return list_parameters(text, OUTPUT)


def list_inputs(text):
    """(name, the names of the arrays that hold something before it runs) of each kernel."""
    return list_parameters(text, INPUT)
