# SPDX-License-Identifier: Apache-2.0
"""Tests of grout.pallas run each kernel twice (pallas_twins.py), and note which rules were used."""
import pytest


@pytest.fixture(autouse=True)
def note_pallas(request):
    """Each kernel twice."""
    import pallas_twins
    pallas_twins.install_once()
    pallas_twins.files.update(item.path.name for item in request.session.items
                              if item.path.name.startswith("test_pallas_"))
    yield


def pytest_collection_modifyitems(items):
    """What counts the others comes last."""
    items.sort(key=lambda item: item.name == "test_every_rule_is_tried")
