"""Tests of results from outside: arrays against files, and who wrote what differs.

usage: run_results.py --grout PATH [TEST...]     every test by default
"""
import json
import os
import struct
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run_cli
import run_verdicts as verdicts
from run_verdicts import expect, run, write

# Four CTAs of two threads, each of which writes eight elements.
TILES = """const N = 64
const B = 16
kernel @k(%x: in gmem f32[N] init(arange), %y: out gmem f32[N]) grid(b = N / B) threads(wg = 2) {
  %at = add (mul (axis_index b), B), (mul (axis_index wg), B / 2)
  store %y[ds(%at, B / 2)], (add (load %x[ds(%at, B / 2)]), 1)
}
"""
# Who writes %y last depends on when the copy lands.
LATE = """kernel @k(%y: out gmem f32[64]) {
  scratch %s : smem f32[64]
  store %s, (broadcast 1.0 : f32[64])
  commit_smem
  copy_smem_to_gmem %s, %y
  store %y, (broadcast 2.0 : f32[64])
  wait_smem_to_gmem 0
}
"""


def write_floats(path, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}\n".encode()
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}f", *values))
    return path


def report_of(*words, code):
    """The JSON report, which the schema describes."""
    report = json.loads(expect(run(*words, "--format", "json"), code).stdout)
    with open(f"{verdicts.ROOT}/docs/grout-report-1.schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    run_cli.check_schema(report, schema, schema)
    return report


# ---- the tests: functions of a folder that is empty at first -----------------------------------------

def test_difference(folder):
    """How far, where, whose CTAs, and the last write; above a verdict that says it too."""
    kernel = write(f"{folder}/k.grout", TILES)
    right = [float(i + 1) for i in range(64)]
    own = write_floats(f"{folder}/own.npy", right[:16] + [v + 2 for v in right[16:32]] + right[32:])
    done = expect(run("check", kernel, "--expect-output", f"y={own}"), 1, "16 of 64 elements differ [compare-mismatch]")
    for words in ("the largest difference is 2, at [16]; the largest relative to the expected value is 0.105, at [16]\n",
                  "all that differ lie in '%y'[16:32], and every element there differs\n",
                  "CTA (b=1), one of 4, wrote them and nothing else\n",
                  "the last write of '%y'[16], by CTA (b=1), thread wg=0\n",
                  f"\n@k: clean of races, but %y differs from '{own}'\n"):
        assert words in done.stdout, (words, done.stdout)
    assert done.stdout.index("[compare-mismatch]") < done.stdout.index("\n@k:"), done.stdout
    report = report_of("check", kernel, "--expect-output", f"y={own}", code=1)
    assert report["verdict"] == "error", report["verdict"]
    facts = report["findings"][0]["difference"]
    assert facts["differing"] == 16 and facts["box"] == [[16, 32]] and facts["largest"] == {"value": 2.0, "at": [16]}
    assert facts["ctas"] == [{"cta": "CTA (b=1)", "elements_written": 16, "elements_differing": 16}], facts
    assert facts["last_write"]["where"] == "CTA (b=1), thread wg=0" and facts["last_write"]["place"]["line"] == 5, facts
    assert facts["against"] == own and facts["ctas_writing"] == 4 and facts["unwritten"] == 0, facts
    log = json.loads(run("check", kernel, "--expect-output", f"y={own}", "--format", "sarif").stdout)
    assert log["runs"][0]["results"][0]["properties"]["difference"] == facts, log["runs"][0]["results"]
    # Parts of tiles, and NaN and infinity in words.
    odd = list(right)
    odd[3], odd[40], odd[9], odd[61] = float("nan"), float("inf"), 12.0, 0.0
    odd = write_floats(f"{folder}/odd.npy", odd)
    done = expect(run("check", kernel, "--expect-output", f"y={odd}"), 1, "'%y'[3:62], which has 59 elements\n")
    for words in ("the largest difference is 62, at [61]; the largest relative to the expected value is 0.167, at [9]\n",
                  "1 element is a number where NaN is expected; 1 element is infinite on one side, or with the other",
                  "CTA (b=0), CTA (b=2), CTA (b=3), 3 of 4, wrote them\n",
                  "the last write of '%y'[3], by CTA (b=0), thread wg=0\n"):
        assert words in done.stdout, (words, done.stdout)
    one = write_floats(f"{folder}/one.npy", [0.0] + right[1:])
    done = expect(run("check", kernel, "--expect-output", f"y={one}"), 1, "one of 4, wrote them, and 15 that do not differ\n")
    assert "relative" not in done.stdout and "lie in" not in done.stdout, done.stdout
    # Within a tolerance there is nothing to say.
    assert "@k: clean\n" in expect(run("check", kernel, "--expect-output", f"y={own}", "--atol", "2"), 0).stdout


def test_words(folder):
    """What nothing wrote, what a copy that lands late wrote, and the verdict's line in other reports."""
    kernel = write(f"{folder}/k.grout", TILES)
    right = write_floats(f"{folder}/right.npy", [float(i + 1) for i in range(64)])
    half = write(f"{folder}/half.grout", TILES.replace("grid(b = N / B)", "grid(b = N / B / 2)"))
    done = expect(run("check", half, "--expect-output", f"y={right}"), 1, "nothing wrote 32 of them\n")
    assert "the last write" not in done.stdout, done.stdout
    assert f"@k: clean of races, 1 warning, but %y differs from '{right}'\n" in done.stdout, done.stdout
    # An asynchronous write counts from when it lands.
    late = write(f"{folder}/late.grout", LATE)
    zeros = write_floats(f"{folder}/zeros.npy", [0.0] * 64)
    for timing, value, line in (("lazy", 1, 5), ("eager", 2, 6)):
        report = report_of("run", late, "--timing", timing, "--expect-output", f"y={zeros}", code=1)
        facts = report["findings"][0]["difference"]
        assert facts["largest"]["value"] == value and facts["last_write"]["place"]["line"] == line, (timing, facts)
    done = expect(run("check", late, "--expect-output", f"y={zeros}"), 1)
    assert f", and %y differs from '{zeros}'\n" in done.stdout and "@k: error, 1 error" in done.stdout, done.stdout
    # --explore compares what the last schedule left, --sweep each size.
    done = expect(run("check", kernel, "--expect-output", f"y={zeros}", "--explore"), 1, "all that the CTAs wrote differs\n")
    assert f"@k: clean of races, but %y differs from '{zeros}'\n" in done.stdout, done.stdout
    done = expect(run("check", kernel, "--expect-output", f"y={zeros}", "--sweep", "B=16,32"), 1,
                  "@k: clean of races, but its results differ\n")
    assert f"  B=16: clean of races, but %y differs from '{zeros}'; grid(b=4)" in done.stdout, done.stdout
    assert "holds for every schedule" in done.stdout, done.stdout


if __name__ == "__main__":
    sys.exit(verdicts.main({name[5:]: function for name, function in globals().items() if name.startswith("test_")}))
