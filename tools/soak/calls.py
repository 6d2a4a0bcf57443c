# SPDX-License-Identifier: Apache-2.0
"""Calls of the command that write files, and what these files may be afterwards: for signals.py and kills.py.

Every output is either as it was before the call, or whole. Nothing else is in the folder.
"""
import ast
import json
import re
import shutil

import soak

# A kernel that works for seconds unless it is ended, with an output of some size.
LONG = """const X = 64, N = 16384, REPEAT = 400
kernel @k(%a: in gmem f32[X, N], %c: out gmem f32[X, N]) grid(x = X) threads(wg = 1)
{
  %i = axis_index x
  for %r in 0..REPEAT {
    store %c[%i, ds(0, 128)], (add (load %c[%i, ds(0, 128)]), 1.0)
  }
  for %b in 0..N / 128 {
    store %c[%i, ds(%b * 128, 128)], (add (load %a[%i, ds(%b * 128, 128)]), 1.0)
  }
}
"""
RACE = """kernel @add_one(%x: in gmem f32[256], %y: out gmem f32[256]) grid(x = 2)
{
  scratch %xs : smem f32[128]
  scratch %full : barrier[1]
  %first = mul (axis_index x), 128
  copy_gmem_to_smem %x[ds(%first, 128)], %xs, %full[0]
  barrier_wait %full[0]
  store %xs, (add (load %xs), 1.0)
  copy_smem_to_gmem %xs, %y[ds(%first, 128)]
  wait_smem_to_gmem 0
}
"""


class Call:
    """Words, the files that they write, and the seconds after which it is surely over."""

    def __init__(self, words, outputs, seconds=30):
        self.words, self.outputs, self.seconds = words, outputs, seconds


def draw_call(case):
    """One call; its inputs are written."""
    rng = case.random
    kernel = str(soak.ROOT / "kernels" / rng.choice(("add_tma.grout", "matmul_hopper_ws.grout", "softmax.grout",
                                                     "attention_hopper.grout")))
    case.write("long.grout", LONG)
    case.write("race.grout", RACE)
    shutil.copy(kernel, case.folder / "k.grout")
    repeat = rng.choice((1, 3, 400, 100000))
    long = ["-D", f"REPEAT={repeat}"]
    calls = (
        Call(["run", "long.grout", *long, "--output", "c=c.npy"], ["c.npy"]),
        Call(["check", "long.grout", *long, "--output", "c=c.npy", "--html", "page.html", "--threads",
              rng.choice((1, 3))],
             ["c.npy", "page.html"]),
        Call(["check", "long.grout", *long, "--format", rng.choice(("json", "sarif"))], []),
        Call(["check", "race.grout", "--html", "page.html", "--save-schedule", "s.schedule"],
             ["page.html", "s.schedule"]),
        Call(["check", "race.grout", "--explore", "--minimise", "--html", "page.html"], ["page.html"]),
        Call(["check", "long.grout", *long, "--html", "page.html", "--watch"], ["page.html"]),
        Call(["fix", "race.grout", "--yes"], ["race.grout"]),
        Call(["fix", "k.grout", "--yes"], ["k.grout"]),
        Call(["emit", "k.grout", "-o", "k.cu", "--manifest", "k.json"], ["k.cu", "k.json"]),
        Call(["emit", "k.grout"], []),
        Call(["fmt", "-i", "k.grout", "race.grout", "long.grout"], ["k.grout", "race.grout", "long.grout"]),
        Call(["check", "k.grout", "--html", "page.html", "--advice"], ["page.html"]),
        Call(["help", "--man"], []),
    )
    return rng.choice(calls)


def put_old_files(case, call):
    """Half of the outputs are there before. Returns what they hold."""
    for name in call.outputs:
        if case.random.randrange(2) and not (case.folder / name).exists():
            case.write(name, f"the old {name}\n" * case.random.choice((1, 1000, 100000)))
    return {path.name: path.read_bytes() for path in case.folder.iterdir()}


def _is_npy(data):
    if not data.startswith(b"\x93NUMPY\x01\x00"):
        return False
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + size].decode())
    count = 1
    for dim in header["shape"]:
        count *= dim
    return len(data) == 10 + size + count * int(re.search(r"\d+$", header["descr"]).group())


def _is_json(data):
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


WHOLE = {".npy": _is_npy, ".html": lambda data: data.rstrip().endswith(b"</html>"), ".json": _is_json,
         ".cu": lambda data: data.endswith(b"}\n"), ".schedule": lambda data: data.endswith(b"\n"),
         ".grout": lambda data: data.endswith(b"}\n") and b"kernel @" in data}


def look_at_files(case, call, old):
    """Each output is the old one or a whole one; the other files are as they were."""
    case.expect_files({*old, *call.outputs})
    for path in case.folder.iterdir():
        data = path.read_bytes()
        if data == old.get(path.name):
            continue
        if path.name not in call.outputs:
            raise soak.Fault(f"{path.name} is another one")
        if not WHOLE[path.suffix](data):
            raise soak.Fault(f"{path.name} is torn: {len(data)} bytes")
    lost = [name for name in old if not (case.folder / name).exists()]
    if lost:
        raise soak.Fault(f"gone: {', '.join(lost)}")
