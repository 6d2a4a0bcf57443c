"""Kernels that somebody else wrote: what their run lines reach, and what becomes of the text that is in them.

usage: run_hostile.py --grout PATH [TEST...]     every test by default
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
import run_verdicts as verdicts
from run_cli import floats, make_npy
from run_verdicts import ROOT, expect, run, write

COPY = """kernel @k(%x: in gmem f32[2], %y: out gmem f32[2])
{
  store %y, (load %x)
}
"""
INOUT = """kernel @k(%x: inout gmem f32[2], %lock: inout gmem i32[1] init(zeros)) grid(g = 2)
{
  %old = atomic_exchange %lock[0], 1
  store %x[%old], 1.0
}
"""
SECRET = "root:x:0:0:root"
# A value of each option that a run line may not have, and of each that it may.
VALUES = {"TEXT": "FILE", "COUNT": "1", "LIMIT": "1", "NUMBER": "1", "SECONDS": "1", "SIZE": "16M", "SCHEDULE": "fair"}
FITTING = {"DEFINE": "N=2", "SWEEP": "N=1,2", "KERNEL": "@k", "INPUT": "x=ones", "EXPECT_OUTPUT": "y=ones.npy",
           "SEVERITY": "output-not-written=off", "MAX_STEPS": "1000"}


def read_options():
    """Name, first spelling, kind, argument, commands and what it touches, of each option of the table."""
    with open(f"{ROOT}/cli/session/options.def", encoding="utf-8") as file:
        text = file.read()
    pattern = (r'^GROUT_OPTION\((\w+),\s*(NULL|"[^"]*"),\s*(0|\'.\'),\s*(\w+),\s*(NULL|"[^"]*"),\s*"(\w+)",\s*(\w+),\s*"')
    found = re.findall(pattern, text, re.MULTILINE)
    assert len(found) == len(re.findall(r"^GROUT_OPTION\(", text, re.MULTILINE)), "a line of options.def is not read"
    for name, long, short, kind, argument, commands, touches in found:
        spelling = f"-{short[1]}" if long == "NULL" else "--" + long.strip('"')
        yield name, spelling, kind, argument.strip('"'), commands, touches


def run_line(folder, options, kernel=COPY, name="k.grout"):
    """A call of check --expect of a kernel with this run line."""
    path = write(f"{folder}/{name}", f"// expect: clean\n// run: {options}\n{kernel}")
    return run("check", "--expect", path)


def npy(path, *values):
    with open(path, "wb") as file:
        file.write(make_npy("<f4", f"({len(values)},)", floats(*values)))
    return path


def list_all(folder):
    return sorted(os.path.join(at, name) for at, folders, names in os.walk(folder) for name in folders + names)


# ---- the tests: functions of a folder that is empty at first -----------------------------------------

def test_run_lines(folder):
    """A run line takes the options that reach the run alone, and points at every other."""
    kernel = "const N = 2\n" + COPY.replace("[2]", "[N]")
    npy(f"{folder}/ones.npy", 1, 1)
    seen = {}
    for name, spelling, kind, argument, commands, touches in read_options():
        seen[touches] = seen.get(touches, 0) + 1
        value = FITTING.get(name, argument.split("|", maxsplit=1)[0] if kind == "CHOICE" else VALUES.get(kind))
        words = spelling if kind == "FLAG" else f"{spelling} {value}"
        if name == "EXPECT_OUTPUT":
            words = f"--input x=ones {words}"
        before = list_all(folder)
        done = run_line(folder, words, kernel)
        if touches in ("RUN", "LESS", "ARRAY") and "c" in commands:
            assert done.returncode == 0 and ": ok\n" in done.stdout, (words, done.stdout)
        else:
            reason = "has no option" if "c" not in commands else f"'// run:' does not take {spelling}: "
            # Of two options with one name only that of check is known here.
            expect(done, 1, reason if spelling not in ("--check", "-i") else "k.grout:2:9: error: ")
            assert f"\n    2 | // run: {words}\n      |         ^" in done.stdout, (words, done.stdout)
            assert "\n  help: " in done.stdout, (words, done.stdout)
        assert set(list_all(folder)) == set(before) | {f"{folder}/k.grout"}, (words, list_all(folder))
    assert set(seen) == {"RUN", "LESS", "ARRAY", "READS", "WRITES", "CODE", "CALL"}, seen
    # A limit that is higher than without the line.
    for words in ("--max-steps 1000000001", "--budget 10.5", "--max-memory 4000000000G"):
        expect(run_line(folder, words), 1, "'// run:' lowers a limit and does not raise it")
    expect(run_line(folder, "--timeout 100000"), 0)
    # The call itself may say more, and what it says counts.
    path = write(f"{folder}/k.grout", f"// expect: clean\n// run: --max-steps 1\n{COPY}")
    expect(run("check", "--expect", path), 1, "step-limit is not expected")
    expect(run("check", "--expect", path, "--max-steps", "2000000000", "--threads", "2"), 0)
    # Words that are no options, and too many of them.
    expect(run_line(folder, "k.grout"), 1, "k.grout:2:9: error: '// run:' takes options only")
    expect(run_line(folder, "-D N=1 " * 70), 1, "takes fewer than 128 words")
    expect(run_line(folder, "-D N", kernel), 1, "k.grout:2:12: error: the value of -D is NAME=VALUE")
    # An exploration that finds something writes its schedule; one of a run line does not.
    lost = verdicts.LOCKS.replace("g = 8", "g = 2").replace("%y[%g], %g", "%y[%g + 8 * %late], %g").replace(
        "  store", "  %late = cast (and (eq %g, 0), (eq %old, 1)) : i32\n  store")
    before = list_all(folder)
    expect(run_line(folder, "--explore --input lock=zeros", lost), 1, "is not expected")
    assert list_all(folder) == before, list_all(folder)


def test_run_line_files(folder):
    """A run line has arrays read that lie beside its kernel; of no other file it learns anything."""
    os.makedirs(f"{folder}/in/below")
    inside = f"{folder}/in"
    secret = write(f"{folder}/secret.npy", SECRET)
    npy(f"{inside}/x.npy", 1, 2)
    npy(f"{inside}/below/x.npy", 1, 2)
    npy(f"{folder}/x.npy", 1, 2)
    os.symlink("x.npy", f"{inside}/link.npy")
    os.symlink("../x.npy", f"{inside}/out.npy")
    os.symlink("../none.npy", f"{inside}/dangling.npy")
    os.symlink("..", f"{inside}/up")
    os.symlink("/dev/zero", f"{inside}/zero.npy")
    os.symlink("/proc/self/environ", f"{inside}/environ.npy")
    os.mkfifo(f"{inside}/pipe.npy")
    os.mkdir(f"{inside}/folder.npy")
    for name in ("x.npy", "./x.npy", "below/x.npy", "below/.././x.npy", "link.npy"):
        expect(run_line(inside, f"--input x={name}"), 0, ": ok\n")
        expect(run_line(inside, f"--input x={name} --expect-output y={name}"), 0, ": ok\n")
    for name in (secret, f"{inside}/x.npy", "/etc/none.npy", "../x.npy", "../none.npy", "below/../../x.npy", "up/../../x.npy",
                 "../in/x.npy", "/proc/self/root/x.npy"):
        done = expect(run_line(inside, f"--input x={name}"), 1,
                      f"in/k.grout:2:17: error: cannot read '{name}': it lies outside the folder of the kernel file [file-unreadable]")
        assert re.search(r"\n      \| +\^~+\n  help: put it beside the kernel file", done.stdout), done.stdout
    # What is not there and what a link leads out to are one answer.
    for name in ("none.npy", "out.npy", "dangling.npy", "up/x.npy", "up/none.npy", "zero.npy", "environ.npy"):
        expect(run_line(inside, f"--input x={name}"), 1, f"cannot read '{name}': the folder of the kernel file has no such file")
    for name in ("pipe.npy", "folder.npy"):
        expect(run_line(inside, f"--input x={name}"), 1, f"cannot read '{name}': it is no regular file")
    # Not what the line names, but where the file is: a kernel that is a link lies where it leads.
    write(f"{inside}/own.grout", f"// expect: clean\n// run: --input x=x.npy\n{COPY}")
    os.symlink("in/own.grout", f"{folder}/alias.grout")
    expect(run("check", "--expect", f"{folder}/alias.grout"), 0)
    expect(run("check", "--expect", "own.grout", cwd=inside), 0)
    expect(run("check", "--expect", "-", stdin=f"// expect: clean\n// run: --input x=x.npy\n{COPY}", cwd=inside), 1,
           "cannot read 'x.npy': the kernel is from no file")
    # Nothing of a file comes into a message, whatever names it.
    for words in (f"--suppress {secret}", f"--baseline {secret}", f"--replay {secret}", f"--input x={secret}",
                  f"--expect-output y={secret}", f"--extern {secret}", f"--html {secret}", f"--input x={secret}:{secret}"):
        done = run_line(folder, words)
        assert done.returncode == 1 and SECRET not in done.stdout + done.stderr, done
    done = run_line(folder, "--input x=secret.npy")  # beside it, and no array
    assert done.returncode == 1 and SECRET not in done.stdout + done.stderr, done
    with open(secret, encoding="utf-8") as file:
        assert file.read() == SECRET


def test_schedules_write_nothing(folder):
    """A schedule gives the inputs of its run, each of them, and no output."""
    npy(f"{folder}/x.npy", 1, 2)
    write(f"{folder}/k.grout", INOUT)
    done = run("check", "k.grout", "--inout", "x=x.npy:out.npy", "--input", "lock=zeros", "--save-schedule", "s.schedule", cwd=folder)
    assert os.path.exists(f"{folder}/out.npy"), done
    with open(f"{folder}/s.schedule", encoding="utf-8") as file:
        text = file.read()
    assert "option --input x=x.npy\n" in text and "option --input lock=zeros\n" in text and "out.npy" not in text, text
    os.remove(f"{folder}/out.npy")
    older = text.replace("--input x=x.npy", "--inout x=x.npy:out.npy:f32")
    for schedule in (text, older):
        write(f"{folder}/s.schedule", schedule)
        before = list_all(folder)
        done = run("check", "k.grout", "--replay", "s.schedule", "--format", "json", cwd=folder)
        inputs = [kernel["inputs"] for kernel in json.loads(done.stdout)["coverage"]["kernels"]]
        assert inputs and all(text == "%x: x.npy, %lock: zeros" for text in inputs), inputs
        run("run", "k.grout", "--replay", "s.schedule", cwd=folder)
        assert list_all(folder) == before, list_all(folder)


if __name__ == "__main__":
    sys.exit(verdicts.main({name[5:]: function for name, function in globals().items() if name.startswith("test_")}))
