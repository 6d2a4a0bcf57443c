"""Compares what two builds of grout say about every kernel of the tree, byte for byte.

usage: compare_builds.py OLD NEW [--cubin] [--jobs 2] [PATH...]

OLD and NEW are grout commands; PATH are .grout files or folders (the whole tree by default). For
every file both run: check as text, check as JSON under another schedule and timing, check with advice,
as SARIF, as annotations of GitHub, as a page, and emit; --cubin compares the assembled kernels too. Each difference is
listed with the first line that differs, and the exit code is 1 if there is one.
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import families

LIMIT_SECONDS = 1800
RUNS = (
    ("check",),
    ("check", "--format", "json", "--schedule", "random", "--timing", "random", "--seed", "3"),
    ("check", "--timing", "eager", "--advice"),
    ("check", "--format", "sarif"),
    ("check", "--format", "github"),
    ("check", "--html", "/dev/stdout"),
    ("emit", "--to", "cuda"),
    ("emit", "--to", "host"),
    ("emit", "-o", "/dev/null", "--manifest", "/dev/stdout"),
    ("fmt",),
)


def run(grout, words, kernel):
    """Exit code and what it printed. A kernel's own RUN options do not matter here."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GROUT_", "COLUMNS"))}
    done = subprocess.run([grout, *words, kernel], stdin=subprocess.DEVNULL, capture_output=True,
                          env=environment, cwd=ROOT, timeout=LIMIT_SECONDS, check=False)
    return done.returncode, done.stdout, done.stderr


def assemble(grout, kernel):
    with tempfile.TemporaryDirectory(prefix="grout-compare-") as folder:
        cubin = os.path.join(folder, "kernel.cubin")
        words = ("emit", "--to", "cubin", "--no-cache", "-o", cubin)
        code, stdout, stderr = run(grout, words, kernel)
        data = b""
        if os.path.exists(cubin):
            with open(cubin, "rb") as file:
                data = file.read()
        return code, stdout.replace(folder.encode(), b""), stderr.replace(folder.encode(), b""), data


def describe(old, new):
    """Where two results differ first."""
    names = ("exit code", "stdout", "stderr", "cubin")
    for name, a, b in zip(names, old, new):
        if a == b:
            continue
        if name == "exit code":
            return f"{name} {a} -> {b}"
        if name == "cubin":
            return f"{name}: {len(a)} bytes -> {len(b)} bytes"
        for one, other in zip(a.split(b"\n") + [b""], b.split(b"\n") + [b""]):
            if one != other:
                return f"{name}:\n    - {one.decode(errors='replace')}\n    + {other.decode(errors='replace')}"
    return "length"


def compare(old, new, kernel, cubin):
    differences = []
    for words in RUNS:
        a, b = run(old, words, kernel), run(new, words, kernel)
        if b"[bad-option]" in a[2] and b"--kernel" not in a[2]:
            sys.exit(f"compare_builds: {old} does not know the options of 'grout {' '.join(words)}'")
        if a != b:
            differences.append(f"{kernel}: grout {' '.join(words)}: {describe(a, b)}")
    if cubin:
        a, b = assemble(old, kernel), assemble(new, kernel)
        if a != b:
            differences.append(f"{kernel}: grout emit --to cubin: {describe(a, b)}")
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old", type=os.path.abspath)
    parser.add_argument("new", type=os.path.abspath)
    parser.add_argument("--cubin", action="store_true", help="assemble the kernels too (needs NVRTC)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("paths", nargs="*", default=[ROOT])
    args = parser.parse_intermixed_args()
    count = 0
    with tempfile.TemporaryDirectory(prefix="grout-compare-") as folder, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        paths = [os.path.abspath(path) for path in args.paths]
        kernels = [os.path.relpath(path, ROOT) for path in families.find_kernels(paths, folder)]
        for differences in pool.map(lambda kernel: compare(args.old, args.new, kernel, args.cubin), kernels):
            for difference in differences:
                print(difference, flush=True)
                count += 1
    print(f"compare_builds: {len(kernels)} kernels, {len(RUNS) + args.cubin} runs each, {count} differences")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
