# SPDX-License-Identifier: Apache-2.0
"""Check, run and emit asynchronous GPU kernels.

    import grout
    kernel = grout.load("matmul.grout")
    print(kernel.check(a=a, b=b))
    c = kernel.run(a=a, b=b)
"""
from . import ptx
from ._diagnostics import (
                           ArgumentError,
                           CheckError,
                           Diagnostic,
                           EmitError,
                           GroutError,
                           KernelError,
                           Note,
                           Place,
                           RunError,
)
from ._kernel import Emitted, Kernel, LaunchList, Module, Param, load, load_module, parse
from ._launch import Progress, Stats, show_progress
from ._library import VERSION as __version__
from ._report import Access, Edit, Finding, Fix, Report, Size

__all__ = ["Access", "ArgumentError", "CheckError", "Diagnostic", "Edit", "EmitError", "Emitted", "Finding",
           "Fix", "GroutError", "Kernel", "KernelError", "LaunchList", "Module", "Note", "Param", "Place", "Progress",
           "Report", "RunError", "Size", "Stats", "__version__", "load", "load_module", "parse", "ptx",
           "show_progress"]
