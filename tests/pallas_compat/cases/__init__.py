# SPDX-License-Identifier: Apache-2.0
"""Pallas kernels that grout.pallas is tried with: those that JAX ships, those of its pages, and tokamax'.

CASES has them by name. A case is made when it is asked for, since most need JAX to make their inputs.
"""
from __future__ import annotations

import dataclasses
import functools
import typing


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A function that calls kernels, what it is called with, and what has to come out.

    reference() gives an array for each result, None for one that is not compared. tolerance: the largest absolute
    difference; 0: every element is the same. sms: how many SMs the kernel sees. gpu: what the device says it is.
    """

    function: typing.Callable
    inputs: tuple
    reference: typing.Callable[[], typing.Sequence]
    tolerance: float = 0.0
    sms: int = 4
    gpu: str | None = None


@dataclasses.dataclass(frozen=True)
class Case:
    """One kernel in one configuration. origin: where it comes from; what: the configuration, for a table.

    make(): it, and with arguments of the function that makes it in another size.

    refused: what the importer has to name where it cannot take the kernel.
    """

    name: str
    origin: str
    what: str
    make: typing.Callable[..., Prepared]
    module: str
    refused: str = ""


CASES: dict[str, Case] = {}


def case(name: str, origin: str, what: str, refused: str = "", **arguments):
    """A decorator: the function makes this case, with these arguments."""
    def register(function):
        assert name not in CASES, name
        CASES[name] = Case(name, origin, what, functools.partial(function, **arguments), function.__module__, refused)
        return function
    return register


_tests: list[str] = []  # the folder of JAX' test files, once it is known


def get_tests_folder() -> str:
    """Where JAX' test files are."""
    if not _tests:
        raise RuntimeError("nobody has said where JAX' test files are: kernels.py --tests FOLDER")
    return _tests[-1]


GROUPS = ("jax", "pages", "tokamax", "tutorial")


def load(groups: typing.Sequence[str] = GROUPS, tests: str = "") -> dict[str, Case]:
    """The cases of these groups; those of tokamax only where it is installed. tests: the folder that "tutorial" asks
    for."""
    import importlib
    _tests.extend(filter(None, [tests]))
    modules = {"jax": ("jax_matmul", "jax_ragged", "jax_attention", "jax_devices"),
               "pages": ("pages_pipelines", "pages_reference"),
               "tokamax": ("tokamax_attention", "tokamax_ragged"),
               "tutorial": ("jax_tutorial",)}
    wanted = [f"{__name__}.{module}" for group in groups for module in modules[group]]
    for module in wanted:
        importlib.import_module(module)
    return {name: one for module in wanted for name, one in sorted(CASES.items()) if one.module == module}
