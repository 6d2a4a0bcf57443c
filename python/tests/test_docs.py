# SPDX-License-Identifier: Apache-2.0
"""The page on Python: its blocks run, and print what stands below them.

usage: test_docs.py     writes what they print into the page
"""
import contextlib
import io
import linecache
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
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


def test_the_page_runs():
    text = PAGE.read_text(encoding="utf-8")
    ran, count = run_page(text)
    assert ran == text and count > 8


if __name__ == "__main__":
    PAGE.write_text(run_page(PAGE.read_text(encoding="utf-8"))[0], encoding="utf-8")
