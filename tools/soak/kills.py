#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 while outputs are written: each file is the old one or the new one, whole, and nothing else is there.

The moment is drawn near the one at which the outputs of the same call, undisturbed, were there: most kills come while
files are made, written, synced and named. A name that was there for the moment between two system calls would be left
by a kill in it; that is counted ('named') and must be rare.
"""
import os
import re
import signal
import sys
import time

import soak
from calls import draw_call, look_at_files, put_old_files

TEMPORARY = re.compile(r"\.grout-[a-z0-5]{12}")
NAMED_MOST = 0.01  # of all cases


def take_temporaries(case):
    """Removes names that a kill has left between linkat and renameat; returns how many."""
    found = [path for path in case.folder.iterdir() if TEMPORARY.fullmatch(path.name)]
    for path in found:
        path.unlink()
    return len(found)


def draw_writing_call(case):
    call = draw_call(case)
    while not call.outputs or "--watch" in call.words or "REPEAT=100000" in call.words:
        call = draw_call(case)
    return call


def play(case):
    call = draw_writing_call(case)
    old = put_old_files(case, call)
    command = soak.Command(call.words, seconds=call.seconds, memory=1024 * soak.MEGABYTE)
    # Undisturbed, to know how long it takes; then everything is put back.
    took = case.run(command).wall
    for path in case.folder.iterdir():
        if path.name not in old:
            path.unlink()
    for name, data in old.items():
        case.write(name, data)
    process = case.start(case.options.grout, command)
    time.sleep(took * (1 - 0.4 * case.random.random() ** 2))
    os.kill(process.pid, signal.SIGKILL)
    outcome = case.finish(process)
    named = take_temporaries(case)
    if named > 1:
        raise soak.Fault(f"{named} names were left")
    look_at_files(case, call, old)
    return "named" if named else "killed" if outcome.signal is not None else "over before"


def main():
    options = soak.make_parser("kills", __doc__, 400).parse_args()
    seen = {}
    code = soak.run(options, play, seen)
    named = seen.get("named", 0)
    if code == 0 and named > max(1, NAMED_MOST * options.count):
        print(f"soak: kills: FAULT: {named} of {options.count} kills left a name")
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
