#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the times that the benchmarks of two builds print, as ratios within one run.

usage: compare_benches.py OLD NEW [--rounds 5] [--most 1.03] [bench_NAME...]

OLD and NEW are folders with the bench_* programs, such as build/release/bin. The programs run in
turn, OLD and NEW alternately, each as often as --rounds says; of each time the smallest counts.
The exit code is 1 if one is more than --most times the old one.
"""
import argparse
import os
import re
import subprocess
import sys

TIMES = ("ms", "one by one", "in strips")  # heads of columns
CELL = re.compile(r"\S+(?: \S+)*")
IN_WORDS = re.compile(r"([\d.]+) ms")


def read_times(text):
    """(label, what) -> time, in the order of the text."""
    times, columns = {}, {}
    for line in text.splitlines():
        heads = {m.end(): m.group() for m in CELL.finditer(line)}
        if len(heads) > 1 and any(head in TIMES for head in heads.values()):
            columns = {end: head for end, head in heads.items() if head in TIMES}
            continue
        in_words = list(IN_WORDS.finditer(line))
        label = line[:in_words[0].start()].strip() if in_words else re.split(r"\s{2,}", line)[0]
        for number, match in enumerate(in_words):
            times[label, f"time {number + 1}"] = float(match.group(1))
        for match in re.finditer(r"[\d.]+(?=\s|$)", "" if in_words else line):
            if match.end() in columns:
                times[label, columns[match.end()]] = float(match.group())
    return times


def run(folder, program):
    done = subprocess.run([os.path.join(folder, program)], capture_output=True, text=True,
                          check=True, stdin=subprocess.DEVNULL)
    return read_times(done.stdout)


def find_least(folders, program, rounds):
    least = [{}, {}]
    for _ in range(rounds):
        for folder, times in zip(folders, least):
            for key, time in run(folder, program).items():
                times[key] = min(time, times.get(key, time))
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float, default=1.03)
    parser.add_argument("programs", nargs="*")
    options = parser.parse_intermixed_args()
    programs = options.programs or sorted(name for name in os.listdir(options.new)
                                          if name.startswith("bench_"))
    slower = 0
    for program in programs:
        print(program)
        old, new = find_least((options.old, options.new), program, options.rounds)
        if not new or old.keys() != new.keys():
            sys.exit(f"compare_benches: {program} prints no times, or not the same ones: "
                     f"{sorted(map(str, old.keys() ^ new.keys()))[:4]}")
        for key, time in new.items():
            ratio = time / old[key] if old[key] > 0 else 1.0
            slower += ratio > options.most
            mark = "  <- slower" if ratio > options.most else ""
            print(f"  {key[0]:44} {key[1]!s:>12} {old[key]:10.3f} {time:10.3f} {ratio:6.3f}{mark}")
    print(f"{slower} times are more than {options.most} times the old ones")
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
