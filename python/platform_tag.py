# SPDX-License-Identifier: Apache-2.0
"""Which machines the libraries of a wheel run on: its platform tag.

The newest version of glibc that they ask for decides (PEP 600: manylinux_2_34_x86_64). Libraries that are neither in
the wheel nor part of every Linux are a fault.
"""
import pathlib
import platform
import re
import subprocess

# What PEP 600 lets a wheel ask of its machine, as far as we do.
FROM_MACHINE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
                "ld-linux-aarch64.so.1"}


def read_elf(path, option):
    return subprocess.run(["readelf", option, "-W", str(path)], capture_output=True, text=True, check=True).stdout


def find_glibc(folder):
    """(2, 34): the newest glibc that a library of the folder asks for."""
    newest, libraries = (2, 17), sorted(pathlib.Path(folder).glob("*.so*"))
    present = {library.name for library in libraries}
    for library in libraries:
        needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", read_elf(library, "-d")))
        missing = needed - FROM_MACHINE - present
        if missing:
            raise SystemExit(f"{library.name} needs {', '.join(sorted(missing))}, which the wheel does not carry")
        versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", read_elf(library, "-V"))
        newest = max([newest, *((int(major), int(minor)) for major, minor in versions)])
    return newest


def find_tag(folder):
    major, minor = find_glibc(folder)
    return f"manylinux_{major}_{minor}_{platform.machine()}"
