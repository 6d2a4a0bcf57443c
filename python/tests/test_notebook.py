# SPDX-License-Identifier: Apache-2.0
"""The notebook: its cells run, and show what is stored in it.

usage: test_notebook.py     writes what they show into the notebook
"""
import ast
import contextlib
import io
import json
import pathlib

PATH = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.ipynb"


def split(text):
    return text.splitlines(keepends=True)


def run_cell(source, names):
    """Its outputs, as Jupyter stores them: what is printed, and the value of a last expression."""
    tree, value, out = ast.parse(source), None, io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, PATH.name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), PATH.name, "eval"), names)
    outputs = []
    if out.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": split(out.getvalue())})
    if value is not None:
        data = {"text/plain": split(str(value) if hasattr(value, "_repr_pretty_") else repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = split(value._repr_html_())
        outputs.append({"data": dict(sorted(data.items())), "execution_count": None, "metadata": {},
                        "output_type": "execute_result"})
    return outputs


def run_notebook(notebook):
    """The notebook with what its cells show."""
    names = {}
    cells = [{**cell, "outputs": run_cell("".join(cell["source"]), names)} if cell["cell_type"] == "code" else cell
             for cell in notebook["cells"]]
    return {**notebook, "cells": cells}


def test_the_notebook_runs():
    notebook = json.loads(PATH.read_text(encoding="utf-8"))
    assert run_notebook(notebook) == notebook
    assert sum(bool(cell.get("outputs")) for cell in notebook["cells"]) >= 4


if __name__ == "__main__":
    ran = run_notebook(json.loads(PATH.read_text(encoding="utf-8")))
    PATH.write_text(json.dumps(ran, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
