# SPDX-License-Identifier: Apache-2.0
"""What the package says of itself and of JAX: names, metadata, warnings and pages agree with the one list."""
import importlib.metadata
import pathlib
import re
import subprocess
import sys

import pytest

import grout
from grout import _tested

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Pages, and how many sentences each has that name what is tested.
PAGES = {"docs/pallas.md": 1, "docs/python.md": 1, "python/README.md": 1}


def read_metadata():
    """The metadata of the distribution that grout was imported from."""
    try:
        found = importlib.metadata.distribution("grout-gpu")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("grout-gpu is not installed: the package runs from its sources")
    if pathlib.Path(found.locate_file("grout/__init__.py")).resolve() != pathlib.Path(grout.__file__).resolve():
        pytest.skip("another grout-gpu is installed beside the sources")
    return found


def read_numbers(version):
    return tuple(map(int, version.split(".")))


def test_the_list():
    releases = list(_tested.JAX)
    assert releases == sorted(releases, key=read_numbers), "oldest first"
    assert len({read_numbers(release)[:2] for release in releases}) == len(releases), "one release of each series"
    pythons = list(map(read_numbers, _tested.JAX.values()))
    assert pythons == sorted(pythons), "a newer JAX wants no older Python"


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_what_is_tested(page):
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert len(re.findall(rf"tested with JAX {re.escape(_tested.name_all())}\b(?!\.\d)", text)) == PAGES[page]
    assert len(re.findall(r"tested with JAX \d|tried with JAX \d",
                          text)) == PAGES[page], "a sentence has other versions"


def test_the_distribution():
    found = read_metadata()
    assert (found.metadata["Name"], found.version) == ("grout-gpu", grout.__version__)
    assert f"tested with JAX {_tested.name_all()}" in " ".join(found.read_text("METADATA").split())


def test_a_later_jax_may_be_installed():
    """pallas has no upper bound; pallas-tested pins one tested release for each Python, and the newest for the
    newest."""
    requirements = read_metadata().requires
    wanted = [text for text in requirements if re.match(r"jax\b", text)]
    loose = [text for text in wanted if re.search(r"""extra == ["']pallas["']""", text)]
    pinned = [text for text in wanted if re.search(r"""extra == ["']pallas-tested["']""", text)]
    assert len(loose) == 1 and re.match(r"jax>=\d+\.\d+ *;", loose[0]), wanted
    assert {re.match(r"jax==([\d.]+)", text).group(1) for text in pinned} <= set(_tested.JAX)
    assert len(pinned) == len(set(_tested.JAX.values())) and \
            f"jax=={list(_tested.JAX)[-1]};" in pinned[-1].replace(" ", "")


def test_warnings_name_what_is_tested():
    """What is tested is silent, a later series warns and is tried, an earlier one is refused: each names the list."""
    jax = pytest.importorskip("jax")
    script = ("import sys, warnings\nimport jax\njax.__version__ = sys.argv[1]\n"
              "with warnings.catch_warnings(record=True) as caught:\n    warnings.simplefilter('always')\n"
              "    import grout.pallas\n"
              "print(*[entry.message for entry in caught if 'grout.pallas' in str(entry.message)])")

    def say(version):
        return subprocess.run([sys.executable, "-c", script, version], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)

    tested = next(iter(reversed(_tested.JAX)))
    assert say(tested).stdout.strip() == "", jax.__version__
    later = say("0.99.0")
    assert later.returncode == 0 and "0.99.0" in later.stdout and _tested.name_all() in later.stdout
    earlier = say("0.4.1")
    assert earlier.returncode != 0 and "too old" in earlier.stdout and _tested.name_all() in earlier.stdout
