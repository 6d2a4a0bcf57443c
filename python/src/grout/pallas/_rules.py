# SPDX-License-Identifier: Apache-2.0
"""The table of primitives: which function imports which."""
from __future__ import annotations

import typing

# By name of the primitive: rule(importer, equation, *operands) -> the result, a list of several, or None.
RULES: dict[str, typing.Callable[..., typing.Any]] = {}


_Function = typing.TypeVar("_Function", bound=typing.Callable[..., typing.Any])


def rule(*names: str) -> typing.Callable[[_Function], _Function]:
    """Registers a rule for the primitives with these names."""
    def register(function: _Function) -> _Function:
        for name in names:
            assert name not in RULES, name
            RULES[name] = function
        return function
    return register


# What has no counterpart, and why: the answer to "can I use it?".
REFUSED: dict[str, str] = {}


def refuse(why: str, *names: str) -> None:
    """Primitives that are refused by name."""
    for name in names:
        REFUSED[name] = why


refuse("several devices take part, and grout models one", "multimem_store", "multimem_load_reduce",
       "semaphore_signal_multicast")
refuse("JAX makes it while it lowers a kernel; none has it before", "_copysign", "wgmma")
