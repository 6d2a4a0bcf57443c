# SPDX-License-Identifier: Apache-2.0
"""The releases of JAX that grout is tested with: the one list, for warnings, CI, the wheel's metadata and the docs.

It imports nothing: setup.py and the scripts under tests/python read it without the package. CI runs the first and the
last one; tests/python/every_series.py says when PyPI has a newer one.
"""

# The newest release of each series that all tests have run with, oldest first: the oldest Python that it runs on.
JAX = {"0.10.2": "3.11", "0.11.2": "3.12", "0.12.0.1": "3.12"}


def name_all() -> str:
    """'A, B and C'."""
    *others, newest = JAX
    return f"{', '.join(others)} and {newest}"
