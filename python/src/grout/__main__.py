# SPDX-License-Identifier: Apache-2.0
"""The command grout, as 'python -m grout' and as the script that comes with the package: what 'grout --help' says."""
from __future__ import annotations

import os
import signal
import sys
import typing

import cffi

from ._library import PATH

__all__ = ["main"]


def main() -> int:
    """Runs the command with the arguments of this process, and returns its exit code."""
    ffi = cffi.FFI()
    ffi.cdef("int grout_command_main(int argc, char **argv);")
    library: typing.Any = ffi.dlopen(PATH)
    words = [ffi.new("char[]", os.fsencode(word)) for word in ("grout", *sys.argv[1:])]
    # The command itself catches the signals that end it, with Python or not.
    for number, ours in ((signal.SIGINT, signal.default_int_handler), (signal.SIGPIPE, signal.SIG_IGN)):
        if signal.getsignal(number) is ours:
            signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    return int(library.grout_command_main(len(words), ffi.new("char *[]", [*words, ffi.NULL])))


if __name__ == "__main__":
    sys.exit(main())
