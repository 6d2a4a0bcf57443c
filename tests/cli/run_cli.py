"""Tests of the command from outside: exit codes, files, streams, JSON, pages that it writes.

usage: run_cli.py --grout PATH [--update] [TEST...]     every test by default

--update writes the help texts of tests/cli/help and the generated pages of docs/.
"""
import argparse
import glob
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DOCS = os.path.join(ROOT, "docs")
EXAMPLES = os.path.join(DOCS, "explain")
COMMANDS = ("check", "run", "fix", "emit", "fmt", "ops", "explain", "doctor", "cache", "help")
# Codes of a stage PARSE, VERIFY or RUN whose example is no kernel alone, and why.
WITHOUT_EXAMPLE = {
    "builder": "it comes from the C API",
    "shape-conflict": "it needs .npy files: test_sizes_from_files",
    "non-finite": "it needs --non-finite: tests/behaviour/checks/non-finite.grout",
    "non-finite-input": "it needs --non-finite: tests/behaviour/checks/non-finite-input.grout",
    "invalid-bool": "it needs a .npy file: test_invalid_bool",
}
KERNEL = """const X = 4, Y = 4
kernel @k(%a: in gmem f32[X, Y], %c: out gmem f32[X, Y]) grid(x = X) threads(wg = 1)
{
  %i = axis_index x
  store %c[%i, :], (add (load %a[%i, :]), 1.0)
}
"""
RACE = """kernel @k(%c: out gmem i32[2, 4]) grid(x = 1) threads(wg = 2)
{
  scratch %s : smem i32[4]
  %t = axis_index wg
  store %s, (broadcast %t : i32[4])
  store %c[%t, :], (load %s)
}
"""
SMALL_BOX = """kernel @k(%a: in gmem i32[3] init([1, 2, 3]), %c: out gmem i32[3])
{
  scratch %s : smem i32[3]
  scratch %full : barrier
  for %i in 0..3 {
    copy_gmem_to_smem %a[%i], %s[(%i + 1) % 3], %full
    barrier_wait %full
  }
  %v = load %s[2]
  store %s[2], %v
  commit_smem
  for %i in 0..2 {
    copy_smem_to_gmem %s[1 - %i], %c[1 - %i]
  }
  copy_smem_to_gmem %s[2], %c[2]
  wait_smem_to_gmem 0
}
"""
LONG = """kernel @k(%c: out gmem i32[4]) grid(x = 1) threads(wg = 1)
{
  for %i in 0..1000000000 {
    store %c[%i % 4], %i
  }
}
"""
SLICES = """kernel @k(%c: out gmem f32[64, 64])
{
  scratch %as : smem bf16[64, 64] tile(8, 64) swizzle(128)
  scratch %bs : smem bf16[64, 64] tile(8, 64) swizzle(128)
  scratch %acc : acc f32[64, 64]
  store %as, (broadcast 1.0 : bf16[64, 64])
  store %bs, (broadcast 1.0 : bf16[64, 64])
  commit_smem
  wgmma_async %acc, %as, %bs
  wgmma_async %acc[:, ds(0, 32)], %as, %bs[ds(0, 32)].transpose(1, 0)
  store %c, (acc_load %acc)
}
"""
grout = None
update = False


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def expect(self, code, out=None, err=None):
        """The exit code, and parts that the streams hold; None: nothing is asked."""
        text = f"exit code {self.code}\nstdout: {self.out}\nstderr: {self.err}"
        assert self.code == code, f"expected {code}: {text}"
        for part, stream in ((out, self.out), (err, self.err)):
            if part == "":
                assert stream == "", f"expected nothing: {text}"
            assert part is None or part in stream, f"no {part!r}: {text}"
        return self


def run(*words, stdin="", env=None, cwd=None, program=None):
    """The command, or a program beside it."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GROUT_", "CUDA_", "XDG_", "NO_COLOR"))}
    environment.update(env or {})
    path = os.path.join(os.path.dirname(grout), program) if program else grout
    return Result(subprocess.run([path, *words], input=stdin, capture_output=True, text=True, errors="replace",
                                 env=environment, cwd=cwd, timeout=SECONDS, check=False))


def write(path, data):
    with open(path, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def make_npy(descr, shape, data, fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def floats(*values):
    import struct
    return struct.pack(f"<{len(values)}f", *values)


# ---- the tests: functions of a folder that is empty at first -----------------------------------------

def test_exit_codes(folder):
    kernel = write(f"{folder}/k.grout", KERNEL)
    race = write(f"{folder}/race.grout", RACE)
    bad = write(f"{folder}/bad.grout", "kernel")
    long = write(f"{folder}/long.grout", LONG)
    run("check", kernel).expect(0, "@k: clean", "")
    run("check", race).expect(1, "[smem-race]", "")
    run("check", bad).expect(2, "[syntax]", "")
    run("check", long, "--max-steps", "1000").expect(3, "incomplete")
    run("check", long, "--timeout", "0.05").expect(3, "--timeout")
    run("check", f"{folder}/none.grout").expect(2, "", "[file-unreadable]")
    run("check", folder).expect(2, "", "it is a folder")
    run("check", kernel, "--max-memory", "10").expect(3, None, "[out-of-memory]")
    # Every reader of a kernel reads it within the limit, and writes within it what is made of it.
    long = write(f"{folder}/long.grout", KERNEL + "".join(f"// {i} a line of comment\n" for i in range(10000)))
    for words in (["check"], ["run"], ["emit"], ["emit", "--to", "host"], ["fmt"], ["fmt", "--check"]):
        run(*words, long, "--max-memory", "500K").expect(3, "", "take more than --max-memory, which is 512000 bytes")
        run(*words, long, "--max-memory", "64M").expect(0)
    run("fix", "--diff", long, "--max-memory", "500K").expect(3, "[out-of-memory]")
    consts, body = KERNEL.split("\n", 1)
    many = write(f"{folder}/many.grout", consts + "\n" + "".join(body.replace("@k(", f"@k{i}(") for i in range(1000)))
    run("emit", many, "--max-memory", "2M").expect(3, "", "take more than --max-memory")
    assert "[out-of-memory]" in run("emit", many, "--max-memory", "5M").expect(3, "").err
    run("emit", many, "--max-memory", "64M").expect(0)
    run("check", race, "--severity", "smem-race=off").expect(0, "2 silenced")
    run("check", race, "--severity", "smem-race=warning").expect(0, ": warning, 1 warning, 1 more that follows from it")
    lowered = json.loads(run("check", "--format", "json", race, "--severity", "smem-race=warning").out)
    assert lowered["verdict"] == "warning" and lowered["findings"][0]["severity"] == "warning", lowered["verdict"]
    run("check", race, "--severity", "smem-race=warning", "--werror").expect(1, "1 error, 1 more that follows from it")
    run("check", race, "--severity", "syntax=off").expect(2, "", "stays an error")
    run("run", race, "-q").expect(0, "", "")
    run("run", race, "--check").expect(1, "[smem-race]")
    run("fmt", "--check", kernel).expect(0, "", "")
    run("fmt", "--check", write(f"{folder}/f.grout", KERNEL.replace("  %i", "   %i"))).expect(1, "f.grout\n", "")
    run("fmt", bad).expect(2, "", "[syntax]")
    run("emit", bad).expect(2, "", "[syntax]")
    run("emit", kernel).expect(0, "__global__")
    run("doctor").expect(0, "grout: ").expect(0, "SLEEF: ").expect(0, "LIBXSMM: ")
    run("explain", "smem-race").expect(0, "Repair")


def test_usage(folder):
    kernel = write(f"{folder}/k.grout", KERNEL)
    run().expect(2, "", "a command is needed")
    run("chek", kernel).expect(2, "", "did you mean 'check'?")
    run("check").expect(2, "", "needs a FILE")
    run("check", kernel, "--sede", "1").expect(2, "", "did you mean '--seed'?")
    run("check", kernel, "--device", "cuda").expect(2, "", "'grout run'")
    run("check", kernel, kernel).expect(2, "", "one FILE")
    for words in (("--all-timings",), ("--plant", "WGMMA.STRIDE")):  # of programs of tests
        run("check", "--expect", kernel, *words).expect(2, "", f"has no option '{words[0]}'")
    run("check", kernel, "-D", "XX=1").expect(2, "did you mean 'X'?")
    run("check", kernel, "-D", "WIDTH=1").expect(2, "its consts: X, Y\n")
    run("check", kernel, "-D", "X").expect(2, "", "NAME=VALUE")
    run("check", kernel, "--kernel", "@j").expect(2, "", "no kernel '@j'")
    run("check", kernel, "--input",
        "b=ones").expect(2, "", "no parameter 'b'").expect(2, "", "parameters that it reads: a\n")
    run("run", kernel, "--output", "d=d.npy").expect(2, "", "parameters that it writes: c\n")
    run("check", kernel, "--input", "a=1e400").expect(2, "", "neither FILE.npy")
    run("run", kernel, "--device", "cuda:1023").expect(2, None, None)
    run("check", kernel, "--input", "c=ones").expect(2, "", "'out' array")
    run("check", kernel, "--input", "a=onse").expect(2, "", "neither FILE.npy")
    run("check", kernel, "--output", "a=x.npy").expect(2, "", "'inout' array")
    run("check", kernel, "--output", "c=x").expect(2, "", "FILE.npy")
    run("check", kernel, "--severity", "smem-rase=off").expect(2, "", "did you mean 'smem-race'?")
    run("run", kernel, "--compare", "cpu").expect(2, "", "--device cuda")
    run("run", kernel, "--device", "gpu").expect(2, "", "cpu, cuda[:N] or ptx")
    run("run", kernel, "--interleavings", "3").expect(2, "", "--interleavings goes with --device ptx")
    run("run", kernel, "--device", "cuda", "--interleavings",
        "3").expect(2, "", "--interleavings goes with --device ptx")
    run("run", kernel, "--device", "ptx", "--arch",
        "sm_100a").expect(2, "", "compiles kernel '@k' for sm_90a, not for 'sm_100a'")
    run("emit", kernel, "--arch", "any").expect(2, "", "sm_90a")
    run("fmt", "-i", "--check", kernel).expect(2, "", "one of the two")
    run("explain", "smem-rase").expect(2, "", "did you mean 'smem-race'?")
    run("explain", "nope").expect(2, "", "'grout explain' lists them")
    run("ops", "laod").expect(2, "", "did you mean 'load'?")
    run("ops", "nope").expect(2, "", "'grout ops' lists them")
    run("help", "nope").expect(2, "", "'grout help' lists the commands")
    run("help", "chek").expect(2, "", "did you mean 'check'?")
    run("cache", "empty").expect(2, "", "'clear'")
    two = write(f"{folder}/two.grout", KERNEL + KERNEL.split("\n", 1)[1].replace("@k", "@j"))
    run("run", two).expect(2, "", "@k, @j")
    run("run", two, "--kernel", "@j").expect(0)
    run("check", two, "--output", f"c={folder}/c.npy").expect(2, "", "--kernel")
    run("--version").expect(0, "grout 0.", "")
    for command in COMMANDS:
        run(command, "--version").expect(0, "grout 0.", "")


def test_help(folder):
    for command in ("", *COMMANDS):
        words = [command, "--help"] if command else ["--help"]
        text = run(*words).expect(0, None, "").out
        assert text == run("help", *([command] if command else [])).out
        assert text == run(*words[:-1], "-h").expect(0, None, "").out
        assert max(map(len, text.split("\n"))) <= 100, f"a line of the help of '{command}' is too long"
        assert text.count("\n") <= 80, f"the help of '{command}' is longer than two screens"
        path = os.path.join(HERE, "help", f"{command or 'grout'}.txt")
        compare_page(path, text)


def compare_page(path, text):
    if update:
        write(path, text)
    assert os.path.exists(path) and read(path).decode() == text, f"{path} is not what grout prints: run_cli.py --update"


def test_pages(folder):
    compare_page(f"{DOCS}/operations.md", run("ops", "--markdown").expect(0).out)
    compare_page(f"{DOCS}/cli.md", run("help", "--markdown").expect(0).out)
    compare_page(f"{DOCS}/diagnostics.md", run("explain", "--markdown").expect(0).out)


def test_stdin(folder):
    run("check", "-", stdin=KERNEL).expect(0, "clean")
    run("check", "-", stdin="kernel").expect(2, "<stdin>:1:")
    run("fmt", "-", stdin=KERNEL).expect(0, KERNEL, "")
    run("emit", "-", stdin=KERNEL).expect(0, "__global__")
    run("fmt", "-i", "-", stdin=KERNEL).expect(2, "", "stdin")


def test_outputs(folder):
    kernel = write(f"{folder}/k.grout", KERNEL)
    a = write(f"{folder}/a.npy", make_npy("<f4", (2, 3), floats(1, 2, 3, 4, 5, 6)))
    c = f"{folder}/c.npy"
    run("run", kernel, "--input", f"a={a}", "--output", f"c={c}").expect(0, "", "wrote")
    assert read(c).endswith(floats(2, 3, 4, 5, 6, 7)) and b"(2, 3)" in read(c)
    assert sorted(os.listdir(folder)) == ["a.npy", "c.npy", "k.grout"], "a temporary is left"
    # A file that is there is replaced and keeps its permissions; a link is written through.
    os.chmod(c, 0o640)
    os.symlink("c.npy", f"{folder}/link.npy")
    run("check", kernel, "--input", "a=zeros", "--output", f"c={folder}/link.npy").expect(0)
    assert os.path.islink(f"{folder}/link.npy") and os.stat(c).st_mode & 0o777 == 0o640
    assert read(c).endswith(floats(*[1] * 16))
    # Expected files, converted outputs.
    run("check", kernel, "--input", "a=zeros", "--expect-output", f"c={c}").expect(0, None, "bit for bit")
    run("check", kernel, "--input", "a=ones", "--expect-output", f"c={c}").expect(1, "[compare-mismatch]")
    run("check", kernel, "--input", "a=ones", "--expect-output", f"c={c}", "--atol", "1").expect(0)
    run("run", kernel, "--output", f"c={folder}/h.npy:f16").expect(0)
    assert b"'<f2'" in read(f"{folder}/h.npy")
    run("run", kernel, "--output", f"c={folder}/h.npy:i32").expect(2, "", "not a float type")
    # An output is not written when the run does not end, nor over what it would destroy.
    before = read(c)
    run("run", kernel, "--max-steps", "3", "--output", f"c={c}").expect(3, None, "no output is written")
    run("run", kernel, "--input", f"a={a}", "--output", f"c={a}").expect(2, "", "would overwrite")
    run("run", kernel, "--input", f"a={a}", "--output", f"c={folder}/../{os.path.basename(folder)}/a.npy").expect(
        2, "", "would overwrite")
    run("run", kernel, "--expect-output", f"c={c}", "--output", f"c={c}").expect(2, "", "would overwrite")
    run("run", kernel, "--output", f"c={folder}/no/c.npy").expect(2, "", f"the folder '{folder}/no' does not exist")
    run("emit", kernel, "-o", f"{folder}/no/k.cu").expect(2, "", f"the folder '{folder}/no' does not exist")
    # A run whose results go nowhere says so.
    lost = "@k ran on the CPU, unchecked; %c was not written to a file (--output c=FILE.npy)\n"
    made = "@k: inputs are made up: %a: ints (--input a=FILE.npy)\n"
    assert run("run", kernel).expect(0, "").err == made + lost
    assert run("run", kernel, "--input", f"a={a}").expect(0, "").err == lost
    run("run", kernel, "-q").expect(0, "", "")
    run("run", kernel, "--check").expect(0, "clean", "")
    assert read(c) == before and read(a).endswith(floats(1, 2, 3, 4, 5, 6))
    inout = write(f"{folder}/io.grout", KERNEL.replace("in gmem", "inout gmem", 1).replace("load %a[%i", "load %a[%i"))
    run("run", inout, "--inout", f"a={a}:{folder}/b.npy").expect(0)
    assert read(f"{folder}/b.npy").endswith(floats(1, 2, 3, 4, 5, 6))
    run("run", inout, "--inout", f"a={a}:{a}").expect(2, "", "would overwrite")
    # It takes a type, as --output does; the file that is written is the one in front of it.
    run("run", inout, "--inout", f"a={a}:{folder}/b.npy:f64").expect(0, "", f"wrote {folder}/b.npy\n")
    assert read(f"{folder}/b.npy").endswith(struct.pack("<6d", 1, 2, 3, 4, 5, 6)) and b"<f8" in read(f"{folder}/b.npy")
    run("run", inout, "--inout", f"a={a}:{folder}/b.npy:i32").expect(2, "", "--inout a: 'i32' is not a float type")
    run("run", inout, "--inout", f"a={a}:{folder}/b.npy:f3").expect(2, "", "--inout a: 'f3' is not a float type")
    run("run", inout, "--inout", f"a={a}:{a}:f64").expect(2, "", "would overwrite")
    run("run", inout, "--inout", f"a={a}").expect(2, "", "P=IN.npy:OUT.npy[:DTYPE]")
    two = write(f"{folder}/two.grout", KERNEL.replace("%c: out", "%d: out gmem f32[1], %c: out"))
    run("run", two, "--output", f"c={c}", "--output", f"d={c}").expect(2, "", "would overwrite")


def test_init(folder):
    """What the kernel says of its inputs, unless --input says something else."""
    text = KERNEL.replace("%a: in gmem f32[X, Y]", "%a: in gmem f32[X, Y] init(7)")
    assert text != KERNEL
    kernel, c = write(f"{folder}/k.grout", text), f"{folder}/c.npy"
    run("check", kernel).expect(0, "inputs %a: 7;")
    run("check", kernel, "--input", "a=ones").expect(0, "inputs %a: ones;")
    run("run", kernel, "--output", f"c={c}").expect(0)
    assert read(c).endswith(floats(*[8] * 16))
    run("run", kernel, "--input", "a=ones", "--output", f"c={c}").expect(0)
    assert read(c).endswith(floats(*[2] * 16))
    a = write(f"{folder}/a.npy", make_npy("<f4", (2, 3), floats(1, 2, 3, 4, 5, 6)))
    run("run", kernel, "--input", f"a={a}", "--output", f"c={c}").expect(0)
    assert read(c).endswith(floats(2, 3, 4, 5, 6, 7))
    # A list has to fit the sizes that -D and files give, or the caller brings another array.
    listed = write(f"{folder}/l.grout", KERNEL.replace("f32[X, Y]", "f32[X, Y] init([1, 2, 3, 4, 5, 6])", 1))
    run("check", listed, "-D", "X=2", "-D", "Y=3").expect(0, "inputs %a: [1, 2, 3, 4, 5, 6];")
    run("check", listed, "-D", "X=2", "-D", "Y=2").expect(2, "4 elements at this size, and the list 6 [bad-init]")
    run("check", listed, "-D", "X=2", "-D", "Y=2", "--input", "a=ones").expect(0, "inputs %a: ones;")
    five = write(f"{folder}/five.npy", make_npy("<f4", (1, 5), floats(*range(5))))
    run("check", listed, "--input", f"a={five}").expect(0)
    fixed = write(f"{folder}/f.grout", KERNEL.replace("f32[X, Y]", "f32[2, 3] init([1, 2, 3, 4, 5])", 1))
    run("check", fixed, "-D", "X=2", "-D", "Y=3", "--input", "a=ones").expect(2, "and the list 5 [bad-init]")


def test_sizes_from_files(folder):
    kernel = write(f"{folder}/k.grout", KERNEL.replace("%c: out", "%b: in gmem f32[X, Y], %c: out"))
    a = write(f"{folder}/a.npy", make_npy("<f4", (2, 3), floats(*range(6))))
    b = write(f"{folder}/b.npy", make_npy("<f4", (5, 3), floats(*range(15))))
    flat = write(f"{folder}/flat.npy", make_npy("<f4", (6,), floats(*range(6))))
    ints = write(f"{folder}/ints.npy", make_npy("<i4", (2, 3), bytes(24)))
    run("check", kernel, "--input", f"a={a}").expect(0, f"X=2 ({a}), Y=3 ({a})")
    conflict = run("check", kernel, "--input", f"a={a}", "--input", f"b={b}").expect(2)
    text = conflict.out + conflict.err
    assert f"const X is 2 by '{a}' (dimension 0 of %a) and 5 by '{b}' (dimension 0 of %b)" in text and \
            text.count("[shape-conflict]") == 1, text
    run("check", kernel, "--input", f"a={a}", "-D", "X=4").expect(2, "[shape-conflict]").expect(2, "-D X=4 was given")
    run("check", kernel, "--input", f"a={flat}").expect(2, f"'{flat}' has 1 dimension, %a has 2")
    fixed = write(f"{folder}/fixed.grout", KERNEL.replace("%c: out", "%b: in gmem f32[4, Y * 2], %c: out"))
    run("check", fixed, "--input", f"b={a}").expect(2, "dimension 0 of %b is a fixed number")
    four = write(f"{folder}/four.npy", make_npy("<f4", (4, 3), bytes(48)))
    run("check", fixed, "--input", f"b={four}").expect(2, "dimension 1 of %b is 'Y * 2'")
    run("check", kernel, "--expect-output", f"c={a}").expect(2, "expected files do not")
    run("check", kernel, "--input", f"a={ints}").expect(2, "", "[bad-npy]").expect(
        2, "", "save it as float32: a.astype('float32')")
    wide = write(f"{folder}/wide.npy", make_npy("<f8", (2, 3), bytes(48)))
    run("check", kernel, "--input", f"a={wide}").expect(0, "clean", f"{wide}: float64 rounded to f32\n")
    run("check", kernel, "--input", f"a={wide}", "-q").expect(0, None, "")
    run("check", kernel, "--input", f"a={write(f'{folder}/x.npy', b'x')}").expect(2, "", "[bad-npy]")


def test_invalid_bool(folder):
    kernel = write(f"{folder}/k.grout", """\
kernel @k(%a: in gmem bool[4], %c: out gmem bool[4]) grid(x = 1) threads(wg = 1)
{
  store %c, (load %a)
}
""")
    run("check", kernel, "--input", f"a={write(f'{folder}/a.npy', make_npy('|b1', (4,), bytes([0, 1, 2, 1])))}").expect(
        1, "[invalid-bool]")


def test_formats(folder):
    """bf16 as raw bits and from f4; big-endian; Fortran order."""
    kernel = write(f"{folder}/k.grout", """const X = 2, Y = 2
kernel @k(%a: in gmem bf16[X, Y], %c: out gmem bf16[X, Y]) grid(x = 1) threads(wg = 1)
{
  store %c, (load %a)
}
""")
    bits = bytes.fromhex("803f 0040 4040 8040".replace(" ", ""))
    for name, data in (("v2", make_npy("<V2", (2, 2), bits)), ("u2", make_npy("<u2", (2, 2), bits)),
                       ("f4", make_npy("<f4", (2, 2), floats(1, 2, 3, 4))),
                       ("fortran", make_npy("<f4", (2, 2), floats(1, 3, 2, 4), True))):
        run("run", kernel, "--input", f"a={write(f'{folder}/{name}.npy', data)}", "--output",
            f"c={folder}/c.npy").expect(0)
        assert read(f"{folder}/c.npy").endswith(bits) and b"'<V2'" in read(f"{folder}/c.npy"), name


def test_repeats_of_types(folder):
    """Arrays of each element type through a launch list, which fills, keeps and compares their bytes: two elements lie
    in a byte of some types."""
    names = re.findall(r'^GROUT_DTYPE\(\w+,\s*"(\w+)"', read(f"{ROOT}/include/grout/types.def").decode(), re.M)
    assert len(names) > 20, names
    for name in names:
        array = f"gmem {name}[128, 128]"
        text = f"kernel @k(%x: in {array}, %y: out {array})\n{{\n  store %y, (load %x)\n}}\n"
        path = write(f"{folder}/k.grout", text)
        run("check", path, "--repeat", "3").expect(0, "@k: clean")


def test_stale_bytes(folder):
    """With lazy timing add_tma without its commit writes a wrong c.npy, every time."""
    right, wrong = f"{folder}/right.npy", f"{folder}/wrong.npy"
    run("run", f"{ROOT}/kernels/add_tma.grout", "--output", f"c={right}").expect(0)
    run("run", f"{ROOT}/kernels/bugs/add_tma_no_commit.grout", "--timing", "lazy", "--output", f"c={wrong}").expect(0)
    assert read(right) != read(wrong)


def test_fmt(folder):
    path = write(f"{folder}/k.grout", KERNEL.replace("  %i = ", "      %i   =  "))
    run("fmt", path).expect(0, KERNEL, "")
    run("fmt", "-i", path).expect(0, "", "")
    assert read(path).decode() == KERNEL
    inode = os.stat(path).st_ino
    run("fmt", "-i", path).expect(0, "", "")
    assert os.stat(path).st_ino == inode, "a file that is right is not rewritten"
    bad = write(f"{folder}/bad.grout", "kernel")
    run("fmt", "-i", bad, path).expect(2)
    assert read(bad) == b"kernel"


def check_place(place, may_be_null=True):
    assert (place is None and may_be_null) or set(place) == {"file", "line", "column", "length"}, place


def check_schema(value, schema, root, at="report"):
    """As much of JSON Schema as docs/grout-report-1.schema.json uses."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "oneOf" in schema:
        failures = []
        for choice in schema["oneOf"]:
            try:
                check_schema(value, choice, root, at)
                return
            except AssertionError as error:
                failures.append(str(error))
        raise AssertionError(f"{at}: {failures}")
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
             "null": type(None)}
    if "type" in schema:
        assert isinstance(value, kinds[schema["type"]]), f"{at}: {value!r} is no {schema['type']}"
    if "const" in schema:
        assert value == schema["const"], f"{at}: {value!r}"
    if "enum" in schema:
        assert value in schema["enum"], f"{at}: {value!r}"
    if "pattern" in schema:
        assert re.search(schema["pattern"], value), f"{at}: {value!r}"
    if isinstance(value, dict):
        for key in schema.get("required", ()):
            assert key in value, f"{at}: no {key}"
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            assert inner is not False, f"{at}: a key too many: {key}"
            check_schema(item, inner, root, f"{at}.{key}")
    if isinstance(value, list):
        for i, item in enumerate(value):
            check_schema(item, schema.get("items", {}), root, f"{at}[{i}]")


def test_json(folder):
    schema = json.loads(read(f"{DOCS}/grout-report-1.schema.json"))
    kernel = write(f"{folder}/k.grout", KERNEL)
    race = write(f"{folder}/race.grout", RACE)
    bad = write(f"{folder}/bad.grout", "kernel")
    cases = (([kernel], 0, "clean"), ([race], 1, "error"), ([bad], 2, "invalid"),
             ([f"{folder}/no.grout"], 2, "invalid"), ([race, "--severity", "smem-race=off"], 0, "clean"),
             ([race, "--severity", "smem-race=warning"], 0, "warning"), ([kernel, "--max-steps", "3"], 3, "incomplete"),
             ([kernel, "-D", "X=2", "--input", "a=randn:1", "--schedule", "random", "--seed", "4"], 0, "clean"),
             ([f"{ROOT}/kernels/bugs/add_tma_no_commit.grout"], 1, "error"),
             ([f"{ROOT}/kernels/bugs/missing_arrive.grout"], 1, "error"))
    for words, code, verdict in cases:
        report = json.loads(run("check", "--format", "json", *words).expect(code).out)
        check_schema(report, schema, schema)
        assert report["verdict"] == verdict, report
        assert (report["findings"] == []) == (verdict == "clean"), report
    silenced = json.loads(run("check", "--format", "json", race, "--severity", "smem-race=off").out)
    assert '"code"' not in json.dumps(silenced) and silenced["silenced"][0]["silenced_code"] == "smem-race"
    # The same findings have the same identity under another schedule.
    again = [json.loads(run("check", "--format", "json", race, "--schedule", "random", "--seed", str(seed)).out)
             for seed in range(3)]
    assert len({json.dumps([f["identity"] for f in r["findings"]]) for r in again}) == 1
    # A file name that is no UTF-8 does not break the JSON.
    odd = os.path.join(os.fsencode(folder), b"\xff.grout")
    os.rename(kernel, odd)
    done = subprocess.run([grout, "check", "--format", "json", odd], capture_output=True, check=False)
    json.loads(done.stdout.decode())
    # debug_print does not mix with it.
    talk = write(f"{folder}/talk.grout", KERNEL.replace("  store", '  debug_print "hello {}", %i\n  store'))
    run("run", talk).expect(0, "hello 3")
    json.loads(run("run", talk, "--format", "json").expect(0, None, "hello 3").out)


def test_named_options(folder):
    """A message names no option that no command has. gpu_backend/run is left out: it has those of NVRTC."""
    options = {name for command in COMMANDS
               for name in re.findall(r"^  (?:-\w, )?(--[\w-]+)", run("help", command).out, re.M)}
    comment = re.compile(r"/\*.*?\*/", re.S)
    paths = [path for module in sorted(glob.glob(f"{ROOT}/*/CMakeLists.txt")) for ending in ("c", "def")
             for path in glob.glob(f"{os.path.dirname(module)}/**/*.{ending}", recursive=True)
             if not os.path.relpath(path, ROOT).startswith(("tests/", "bench/", "build/", "gpu_backend/run/"))]
    assert len(paths) > 500 and len(options) > 50, (len(paths), len(options))
    for path in paths:
        texts = " ".join(re.findall(r'"(?:[^"\\\n]|\\.)*"', comment.sub("", read(path).decode())))
        unknown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", texts)) - options
        assert not unknown, f"{path} names {', '.join(sorted(unknown))}, which no command has"


def test_expect(folder):
    clean = write(f"{folder}/clean.grout", "// expect: clean\n// run: -D X=2\n// run: --timing eager\n" + KERNEL)
    race = write(f"{folder}/race.grout", RACE.replace("i32[4])\n", "i32[4]) // expect-error: smem-race\n", 1))
    run("check", "--expect", clean, race).expect(0, "race.grout: ok", "")
    run("--seeds", "3", "--all-timings", clean, race, program="grout-expect").expect(0, "race.grout: ok")
    run("--seeds", "3", clean, "--severity", "smem-race=off", race, program="grout-expect").expect(1, "was not found")
    run("check", "--expect", "-q", clean).expect(0, "", "")
    held, not_held = "// expect-holds: every-schedule\n", "// expect-holds: this-schedule\n"
    text = pathlib.Path(clean).read_text(encoding="utf-8")
    run("check", "--expect", write(f"{folder}/held.grout", held + text)).expect(0)
    run("check", "--expect",
        write(f"{folder}/held.grout", not_held + text)).expect(1, "holds for every-schedule, which")
    run("check", "--expect", write(f"{folder}/held.grout", held[:-2] + "\n" + text)).expect(1, "is followed by")
    unexpected = write(f"{folder}/u.grout", "// expect: clean\n" + RACE)
    run("check", "--expect", clean, unexpected).expect(1, "smem-race is not expected")
    missing = write(f"{folder}/m.grout", KERNEL.replace("1.0)", "1.0) // expect-error: gmem-race"))
    run("check", "--expect", missing).expect(1, "was not found")
    invalid = write(f"{folder}/i.grout", KERNEL + "const Z = , W = 1  // expect-error: syntax\n")
    run("check", "--expect", invalid).expect(0)
    # The file is parsed once; what that has said counts for each run line.
    lines = "// run: --seed 1\n// run: --seed 2\n"
    run("check", "--expect",
        write(f"{folder}/i2.grout", lines + pathlib.Path(invalid).read_text(encoding="utf-8"))).expect(0)
    twice = run("check", "--expect",
                write(f"{folder}/i3.grout", lines + "// expect: clean\n" + KERNEL + "const Z = , W = 1\n"))
    assert twice.expect(1).out.count("error syntax is not expected") == 2, twice.out
    allow = write(f"{folder}/a.grout", lines + "// expect: clean\n// allow: no-such-code because\n" + KERNEL)
    assert (twice := run("check", "--expect", allow)).expect(1).out.count("[bad-suppression]") == 2, twice.out
    run("check", "--expect", write(f"{folder}/n.grout", KERNEL)).expect(1, "no expectation")
    run("check", "--expect", f"{folder}/none.grout").expect(2, "", "[file-unreadable]")
    writer = write(f"{folder}/w.grout", f"// expect: clean\n// run: --output c={folder}/c.npy\n" + KERNEL)
    run("check", "--expect", writer).expect(1, "does not take --output")
    assert not os.path.exists(f"{folder}/c.npy")


def test_examples(folder):
    """Every code of a kernel has its bad kernel and the repaired one, and they are what they say."""
    codes = {}
    for match in re.finditer(r'GROUT_DIAG\(\w+,\s*"([^"]+)",\s*\w+,\s*(\w+)',
                             read(f"{ROOT}/include/grout/diag.def").decode()):
        codes[match.group(1)] = match.group(2)
    paths = sorted(glob.glob(f"{EXAMPLES}/*/*.grout"))
    names = [os.path.basename(path) for path in paths]
    wanted = {f"{code}-{which}.grout" for code, stage in codes.items() for which in ("bad", "fixed")
              if stage in ("PARSE", "VERIFY", "RUN") and code not in WITHOUT_EXAMPLE}
    assert sorted(names) == sorted(wanted), set(names) ^ wanted or "a name is in two folders"
    run("check", "--expect", "-q", *paths).expect(0, "", "")
    explained = {code: run("explain", code).expect(0, "Repair:").out for code in codes}
    for path, name in zip(paths, names):
        code, which = name[:-6].rsplit("-", 1)
        text = read(path).decode()
        found = " ".join(re.findall("expect-.*", text))
        if code.startswith("redundant-"):
            found = run("check", "--advice", "--budget", str(SECONDS), "-q", path).out
        assert (code in found) == (which == "bad"), name
        assert text.replace("\n", "\n    ").replace("    \n", "\n").strip() in explained[code], name


def test_streams(folder):
    kernel = write(f"{folder}/k.grout", RACE)
    assert "\x1b[" not in run("check", kernel).out
    assert "\x1b[" in run("check", kernel, "--color", "always").out
    assert "\x1b[" not in run("check", kernel, "--color", "never").out
    run("check", kernel, "-q").expect(1, "[smem-race]", "")
    with open("/dev/full", "w") as full:
        done = subprocess.run([grout, "check", kernel], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and "cannot write to stdout: No space left on device [" in done.stderr, done
    with open("/dev/full", "w") as full:
        done = subprocess.run([grout, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2, done
    run("check", kernel, "--stats").expect(1, None, "stats: ")


def run_unread(*words):
    """A call whose output has no reader: exit code, stderr."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([grout, *words], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    return done.returncode, done.stderr


def test_closed_pipe(folder):
    """A reader that has seen enough is no error: the exit code and the outputs are as ever."""
    race = write(f"{folder}/race.grout", RACE)
    kernel = write(f"{folder}/k.grout", KERNEL)
    assert run_unread("check", race) == (1, ""), run_unread("check", race)
    assert run_unread("check", race, "--format", "json") == (1, "")
    for words in (["--help"], ["ops"], ["explain", "smem-race"], ["doctor"], ["emit", kernel], ["fmt", kernel]):
        assert run_unread(*words) == (0, ""), (words, run_unread(*words))
    assert run_unread("check", kernel, "--output", f"c={folder}/c.npy", "-q") == (0, "")
    assert os.path.exists(f"{folder}/c.npy")


def test_full_arrays(folder):
    kernel = write(f"{folder}/k.grout", "kernel @k() { debug_print \"{}\", (iota dim(1) : i32[2, 501]) }\n")
    run("run", kernel).expect(0, "[[  0,   1,   2, ..., 498, 499, 500],\n")
    whole = run("run", kernel, "--full-arrays").expect(0).out
    assert [int(word) for word in re.findall(r"\d+", whole.split(":", 1)[1])] == 2 * list(range(501)), whole


EXTERN = """kernel @k(%x: in gmem f32[4], %y: out gmem f32[4])
{
  store %y, (extern_elementwise "twice", (load %x) : f32)
}
"""


def test_extern(folder):
    """Code of the host runs if the command line names it, and only then."""
    kernel = write(f"{folder}/k.grout", EXTERN)
    source = write(f"{folder}/twice.c", "float twice(float x) { return 2 * x; }\n")
    library = f"{folder}/twice.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    run("check", kernel).expect(2, err="the launch has no function 'twice' [extern-missing]")
    run("check", kernel, "--extern", library).expect(0, "@k: clean")
    run("check", kernel, "--extern", f"{folder}/none.so").expect(2, err="cannot open the library")
    run("check", kernel, "--extern", source).expect(2, err="[extern-missing]")
    run("run", kernel, "--extern", library, "--input", "x=arange", "--output", f"y={folder}/y.npy").expect(0)
    assert struct.unpack("<4f", read(f"{folder}/y.npy")[-16:]) == (0, 2, 4, 6)
    # not by a name that the system has, not by the kernel's own file
    write(f"{folder}/own.grout", f"// run: --extern {library}\n// expect: clean\n{EXTERN}")
    run("check", "--expect", f"{folder}/own.grout").expect(1, "'// run:' does not take --extern")
    run("check", kernel, "--extern", "libm.so.6").expect(2, err="./libm.so.6")
    # as CUDA
    cuda = run("emit", kernel, "--extern", source).expect(0).out
    assert f'#line 1 "{source}"\nfloat twice' in cuda and "= ::twice(" in cuda, cuda
    run("emit", kernel).expect(0, 'extern "C" __device__ grout_f32 twice(grout_f32);')
    to_cubin = ["--to", "cubin", "-o", f"{folder}/k.cubin"]
    run("emit", kernel, *to_cubin).expect(2, err="no CUDA source of the function 'twice'")
    # of one kernel it is no other kernel's business
    both = write(f"{folder}/both.grout", EXTERN + "kernel @other(%y: out gmem f32[1]) { store %y[0], 1.0 }\n")
    run("check", both, "--kernel", "@other").expect(0, "@other: clean")
    assert "extern-missing" not in run("emit", both, "--kernel", "@other", *to_cubin).err
    run("emit", both, "--kernel", "@k", *to_cubin).expect(2, err="no CUDA source of the function 'twice'")


def wait_for_work(process):
    """Until the process has read its kernel and runs it, by the time of a processor that it has used."""
    ticks = os.sysconf("SC_CLK_TCK") / 4
    while process.poll() is None:
        words = read(f"/proc/{process.pid}/stat").decode(errors="replace").rsplit(")", 1)[1].split()
        if int(words[11]) >= ticks:
            return
        time.sleep(0.01)
    raise AssertionError("the process ended by itself")


def test_interrupt(folder):
    """Ctrl-C: a partial report, marked incomplete, exit code 130, no output."""
    kernel = write(f"{folder}/k.grout", LONG)
    process = subprocess.Popen([grout, "check", kernel, "--output", f"c={folder}/c.npy"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    wait_for_work(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, (process.returncode, out, err)
    assert "incomplete" in out and "[interrupted]" in err, (out, err)
    assert not os.path.exists(f"{folder}/c.npy")


class Watched:
    """A call with --watch, and its answers."""
    def __init__(self, *words):
        self.process = subprocess.Popen([grout, *words, "--watch"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True)

    def expect_answer(self, part):
        """The next answer, up to the line that says what is waited for."""
        lines = []
        while not lines or not lines[-1].startswith("waiting until "):
            lines.append(self.process.stdout.readline())
            assert lines[-1], f"it ended: {lines}"
        assert part in "".join(lines), (part, lines)

    def end(self, code):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(timeout=SECONDS) == code, self.process.returncode
        assert self.process.stdout.read() == ""
        self.process.stdout.close()


def test_watch(folder):
    """A file that is written, replaced by another and taken away; an input; the end."""
    kernel, good = f"{folder}/k.grout", KERNEL.replace("1.0", "2.0")
    write(kernel, RACE)
    watched = Watched("check", kernel)
    watched.expect_answer("[smem-race]")
    write(kernel, KERNEL)
    watched.expect_answer("@k: clean")
    os.replace(write(f"{folder}/other.grout", RACE), kernel)  # as most editors do
    watched.expect_answer("@k: error")
    os.remove(kernel)
    write(kernel, good)
    watched.expect_answer("@k: clean")
    watched.end(0)
    write(f"{folder}/x.npy", make_npy("<f4", (4, 4), floats(*range(16))))
    os.symlink(kernel, f"{folder}/link.grout")
    watched = Watched("run", f"{folder}/link.grout", "--check", "--input", f"a={folder}/x.npy")
    watched.expect_answer("@k: clean")
    write(f"{folder}/x.npy", b"no array")
    watched.expect_answer("[")
    write(f"{folder}/x.npy", make_npy("<f4", (4, 4), floats(*range(16))))
    watched.expect_answer("@k: clean")
    write(kernel, RACE)
    watched.expect_answer("[")
    watched.end(2)


def test_see_it_again(folder):
    """The command that a report ends with gives the same report."""
    kernel = write(f"{folder}/it's.grout", RACE)
    first = run("check", kernel, "--schedule", "random", "--seed", "5").expect(1).out
    command = re.search("^see it again: grout (.*)$", first, re.MULTILINE).group(1)
    again = subprocess.run(f"'{grout}' {command}", shell=True, capture_output=True, text=True, check=False)
    assert again.stdout == first, again.stdout


def test_cache(folder):
    env = {"GROUT_CACHE": f"{folder}/cache"}
    run("cache", env=env).expect(0, f"{folder}/cache: 0 files")
    run("cache", "clear", env=env).expect(0)
    run("cache", env={"HOME": folder}).expect(0, f"{folder}/.cache/grout")


def test_no_hardware(folder):
    """With '--arch any' a copy takes any box: its values, and all that is wrong about its order."""
    small = write(f"{folder}/small.grout", SMALL_BOX)
    run("check", small).expect(2, "4 bytes: TMA needs a multiple of 16 [tma-inner-bytes]")
    run("check", small, "--arch", "any").expect(0, "@k: clean")
    run("run", small, "--arch", "any", "--output", f"c={folder}/c.npy").expect(0)
    assert read(f"{folder}/c.npy")[-12:] == b"\3\0\0\0\1\0\0\0\2\0\0\0"
    run("check", write(f"{folder}/racy.grout", SMALL_BOX.replace("  commit_smem\n", "")), "--arch", "any"
        ).expect(1, "[missing-commit-smem]")
    run("check", write(f"{folder}/out.grout", SMALL_BOX.replace("%s[1 - %i]", "%s[2 + %i]")), "--arch", "any"
        ).expect(1, "[out-of-bounds]")


def test_binaries(folder):
    """What a compiled kernel takes and loses. Without NVRTC only the refusal."""
    matmul, out = f"{ROOT}/kernels/matmul_hopper_ws.grout", f"{folder}/k.cubin"
    if "nvrtc: none" in run("doctor").out:
        run("emit", "--to", "cubin", "-o", out, matmul).expect(2, "", "[nvrtc-missing]")
        return
    done = run("emit", "--to", "cubin", "-o", out, matmul).expect(0, "")
    assert re.fullmatch("@matmul_hopper_ws: [0-9]+ registers, 0 bytes of spills, [0-9]+ bytes of SMEM, "
                        "384 CUDA threads; 1 CTA an SM, bound by SMEM( .from the cache.)?\n", done.err), done.err
    assert os.path.getsize(out) > 0
    run("emit", "--to", "ptx", matmul).expect(0, ".target sm_90a", "384 CUDA threads")
    run("emit", "--to", "ptx", "-q", matmul).expect(0, None, "")
    slices = write(f"{folder}/slices.grout", SLICES)
    run("check", slices).expect(1, "[accumulator-in-flight]")
    done = run("emit", "--to", "cubin", "-o", out, slices)
    done.expect(0, "", "slices.grout:1:8: warning: '@k' loses speed: the compiler added a wait of its own")
    assert "[gpu-loss]" in done.err and "note: (C7517)" in done.err and "help: " in done.err, done.err


def test_interleavings(folder):
    """Several runs on the PTX emulator, each compared, the arguments as at first. Without NVRTC nothing."""
    if "nvrtc: none" in run("doctor").out:
        return
    own = ("--device", "ptx", "--compare", "cpu")
    kernel = write(f"{folder}/add.grout", """kernel @k(%c: inout gmem i32[4]) threads(wg = 1)
{
  store %c, (add (load %c), 1)
}
""")
    run("run", kernel, *own, "--interleavings", "5", "--input", "c=ones", "--output", f"c={folder}/c.npy").expect(
        0, "equal, bit for bit\nin each of 5 interleavings\n")
    assert read(f"{folder}/c.npy")[-16:] == b"\2\0\0\0" * 4
    run("run", kernel, *own, "--max-steps", "1000").expect(0, "equal, bit for bit")
    run("run", kernel, *own, "--max-steps", "3").expect(3, None, "limit ptx-steps: the run takes more than")
    false = write(f"{folder}/false.grout", """kernel @k(%y: out gmem i32[2]) grid(x = 2)
{
  %x = axis_index x
  debug_check (eq %x, 0), "number {}", %x
  store %y[%x], 1
}
""")
    run("run", false, *own).expect(2, "the debug_check at line 4 is false: thread 0 of CTA (1, 0, 0)")
    # what a thread finds of another one's: some order differs from that of the CPU, and can be had alone
    kernel = f"{ROOT}/tests/behaviour/by_the_schedule/divisor-fixed.grout"
    own += ("--input", "c=zeros")
    done = run("run", kernel, *own, "--interleavings", "50").expect(1, "[compare-mismatch]", " of 50: --seed ")
    words = re.search(r"interleaving \d+ of 50: (--seed \d+ --timing \w+)", done.err).group(1).split()
    run("run", kernel, *own, *words).expect(1, "[compare-mismatch]")


def main(tests):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what is ignored here, grout ignores too
    global grout, update
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True, type=os.path.abspath)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    grout, update = args.grout, args.update
    failures = 0
    for name in args.tests or tests:
        with tempfile.TemporaryDirectory(prefix="grout-cli-") as folder:
            os.chdir(folder)  # an exploration writes its schedule where it runs
            try:
                tests[name](folder)
            except AssertionError as error:
                failures += 1
                print(f"{name}: FAILED: {error}")
            os.chdir(ROOT)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main({name[5:]: function for name, function in globals().items() if name.startswith("test_")}))
