# SPDX-License-Identifier: Apache-2.0
"""The library is the one that the package was built for, and shows its public functions alone."""
import pathlib
import shutil
import subprocess
import sys

import pytest

import grout
from grout import _build, _files, _gpu, _library
from grout._library import ffi, lib, list_structs


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
    listed = {name for name, _ in list_structs(lib)}
    assert listed == structs, "doors/binding/structs.def lacks what the headers have"
    assert _library._find_difference(lib) is None


def test_another_library_is_refused(monkeypatch):
    monkeypatch.setattr(_build, "ABI_VERSION", 0)
    assert "ABI version" in _library._find_difference(lib)
    monkeypatch.undo()
    monkeypatch.setattr(_build, "TABLES", 1)
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
    assert len(defined) > 300
    assert [name for name in defined if not name.startswith("grout_") or "__" in name] == []


@pytest.mark.skipif("_native" not in _library.PATH, reason="not the library of the wheel")
def test_the_library_is_hardened():
    program = pathlib.Path(__file__).resolve().parents[2] / "tests" / "hardened" / "hardened.py"
    done = subprocess.run([sys.executable, program, _library.PATH], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_files_are_written_whole(tmp_path):
    """As the command writes them (tests/unit/files): through links, over old files, nothing beside them."""
    (tmp_path / "old").write_text("old")
    (tmp_path / "old").chmod(0o640)
    (tmp_path / "link").symlink_to("old")
    (tmp_path / "dangling").symlink_to("new")
    _files.write(tmp_path / "link", "one")
    _files.write(str(tmp_path / "dangling"), "zwei \u00fc")
    assert (tmp_path / "old").read_text() == "one" and (tmp_path / "old").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "new").read_bytes() == "zwei \u00fc".encode()
    with pytest.raises(OSError, match="cannot write '.*gone/x': the folder .* does not exist"):
        _files.write(tmp_path / "gone" / "x", "text")
    with pytest.raises(OSError, match="No space left"):
        _files.write("/dev/full", "text")
    with pytest.raises(ValueError, match="NUL"):
        _files.write(f"{tmp_path}/a\0b", "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "link", "new", "old"]


def test_the_cache_lies_where_the_command_has_it(monkeypatch):
    for names, folder in (({"GROUT_CACHE": "mine", "HOME": "/home"}, b"mine"),
                          ({"HOME": "/home"}, b"/home/.cache/grout"),
                          ({"XDG_CACHE_HOME": "/x", "HOME": "/home"}, b"/x/grout"), ({"HOME": "here"}, None),
                          ({}, None), ({"XDG_CACHE_HOME": "here", "HOME": "/home"}, b"/home/.cache/grout")):
        for name in ("GROUT_CACHE", "XDG_CACHE_HOME", "HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in names.items():
            monkeypatch.setenv(name, value)
        assert _gpu._find_cache() == folder, names
