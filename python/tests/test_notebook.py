# SPDX-License-Identifier: Apache-2.0
"""The notebooks: their cells run, and show what is stored in them.

A notebook beside a script of its name has that script's cells, which are those of '# %%'. Where a cell of the script
ends in '.show()', which prints, that of the notebook ends in the value, which Jupyter shows in colours.

usage: test_notebook.py     makes the cells from the scripts, and writes what they show into the notebooks
"""
import ast
import contextlib
import io
import json
import os
import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
NOTEBOOKS = sorted(path.name for path in DOCS.glob("*.ipynb"))
SCRIPTS = [name for name in NOTEBOOKS if (DOCS / name).with_suffix(".py").is_file()]
BUILDING = "debugging_a_matmul"
CELL = re.compile(r"^# %%(.*)\n", re.MULTILINE)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OF_THE_COMMAND = ("see it again:", "try repairs:", "  to reach more:")


def split(text):
    return text.splitlines(keepends=True)


def make_cell(kind, text):
    text = text.strip("\n")
    if kind == "markdown":
        return {"cell_type": kind, "metadata": {}, "source": split(re.sub("^# ?", "", text, flags=re.MULTILINE))}
    return {"cell_type": kind, "execution_count": None, "metadata": {}, "outputs": [],
            "source": split(re.sub(r"\.show\(\)\Z", "", text))}


def read_script(path):
    """The cells of a script, without what they show."""
    _, *parts = CELL.split(path.read_text(encoding="utf-8"))
    return [make_cell("markdown" if "[markdown]" in head else "code", text)
            for head, text in zip(parts[::2], parts[1::2])]


def run_cell(source, names, file):
    """Its outputs, as Jupyter stores them: what is printed, and the value of a last expression."""
    tree, value, out = ast.parse(source), None, io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, file, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), file, "eval"), names)
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


def run_notebook(notebook, file):
    """The notebook with what its cells show."""
    names, folder = {}, os.getcwd()
    os.chdir(DOCS)  # where Jupyter starts
    try:
        cells = [{**cell, "outputs": run_cell("".join(cell["source"]), names, file)}
                 if cell["cell_type"] == "code" else cell for cell in notebook["cells"]]
    finally:
        os.chdir(folder)
    return {**notebook, "cells": cells}


def read(name):
    return json.loads((DOCS / name).read_text(encoding="utf-8"))


def get_reports(page):
    """The reports of 'grout check' that a page shows, without the lines that name a command."""
    for block in CONSOLE.findall(page):
        for call in re.split(r"^\$ ", block, flags=re.MULTILINE):
            command, _, shown = call.partition("\n")
            if command.startswith("grout check"):
                lines = [line for line in shown.splitlines() if not line.startswith(OF_THE_COMMAND)]
                yield re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace("(-D)", "(given)").strip()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name):
    notebook = read(name)
    assert run_notebook(notebook, name) == notebook
    assert sum(bool(cell.get("outputs")) for cell in notebook["cells"]) >= 4


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_notebook_has_the_cells_of_its_script(name):
    cells = [{**cell, "outputs": []} if "outputs" in cell else cell for cell in read(name)["cells"]]
    assert cells == read_script((DOCS / name).with_suffix(".py"))


def test_python_reports_what_the_command_does():
    """Each report of the page on the command is that of a cell."""
    shown = ["".join(output["data"]["text/plain"]).strip() for cell in read(f"{BUILDING}.ipynb")["cells"]
             for output in cell.get("outputs", ()) if "data" in output]
    wanted = list(get_reports((DOCS / f"{BUILDING}.md").read_text(encoding="utf-8")))
    assert len(wanted) == 10
    assert [report for report in wanted if report not in shown] == []


def test_the_script_prints_what_the_notebook_shows():
    names, out = {"__name__": "__main__"}, io.StringIO()
    folder = os.getcwd()
    path = DOCS / f"{BUILDING}.py"
    os.chdir(DOCS)
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(path.read_text(encoding="utf-8"), path.name, "exec"), names)
    finally:
        os.chdir(folder)
    wanted = ["".join(output.get("text") or output["data"]["text/plain"]).strip()
              for cell in read(f"{BUILDING}.ipynb")["cells"] for output in cell.get("outputs", ())]
    assert out.getvalue().split() == "\n".join(wanted).split()


def write(name):
    path, notebook = DOCS / name, read(name)
    if name in SCRIPTS:
        notebook["cells"] = read_script(path.with_suffix(".py"))
    path.write_text(json.dumps(run_notebook(notebook, name), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in NOTEBOOKS:
        write(each)
