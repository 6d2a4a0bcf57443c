#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call leaves where it writes: every file whole or as it was, and nothing beside it (docs/reliability.md).

usage: run_outputs.py --grout PATH [TEST...]     every test by default

tests/unit/files looks at the writer itself; here every option that names a file goes through it.
"""
import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

grout = None
KERNEL = """kernel @k(%c: out gmem f32[64, 64]) grid(x = 64) threads(wg = 1)
{
  %i = axis_index x
  store %c[%i, :], (broadcast 1.0 : f32[64])
}
"""
RACE = """kernel @k(%x: in gmem f32[128], %y: out gmem f32[128])
{
  scratch %xs : smem f32[128]
  scratch %full : barrier
  copy_gmem_to_smem %x, %xs, %full
  barrier_wait %full
  store %xs, (add (load %xs), 1.0)
  copy_smem_to_gmem %xs, %y
  wait_smem_to_gmem 0
}
"""
LONG = """kernel @k(%c: out gmem f32[4])
{
  for %i in 0..400000000 { store %c, (broadcast 1.0 : f32[4]) }
}
"""
# Words before and after the name of the output, and its kernel. The output of 'fix' and 'fmt -i' is the kernel.
WRITERS = (
    (["run", "k.grout", "--output"], "c=", ".npy"), (["check", "k.grout", "--output"], "c=", ".npy"),
    (["check", "race.grout", "--html"], "", ".html"), (["check", "race.grout", "--save-schedule"], "", ".schedule"),
    (["emit", "k.grout", "-o"], "", ".cu"), (["emit", "k.grout", "--to", "host", "-o"], "", ".cpp"),
    (["emit", "k.grout", "-o", "/dev/null", "--manifest"], "", ".json"),
)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def limit_files():
    """In a child: no file has more than 10 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))


def run(words, folder, before=None, **env):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GROUT_", "XDG_")) and k != "HOME"}
    return subprocess.run([grout, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**environment, **env}, preexec_fn=before, timeout=SECONDS, check=False)


def prepare(folder):
    write(f"{folder}/k.grout", KERNEL)
    write(f"{folder}/race.grout", RACE)


def list_names(folder):
    return sorted(os.listdir(folder))


# ---- the tests: functions of a folder that is empty at first -----------------------------------------

def test_every_writer(folder):
    """New, over an old file, through a link, through a link to nothing: the same bytes, nothing else in the folder."""
    prepare(folder)
    names = set(list_names(folder))
    for words, before, end in WRITERS:
        first = run([*words, f"{before}a{end}"], folder)
        data = read(f"{folder}/a{end}")
        assert first.returncode in (0, 1) and data, (words, first)
        write(f"{folder}/b{end}", "the old file\n" * 100000)
        os.chmod(f"{folder}/b{end}", 0o640)
        os.symlink(f"b{end}", f"{folder}/link{end}")
        os.symlink(f"c{end}", f"{folder}/dangling{end}")
        for name, target in (("b", "b"), ("link", "b"), ("dangling", "c")):
            done = run([*words, f"{before}{name}{end}"], folder)
            assert done.returncode == first.returncode, (words, name, done)
            assert read(f"{folder}/{target}{end}") == data, (words, name)
        assert os.stat(f"{folder}/b{end}").st_mode & 0o777 == 0o640
        assert os.path.islink(f"{folder}/link{end}") and os.path.islink(f"{folder}/dangling{end}")
        names |= {f"{name}{end}" for name in ("a", "b", "c", "link", "dangling")}
        assert set(list_names(folder)) == names, (words, list_names(folder))
        for name in ("a", "b", "c", "link", "dangling"):
            os.remove(f"{folder}/{name}{end}")
            names.remove(f"{name}{end}")


def test_no_room(folder):
    """A full disk, and a file larger than the process may write: a diagnostic, exit code 2, the old file."""
    prepare(folder)
    for words, before, end in WRITERS:
        write(f"{folder}/a{end}", "old")
        done = run([*words, f"{before}a{end}"], folder, limit_files)
        assert done.returncode == 2, (words, done)
        assert "File too large [file-unwritable]" in done.stdout + done.stderr, (words, done)
        assert read(f"{folder}/a{end}") == b"old", words
        os.remove(f"{folder}/a{end}")
    for words in (["fix", "race.grout", "--yes"], ["fmt", "-i", "race.grout"]):
        write(f"{folder}/race.grout", RACE + "// more\n   \n")
        done = run(words, folder, limit_files)
        assert done.returncode == 2 and "File too large [file-unwritable]" in done.stdout + done.stderr, done
        assert read(f"{folder}/race.grout").decode() == RACE + "// more\n   \n"
    assert list_names(folder) == ["k.grout", "race.grout"]
    done = run(["emit", "k.grout", "-o", "/dev/full"], folder)
    assert done.returncode == 2 and "No space left on device [file-unwritable]" in done.stderr, done


def test_through(folder):
    """What a shell has opened is written on, not replaced."""
    prepare(folder)
    text = run(["emit", "k.grout"], folder).stdout
    for name in ("/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"):
        with open(f"{folder}/out", "w", encoding="utf-8") as out:
            out.write("first\n")
            out.flush()
            done = subprocess.run([grout, "emit", "k.grout", "-o", name], cwd=folder, stdout=out, check=False)
            assert done.returncode == 0
            assert os.fstat(out.fileno()).st_nlink == 1
        assert read(f"{folder}/out").decode() == "first\n" + text, name
    os.mkfifo(f"{folder}/fifo")
    with subprocess.Popen(["cat", f"{folder}/fifo"], stdout=subprocess.PIPE, text=True) as reader:
        assert run(["emit", "k.grout", "-o", "fifo"], folder).returncode == 0
        assert reader.communicate()[0] == text
    assert list_names(folder) == ["fifo", "k.grout", "out", "race.grout"]


def test_cache_folder(folder):
    """Variables that are no absolute paths are ignored, and a word is said."""
    def show(*words, **env):
        return run(["cache", *words], folder, **env)
    assert show(XDG_CACHE_HOME="here", HOME=folder).stdout.startswith(f"{folder}/.cache/grout: 0 files"), show
    done = show(XDG_CACHE_HOME="here", HOME=folder)
    assert "XDG_CACHE_HOME, which is 'here', is not an absolute path and is ignored" in done.stderr, done
    assert "'here', is not an absolute path" in " ".join(
        run(["doctor"], folder, XDG_CACHE_HOME="here", HOME=folder).stdout.split())
    for env in ({}, {"HOME": ""}, {"HOME": "home"}, {"HOME": "home", "XDG_CACHE_HOME": "here"}):
        done = show(**env)
        assert done.returncode == 2 and "there is no place for a cache" in done.stderr, (env, done)
        assert ("'home', is not an absolute path" in done.stderr) == (env.get("HOME") == "home"), done
    assert show(GROUT_CACHE="mine").stdout.startswith("mine: 0 files")  # a name of our own may be relative
    assert list_names(folder) == []
    os.mkdir(f"{folder}/real")
    os.symlink("real", f"{folder}/link")
    assert show("clear", GROUT_CACHE=f"{folder}/link").returncode == 0
    os.chmod(f"{folder}/real", 0o777)
    done = show("clear", GROUT_CACHE=f"{folder}/link")
    assert done.returncode == 2 and "is not a safe cache" in done.stderr, done
    write(f"{folder}/file", "")
    done = show(GROUT_CACHE=f"{folder}/file")
    assert done.returncode == 2 and "[file-unreadable]" in done.stderr, done


def start_long(folder, ignored=()):
    """A call that works for long, once it has read its kernel; it ignores the signals that are ignored here."""
    def ignore():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
    write(f"{folder}/long.grout", LONG)
    process = subprocess.Popen([grout, "check", "long.grout", "--output", "c=c.npy"], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=ignore)  # noqa: PLW1509  (there is one thread)
    while process.poll() is None:
        words = read(f"/proc/{process.pid}/stat").decode(errors="replace").rsplit(")", 1)[1].split()
        if int(words[11]) >= os.sysconf("SC_CLK_TCK") / 4:
            return process
        time.sleep(0.01)
    raise AssertionError("the process ended by itself")


def test_signals(folder):
    """SIGTERM and SIGHUP end a run as Ctrl-C does, with their own exit codes; a second one ends the process."""
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        process = start_long(folder)
        process.send_signal(number)
        out, err = process.communicate(timeout=SECONDS)
        assert process.returncode == code and "incomplete" in out and "[interrupted]" in err, (number, out, err)
    process = start_long(folder, [signal.SIGHUP, signal.SIGINT])
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGPIPE)
    time.sleep(0.2)
    assert process.poll() is None  # as under nohup
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=SECONDS) == 143
    process.communicate()
    assert list_names(folder) == ["long.grout"]


def main():
    global grout
    # What is ignored here, grout ignores too: Ctrl-C in the background, the end of a terminal under nohup.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--grout", required=True)
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    grout = os.path.abspath(options.grout)
    named = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    for name in options.tests or named:
        with tempfile.TemporaryDirectory(prefix="grout-outputs-") as folder:
            named[name](folder)
            print(f"{name}: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
