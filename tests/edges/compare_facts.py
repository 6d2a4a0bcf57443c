"""Holds facts.def, by which the checker and the emitter judge, to the rules of its own that the search for races in PTX
has.

usage: compare_facts.py --grout PATH [--keep FOLDER] [--interleavings N] FOLDER...

For each line of facts.def, and each edge that may carry it, a program is written: one thread does it, tells another
one, and that one does what is wrong if it does not know. The checker finds something, and the search in PTX a race,
where the line says that the edge does not carry it, and nowhere else. The litmus programs in these folders of
tests/litmus are compared too: either both find something, or neither does. Each word of the table is held by a program:
with another one, an answer would be wrong.

The search is of the PTX that grout emits. Where that is stronger than the text, and the two differ for that reason, a
table below says so. Needs NVRTC; without it the test is skipped (exit code 77).

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import families
from limit import SECONDS

FACTS = os.path.join(os.path.dirname(TESTS), "include", "grout-internal", "facts.def")
WORDS = ("TIME", "SEEN", "MEMORY")
SKIPPED = 77

# ---- where the two differ, and why

# In a kernel with engines a relaxed arrival is emitted as a release for the CTA, so that it tells what engines are done
# with. PTX then carries memory within the CTA, which the language does not promise.
EMITTED_STRONGER = {("LAUNCH ENGINE WRITE", "own relaxed")}

# ---- a program for each fact and edge

# By fact: the parameters, what stands before, what one thread does, and what the other does. {at} is the memory of the
# first one as the other names it, {all} the multicast that reaches both, {filler} who fills, {counter} who says how
# many bytes come.
OUT = "%y: out gmem f32[64]"
IN_AND_OUT = "%x: in gmem f32[64], " + OUT
BOTH_AND_OUT = "%g: inout gmem f32[64] init(ints), " + OUT
SET = "(broadcast 2.0 : f32[64])"
PROGRAMS = {
    "CTA THREAD READ": (OUT, f"if %is_first {{ store %s, {SET} }}; {{meet}}", "store %y, (load %s)",
                        f"store %s{{at}}, {SET}"),
    "CTA THREAD WRITE": (OUT, "", f"store %s, {SET}", "store %y, (load %s{at})"),
    "CTA ENGINE READ": (IN_AND_OUT, ("if {counter} { mbarrier_expect %full, 256 }; if {filler} { copy_gmem_to_smem %x, "
                                     "%s, %full{all} }; "
                        "mbarrier_wait %full, 0; if {counter} { mbarrier_expect %full, 256 }; {meet}"),
                        "copy_smem_to_gmem %s, %y; wait_smem_to_gmem 0 read_only",
                        "copy_gmem_to_smem %x, %s, %full{all}"),
    "CTA ENGINE WRITE": (IN_AND_OUT, "",
                         "mbarrier_expect %full, 256; copy_gmem_to_smem %x, %s, %full; mbarrier_wait %full, 0",
                         "store %y, (load %s{at})"),
    "LAUNCH THREAD READ": (BOTH_AND_OUT, "", "store %y, (load %g)", f"store %g, {SET}"),
    "LAUNCH THREAD WRITE": (BOTH_AND_OUT, "", f"store %g, {SET}", "store %y, (load %g)"),
    "LAUNCH ENGINE READ": ("%g: inout gmem f32[64] init(ints)", "",
                           "mbarrier_expect %full, 256; copy_gmem_to_smem %g, %s, %full; mbarrier_wait %full, 0",
                           f"store %g, {SET}"),
    "LAUNCH ENGINE WRITE": (BOTH_AND_OUT, "",
                            f"store %s, {SET}; commit_smem; copy_smem_to_gmem %s, %g; wait_smem_to_gmem 0",
                            "store %y, (load %g)"),
}
OF_OWN = {"at": "", "all": "", "filler": "%is_first", "counter": "%is_first", "meet": "block_barrier"}
OF_PEER = {"at": ".cluster(1)", "all": " multicast(cx)", "filler": "%is_other", "counter": "true",
           "meet": "cluster_barrier"}

# The same of what an MMA of a pair writes in both CTAs, of which the leader alone hears: by edges to the other CTA.
OF_A_PAIR = "CTA ENGINE WRITE (by an MMA of a pair)"

# By edge: what is written after the arrival and after the wait, and the words of facts.def that go along it.
EDGES = {
    "own strong": ("", "", WORDS),
    "own relaxed": (" order(relaxed)", " order(relaxed)", ("TIME", "SEEN")),
    "peer strong": ("", "", WORDS),
    "peer relaxed": (" order(relaxed)", " order(relaxed)", ("TIME",)),
    "peer arrive-cta": (" scope(cta)", "", ("TIME",)),
    "peer wait-cta": ("", " scope(cta)", ("TIME",)),
}


def write_program(fact, edge):
    arrival, wait, _ = EDGES[edge]
    is_peer = edge.startswith("peer")

    def fill(text):
        for key, value in (OF_PEER if is_peer else OF_OWN).items():
            text = text.replace("{" + key + "}", value)
        return text.replace("; ", "\n  ")
    parameters, before, did, then = (fill(text) for text in PROGRAMS[fact])
    return f"""kernel @k({parameters}) {'cluster(cx = 2) attr cluster_exit = sync' if is_peer else 'threads(wg = 2)'}
{{
  scratch %s : smem f32[64]
  scratch %full : mbarrier
  scratch %told : mbarrier
  %is_first = eq (axis_index {'cx' if is_peer else 'wg'}), {1 if is_peer else 0}
  %is_other = not %is_first
  if {'true' if is_peer else '%is_first'} {{
    mbarrier_init %full, 1
    mbarrier_init %told, 1
  }}
  {'cluster_barrier' if is_peer else 'block_barrier'}
  {before}
  if %is_first {{
  {did}
  mbarrier_arrive %told{'.cluster(0)' if is_peer else ''}{arrival}
  }} else {{
  mbarrier_wait %told, 0{wait}
  {then}
  }}
  {'mbarrier_wait %full, 1' if fact == 'CTA ENGINE READ' else ''}
}}
"""


def write_pair(edge):
    arrival, wait, _ = EDGES[edge]
    return f"""kernel @k(%y: out gmem f32[256, 32]) cluster(cx = 2) attr arch = "sm_100a" cluster_exit = sync
{{
  scratch %a : smem f16[128, 16] tile(8, 16) swizzle(32)
  scratch %b : smem f16[16, 16] tile(8, 16) swizzle(32)
  scratch %t : tmem f32[128, 32] collective
  scratch %done : barrier orders_tensor_core
  scratch %told : barrier orders_tensor_core
  store %a, (broadcast 1.0 : f16[128, 16])
  store %b, (broadcast 1.0 : f16[16, 16])
  commit_smem
  cluster_barrier
  if (eq (axis_index cx), 0) {{
  tcgen05_mma %t, %a, %b, false collective_axis(cx)
  tcgen05_commit_arrive %done
  barrier_wait %done
  barrier_arrive %told.cluster(1){arrival}
  }} else {{
  barrier_wait %told{wait}
  }}
  store %y[ds((axis_index cx) * 128, 128), :], (async_load_tmem %t)
}}
"""


def list_programs(facts):
    """(fact, edge, text)"""
    for edge in EDGES:
        yield from ((fact, edge, write_program(fact, edge)) for fact in facts)
        if edge.startswith("peer"):
            yield OF_A_PAIR, edge, write_pair(edge)


def get_word(facts, fact):
    """What facts.def says of it."""
    return facts[fact.split(" (")[0]]


# ---- what the two say


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def ask(grout, path, interleavings):
    """Whether the checker finds something, whether the search in PTX does, and their texts."""
    checked = call(grout, "check", path)
    searched = call(grout, "run", "--device", "ptx", "--check", "--interleavings", interleavings, path)
    return checked.returncode, searched.returncode, checked.stdout + checked.stderr, searched.stdout + searched.stderr


def judge(name, answer, is_error, is_race):
    """What is wrong with an answer, as text; '' if nothing is."""
    checked, searched, report, text = answer
    found = "[ptx-race]" in text
    if checked not in (0, 1) or (searched != 0 and not found):
        return f"{name}: exit codes {checked} and {searched}\n{report}{text}"
    if bool(checked) != is_error:
        return f"{name}: the checker finds {'something' if checked else 'nothing'}\n{report}"
    if found != is_race:
        return f"{name}: the search in PTX finds {'a race' if found else 'nothing'}\n{text}"
    return ""


def find_faults(facts, answers):
    """The answers that are not as the table says."""
    for (fact, edge), answer in answers.items():
        is_lost = get_word(facts, fact) not in EDGES[edge][2]
        yield judge(f"{fact}, {edge}", answer, is_lost, is_lost and (fact, edge) not in EMITTED_STRONGER)


def find_loose(facts, answers):
    """The words of the table that no answer holds."""
    for fact, word in facts.items():
        for other in WORDS:
            if other != word and not any(find_faults({**facts, fact: other}, answers)):
                yield f"{fact}: no program tells {word} from {other}"


def find_litmus(folders):
    """{name: text} of the litmus programs of these folders."""
    return {os.path.basename(program.name)[:-len(".grout")]: set_arch(program.text)
            for program in families.list_programs() if os.path.dirname(program.name) in folders}


def set_arch(text):
    """A litmus program whose architecture stands in its head, not in the comment alone."""
    arch = re.search(r"^// run: --arch (\w+)$", text, re.M)
    if arch is None or "attr arch" in text:
        return text
    return text.replace("attr cluster_exit = sync", f'attr arch = "{arch[1]}" attr cluster_exit = sync')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", type=os.path.abspath, required=True)
    parser.add_argument("--keep", help="a folder for the programs")
    parser.add_argument("--interleavings", default="4", help="of the search in PTX")
    parser.add_argument("litmus", nargs="*", metavar="FOLDER")
    arguments = parser.parse_args()
    with open(FACTS, encoding="utf-8") as file:
        lines = re.findall(r"^GROUT_FACT\((\w+), *(\w+), *(\w+), *(\w+),", file.read(), re.M)
    facts = {" ".join(line[:3]): line[3] for line in lines if line[0] != "OWNER"}
    if set(facts) != set(PROGRAMS):
        print(f"facts.def and the programs of this test differ: {sorted(set(facts) ^ set(PROGRAMS))}")
        return 1
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = arguments.keep or scratch

        def run(name, text):
            path = os.path.join(folder, re.sub(r"\W", "_", name) + ".grout")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return ask(arguments.grout, path, arguments.interleavings)
        programs = list(list_programs(facts))
        answers = dict(zip([program[:2] for program in programs],
                           pool.map(lambda program: run(" ".join(program[:2]), program[2]), programs)))
        litmus = find_litmus(arguments.litmus)
        others = dict(zip(litmus, pool.map(run, litmus, litmus.values())))
    texts = [answer[3] for answer in (*answers.values(), *others.values())]
    if any("[nvrtc-missing]" in text for text in texts):
        print("without NVRTC there is nothing to compare")
        return SKIPPED
    faults = [*find_faults(facts, answers), *find_loose(facts, answers)]
    for name, answer in others.items():
        faults.append(judge(name, answer, bool(answer[0]), bool(answer[0])))
    faults = [fault for fault in faults if fault]
    print("\n".join([*faults,
                     f"{len(answers)} programs of {len(facts)} facts, {len(others)} of litmus, {len(faults)} faults"]))
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
