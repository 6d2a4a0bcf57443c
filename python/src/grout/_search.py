# SPDX-License-Identifier: Apache-2.0
"""The searches of a kernel, with the options of check by their names: for editors, notebooks and type checkers."""
from __future__ import annotations

import functools
import inspect
import typing

from ._launch import Progress

Result_co = typing.TypeVar("Result_co", covariant=True)


class Search(typing.Protocol[Result_co]):
    """A method that takes what check takes, and budget: the seconds that it may take."""

    def __call__(self, *arrays: object, values: typing.Mapping[str, object] | None = None, arch: str | None = None,
                 schedule: str = "fair", timing: str = "lazy", numerics: str = "fast", seed: int = 0, sms: int = 0,
                 resident: int = 0, threads: int = 1, max_steps: int = 0, max_memory: int = 0,
                 timeout: float | None = None, non_finite: bool = False, full_arrays: bool = False,
                 strict_fences: bool = False, max_findings: int = 20,
                 severity: typing.Mapping[str, str] | None = None,
                 progress: typing.Callable[[Progress], object] | None = None,
                 print: typing.Callable[[str], object] | None = print,
                 externs: typing.Mapping[str, typing.Callable[..., typing.Any]] | None = None,
                 budget: float | None = None, **keywords: object) -> Result_co:
        """Keywords that are none of these are arrays and consts."""


class SizesSearch(typing.Protocol[Result_co]):
    """The same with the values of consts that it is to look at."""

    def __call__(self, sizes: typing.Mapping[str, typing.Iterable[object]], *arrays: object,
                 values: typing.Mapping[str, object] | None = None, arch: str | None = None,
                 schedule: str = "fair", timing: str = "lazy", numerics: str = "fast", seed: int = 0, sms: int = 0,
                 resident: int = 0, threads: int = 1, max_steps: int = 0, max_memory: int = 0,
                 timeout: float | None = None, non_finite: bool = False, full_arrays: bool = False,
                 strict_fences: bool = False, max_findings: int = 20,
                 severity: typing.Mapping[str, str] | None = None,
                 progress: typing.Callable[[Progress], object] | None = None,
                 print: typing.Callable[[str], object] | None = print,
                 externs: typing.Mapping[str, typing.Callable[..., typing.Any]] | None = None,
                 budget: float | None = None, **keywords: object) -> Result_co:
        """sizes: {"K": [64, 128]}."""


def _shows(method: typing.Callable[..., typing.Any], face: typing.Callable[..., object]) -> typing.Any:
    """The method, which says of itself that it takes what the face takes."""
    @functools.wraps(method)
    def call(*arguments: object, **keywords: object) -> object:
        return method(*arguments, **keywords)
    made: typing.Any = call
    made.__signature__ = inspect.signature(face).replace(return_annotation=inspect.signature(method).return_annotation)
    return made


def search(method: typing.Callable[..., Result_co]) -> Search[Result_co]:
    """A method of a kernel whose options are those of Search."""
    return typing.cast("Search[Result_co]", _shows(method, Search.__call__))


def sizes_search(method: typing.Callable[..., Result_co]) -> SizesSearch[Result_co]:
    """A method of a kernel whose options are those of SizesSearch."""
    return typing.cast("SizesSearch[Result_co]", _shows(method, SizesSearch.__call__))
