"""One to three synchronising operations of a right kernel dropped, moved, doubled, guarded or changed.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mutation"))
import sync_table

TABLE = sync_table.load()
NUMBERED = {name for name, fact in TABLE.items() if set(fact.letters) & set("ik")}
COUNTED = {name for name, fact in TABLE.items() if "count" in fact.attributes}
# What an operation on an mbarrier is mistaken for.
MEANT = {name: fact.meant for name, fact in TABLE.items()
         if fact.object == "MBARRIER" and fact.meant and TABLE[fact.meant].mode == fact.mode}

SYNCHRONISING = re.compile(
    r"(?:%\w+ = )?(barrier_(arrive|wait|test)|mbarrier_\w+|semaphore_(signal|wait)|named_barrier_\w+|block_barrier|"
    r"cluster_(arrive|wait|barrier)|commit_\w+|wait_smem_to_gmem|tcgen05_commit_arrive|"
    r"wait_load_tmem|async_store_tmem|async_copy_\w+|atomic_\w+|copy_gmem_to_smem|"
    r"copy_smem_to_gmem|async_copy|async_store_smem)\b")
ORDERS = re.compile(r" order\(\w+\)")


def make_mistakes(kernel):
    draw = kernel.draw
    kernel.is_right = False
    for _ in range(draw.choice((1, 1, 1, 1, 2, 2, 3))):
        make_mistake(kernel)


def make_mistake(kernel):
    draw = kernel.draw
    if draw.random() < 0.06 and change_object(kernel):
        return
    for _ in range(20):
        places = [i for i, (_, text) in enumerate(kernel.lines) if SYNCHRONISING.match(text)]
        if not places:
            return
        at = draw.choice(places)
        has_result = kernel.lines[at][1].startswith("%")
        ways = [change] * 5 if has_result else [drop, drop, drop, move, move, move, double, guard] + [change] * 5
        if draw.choice(ways)(kernel, at):
            return


def drop(kernel, at):
    del kernel.lines[at]
    return True


def double(kernel, at):
    kernel.lines.insert(at, kernel.lines[at])
    return True


def move(kernel, at):
    """Past up to four lines before or after, which may be the edge of a block."""
    draw, lines = kernel.draw, kernel.lines
    step, left = draw.choice((-1, 1)), draw.randint(1, 4)
    start = at
    while left and 0 <= at + step < len(lines):
        depth, text = lines[at + step]
        if depth != lines[at][0] or text.startswith(("}", "yield", "cond")) or text.endswith("{"):
            break
        lines[at], lines[at + step] = lines[at + step], lines[at]
        at, left = at + step, left - 1
    return at != start


def guard(kernel, at):
    """Not in every round, or not by everybody."""
    depth, text = kernel.lines[at]
    names = sorted(find_names(kernel.lines, at))
    conditions = [f"(eq {name}, {kernel.draw.randrange(2)})" for name in names if name == "%me"]
    conditions += [f"({kernel.draw.choice(('lt', 'ge', 'ne'))} {name}, {kernel.draw.randrange(1, 3)})"
                   for name in names if re.fullmatch(r"%i\d*", name)]
    if not conditions:
        return False
    kernel.lines[at:at + 1] = [(depth, f"if {kernel.draw.choice(conditions)} {{"), (depth + 1, text), (depth, "}")]
    return True


def find_names(lines, at):
    """The names that hold at a line."""
    names = {}
    for depth, text in lines[:at]:
        names = {n: d for n, d in names.items() if d <= depth}
        defined = re.match(r"(%\w+) = ", text) or re.match(r"for (%\w+)", text)
        if defined:
            names[defined[1]] = depth + text.endswith("{")
    return {n for n, d in names.items() if d <= lines[at][0]}


def change_object(kernel):
    """Another number of arrivals, fewer semaphores, no meeting before the end."""
    draw = kernel.draw
    places = [i for i, text in enumerate(kernel.scratch) if "arrivals(" in text]
    if places and draw.random() < 0.7:
        at = draw.choice(places)
        step = draw.choice((-1, 1))
        kernel.scratch[at] = re.sub(r"arrivals\((\d+)\)", lambda m: f"arrivals({max(1, int(m[1]) + step)})",
                                    kernel.scratch[at])
        return True
    if "cluster_exit = sync" in kernel.launch:
        kernel.launch = kernel.launch.replace("cluster_exit = sync", "cluster_exit = none")
        return True
    return False


def change(kernel, at):
    """Something else in the same place; False where there is nothing to change."""
    depth, text = kernel.lines[at]
    changed = [c for c in list_changes(kernel, text) if c != text]
    if not changed:
        return False
    kernel.lines[at] = (depth, kernel.draw.choice(changed))
    return True


def list_changes(kernel, text):
    draw = kernel.draw
    name = SYNCHRONISING.match(text)[1]
    if name.startswith("commit_"):
        return ["commit_smem", "commit_smem cluster", "commit_gmem"]
    changes = change_order(draw, name, text) + change_element(kernel, text)
    if name == "mbarrier_wait":
        changes += 2 * [re.sub(r", (.*?)( order.*)?$", r", 1 - \1\2", text)]
    if name in NUMBERED:
        changes += change_number(draw, name, text)
    if name == "wait_smem_to_gmem":
        changes.append(text.replace(" read_only", "") if "read_only" in text else text + " read_only")
    if name == "semaphore_wait":
        changes.append(text.replace(" no_decrement", "") if "no_decrement" in text else text + " no_decrement")
    if name in COUNTED:
        changes.append(text + " count(2)")
    if name in MEANT:
        changes.append(text.replace(name, MEANT[name]))
    if ".cluster(" in text:
        changes.append(re.sub(r"\.cluster\((.*?)\)\[", "[", text))
        changes.append(re.sub(r"\.cluster\((\d)\)", lambda m: f".cluster({1 - min(1, int(m[1]))})", text))
    if "from_cta(" in text:
        changes += [text.replace("from_cta(0)", "from_cta(1)"), text.replace(" from_cta(0)", "")]
    if name.startswith("named_barrier"):
        changes.append(text.replace("_sync", "_arrive") if "_sync" in text else text.replace("_arrive", "_sync"))
    if name in ("cluster_barrier", "block_barrier"):
        changes += ["cluster_arrive", "cluster_wait"] if name == "cluster_barrier" else ["named_barrier_sync 6, 2"]
    if ", ds(32, 32)" in text:  # the same half again
        changes.append(text.replace("ds(32, 32)", "ds(0, 32)"))
    if name == "async_copy_arrive":
        changes.append(text.replace("async_copy_arrive", "barrier_arrive" if "%b" in text else "mbarrier_arrive"))
    for word in (" multicast(cx)", " collective_axes(cx)", " reduce(add)", " multicast(g)", " collective_axis(g)",
                 " partitioned(0)"):
        changes.append(text.replace(word, ""))
    return changes


def change_order(draw, name, text):
    if ORDERS.search(text):
        return [ORDERS.sub(order, text) for order in ("", " order(relaxed)", " order(acquire)", " order(release)")]
    if re.match(r"m?barrier_(arrive|wait|test|expect)|semaphore_|cluster_", name):
        changes = 2 * [text + " order(relaxed)"]
        if not name.startswith("cluster_"):
            changes.append(text + f" scope({draw.choice(('cta', 'cluster'))})")
        return changes
    return []


def change_number(draw, name, text):
    """The last number, or both of a named barrier, a little larger or smaller."""
    numbers = list(re.finditer(r"(?<![\w%])\d+(?!\w)", text))
    at = numbers[-1] if name != "named_barrier_sync" else draw.choice(numbers)
    step = draw.choice((128, -128, 16)) if name.startswith("mbarrier_expect") else draw.choice((1, 1, -1))
    return 2 * [text[:at.start()] + str(max(0, int(at[0]) + step)) + text[at.end():]]


def change_element(kernel, text):
    """Another element of the same array of barriers."""
    found = re.search(r"(%[a-z]+\d+)((?:\.cluster\([^)]*\))?)\[([^\[\]]*)\]", text)
    if not found:
        return []
    declared = [re.match(rf"scratch {found[1]} : (?:m?barrier|semaphore|smem f32|gmem f32)\[(\d+)", s)
                for s in kernel.scratch]
    counts = [int(m[1]) for m in declared if m]
    if not counts or counts[0] < 2 or ":" in found[3] or "ds(" in found[3]:
        return []
    index = found[3]
    other = str((int(index) + 1) % counts[0]) if index.isdigit() else f"({index} + 1) % {counts[0]}"
    return [text[:found.start(3)] + other + text[found.end(3):]]
