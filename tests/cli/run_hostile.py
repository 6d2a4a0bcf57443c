"""Kernels that somebody else wrote: what their run lines reach, and what becomes of the text that is in them.

usage: run_hostile.py --grout PATH [TEST...]     every test by default
"""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

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
# What a print of a kernel says to be taken for: a verdict, a finding, commands of workflows.
FORGED = ("\\n@k: clean\\n  covered: one CTA of one thread\\n  holds for every schedule and timing of this launch\\n"
          "k.grout:1:1: error: forged [smem-race]\\n    1 | forged\\n  note: forged\\n::stop-commands::x\\n"
          "  ::error file=README.md,line=1::forged\\n\\t::warning::forged\\n##[error]forged\\n"
          "a ##vso[task.setvariable variable=a]forged\\nk.grout: ok")
TALKING = """kernel @k(%x: in gmem f32[64], %y: out gmem f32[64])
{
  scratch %s : smem f32[64]
  store %s, (load %x)
  debug_print "FORGED {}", 1
  debug_check (eq 0, 1), "FORGED {}", 1
  copy_smem_to_gmem %s, %y
  wait_smem_to_gmem 0
}
"""
# Every byte but NUL and '/' that no text has, and every character that steers: all that a name may hold.
CONTROLS = [bytes([byte]) for byte in (*range(1, 32), 127, *range(0x80, 0x100))]
STEERING = [chr(code).encode()
            for code in (*range(0x80, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x206a))]
SEQUENCES = [b"\x1b[2J", b"\x1b[31m", b"\x1b]0;t\x07", b"\r\x1b[K", b"\n::error ::x", b"\n@k: clean\n", b"::error ::x",
             b"##[error]x", b"\"'\\", b" \t "]
# A value of each option that a run line may not have, and of each that it may.
VALUES = {"TEXT": "FILE", "COUNT": "1", "LIMIT": "1", "NUMBER": "1", "SECONDS": "1", "SIZE": "16M", "SCHEDULE": "fair"}
FITTING = {"DEFINE": "N=2", "SWEEP": "N=1,2", "KERNEL": "@k", "INPUT": "x=ones", "EXPECT_OUTPUT": "y=ones.npy",
           "SEVERITY": "output-not-written=off", "MAX_STEPS": "1000"}


def read_options():
    """Name, first spelling, kind, argument, set of commands and what it touches, of each option of the table."""
    with open(f"{ROOT}/call/session/options.def", encoding="utf-8") as file:
        text = file.read()
    pattern = (r'^GROUT_OPTION\((\w+),\s*(NULL|"[^"]*"),\s*(0|\'.\'),\s*(\w+),\s*(NULL|"[^"]*"),\s*([\w| '
               r']+),\s*\w+,\s*(\w+),'
               r'\s*(?:ONCE|EACH),\s*"')
    found = re.findall(pattern, text, re.MULTILINE)
    assert len(found) == len(re.findall(r"^GROUT_OPTION\(", text, re.MULTILINE)), "a line of options.def is not read"
    for name, long, short, kind, argument, commands, touches in found:
        spelling = f"-{short[1]}" if long == "NULL" else "--" + long.strip('"')
        yield name, spelling, kind, argument.strip('"'), {word.strip() for word in commands.split("|")}, touches


def run_line(folder, options, kernel=COPY, name="k.grout"):
    """A call of check --expect of a kernel with this run line."""
    path = write(f"{folder}/{name}", f"// expect: clean\n// run: {options}\n{kernel}")
    return run("check", "--expect", path)


def npy(path, *values):
    with open(path, "wb") as file:
        file.write(make_npy("<f4", f"({len(values)},)", floats(*values)))
    return path


def run_bytes(*words, cwd=None, stdin=b"", columns=None):
    """Exit code, stdout and stderr, which are one on a terminal of this many columns."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GROUT_", "CUDA_", "XDG_", "NO_COLOR"))}
    if columns is None:
        done = subprocess.run([verdicts.grout, *words], input=stdin, capture_output=True, env=environment, cwd=cwd,
                              timeout=verdicts.SECONDS, check=False)
        return done.returncode, done.stdout, done.stderr
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen([verdicts.grout, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                          env=environment, cwd=cwd) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # Linux: the other side is closed
                part = b""
            if not part:
                break
            shown += part
        os.close(ours)
        return process.wait(timeout=verdicts.SECONDS), shown.replace(b"\r\n", b"\n"), b""


def check_bytes(raw, where, commands=0):
    """Text that steers nothing: no control but colours, UTF-8, no command of a workflow but this many annotations."""
    plain = re.sub(rb"\x1b\[[0-9;]*m", b"", raw)
    found = [hex(byte) for byte in plain if (byte < 32 and byte not in b"\n\t") or byte == 127]
    assert not found, f"{where}: {found} in {raw}"
    try:
        text = plain.decode()
    except UnicodeDecodeError as error:
        raise AssertionError(f"{where}: {error} in {raw}") from error
    found = [hex(ord(c)) for c in text if c.encode() in STEERING]
    assert not found, f"{where}: {found} in {text}"
    lines = [line for line in text.split("\n") if line.lstrip().startswith("::") or re.search(r"##\w*\[", line)]
    assert len(lines) == commands and \
            all(re.match("::(error|warning|notice) file=", line) for line in lines), f"{where}: {lines}"
    return text


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
        if touches in ("RUN", "LESS", "ARRAY") and commands & {"CHECK", "ALL"}:
            assert done.returncode == 0 and ": ok\n" in done.stdout, (words, done.stdout)
        else:
            reason = "has no option" if not commands & {"CHECK", "ALL"} else f"'// run:' does not take {spelling}: "
            # Only check's option is known here, of two with one name.
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
    for name in (secret, f"{inside}/x.npy", "/etc/none.npy", "../x.npy", "../none.npy", "below/../../x.npy",
                 "up/../../x.npy", "../in/x.npy", "/proc/self/root/x.npy"):
        done = expect(run_line(inside, f"--input x={name}"), 1,
                      f"in/k.grout:2:17: error: cannot read '{name}': it lies outside the folder of the kernel file "
                      "[file-unreadable]")
        assert re.search(r"\n      \| +\^~+\n  help: put it beside the kernel file", done.stdout), done.stdout
    # What is not there and what a link leads out to are one answer.
    for name in ("none.npy", "out.npy", "dangling.npy", "up/x.npy", "up/none.npy", "zero.npy", "environ.npy"):
        expect(run_line(inside, f"--input x={name}"), 1,
               f"cannot read '{name}': the folder of the kernel file has no such file")
    for name in ("pipe.npy", "folder.npy"):
        expect(run_line(inside, f"--input x={name}"), 1, f"cannot read '{name}': it is not a regular file")
    # Not what the line names, but where the file is: a kernel that is a link lies where it leads.
    write(f"{inside}/own.grout", f"// expect: clean\n// run: --input x=x.npy\n{COPY}")
    os.symlink("in/own.grout", f"{folder}/alias.grout")
    expect(run("check", "--expect", f"{folder}/alias.grout"), 0)
    expect(run("check", "--expect", "own.grout", cwd=inside), 0)
    expect(run("check", "--expect", "-", stdin=f"// expect: clean\n// run: --input x=x.npy\n{COPY}", cwd=inside), 1,
           "cannot read 'x.npy': the kernel is from no file")
    # Nothing of a file comes into a message, whatever names it.
    for words in (f"--suppress {secret}", f"--baseline {secret}", f"--replay {secret}", f"--input x={secret}",
                  f"--expect-output y={secret}", f"--extern {secret}", f"--html {secret}",
                  f"--input x={secret}:{secret}"):
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
    done = run("check", "k.grout", "--inout", "x=x.npy:out.npy", "--input", "lock=zeros", "--save-schedule",
               "s.schedule", cwd=folder)
    assert os.path.exists(f"{folder}/out.npy"), done
    with open(f"{folder}/s.schedule", encoding="utf-8") as file:
        text = file.read()
    assert "option --input x=x.npy\n" in text and "option --input lock=zeros\n" in text and "out.npy" not in text, text
    # A name with blanks is no word of a line, and one with a newline would be more lines.
    os.remove(f"{folder}/out.npy")
    for name in ("a b.npy", "a\noption --seed 3\nb.npy"):
        npy(f"{folder}/{name}", 1, 2)
        done = run("check", "k.grout", "--input", f"x={name}", "--save-schedule", "odd.schedule", cwd=folder)
        assert done.returncode == 2 and "cannot keep the value of --input" in done.stderr, done
        assert not os.path.exists(f"{folder}/odd.schedule")
    older = text.replace("--input x=x.npy", "--inout x=x.npy:out.npy:f32")
    for schedule in (text, older):
        write(f"{folder}/s.schedule", schedule)
        before = list_all(folder)
        done = run("check", "k.grout", "--replay", "s.schedule", "--format", "json", cwd=folder)
        inputs = [kernel["inputs"] for kernel in json.loads(done.stdout)["coverage"]["kernels"]]
        assert inputs and all(text == "%x: x.npy, %lock: zeros" for text in inputs), inputs
        run("run", "k.grout", "--replay", "s.schedule", cwd=folder)
        assert list_all(folder) == before, list_all(folder)


def test_prints(folder):
    """What a kernel prints and says is text of its own lines, in each form of an answer."""
    path = write(f"{folder}/k.grout", TALKING.replace("FORGED", FORGED))
    for words, code in (([], 1), (["--format", "github"], 1), (["--format", "json"], 1), (["--format", "sarif"], 1),
                        (["--color", "always"], 1), (["--html", f"{folder}/k.html"], 1), (["-v"], 1), (["-q"], 1)):
        for command in ("check", "run"):
            if command == "run" and "--html" in words or command == "run" and words == ["-q"]:
                continue
            found, out, err = run_bytes(command, path, *words)
            assert found == code, (command, words, found, out, err)
            commands = out.count(b"\n::error file=") if "github" in words else 0
            text = check_bytes(out, (command, words), commands) + check_bytes(err, (command, words))
            plain = text.replace(folder, "").split("\n")
            forged = [line for line in plain if "forged" in line and
                      not line.startswith(("  | ", "      | ", "CTA 0, ", "::error", "  "))]
            assert not forged or "json" in words or "sarif" in words, (command, words, forged)
            assert not {"@k: clean", "k.grout: ok",
                        "  holds for every schedule and timing of this launch"} & set(plain), text
            if "github" in words:
                assert commands == (2 if command == "check" else 1), out
    # A print of one line is what it was, rows of arrays too; a line that the text begins has the mark.
    kernel = "kernel @k(%y: out gmem f32[1])\n{\n" \
        "  debug_print \"a {}\\tb: {}\\n\\nc\\n\", 1, (iota dim(0) : i32[2, 2])\n  store %y[0], 1.0\n}\n"
    done = expect(run("run", write(f"{folder}/one.grout", kernel)), 0)
    assert done.stdout == "CTA 0, thread 0: a 1\tb:\n  [[0, 0],\n   [1, 1]]\n  | \n  | c\n  | \n", done.stdout
    # On a terminal, what is broken goes on with it, too.
    words = "word ::error::x @k: clean " * 20
    kernel = kernel.replace("a {}", words + "{}").replace("\\t", "")
    code, shown, _ = run_bytes("run", write(f"{folder}/long.grout", kernel), columns=40)
    lines = check_bytes(shown, "terminal").split("\n")
    assert code == 0 and lines[0].startswith("CTA 0, ") and len(lines) > 20, lines
    assert all(line.startswith(("  | ", "  [", "   [", "@k ran", "    ")) or not line
               for line in lines[1:]), lines
    # In CUDA the text of a print is the same.
    cuda = expect(run("emit", f"{folder}/one.grout"), 0).stdout
    assert r'printf("cta %u thread %u: a %lld\011b: <array>\012  | \012  | c\012  | \n"' in cuda, cuda[-3000:]


def list_calls(path, folder):
    """Calls whose answer has the name of the file or its text, and whether all of it is for a reader."""
    yield ["check", path], True
    yield ["check", path, "-v"], True
    yield ["check", path, "--color", "always"], True
    yield ["check", path, "--format", "json"], True
    yield ["check", path, "--format", "sarif"], True
    yield ["check", path, "--sweep", "N=64,128"], True
    yield ["check", path, "--expect"], True
    yield ["check", path, "--minimise", "--budget", "0.2"], True
    yield ["check", path, "--kernel", "@none"], True
    yield ["check", path, "--save-schedule", os.path.join(folder, b"s.schedule")], True
    yield ["run", path, "--output", "y=y.npy"], True
    yield ["fmt", "--check", path], True
    yield ["emit", path, "-o", "none/x"], True
    yield ["fix", path, "--budget", "0.2"], False
    yield ["fmt", path], False
    yield ["emit", path, "--lineinfo"], False


def check_calls(path, folder, turn, on_terminal):
    """A third of the calls, by turns, for a program that reads and, if asked for, on a terminal."""
    for number, (words, is_shown) in enumerate(list_calls(path, folder)):
        if number % 3 != turn % 3:
            continue
        if is_shown:
            _, out, err = run_bytes(*words, cwd=folder)
            check_bytes(out, words)
            check_bytes(err, words)
            if "json" in words or "sarif" in words:
                json.loads(out)
        if on_terminal and "--save-schedule" not in words:
            _, shown, _ = run_bytes(*words, cwd=folder, columns=60)
            check_bytes(shown.replace(b"\r\x1b[K", b""), (words, "on a terminal"))
    page = os.path.join(folder, b"page.html")
    _, out, err = run_bytes("check", path, "--html", page, "--format", "github", cwd=folder)
    check_bytes(out, "github", len(re.findall(rb"^::error file=", out, re.MULTILINE)))
    check_bytes(err, "github")
    if os.path.exists(page):
        with open(page, "rb") as file:
            html = re.sub(rb"<[^>]*>", b"", file.read())
        check_bytes(html.replace(b"::", b"").replace(b"##", b""), "html")
        os.remove(page)


def test_names(folder):
    """Names of files with each control character in them: they are shown, and come back as they are."""
    folder = os.fsencode(folder)
    names = [b"".join(CONTROLS[at:at + 24]) for at in range(0, len(CONTROLS), 24)] + [b"".join(STEERING), *SEQUENCES]
    kernel = ("const N = 64\n" + TALKING.replace("FORGED", "x").replace("[64]", "[N]")).encode()
    for number, name in enumerate(names):
        path = os.path.join(folder, name + b".grout") if number % 2 else name + b".grout"
        with open(os.path.join(folder, path), "wb") as file:
            file.write(b"// expect: clean\n// allow: smem-race x\n" + kernel)
        check_calls(path, folder, number // 2, name in SEQUENCES)
        # What is between the quotes of a #line goes on into PTX as it is.
        cuda = run_bytes("emit", path, "--lineinfo", cwd=folder)[1]
        named = re.findall(rb'^#line \d+ "([^"\\]*)"$', cuda, re.MULTILINE)
        shown = re.sub(rb'["\\\x00-\x1f\x7f]', b"_", path)
        assert named.count(shown) > 3 and len(named) == len(re.findall(rb"^#line", cuda, re.MULTILINE)), (path, named)
        os.remove(os.path.join(folder, path))
    # Files that options name.
    write(os.path.join(folder, b"k.grout"), COPY)
    name = b"a\n@k: clean\n::error ::\x1b[2J\xff\xe2\x80\xae"
    npy(os.path.join(folder, name + b".npy"), 1, 2)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(b"smem-race\n\x1b[2J \xff\xc2\x9b \n::error::x\n##[error]\n")
    for option in (b"--suppress", b"--baseline", b"--replay", b"--extern", b"--html", b"--save-schedule"):
        for value in (name, b"none/" + name):
            for form in ("text", "json", "github"):
                _, out, err = run_bytes("check", b"k.grout", option, value, "--format", form, cwd=folder)
                check_bytes(out, (option, form),
                            len(re.findall(rb"^::(?:error|warning) ", out, re.MULTILINE)) if form == "github" else 0)
                check_bytes(err, (option, form),
                            len(re.findall(rb"^::(?:error|warning) ", err, re.MULTILINE)) if form == "github" else 0)
    for words in ([b"--input", b"x=" + name + b".npy"], [b"--input", b"x=none" + name + b".npy"],
                  [b"--input", b"x=" + name], [b"--expect-output", b"y=" + name + b".npy"],
                  [b"--output", b"y=o" + name + b".npy"], [b"-D", name + b"=1"],
                  [b"-D", name], [b"--kernel", name], [b"--severity", name], [b"--sweep", name], [b"--" + name],
                  [name]):
        for command in (b"check", b"run"):
            _, out, err = run_bytes(command, b"k.grout", *words, cwd=folder)
            check_bytes(out + err, (command, words))
            _, shown, _ = run_bytes(command, b"k.grout", *words, cwd=folder, columns=50)
            check_bytes(shown, (command, words, "on a terminal"))
    # The command that shows a report again names the file: a shell reads it so.
    path = os.path.join(folder, b"a\n::x '\\\x1b##[\xe2\x80\xae\xc3\xa9.grout")
    with open(path, "wb") as file:
        file.write(verdicts.LOCKS.replace("order(acq_rel)", "").replace("load", "load").encode())
    _, out, _ = run_bytes("check", path, "--format", "json")
    again = json.loads(out)["coverage"]["kernels"][0]["see_it_again"]
    words = subprocess.run(["bash", "-c", "printf '%s\\0' " + again], capture_output=True,
                           check=True).stdout.split(b"\0")
    assert words[2] == path and words[0] == b"grout", (again, words)
    assert json.loads(out)["coverage"]["file"].encode() == path, out


def test_texts(folder):
    """The text of a kernel with each control character in it: comments that are quoted, prints, messages."""
    folder = os.fsencode(folder)
    for number, noise in enumerate([b"".join(CONTROLS).replace(b"\n", b""), b"".join(STEERING), *SEQUENCES]):
        # A comment after the access that a finding points to; what is no text makes the kernel invalid, and is quoted
        # then.
        noise = noise.replace(b"\n", b" ")
        text = TALKING.replace("FORGED", "x").replace("copy_smem_to_gmem %s, %y",
                                                      "/* */ copy_smem_to_gmem %s, %y // NOISE").encode()
        text = text.replace(b"/* */ ", b"").replace(b"NOISE", noise)
        path = os.path.join(folder, b"k.grout")
        with open(path, "wb") as file:
            file.write(b"const N = 64\n" + text)
        for turn in range(3) if number < 2 else [number]:
            check_calls(path, folder, turn, True)
        # Strings, as a kernel may have them, and words where no word is expected.
        quoted = noise.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
        with open(path, "wb") as file:
            file.write(b'const N = 64\nrequire N == 64, "' + quoted + b'"\n' +
                       TALKING.encode().replace(b"FORGED", quoted))
        check_calls(path, folder, number, number > 0)
        for options in (["-D", "N=1"], ["-D", "N=64", "--expect"]):
            _, out, err = run_bytes("check", path, *options)
            check_bytes(out + err, options)
        for line in (b"// expect: " + noise, b"// expect-error: " + noise, b"// expect-" + noise, b"// run: " + noise,
                     b"// allow: " + noise, b"// expect: clean // run: --input x=" + noise):
            with open(path, "wb") as file:
                file.write(line + b"\n" + COPY.encode())
            for options in (["--expect"], []):
                _, out, err = run_bytes("check", path, *options)
                check_bytes(out + err, line)
    # Lines of a CRLF file stay lines.
    with open(path, "wb") as file:
        file.write(COPY.replace("\n", "\r\n").encode())
    _, out, _ = run_bytes("fmt", path)
    assert b"\r\n" in out or b"\r" not in out, out


if __name__ == "__main__":
    sys.exit(verdicts.main({name[5:]: function for name, function in globals().items() if name.startswith("test_")}))
