#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals at any time: SIGINT, SIGTERM, SIGHUP and SIGPIPE, one or two, while a call runs and writes its files.

The call ends soon after the first: with the code of the signal after a partial report, or with its own if it was over
before. Before the handlers are there, and from a second signal, the signal itself ends the process. SIGPIPE ends
nothing. No file is torn, none is left.
"""
import os
import signal
import sys
import time

import soak
from calls import draw_call, look_at_files, put_old_files

ENDS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
# From the signal to the end, of its own CPU time. A second is the budget that everything has.
SECONDS = 1


def get_cpu(process):
    """Seconds of CPU time that a process has used; None: it is over."""
    try:
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / 100


def play(case):
    rng = case.random
    call = draw_call(case)
    old = put_old_files(case, call)
    numbers = [rng.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE))
               for _ in range(rng.choice((1, 1, 1, 2)))]
    is_watch = "--watch" in call.words
    command = soak.Command(call.words, seconds=call.seconds, exit_codes=(0, 1, 2, 3, *ENDS.values()),
                           memory=1024 * soak.MEGABYTE)
    process = case.start(case.options.grout, command)
    slow = min(case.options.factor, 4)
    time.sleep(rng.choice((0.001, 0.01, 0.03, 0.2)) * rng.random() * slow)
    sent, cpu = [], None
    for number in numbers:
        cpu = get_cpu(process) if cpu is None or number == numbers[0] else cpu
        os.kill(process.pid, number)
        sent.append(number)
        time.sleep(rng.choice((0, 0.0005, 0.01)) * rng.random())
    ends = [number for number in sent if number != signal.SIGPIPE]
    if not ends and (is_watch or "REPEAT=100000" in call.words):
        time.sleep(0.3 * slow)  # SIGPIPE has changed nothing
        sent.append(signal.SIGINT)
        ends = sent
        os.kill(process.pid, signal.SIGINT)
    outcome = case.finish(process)
    if outcome.signal is None:
        case.judge(command, outcome)
    elif outcome.signal not in sent:
        raise soak.Fault(f"{[number.name for number in sent]} sent: {outcome.describe()}")
    if ends and cpu is not None and outcome.cpu - cpu > (SECONDS + soak.SLACK) * case.options.factor:
        raise soak.Fault(f"{ends[0].name} after {cpu:.2f} s of CPU, and it went on: {outcome.describe()}")
    allowed = {ENDS[number] for number in ends if number in ENDS}
    if outcome.code is not None and outcome.code > 3 and outcome.code not in allowed:
        raise soak.Fault(f"{[number.name for number in sent]} sent: {outcome.describe()}")
    look_at_files(case, call, old)
    return outcome.code if outcome.signal is None else f"by {signal.Signals(outcome.signal).name}"


if __name__ == "__main__":
    # A call that nohup or '&' of a script has made ignore them would hand that on.
    for ending in ENDS:
        signal.signal(ending, signal.SIG_DFL)
    sys.exit(soak.run(soak.make_parser("signals", __doc__, 1000).parse_args(), play))
