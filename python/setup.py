# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel: the library by CMake (preset wheel), the declarations from the public headers."""
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import typing

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# A build tree that is there already and has the target grout_bundle; else one of our own.
GIVEN_BUILD = os.environ.get("GROUT_WHEEL_BUILD")
BUILD = pathlib.Path(GIVEN_BUILD or ROOT / "build" / "wheel").resolve()
# Licences of what is inside: SLEEF, libffi, xxHash, jansson, LIBXSMM, where Debian keeps them.
LICENSES = {"sleef": "libsleef3", "libffi": "libffi8", "xxhash": "libxxhash0", "jansson": "libjansson4",
            "libxsmm": "libxsmm-dev"}

sys.path.insert(0, str(HERE))
import declarations
import platform_tag


def read_version():
    text = (ROOT / "include/grout/grout.h").read_text(encoding="utf-8")
    return re.search(r'#define GROUT_VERSION "(.+)"', text).group(1)


def read_extras():
    """pallas wants any JAX from the oldest tested series on: a later one is tried. pallas-tested pins the newest tested
    one for each Python."""
    tested = runpy.run_path(str(HERE / "src" / "grout" / "_tested.py"))["JAX"]
    series = ".".join(next(iter(tested)).split(".")[:2])
    newest = {python: release for release, python in tested.items()}
    ends = [f" and python_version < '{python}'" for python in newest][1:] + [""]
    pins = [f"jax=={release}; python_version >= '{python}'{end}"
            for (python, release), end in zip(newest.items(), ends)]
    others = ["absl-py", "ml_dtypes"]
    return {"pallas": [f"jax>={series}", *others], "pallas-tested": [*pins, *others], "test": ["pytest", "ml_dtypes"]}


def build_library(native):
    """The library and what it needs, into the folder."""
    shutil.rmtree(native, ignore_errors=True)
    if not GIVEN_BUILD:
        subprocess.run(["cmake", "--preset", "wheel"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(BUILD), "--target", "grout_bundle"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--install", str(BUILD), "--component", "bundle", "--prefix", str(native)], check=True,
                   stdout=subprocess.DEVNULL)
    licenses = native / "licenses"
    licenses.mkdir()
    shutil.copy(ROOT / "LICENSE", licenses / "grout")
    for name, package in LICENSES.items():
        found = pathlib.Path("/usr/share/doc") / package / "copyright"
        if found.exists():
            shutil.copy(found, licenses / name)


def find_compiler():
    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return re.search(r"^CMAKE_C_COMPILER:\w+=(.+)$", cache, re.MULTILINE).group(1)


def write_build_facts(package):
    """What the library says of itself, by which the package knows it again."""
    import cffi
    ffi = cffi.FFI()
    ffi.cdef("uint32_t grout_abi_get_version(void); uint64_t grout_abi_get_tables(void);")
    library: typing.Any = ffi.dlopen(str(package / "_native" / "libgrout.so"))
    (package / "_build.py").write_text(f"ABI_VERSION = {library.grout_abi_get_version()}\n"
                                       f"TABLES = {library.grout_abi_get_tables():#x}\n", encoding="utf-8")


class BuildPackage(build_py):
    """Makes what is no source: _native/, _declarations.py and _build.py, in the build folder alone."""

    def run(self):
        if not (ROOT / "CMakePresets.json").exists():
            raise SystemExit("grout's wheel is built from a checkout of the whole repository: pip wheel ./python")
        super().run()
        package = pathlib.Path(self.build_lib) / "grout"
        if self.editable_mode:
            package = HERE / "src" / "grout"
        build_library(package / "_native")
        declarations.write_module(str(package / "_declarations.py"), find_compiler())
        write_build_facts(package)


class BuildWheel(bdist_wheel):
    """Any Python 3, this platform."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        native = pathlib.Path(self.bdist_dir) / "grout" / "_native"
        if not native.is_dir():
            return "py3", "none", super().get_tag()[2]
        return "py3", "none", platform_tag.find_tag(native)


class NoSourceDistribution(sdist):
    def run(self):
        raise SystemExit("grout has no sdist for Python: build the wheel from a checkout (pip wheel ./python)")


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(version=read_version(), extras_require=read_extras(), distclass=BinaryDistribution,
      cmdclass={"build_py": BuildPackage, "bdist_wheel": BuildWheel, "sdist": NoSourceDistribution})
