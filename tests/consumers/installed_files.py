"""Looks at an installed grout: the command works there, its manual, completions and texts are beside it.

usage: installed_files.py PREFIX
"""
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"\]\(([^)#\s]+)")
# Folders of the source tree whose files are installed beside each other.
TEXTS = ("docs/", "kernels/")
COMPLETIONS = {"bash": "bash-completion/completions/grout", "zsh": "zsh/site-functions/_grout",
               "fish": "fish/vendor_completions.d/grout.fish"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def list_tree(folder, *endings):
    return sorted(os.path.relpath(path, folder) for path in glob.glob(f"{folder}/**", recursive=True)
                  if os.path.isfile(path) and path.endswith(endings or ("",)))


def check_command(prefix, run):
    """The command finds its library, and checks an installed kernel."""
    assert run("--version").startswith("grout "), run("--version")
    said = run("check", f"{prefix}/share/grout/kernels/add_one.grout")
    assert ": clean" in said, said


def check_manual(share, run):
    [commands] = re.findall(r"(?:^  \w+ .*\n)+^\n", run("help"), re.M)
    names = ["", *re.findall(r"^  (\w+) ", commands, re.M)]
    assert len(names) > 5, names
    for name in names:
        page = read(f"{share}/man/man1/grout{'-' if name else ''}{name}.1")
        assert page == run("help", "--man", *name.split()), f"the page of '{name}' is not what grout prints"
    for shell, path in COMPLETIONS.items():
        assert read(f"{share}/{path}") == run("help", "--completion", shell), f"{path} is not what grout prints"


def check_texts(share):
    """Documentation, kernels and the files of editors are those of the source tree, and links between them lead on."""
    for source, target in (("docs", "doc/grout/docs"), ("kernels", "grout/kernels"), ("editors", "grout/editors")):
        wanted, got = list_tree(f"{ROOT}/{source}"), list_tree(f"{share}/{target}")
        assert wanted == got and len(got) > 5, f"{target}: {set(wanted) ^ set(got)}"
        for name in wanted:
            with open(f"{ROOT}/{source}/{name}", "rb") as a, open(f"{share}/{target}/{name}", "rb") as b:
                assert a.read() == b.read(), f"{target}/{name} is another file"
    count = 0
    doc = f"{share}/doc/grout"
    for page in list_tree(doc, ".md"):
        for link in LINK.findall(read(f"{doc}/{page}")):
            path = os.path.normpath(os.path.join(os.path.dirname(page), link))
            if path.startswith(TEXTS) and "://" not in link:
                assert os.path.exists(f"{doc}/{path}"), f"{page}: '{link}' leads nowhere"
                count += 1
    assert count > 50, count


def main():
    prefix = os.path.abspath(sys.argv[1])

    def run(*words):
        done = subprocess.run([f"{prefix}/bin/grout", *words], capture_output=True, text=True, timeout=SECONDS,
                              check=False)
        assert done.returncode == 0, f"grout {' '.join(words)}: exit code {done.returncode}: {done.stderr}"
        return done.stdout

    check_command(prefix, run)
    check_manual(f"{prefix}/share", run)
    check_texts(f"{prefix}/share")


main()
