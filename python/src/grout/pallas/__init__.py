# SPDX-License-Identifier: Apache-2.0
"""Pallas kernels for Mosaic GPU, unchanged: check them, run them on the CPU, make CUDA or .grout texts of them.

    import grout.pallas
    print(grout.pallas.check(my_function)(x, y))

needs jax and absl-py: pip install 'grout-gpu[pallas]'.
"""
from . import (  # noqa: F401  (they fill the table of rules)
    _array_rules,
    _control,
    _dynamic,
    _inline,
    _launch,
    _matrices,
    _memory,
    _objects,
    _semaphores,
    _tensor_core,
    _tmem,
)
from ._api import PallasReport, check, dump, emit, import_kernels, interpret, run
from ._errors import UnsupportedError
from ._importer import Imported
from ._inline import register_inline
from ._session import Call, Session

__all__ = ["Call", "Imported", "PallasReport", "Session", "UnsupportedError", "check", "dump", "emit",
           "import_kernels", "interpret", "register_inline", "run"]
