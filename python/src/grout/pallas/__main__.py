# SPDX-License-Identifier: Apache-2.0
"""python -m grout.pallas: kernels of a Python file as .grout texts, as CUDA, or checked."""
from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import pathlib
import re
import sys
import traceback
import typing

import numpy

from .. import _files
from .._diagnostics import GroutError
from .._limits import COUNT32_MAX, read_count, read_optional_count

EXAMPLES = """\
FUNCTION is file.py:name or package.module:name, a function of arrays that calls Pallas kernels. An ARGUMENT is the type
of an array, such as 'f16[1024,1024]' (check fills it with small whole numbers), a file.npy, or a number.

    python -m grout.pallas dump  matmul.py:matmul 'f16[512,512]' 'f16[512,512]' -o matmul.grout
    python -m grout.pallas check matmul.py:matmul 'f16[512,512]' 'f16[512,512]'
"""


class Mistake(Exception):
    """In the command line."""


TYPE = re.compile(r"([a-z]\w*)\[([\d,\s]*)\]$")


def _load(target: str) -> typing.Callable[..., typing.Any]:
    place, colon, name = target.rpartition(":")
    if not colon or not name:
        raise Mistake(f"'{target}' is not a FUNCTION: write file.py:name or package.module:name")
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location(pathlib.Path(place).stem, place)
        if spec is None or spec.loader is None or not os.path.exists(place):
            raise Mistake(f"there is no file '{place}'")
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(spec.name, module)
        sys.path.insert(0, os.path.dirname(os.path.abspath(place)))
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, os.getcwd())
        try:
            module = importlib.import_module(place)
        except ImportError as error:
            raise Mistake(f"cannot import '{place}': {error}") from error
    function: typing.Any = module
    for part in name.split("."):
        function = getattr(function, part, None)
        if function is None:
            raise Mistake(f"'{place}' has no '{name}'")
    return function


def _dtype(word: str) -> typing.Any:
    import jax.numpy as jnp

    from .. import _arrays
    name = _arrays.NAMES.get(word, (word,))[0]
    try:
        return jnp.dtype(name)
    except TypeError:
        raise Mistake(f"there is no element type '{word}'") from None


def _load_array(path: str) -> numpy.ndarray[typing.Any, typing.Any]:
    """Numbers alone: what has objects is refused, which would run code to be read."""
    try:
        array = numpy.load(path, allow_pickle=False)
    except (OSError, EOFError, MemoryError, ValueError) as error:
        raise Mistake(f"cannot read '{path}': {error or type(error).__name__}") from error
    if not isinstance(array, numpy.ndarray):
        raise Mistake(f"cannot read '{path}': it is an archive of arrays")
    return array


def _argument(text: str, with_values: bool, seed: int) -> typing.Any:
    """An array, its shape and type alone, or a number."""
    import jax
    match = TYPE.match(text)
    if match:
        shape = tuple(int(size) for size in match[2].replace(" ", "").split(",") if size)
        dtype = _dtype(match[1])
        if not with_values:
            return jax.ShapeDtypeStruct(shape, dtype)
        try:
            numbers = numpy.random.default_rng(seed).integers(-3 if dtype.kind != "u" else 0, 4, shape)
        except (MemoryError, ValueError) as error:
            raise Mistake(f"there is no memory for '{text}': {error}") from error
        return jax.numpy.asarray(numbers, dtype)
    if text.endswith(".npy"):
        array = _load_array(text)
        return array if with_values else jax.ShapeDtypeStruct(array.shape, array.dtype)
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise Mistake(f"'{text}' is not an ARGUMENT: write f16[64,64], a file.npy or a number") from None


def _parse(arguments: typing.Any) -> typing.Any:
    parser = argparse.ArgumentParser("python -m grout.pallas", description=__doc__.partition(": ")[2], epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("dump", "check", "emit"))
    parser.add_argument("function", metavar="FUNCTION")
    parser.add_argument("arguments", metavar="ARGUMENT", nargs="*")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to the terminal")
    parser.add_argument("--sms", type=int, metavar="N", help="the number of SMs for kernels that ask the device (132)")
    parser.add_argument("--gpu", choices=("a100", "h100", "b200"),
                        help="what the device says it is to kernels that ask")
    parser.add_argument("--wgmma", choices=("lowered", "documented"), default="lowered",
                        help="plgpu.wgmma waits for nothing, as JAX lowers it, or for those before, as it is "
                        "documented")
    parser.add_argument("--severity", action="append", default=[], metavar="CODE=LEVEL",
                        help="check: make a finding an error or a warning; repeatable")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the numbers that check makes")
    return parser.parse_intermixed_args(arguments)


def _read_severity(words: typing.Sequence[str]) -> dict[str, str]:
    from .._severity import parse_levels
    try:
        return parse_levels(words, "--severity")
    except ValueError as error:
        raise Mistake(str(error)) from None


def _write(text: str, output: str | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    try:
        _files.write(output, text)
    except (OSError, ValueError) as error:
        raise Mistake(str(error)) from error


def main(arguments: typing.Sequence[str] | None = None) -> int:
    """The command; 0: done or clean, 1: findings, 2: it cannot be done, 3: the checker did not see all."""
    parsed = _parse(arguments)
    try:
        return _run(parsed)
    except Mistake as mistake:
        print(f"grout.pallas: {mistake}", file=sys.stderr)
    except Exception:  # of the function: 1 would say that it has findings
        traceback.print_exc()
    return 2


def _run(parsed: typing.Any) -> int:
    try:
        from . import check, dump, emit
        from ._errors import UnsupportedError
    except ImportError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        read_optional_count("--sms", parsed.sms, 1, COUNT32_MAX)
        read_count("--seed", parsed.seed)
    except ValueError as error:
        raise Mistake(str(error)) from None
    function = _load(parsed.function)
    given = [_argument(text, parsed.command == "check", parsed.seed + number)
             for number, text in enumerate(parsed.arguments)]
    options = {"sms": parsed.sms, "gpu": parsed.gpu, "wgmma": parsed.wgmma}
    try:
        if parsed.command == "dump":
            _write(dump(function, **options)(*given), parsed.output)
        elif parsed.command == "emit":
            _write("\n".join(emitted.source for emitted in emit(function, **options)(*given)), parsed.output)
        else:
            report = check(function, severity=_read_severity(parsed.severity), **options)(*given)
            _write(f"{report}\n", parsed.output)
            return {"clean": 0, "warning": 0, "incomplete": 3}.get(report.verdict, 1)
    except (GroutError, UnsupportedError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
