# SPDX-License-Identifier: Apache-2.0
"""CUDA text and manifest."""
import numpy
import pytest

import grout


def test_source_and_manifest(add_one):
    emitted = add_one.emit(N=512)
    assert "__global__" in emitted.source and str(emitted) == emitted.source
    assert emitted.manifest["kernel"] == "add_one_smem" and emitted.manifest["schema"].startswith("grout-launch/")
    assert emitted.manifest["grid"][0] == 4


def test_arrays_give_sizes(add_one):
    assert add_one.emit(numpy.zeros(1024, "float32")).manifest["grid"][0] == 8
    assert add_one.emit(x=numpy.zeros(1024)[::1]).manifest == add_one.emit(N=1024).manifest


def test_options_change_the_source(add_one):
    plain = add_one.emit()
    assert "#line" not in plain.source and "#line" in add_one.emit(lineinfo=True).source
    assert add_one.emit(watchdog=True).source != plain.source


def test_an_illegal_size_is_refused(add_one):
    with pytest.raises(grout.KernelError, match="inexact-division"):
        add_one.emit(N=100)
