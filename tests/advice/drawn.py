"""Advice on drawn kernels, followed: what leaves the kernel stays the same.

usage: drawn.py --grout PATH [--schedules N] [--ptx] FIRST COUNT

Draws kernels whose actors change the same bytes by atomics of several kinds, by reductions of TMA and by signals, and
read them by atomics; between the stages they meet in drawn ways, some of which order nothing. Then each advice of
'check --advice' is followed, and all together that are said to go together. Where the kernel has the same outputs under
all schedules and timings that are tried (more of them, before one is called wrong), each kernel that is made of it by
advice has these under all of them, and is clean with a verdict for every schedule. With --ptx also on the PTX
emulator (NVRTC), where engines take their time.

Closing line: 'N passed, N failed, N followed'. A kernel that differs is printed.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "certificates"))
from kernel import Kernel, World
from running import call, run

WORLDS = ((1, 1, 1), (1, 1, 2), (1, 1, 2), (1, 1, 3), (1, 2, 1), (1, 2, 2), (2, 1, 1), (2, 1, 1))
CELLS, WIDTH = 4, 32
SEEDS = 6  # on the PTX emulator
MISSING = 77  # there is no NVRTC


class Stages:
    """What the actors of a kernel do, stage by stage."""

    def __init__(self, kernel):
        self.kernel = kernel
        draw = kernel.draw
        self.world = World(kernel, *draw.choice(WORLDS))
        self.stages = draw.randint(2, 4)
        is_one_cta = self.world.grid * self.world.cluster == 1
        self.cells = (kernel.add_object("d", f"smem i32[{WIDTH}]") if is_one_cta and draw.random() < 0.3
                      else kernel.add_flags("d", CELLS))
        self.is_smem = len(kernel.outputs) == 0
        self.sums = kernel.add_flags("m", WIDTH)
        self.read = kernel.add_param("y", "inout", f"i32[{self.world.count}, {self.stages}, 2]")
        kernel.options += ["--input", f"{self.read[1:]}=zeros"]
        self.sources = kernel.add_object("s", f"smem i32[2, {WIDTH}]")
        self.units, self.is_one_cta = None, is_one_cta
        self.barrier = None

    # ---- what is done in a stage ----

    def emit_atomic(self, actor, stage, slot):
        kernel, draw = self.kernel, self.kernel.draw
        cell = f"{self.cells}[{draw.choice((0, 0, 0, 1))}]"
        what = draw.choice(("add", "add", "max", "fetch", "fetch", "fetch", "exchange"))
        if what in ("add", "max"):
            kernel.emit(f"atomic_{what} {cell}, {draw.randint(1, 9)}")
            return
        old = kernel.name_value("old")
        name, value = ("atomic_fetch_add", draw.choice((0, 1, 2))) if what == "fetch" \
            else ("atomic_exchange", draw.randint(1, 9))
        kernel.emit(f"{old} = {name} {cell}, {value}", f"store {self.read}[{actor}, {stage}, {slot}], {old}")

    def emit_reduction(self):
        kernel, draw = self.kernel, self.kernel.draw
        kernel.emit(f"copy_smem_to_gmem {self.sources}[{draw.randrange(2)}], {self.sums} "
                    f"reduce({draw.choice(('add', 'add', 'max'))})")
        if draw.random() < 0.7:
            kernel.emit("wait_smem_to_gmem 0")

    def emit_act(self, actor, stage):
        for slot in range(self.kernel.draw.choice((1, 1, 2))):
            if self.kernel.draw.random() < 0.35:
                self.emit_reduction()
            else:
                self.emit_atomic(actor, stage, slot)

    # ---- how they meet ----

    def emit_chain(self):
        """Each actor but the last tells the next one; a semaphore for each."""
        kernel = self.kernel
        self.units = self.units or kernel.add_object(
            "u", f"semaphore[{self.world.count}]" + ("" if self.is_one_cta else " global"))
        hands = []
        for actor in range(self.world.count):
            lines = [] if actor == 0 else [f"semaphore_wait {self.units}[{actor - 1}], 1"]
            lines += [f"semaphore_signal {self.units}[{actor}], 1"] if actor + 1 < self.world.count else []
            hands.append((actor, lambda lines=lines: kernel.emit(*lines)))
        kernel.emit_branches("%me", [hand for hand in hands if self.world.count > 1])

    def emit_meeting(self):
        kernel, draw, world = self.kernel, self.kernel.draw, self.world
        ways = ["chain", "chain", "nothing"]
        if world.grid == 1 and world.cluster > 1:
            ways += ["cluster"] * 3
        elif world.grid == 1 and world.count > 1:
            ways += ["block", "block", "barrier"]
        way = draw.choice(ways)
        if way == "chain" and world.count > 1:
            self.emit_chain()
        elif way == "cluster":
            kernel.emit("cluster_barrier")
        elif way == "block":
            kernel.emit("block_barrier")
        elif way == "barrier":
            self.barrier = self.barrier or kernel.add_object("b", f"barrier[1] arrivals({world.threads})")
            kernel.emit(f"barrier_arrive {self.barrier}[0]", f"barrier_wait {self.barrier}[0]")

    def emit(self):
        kernel, draw, world = self.kernel, self.kernel.draw, self.world
        world.emit_indices(kernel)
        first = ["if (eq %w, 0) {"] if world.threads > 1 else []
        kernel.emit(*first, f"store {self.sources}[0], (broadcast 1 : i32[{WIDTH}])",
                    f"store {self.sources}[1], (broadcast 5 : i32[{WIDTH}])",
                    *([f"store {self.cells}, (broadcast 0 : i32[{WIDTH}])"] if self.is_smem else []), "commit_smem",
                    *["}"] * len(first), "cluster_barrier" if world.cluster > 1 else "block_barrier")
        last = draw.randrange(world.count)
        for stage in range(self.stages):
            # Mostly one of them: where two act at once what is left is chance, with every meeting too.
            last = (last + draw.choice((0, 1, 1))) % world.count
            acting = range(world.count) if draw.random() < 0.25 else [last]
            kernel.emit_branches("%me", [(actor, lambda actor=actor, stage=stage: self.emit_act(actor, stage))
                                         for actor in acting])
            for _ in range(draw.choice((1, 2))):
                self.emit_meeting()
        kernel.emit("wait_smem_to_gmem 0")


def draw_kernel(number):
    kernel = Kernel(number)
    Stages(kernel).emit()
    return kernel


# ---- advice --------------------------------------------------------------------------------------


class Followed:
    """A kernel with some advice followed: a text under another name."""

    def __init__(self, kernel, number, edits):
        self.kernel, self.edits, self.outputs, self.options = kernel, edits, kernel.outputs, kernel.options
        self.name = f"{kernel.name}_{number}"

    def make_text(self):
        lines = self.kernel.make_text().split("\n")
        for line, is_relaxed in self.edits:
            lines[line - 1] = (re.sub(r"(\w+.*?)( scope\(\w+\))?$", r"\1 order(relaxed)\2", lines[line - 1])
                               if is_relaxed else "")
        return "\n".join(lines).replace(f"@{self.kernel.name}(", f"@{self.name}(")


def ask(grout, kernel, folder):
    """What is advised: lists of edits, (line, whether it is relaxed), each with the lines that go together, or None."""
    path = os.path.join(folder, "advised.grout")
    with open(path, "w", encoding="utf-8") as file:
        file.write(kernel.make_text())
    advised = []
    for finding in call(grout, path, ["--advice", *kernel.options])["findings"]:
        if finding["severity"] == "advice":
            lines = [finding["primary"]["line"]] + [note["place"]["line"]
                                                    for note in finding["notes"] if note.get("place")]
            together = re.search(r"these can go together: lines ([\d, ]+)", str(finding))
            advised.append(([(line, finding["code"] == "redundant-order") for line in lines],
                            together and [int(line) for line in together[1].split(", ")]))
    return advised


def follow(kernel, advised):
    """The kernels that advice makes of this one."""
    relaxed = {line for own, _ in advised for line, is_relaxed in own if is_relaxed}
    dropped = {line for own, _ in advised for line, is_relaxed in own if not is_relaxed}
    texts = [own for own, _ in advised]
    for together in [lines for _, lines in advised if lines][:1]:
        if set(together) <= relaxed | dropped:  # a report lists 20: of others nothing says what to do
            texts.append([(line, line not in dropped) for line in together])
    return [Followed(kernel, i, edits) for i, edits in enumerate(texts)]


# ---- outputs -------------------------------------------------------------------------------------


def list_runs(count):
    runs = [["--schedule", "fair", "--timing", "lazy"], ["--schedule", "fair", "--timing", "eager"]]
    return runs + [["--schedule", ("random", "pct:3")[i % 2], "--seed", str(i + 1), "--timing",
                    ("random", "lazy", "eager")[i % 3]]
                   for i in range(count)]


def collect(grout, kernels, folder, runs):
    """By name the outcomes of all runs."""
    outcomes = {kernel.name: [] for kernel in kernels}
    for options in runs if kernels else []:
        # Parameters have the names of the kernel that they come from: one file for each generation.
        for batch in split(kernels):
            for name, outcome in run(grout, batch, folder, options).items():
                outcomes[name].append(outcome)
    return outcomes


def split(kernels):
    """Files in which no two kernels have arrays of one name."""
    files = []
    for kernel in kernels:
        for batch in files:
            if all(other.outputs != kernel.outputs for other in batch):
                batch.append(kernel)
                break
        else:
            files.append([kernel])
    return files


def run_ptx(grout, kernel, folder, seed):
    """The outputs on the PTX emulator, or None: no NVRTC."""
    path = os.path.join(folder, "ptx.grout")
    with open(path, "w", encoding="utf-8") as file:
        file.write(kernel.make_text())
    files = [os.path.join(folder, f"{name}.npy") for name in kernel.outputs]
    done = subprocess.run([grout, "run", "-q", "--device", "ptx", "--timing", ("random", "lazy", "eager")[seed % 3],
                           "--seed", str(seed), *kernel.options,
                           *(f"--output={name}={file}" for name, file in zip(kernel.outputs, files)),
                           path], capture_output=True, text=True, check=False)
    if "[nvrtc-missing]" in done.stderr + done.stdout:
        return None
    if done.returncode != 0:
        return done.stdout + done.stderr
    return b"".join(open(file, "rb").read() for file in files)


def judge(kernel, made, outcomes):
    """What is wrong with a kernel made by advice, or None."""
    wanted = outcomes[kernel.name][0].digest
    for outcome in outcomes[made.name]:
        if not outcome.is_clean:
            return f"not clean: {outcome.say()}"
        if outcome.digest != wanted:
            return f"the outputs differ with {outcome.how}"
    return None if outcomes[made.name][0].holds else "its verdict is not for every schedule"


def judge_ptx(grout, kernel, made, folder):
    """The same on the PTX emulator. What differs there without the advice says nothing."""
    wanted, found = ({run_ptx(grout, one, folder, seed) for seed in range(SEEDS)} for one in (kernel, made))
    if None in wanted:
        sys.exit(MISSING)
    return "the outputs differ as PTX" if len(wanted) == 1 and found != wanted else None


def is_chance(grout, kernel, folder):
    """Whether the kernel as it was drawn has different outputs, too, where more schedules are tried."""
    return len({outcome.digest for outcome in collect(grout, [kernel], folder, list_runs(80))[kernel.name]}) > 1


def check_batch(grout, numbers, runs, with_ptx):
    """(passed, failed, followed)"""
    kernels = [draw_kernel(number) for number in numbers]
    with tempfile.TemporaryDirectory(prefix="grout-advice-") as folder:
        advised = {kernel.name: ask(grout, kernel, folder) for kernel in kernels}
        advisable = [kernel for kernel in kernels if advised[kernel.name]]
        outcomes = collect(grout, advisable, folder, runs)
        same = [kernel for kernel in advisable if len({o.digest for o in outcomes[kernel.name]}) == 1]
        made = [(kernel, one) for kernel in same for one in follow(kernel, advised[kernel.name])]
        outcomes.update(collect(grout, [one for _, one in made], folder, runs))
        failed = set()
        for kernel, one in made:
            fault = judge(kernel, one, outcomes)
            if fault is None and with_ptx:
                fault = judge_ptx(grout, kernel, one, folder)
            if fault is not None and kernel.name not in failed and not is_chance(grout, kernel, folder):
                failed.add(kernel.name)
                print(f"{kernel.name}: {fault}, with lines {one.edits}\n{kernel.make_text()}", flush=True)
    return len(kernels) - len(failed), len(failed), len(made)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--schedules", type=int, default=7)
    parser.add_argument("--ptx", action="store_true")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    arguments = parser.parse_args()
    passed = failed = followed = 0
    for first in range(arguments.first, arguments.first + arguments.count, 40):
        end = min(first + 40, arguments.first + arguments.count)
        counts = check_batch(os.path.abspath(arguments.grout), range(first, end), list_runs(arguments.schedules),
                             arguments.ptx)
        passed, failed, followed = passed + counts[0], failed + counts[1], followed + counts[2]
    print(f"{passed} passed, {failed} failed, {followed} followed")
    return failed > 0 or followed == 0


if __name__ == "__main__":
    sys.exit(main())
