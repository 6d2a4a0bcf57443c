# SPDX-License-Identifier: Apache-2.0
"""The library is the one that the package was built for, and shows its public functions alone."""
import shutil
import subprocess

import pytest

import grout
from grout import _library
from grout._library import ffi, lib


def is_struct(name):
    """Whether a typedef is a struct whose fields are public."""
    found = ffi.typeof(f"{name} *")  # of functions cffi has pointers alone
    if found.kind != "pointer" or found.item.kind != "struct":
        return False
    try:
        return ffi.sizeof(name) > 0
    except ffi.error:  # nobody sees into it
        return False


def test_every_public_struct_has_its_size_compared():
    structs = {name for name in ffi.list_types()[0] if name.startswith("grout_") and is_struct(name)}
    listed = {ffi.string(lib.grout_abi_get_struct_name(i)).decode() for i in range(lib.grout_abi_get_struct_count())}
    assert listed == structs, "binding/structs.def is behind the headers"
    assert _library._find_difference(lib) is None


def test_another_library_is_refused(monkeypatch):
    monkeypatch.setattr(_library._build, "ABI_VERSION", 0)
    assert "ABI version" in _library._find_difference(lib)
    monkeypatch.undo()
    monkeypatch.setattr(_library._build, "TABLES", 1)
    assert "tables" in _library._find_difference(lib)
    monkeypatch.undo()
    monkeypatch.setattr(_library, "PATH", "/nowhere/libgrout.so")
    with pytest.raises(ImportError, match="cannot open"):
        _library._open()
    monkeypatch.setattr(_library, "PATH", "libc.so.6")
    with pytest.raises(ImportError, match="is older"):
        _library._open()


def test_version():
    assert grout.__version__ == "0.1.0"


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf")
def test_only_public_functions_are_visible():
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", _library.PATH], capture_output=True, text=True,
                             check=True).stdout
    defined = [line.split()[7] for line in symbols.splitlines()
               if len(line.split()) > 7 and line.split()[6] not in ("UND", "Ndx") and line.split()[4] != "LOCAL"]
    assert len(defined) > 400
    assert [name for name in defined if not name.startswith("grout_") or "__" in name] == []
