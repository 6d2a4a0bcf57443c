"""Runs JAX' test files in children under pytest, with plugin.py: a case that takes too long is ended with its child,
and the rest goes on in another one.

SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
COMMIT = "cec06d116c05f0d52adfceee3d3b730fdbcb0ce5"  # the newest of JAX that was tried
ADDRESS = "https://raw.githubusercontent.com/jax-ml/jax/{commit}/tests/pallas/{file}"
CASE_SECONDS = 300
FILE_SECONDS = 3600


def fetch(folder, files):
    """Brings the files into the folder."""
    os.makedirs(folder, exist_ok=True)
    for file in files:
        address = ADDRESS.format(commit=COMMIT, file=file)
        with urllib.request.urlopen(address, timeout=60) as answer, open(os.path.join(folder, file), "wb") as out:
            out.write(answer.read())


def read_results(path):
    """The lines that a child has written: one a case, and one when a case begins."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def run_file(folder, file, mode, only, gpu="", jobs=1, part="0/1", known=()):
    """Results by case of one file in one of the modes, in this many children at once. gpu: what devices say they are.
    part: K/N, of the cases each N-th from the K-th on. known: cases that are not run."""
    first, count = map(int, part.split("/"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool, \
            tempfile.NamedTemporaryFile("w", suffix=".json") as left_out:
        json.dump(sorted(known), left_out)
        left_out.flush()
        parts = pool.map(lambda number: _run_shard(folder, file, mode, only, gpu,
                                                   f"{first + number * count}/{jobs * count}", left_out.name),
                                                   range(jobs))
        return {case: line for part in parts for case, line in part.items()}


def _run_shard(folder, file, mode, only, gpu, shard, left_out):
    with tempfile.TemporaryDirectory(prefix="grout-compat-") as scratch:
        path = os.path.join(scratch, "results")
        while True:
            before = len(read_results(path))
            env = {**os.environ, "JAX_PLATFORMS": "cpu", "COMPAT_RESULTS": path, "COMPAT_MODE": mode,
                   "COMPAT_SECONDS": str(CASE_SECONDS), "COMPAT_ONLY": only, "COMPAT_GPU": gpu, "COMPAT_SHARD": shard,
                   "COMPAT_KNOWN": left_out,
                   "PYTHONPATH": os.pathsep.join([HERE, *filter(None, [os.environ.get("PYTHONPATH")])])}
            done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "plugin", "-p", "no:cacheprovider",
                                   file],
                                  cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=FILE_SECONDS, check=False)
            results = read_results(path)
            begun = [line["case"] for line in results if "outcome" not in line]
            ended = {line["case"]: line for line in results if "outcome" in line}
            lost = [case for case in begun if case not in ended]
            if not lost:
                if done.returncode not in (0, 1, 5):
                    raise RuntimeError(f"{file}: pytest ended with {done.returncode}\n{done.stdout[-3000:]}")
                return ended
            with open(path, "a", encoding="utf-8") as out:
                for case in lost:
                    out.write(json.dumps({"case": case, "outcome": "failed", "seconds": CASE_SECONDS, "reports": [],
                                          "message": f"the process ended: {done.stdout[-1500:]}"}) + "\n")
            if len(results) == before:
                raise RuntimeError(f"{file}: no case begins\n{done.stdout[-3000:]}")
