"""What a terminal shows: whole reports and pages at 80 and at 140 columns, with colours and without.

usage: run_terminal.py --grout PATH [--update]     (in any folder)

Each kernel of this folder says its command (// RUN: grout ..., %s is the kernel) and exit code (// EXIT: 1).
pages.txt has a command on each line that needs no kernel of its own. NAME.txt beside a kernel, and
pages-shown.txt, hold what a terminal of 80 columns and one of 140 show, once if it is the same; and of one of 80 with
colours the lines that have some, by their numbers, where <1;31> means a colour's escape sequence. Colours change
nothing else, and no line is wider than its terminal, but for a line that is one word. --update writes these files.

zeros.npy, f32[4, 64], lies beside the kernels while they run.
"""
import argparse
import difflib
import fcntl
import os
import pty
import re
import shlex
import shutil
import signal
import struct
import sys
import tempfile
import termios

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
COLOR = re.compile(r"\x1b\[([0-9;]*)m")
NARROW, WIDE = 80, 140


def show(words, width, color, folder):
    """What a terminal of this many columns shows, and the exit code."""
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        os.chdir(folder)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("GROUT_", "NO_COLOR"))}
        if not color:
            environment["NO_COLOR"] = "1"
        signal.alarm(int(SECONDS))
        os.execvpe(words[0], words, environment)
    shown = b""
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    status = os.waitpid(pid, 0)[1]
    return shown.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(status)


def find_faults(words, text, width):
    """Lines that the terminal would break in the middle. The kernels of 'explain' stay as they are."""
    return [f"wider than {width} columns: {line}" for line in text.splitlines()
            if len(line) > width and " " in line.strip() and not (words[1] == "explain" and line.startswith("    "))]


def look(words, exit_code, folder):
    """The three views of a command as one text, and what is wrong with them."""
    parts, faults = [], []
    for width in (NARROW, WIDE):
        plain, code = show(words, width, False, folder)
        colored, _ = show(words, width, True, folder)
        faults += find_faults(words, plain, width)
        if exit_code is not None and code != exit_code:
            faults.append(f"exit code {code}, not {exit_code}")
        if "\x1b" in plain:
            faults.append("NO_COLOR is set, and there are colours")
        if COLOR.sub("", colored) != plain:
            faults.append("colours change the text")
        parts.append(plain)
        if width == NARROW:
            with_colors = list_colored(colored)
    if parts[0] == parts[1]:
        return f"==== {NARROW} and {WIDE} columns ====\n{parts[0]}{with_colors}", faults
    return f"==== {NARROW} columns ====\n{parts[0]}==== {WIDE} columns ====\n{parts[1]}{with_colors}", faults


def list_colored(text):
    """The lines with colours, by their numbers: the others are those of the text without."""
    lines = [f"{number}: " + COLOR.sub(r"<\1>", line) + "\n" for number, line in enumerate(text.split("\n"), 1)
             if COLOR.search(line)]
    return "".join(["==== 80 columns, the lines with colours ====\n", *lines] if lines else [])


def read_key(source, key, otherwise):
    found = re.search(rf"^// {key}: (.*)$", source, re.MULTILINE)
    return found.group(1) if found else otherwise


def compare(path, text, update):
    old = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            old = file.read()
    if old == text:
        return []
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return []
    return list(difflib.unified_diff(old.splitlines(), text.splitlines(), os.path.basename(path), "shown", lineterm=""))


def check_all(grout, folder, update):
    faults = []
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".grout"):
            shutil.copy(os.path.join(HERE, name), folder)
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 64), }\n"
    with open(os.path.join(folder, "zeros.npy"), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(4 * 64 * 4))
    for name in sorted(os.listdir(HERE)):
        if not name.endswith(".grout"):
            continue
        with open(os.path.join(HERE, name), encoding="utf-8") as file:
            source = file.read()
        words = shlex.split(read_key(source, "RUN", "").replace("%s", name))
        text, found = look([grout] + words[1:], int(read_key(source, "EXIT", "0")), folder)
        found += compare(os.path.join(HERE, name.replace(".grout", ".txt")), text, update)
        faults += [f"{name}: {fault}" for fault in found]
    pages = []
    with open(os.path.join(HERE, "pages.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            text, found = look([grout] + shlex.split(line)[1:], None, folder)
            faults += [f"{line}: {fault}" for fault in found]
            pages.append(f"$ {line}\n{text}")
    for width in (NARROW, WIDE):
        show([grout, "check", "clean.grout", "-D", "STEPS=2", "--html", f"{width}.html"], width, width == NARROW,
             folder)
    written = []
    for width in (NARROW, WIDE):
        with open(os.path.join(folder, f"{width}.html"), encoding="utf-8") as file:
            written.append(file.read().replace(f"{width}.html", "page.html"))
    if written[0] != written[1] or "[1;" in written[0]:
        faults.append("a page of --html depends on the terminal that looks on")
    return faults + compare(os.path.join(HERE, "pages-shown.txt"), "\n".join(pages), update)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--grout", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        faults = check_all(os.path.abspath(options.grout), folder, options.update)
    print("\n".join(faults) if faults else "every report is as it was")
    sys.exit(1 if faults else 0)


main()
