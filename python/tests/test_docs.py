# SPDX-License-Identifier: Apache-2.0
"""The pages on Python and on Pallas: their blocks run, and print what stands below them.

usage: test_docs.py     writes what they print into the pages
"""
import contextlib
import io
import linecache
import pathlib
import re
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = {"python.md": 8, "ptx.md": 1, "pallas.md": 5, "missing_commit_smem_war.md": 3}  # and more blocks than that
OF_JAX = ("pallas.md", "missing_commit_smem_war.md")
FILE = "example.py"  # as places name the lines of a block
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_page(text):
    """The page with what its blocks print, and how many blocks of Python it has."""
    names, printed, counts = {}, "", {"python": 0, "text": 0}

    def run(match):
        nonlocal printed
        counts[match.group(1)] += 1
        if match.group(1) == "text":
            shown, printed = printed, ""
            return f"```text\n{shown}```"
        assert not printed, f"the page does not show what is printed:\n{printed}"
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            linecache.cache[FILE] = (1, None, match.group(2).splitlines(True), FILE)
            exec(compile(match.group(2), FILE, "exec"), names)
        printed = out.getvalue()
        return match.group(0)

    ran = BLOCK.sub(run, text)
    assert not printed, f"the page does not show what is printed:\n{printed}"
    return ran, counts["python"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the pages show columns, which Python has since 3.11")
@pytest.mark.parametrize("page", PAGES)
def test_the_page_runs(page):
    if page in OF_JAX:
        pytest.importorskip("jax")
    text = (DOCS / page).read_text(encoding="utf-8")
    ran, count = run_page(text)
    assert ran == text and count > PAGES[page]


if __name__ == "__main__":
    for name in PAGES:
        (DOCS / name).write_text(run_page((DOCS / name).read_text(encoding="utf-8"))[0], encoding="utf-8")
