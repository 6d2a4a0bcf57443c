"""Runs clang-tidy over a compile database: on every core, and only on what changed since it was clean.

usage: lint_tidy.py [--deep] BUILD_FOLDER [FILE...]

The static analyser leaves out tests, benchmarks and tools, looks into the calls of small functions alone, and follows
the paths of a function through 2,000 states; with --deep it does as by itself: every file, calls of large functions
too, and 225,000 states, which takes many times as long.

A file that passed is remembered under a hash of its text and of all that it includes from the tree, of its command,
its .clang-tidy files and the version of clang-tidy. Files in the build folder are left out.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(ROOT, "build", "tidy")
SHALLOW = [f"--extra-arg={word}" for setting in ("mode=shallow", "max-nodes=2000")
           for word in ("-Xclang", "-analyzer-config", "-Xclang", setting)]
NO_ANALYSER = ["--checks=-clang-analyzer-*"]
NOT_ANALYSED = ("tests", "bench", "tools")
CORES = len(os.sched_getaffinity(0))
BATCH = 8  # files of a process


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def configuration_of(path):
    """The contents of every .clang-tidy from the file's folder up to the root."""
    folder = os.path.dirname(path)
    contents = []
    while folder.startswith(ROOT):
        candidate = os.path.join(folder, ".clang-tidy")
        if os.path.exists(candidate):
            contents.append(read_bytes(candidate))
        folder = os.path.dirname(folder)
    return b"\0".join(contents)


INCLUDED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]+(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)


@functools.cache
def read_included(path):
    """The hash of a file of the tree, and (text, is_quoted) of each include in it, or None where there is no file."""
    if not path.startswith(ROOT + os.sep) or not os.path.isfile(path):
        return None
    text = read_bytes(path)
    includes = [(os.fsdecode(quoted or pointed), bool(quoted)) for quoted, pointed in INCLUDED.findall(text)]
    return hashlib.sha256(text).digest(), includes


def find_included(path, folders, found):
    """Adds each file of the tree that it may include, with those that they may include, to 'found'."""
    for name, is_quoted in read_included(path)[1]:
        for folder in [os.path.dirname(path)] * is_quoted + folders:
            candidate = os.path.normpath(os.path.join(folder, name))
            if read_included(candidate) is not None:
                if candidate not in found:
                    found.add(candidate)
                    find_included(candidate, folders, found)
                break


def texts_of(path, words):
    """The hashes of the file and of all that it may include from the tree."""
    folders = [os.path.normpath(word[2:]) for word in words if word.startswith("-I")]
    found = {path}
    find_included(path, folders, found)
    return b"".join(read_included(name)[0] for name in sorted(found))


def check(folder, paths, limits):
    """clang-tidy over files of one kind, in one process: its start takes as long as a small file."""
    command = ["clang-tidy", "--quiet", "-p", folder, *limits, *paths]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)


def get_limits(path, is_deep):
    """The static analyser takes more than half of the time, and what is installed is worth it."""
    if is_deep:
        return []
    return SHALLOW if os.path.relpath(path, ROOT).split(os.sep)[0] not in NOT_ANALYSED else NO_ANALYSER


def find_stamp(path, entry, version, limits):
    """The file that says that this text is clean."""
    words = entry.get("arguments") or shlex.split(entry["command"])
    parts = [version, " ".join([*limits, *words]).encode(), configuration_of(path), texts_of(path, words)]
    return os.path.join(CACHE, hashlib.sha256(b"\0".join(parts)).hexdigest())


def split(paths, is_deep):
    """Batches of files with the same limits. The last ones are small, so that no core ends with one alone."""
    kinds = {}
    for path in paths:
        kinds.setdefault(tuple(get_limits(path, is_deep)), []).append(path)
    for limits, files in kinds.items():
        while files:
            count = max(1, min(BATCH, len(files) // (2 * CORES)))
            yield limits, files[:count]
            del files[:count]


def tidy(folder, limits, paths, stamps):
    """Returns (path, output) of each file that is not clean."""
    if check(folder, paths, limits).returncode == 0:
        found = []
    else:
        results = [(path, check(folder, [path], limits)) for path in paths]
        found = [(path, done.stdout + done.stderr) for path, done in results if done.returncode != 0]
    for path in set(paths) - {path for path, _ in found}:
        with open(stamps[path], "w", encoding="utf-8"):
            pass
    return found


def forget_old(days):
    limit = time.time() - days * 86400
    for name in os.listdir(CACHE):
        stamp = os.path.join(CACHE, name)
        if os.path.getmtime(stamp) < limit:
            os.remove(stamp)


def choose(build, wanted):
    """The entry of each file. It would look twice at a file that two targets compile, and the second time
    find a va_list that is none (clang-tidy 14)."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    chosen = {}
    for entry in entries:
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        if path.endswith(".c") and not path.startswith(build + os.sep) and (not wanted or path in wanted):
            chosen.setdefault(path, entry)
    return chosen


def find_changed(chosen, version, is_deep):
    """Returns {path: stamp} of the files that have none yet."""
    stamps = {}
    for path, entry in chosen.items():
        stamp = find_stamp(path, entry, version, get_limits(path, is_deep))
        if os.path.exists(stamp):
            os.utime(stamp)
        else:
            stamps[path] = stamp
    return stamps


def main():
    arguments = [word for word in sys.argv[1:] if word != "--deep"]
    is_deep = len(arguments) < len(sys.argv) - 1
    if not arguments:
        sys.exit(__doc__)
    chosen = choose(os.path.abspath(arguments[0]), {os.path.abspath(path) for path in arguments[1:]})
    os.makedirs(CACHE, exist_ok=True)
    forget_old(14)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    start = time.time()
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool, \
            tempfile.TemporaryDirectory(prefix="grout-tidy-") as folder:
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(list(chosen.values()), file)
        stamps, found = find_changed(chosen, version, is_deep), []
        order = sorted(stamps, key=os.path.getsize, reverse=True)
        work = [pool.submit(tidy, folder, limits, paths, stamps) for limits, paths in split(order, is_deep)]
        for done in work:
            found += done.result()
    for path, output in found:
        print(f"lint_tidy: {os.path.relpath(path, ROOT)}\n{output.strip()}")
    print(f"lint_tidy: {len(chosen)} files ({len(chosen) - len(stamps)} unchanged), {len(found)} with faults, "
          f"{time.time() - start:.0f} s")
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
