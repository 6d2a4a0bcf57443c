#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutated files that the command reads beside kernels: arrays, schedules, lists of suppressions, baselines, the cache.

Each begins as one that grout has written, or takes. Cut files, random bytes, numbers at the edge of a type, words of
other
lines: whatever it is, the call says so, or takes it for what it is. What a cache holds is never believed: the text that
comes out is the one that NVRTC makes. Without NVRTC there are no cases of the cache.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import soak
from calls import RACE
from mutate import draw_words, mutate_bytes, mutate_text

SECONDS, MEGABYTES = 1, 256
LIMITS = ["--timeout", SECONDS, "--max-memory", f"{MEGABYTES}M", "--max-steps", "1000000"]
ADD = """const N = 16
kernel @k(%a: in gmem f32[N, 8], %b: inout gmem f32[N, 8], %c: out gmem bf16[N, 8]) grid(x = N) threads(wg = 1)
{
  %i = axis_index x
  store %b[%i, :], (add (load %a[%i, :]), (load %b[%i, :]))
  store %c[%i, :], (cast (load %a[%i, :]) : bf16)
}
"""
SUPPRESS = """# what is known
missing-commit-smem race.grout:9 the queue is drained elsewhere
smem-race * mended upstream
uninitialised-read race.grout of the first turn
"""
SMALL = "kernel @k(%c: out gmem i32[4])\n{\n  store %c, (broadcast 7 : i32[4])\n}\n"


def make_npy(descr, shape, data, version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    size = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + header.encode() + data


class Originals:
    """Files as grout writes them."""

    def __init__(self, grout, without_cache):
        environment = {**os.environ, "HOME": "/nowhere"}
        for name in ("GROUT_CACHE", "XDG_CACHE_HOME"):
            environment.pop(name, None)
        with tempfile.TemporaryDirectory(prefix="grout-soak-") as folder:
            def call(*words):
                return subprocess.run([grout, *words], cwd=folder, env=environment, check=False, capture_output=True,
                                      timeout=600)
            folder = pathlib.Path(folder)
            (folder / "race.grout").write_text(RACE, encoding="utf-8")
            (folder / "k.grout").write_text(SMALL, encoding="utf-8")
            call("check", "race.grout", "--schedule", "random", "--timing", "random", "--save-schedule", "s")
            self.schedule = (folder / "s").read_text(encoding="utf-8")
            self.baseline = call("check", "race.grout", "--format", "json").stdout.decode()
            self.cache, environment["GROUT_CACHE"] = {}, f"{folder}/cache"
            self.ptx = None if without_cache else call("emit", "k.grout", "--to", "ptx")
            if self.ptx is not None and self.ptx.returncode == 0:
                self.cache = {path.name: path.read_bytes() for path in (folder / "cache").iterdir()}
        self.words = draw_words([self.schedule, self.baseline, SUPPRESS])


def _command(words):
    return soak.Command(words, seconds=SECONDS, memory=MEGABYTES * soak.MEGABYTE)


def play_npy(case, _originals):
    rng = case.random
    case.write("k.grout", ADD)
    descr, size = rng.choice((("<f4", 4), ("<f4", 4), (">f4", 4), ("<f8", 8), ("<V2", 2), ("|i1", 1), ("<i8", 8)))
    rows = rng.choice((16, 16, 16, 1, 0, 300))
    good = make_npy(descr, rng.choice((*[f"({rows}, 8)"] * 8, f"({rows * 8},)", "()", f"({rows}, {1 << 40})")),
                    struct.pack(f"<{rows * 8}f", *range(rows * 8))[:rows * 8 * size].ljust(rows * 8 * size, b"\x01"),
                    rng.choice((1, 2, 3)))
    if rng.randrange(4) == 0:
        head = mutate_text(rng, good[:128].decode("latin-1"), ["'descr'", "True", "(1,", "1e9", "-1", "99999999999"])
        good = head.encode("latin-1", "replace") + good[128:]
    case.write("x.npy", mutate_bytes(rng, good) if rng.randrange(2) else good)
    words = rng.choice((["--input", "a=x.npy"], ["--inout", "b=x.npy:b.npy"],
                        ["--expect-output", "c=x.npy", "--rtol", "0.1"],
                        ["--input", "a=x.npy", "--output", "c=c.npy:f32"]))
    outcome = case.run(_command([rng.choice(("run", "check")), "k.grout", *words, *LIMITS]))
    case.expect_files({"k.grout", "x.npy", "b.npy", "c.npy"})
    return f"npy {outcome.code}"


def play_schedule(case, originals):
    case.write("race.grout", RACE)
    case.write("s", mutate_text(case.random, originals.schedule, originals.words))
    outcome = case.run(_command(["check", "race.grout", "--replay", "s", *LIMITS]))
    return f"schedule {outcome.code}"


def play_rules(case, originals):
    """Suppressions and baselines."""
    rng = case.random
    option, text = rng.choice((("--suppress", SUPPRESS), ("--baseline", originals.baseline)))
    case.write("race.grout", RACE)
    text = mutate_text(rng, text, originals.words)
    case.write("rules", mutate_bytes(rng, text.encode("utf-8", "surrogateescape")) if rng.randrange(3) == 0 else text)
    outcome = case.run(_command(["check", "race.grout", option, "rules", *LIMITS]))
    return f"{option[2:]} {outcome.code}"


def play_cache(case, originals):
    """One entry is there, and wrong: of another version, cut, of other bytes, a folder, a link, a pipe, of a larger
    name."""
    rng = case.random
    case.write("k.grout", SMALL)
    cache = case.folder / "cache"
    cache.mkdir(mode=0o700)
    for other, data in originals.cache.items():
        (cache / other).write_bytes(data)
    name, data = rng.choice(sorted(originals.cache.items()))
    (cache / name).unlink()
    kind = rng.randrange(9)
    if kind == 0:
        (cache / name).mkdir()
    elif kind == 1:
        (cache / name).symlink_to(rng.choice(("nothing", "/etc/passwd", name, "/dev/zero")))
    elif kind == 2:
        os.mkfifo(cache / name)
    elif kind == 3:
        (cache / name).write_bytes(data.replace(b"groutC1", b"groutC0"))
    elif kind == 4:
        (cache / name).write_bytes(data)
        (cache / name).chmod(0)
    else:
        (cache / name).write_bytes(mutate_bytes(rng, data))
    env = {"GROUT_CACHE": str(cache), "GROUT_NVRTC": os.environ.get("GROUT_NVRTC", "")}
    # NVRTC has no budget of ours.
    outcome = case.run(soak.Command(["emit", "k.grout", "--to", "ptx"], seconds=20, memory=1 << 30, env=env))
    if outcome.code != 0 or outcome.out != originals.ptx.stdout:
        raise soak.Fault(f"another text came out of the cache: {outcome.describe()}")
    left = [path.name for path in cache.iterdir() if path.name not in originals.cache]
    if left:
        raise soak.Fault(f"left in the cache: {', '.join(left)}")
    shutil.rmtree(cache, ignore_errors=True)
    return "cache"


def main():
    parser = soak.make_parser("files", __doc__, 4000)
    parser.add_argument("--without-cache", action="store_true", help="no calls of NVRTC")
    options = parser.parse_args()
    originals = Originals(options.grout.resolve(), options.without_cache)
    plays = [(play_npy, 30), (play_schedule, 15), (play_rules, 15), (play_cache, 2 if originals.cache else 0)]

    def play(case):
        chosen = case.random.choices([play for play, _ in plays], [weight for _, weight in plays])[0]
        return chosen(case, originals)
    return soak.run(options, play)


if __name__ == "__main__":
    sys.exit(main())
