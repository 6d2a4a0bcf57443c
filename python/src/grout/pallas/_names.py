# SPDX-License-Identifier: Apache-2.0
"""Names: those that the user wrote, as far as they can be found and grout takes them."""
from __future__ import annotations

import ast
import functools
import linecache
import re
import typing

from .._library import lib


class Names:
    """The names of one kernel: each is given once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, wanted: str) -> str:
        """A name like this one."""
        name = re.sub(r"\W", "_", wanted, flags=re.ASCII).strip("_") or "v"
        if not name[0].isalpha():
            name = "v" + name
        number, unique = 2, name
        while unique in self._taken:
            unique, number = f"{name}_{number}", number + 1
        self._taken.add(unique)
        return unique

    def take_axis(self, wanted: str) -> str:
        """The same for an axis, which is not called like a word of the language."""
        name = re.sub(r"\W", "_", wanted, flags=re.ASCII).strip("_")
        return self.take(f"{name}_axis" if _is_reserved(name) else name)


def _is_reserved(name: str) -> bool:
    return bool(lib.grout_build_is_word(name.encode()))


def short_name(name: str | None) -> str:
    """'acc' for 'scratch_refs.acc' or 'kwargs['acc']'."""
    words = re.findall(r"[A-Za-z]\w*", name or "")
    return words[-1] if words else "s"


def find_parameter_names(jaxpr: typing.Any, input_count: int) -> list[str]:
    """What the kernel calls its references to arrays; 'in0' and 'out0' where that is not sure.

    A kernel that is called with None for an input has more parameters than references. It shows where a parameter is
    called an output and stands at another place.
    """
    count = len(jaxpr.invars)
    found = _read_arguments(jaxpr, count)
    first_out = next((number for number, name in enumerate(found) if re.match(r"o(ut\w*)?(_|$)", name)), input_count)
    names = found[:count] if len(found) >= count and first_out == input_count else []
    return names or [f"in{number}" if number < input_count else f"out{number - input_count}" for number in range(count)]


def find_kernel_name(name: str, jaxpr: typing.Any) -> str:
    """JAX calls a functools.partial 'anonymous': then the name of the function."""
    match = _find_body(jaxpr) if name in ("", "anonymous") else None
    return match[1] if match and match[1] != "<lambda>" else name or "kernel"


def _find_body(jaxpr: typing.Any) -> re.Match[str] | None:
    """Name, file and line of the function that the kernel's scope runs: JAX does not keep the function."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "run_scoped":
            info = equation.params["jaxpr"].debug_info
            break
    else:
        info = jaxpr.debug_info
    return re.match(r"(\S+) at (.*):(\d+)$", getattr(info, "func_src_info", None) or "")


def find_place(jaxpr: typing.Any) -> tuple[typing.Any, ...]:
    """Where the kernel's function stands, as frames."""
    match = _find_body(jaxpr)
    return ((match[2], int(match[3]), 1, 1),) if match else ()


def _read_arguments(jaxpr: typing.Any, count: int) -> list[str]:
    match = _find_body(jaxpr)
    if not match:
        return []
    names = _read_function(match[2], int(match[3]), match[1])
    return list(names) if len(names) >= count else []


@functools.lru_cache(maxsize=256)
def _read_function(file: str, line: int, name: str) -> tuple[str, ...]:
    """The positional parameters of a function of a file."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ()
    for node in ast.walk(tree):
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))]) \
            if hasattr(node, "lineno") else 0
        if isinstance(node, ast.Lambda) and name == "<lambda>" and node.lineno == line or \
                isinstance(node, ast.FunctionDef) and node.name == name and first <= line <= node.lineno:
            return tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))
    return ()
