"""Runs the litmus programs in PTX: each has the verdict that it names, in every run.

usage: run_programs.py --runner PATH [--least N] [--every N]
       run_programs.py --print FOLDER/PROGRAM
       run_programs.py --write FOLDER

--runner: the program of run_litmus.c; --least: at least N programs, those of the lines 'with' among them; --every: each
N-th file. --print shows the PTX of a program, --write writes that of all.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
import frames


def run(runner, least, programs):
    with tempfile.TemporaryDirectory(prefix="grout-ptx-litmus-") as folder:
        frames.write_programs(folder, programs)
        names = [program.name for program in programs]
        return subprocess.run([os.path.abspath(runner), "--least", str(least), *names], cwd=folder,
                              check=False).returncode


def show(programs, name):
    texts = {program.name[:-len(".ptx")]: program.text for program in programs}
    print(texts.get(name, f"there is no program {name}"), end="")
    return name not in texts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runner")
    parser.add_argument("--least", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--print", metavar="FOLDER/PROGRAM")
    parser.add_argument("--write", metavar="FOLDER")
    arguments = parser.parse_args()
    programs = frames.list_programs()
    if arguments.print:
        return show(programs, arguments.print)
    if arguments.write:
        print(len(frames.write_programs(arguments.write)), "programs")
        return 0
    if not arguments.runner:
        parser.error("--runner says which program runs them")
    return run(arguments.runner, arguments.least, programs[::arguments.every])


if __name__ == "__main__":
    sys.exit(main())
