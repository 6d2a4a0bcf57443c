"""Runs clang-tidy over a compile database: on every core, and only on what changed since it was clean.

usage: lint_tidy.py [--deep] BUILD_FOLDER [FILE...]

The static analyser looks into the calls of small functions alone, and follows the paths of a function through
6,000 states; with --deep it does as by itself: calls of large functions too, and 225,000 states, which takes many
times as long.

A file that passed is remembered under a hash of its preprocessed text (with comments, so that headers
and NOLINT count), its .clang-tidy files and the version of clang-tidy. Files in the build folder are
left out.
"""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(ROOT, "build", "tidy")
SHALLOW = [f"--extra-arg={word}" for setting in ("mode=shallow", "max-nodes=6000")
           for word in ("-Xclang", "-analyzer-config", "-Xclang", setting)]


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


def preprocess(entry):
    words = entry.get("arguments") or shlex.split(entry["command"])
    command = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skip = True
        elif word not in ("-c", "-MD", "-MMD"):
            command.append(word)
    # -CC keeps the comments of macros too, and then refuses some between a macro's parameters
    # (libxsmm_macros.h has such): without those where it does.
    done = subprocess.run(command + ["-E", "-CC"], cwd=entry["directory"], capture_output=True, check=False)
    if done.returncode == 0:
        return done
    return subprocess.run(command + ["-E", "-C"], cwd=entry["directory"], capture_output=True, check=False)


def check(entry, path, limits):
    """clang-tidy with this entry alone: of a file that two targets compile it would look at both, and
    the second time find a va_list that is none (clang-tidy 14)."""
    with tempfile.TemporaryDirectory(prefix="grout-tidy-") as folder:
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump([entry], file)
        command = ["clang-tidy", "--quiet", "-p", folder, *limits, path]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)


def tidy(entry, version, limits):
    """Returns (path, whether it is clean, whether that was remembered, output)."""
    path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
    preprocessed = preprocess(entry)
    if preprocessed.returncode != 0:
        return path, False, False, preprocessed.stderr.decode(errors="replace")
    parts = [version, " ".join(limits).encode(), configuration_of(path), preprocessed.stdout]
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()
    stamp = os.path.join(CACHE, key)
    if os.path.exists(stamp):
        os.utime(stamp)
        return path, True, True, ""
    done = check(entry, path, limits)
    if done.returncode == 0:
        with open(stamp, "w", encoding="utf-8"):
            pass
        return path, True, False, ""
    return path, False, False, done.stdout + done.stderr


def forget_old(days):
    limit = time.time() - days * 86400
    for name in os.listdir(CACHE):
        stamp = os.path.join(CACHE, name)
        if os.path.getmtime(stamp) < limit:
            os.remove(stamp)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--deep"]
    limits = SHALLOW if len(arguments) == len(sys.argv) - 1 else []
    if not arguments:
        sys.exit(__doc__)
    build = os.path.abspath(arguments[0])
    wanted = {os.path.abspath(path) for path in arguments[1:]}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    chosen = {}
    for entry in entries:
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        if path.endswith(".c") and not path.startswith(build + os.sep) and (not wanted or path in wanted):
            chosen.setdefault(path, entry)
    os.makedirs(CACHE, exist_ok=True)
    forget_old(14)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    # The largest first, so that no core ends with it alone.
    order = sorted(chosen, key=os.path.getsize, reverse=True)
    start = time.time()
    faults = remembered = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for path, clean, known, output in pool.map(lambda p: tidy(chosen[p], version, limits), order):
            remembered += known
            if not clean:
                faults += 1
                print(f"lint_tidy: {os.path.relpath(path, ROOT)}\n{output.strip()}")
    print(f"lint_tidy: {len(order)} files ({remembered} unchanged), {faults} with faults, {time.time() - start:.0f} s")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
