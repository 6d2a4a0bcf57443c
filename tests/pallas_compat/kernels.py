"""Runs Pallas kernels that others ship (JAX' own, those of its pages and its tutorial, tokamax') on grout, and writes
what came of each to docs/pallas_compat.md.

usage: kernels.py [--group jax|pages|tokamax|tutorial].. [--tests FOLDER [--fetch]] [--save FILE] [--grout PATH]
[CASE..]
       kernels.py --update FILE..

A case is imported, checked and run with wgmma='lowered' and, where that differs, with wgmma='documented'; results are
compared with NumPy; its text is read again, checked again and emitted; with --grout also compiled by NVRTC. Exits with
1 if something is wrong that judged.txt does not give a reason for. --update writes the table from files that --save has
made, one for each version of JAX, with the seconds of the first.

The group "tutorial" is in a file of JAX' tests, which this repository does not hold: FOLDER has it, or gets it with
--fetch.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import contextlib
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import kernels_page

HERE = os.path.dirname(os.path.abspath(__file__))


JUDGED = os.path.join(HERE, "judged.txt")


def read_judgements(path=JUDGED):
    """[(pattern of cases, code, reason)]: lines 'PATTERN CODE reason', '#' begins a comment."""
    found = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                pattern, code, reason = line.strip().split(None, 2)
                found.append((pattern, code, reason))
    return found


def find_reason(judgements, case, code):
    """Why a finding of a case is no fault of grout, or None."""
    return next((reason for pattern, own, reason in judgements if own == code and fnmatch.fnmatch(case, pattern)), None)


def _largest_difference(got, wanted):
    import numpy
    largest = 0.0
    with numpy.errstate(invalid="ignore"):
        for one, other in zip(got, wanted):
            if other is None:
                continue
            one, other = (numpy.asarray(array).astype(numpy.float64) for array in (one, other))
            if one.shape != other.shape:
                return float("inf")
            largest = max(largest, float(numpy.nan_to_num(numpy.abs(one - other), nan=numpy.inf).max(initial=0)))
    return largest


def _check(prepared, mode, seconds):
    import jax

    from grout import pallas
    start = time.monotonic()
    report = pallas.check(prepared.function, sms=prepared.sms, gpu=prepared.gpu, wgmma=mode)(*prepared.inputs)
    seconds.setdefault("check", time.monotonic() - start)
    codes = {}
    for finding in report.findings:
        if finding.follows_from is None:
            codes.setdefault(finding.code, f"{finding.severity}: {_say_where(finding)}")
    difference = _largest_difference(jax.tree_util.tree_leaves(report.result), prepared.reference())
    return {"verdict": report.verdict, "codes": codes, "difference": difference,
            "is_right": difference <= prepared.tolerance}, report


def _say_where(finding):
    place = finding.place
    file = os.path.basename(getattr(place, "file", "") or "")
    return f"{file}:{place.line}" if file else ""


def _drop_notes(text):
    """Without the comments in front."""
    return re.sub(r"\A(//.*\n)*", "", text)


def _read_again(imported, grout):
    """What is wrong with the text of a kernel, '' if nothing is: it has to say the same."""
    import grout as package
    from grout import GroutError
    try:
        again = package.load(imported.text, imported.name)
        again.emit()
        if _drop_notes(str(again.module)) != str(imported.module):
            return "printed, read and printed it is another text"
    except GroutError as error:
        return str(error)
    if not grout:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.grout")
        with open(path, "w", encoding="utf-8") as out:
            out.write(imported.text)
        done = subprocess.run([grout, "emit", "--to", "cubin", "--no-cache", "-o", os.path.join(folder, "cubin"), path],
                              capture_output=True, text=True, timeout=300, check=False)
    return done.stderr if done.returncode else ""


def run_case(case, grout):
    """What came of a case, as JSON has it."""
    from grout import RunError, pallas
    result = {"origin": case.origin, "what": case.what, "seconds": {}, "modes": {}}
    try:
        prepared = case.make()
        start = time.monotonic()
        kernels = pallas.import_kernels(prepared.function, sms=prepared.sms, gpu=prepared.gpu)(*prepared.inputs)
        result["seconds"]["import"] = time.monotonic() - start
    except Exception as error:
        result["refused"] = f"{type(error).__name__}: {error}".splitlines()[0]
        result["is_expected"] = bool(case.refused) and case.refused in str(error)
        return result
    start = time.monotonic()
    with contextlib.suppress(RunError):  # of which the check says more
        pallas.run(prepared.function, sms=prepared.sms, gpu=prepared.gpu)(*prepared.inputs)
    result["seconds"]["run"] = time.monotonic() - start
    result["modes"]["lowered"], report = _check(prepared, "lowered", result["seconds"])
    if any("wgmma" in note for note in report.notes):
        result["modes"]["documented"], _ = _check(prepared, "documented", result["seconds"])
    result["kernels"] = len(kernels)
    result["text"] = "\n".join(filter(None, (_read_again(kernel, grout) for kernel in kernels)))
    return result


def find_faults(name, result, judgements):
    """What is not as it should be."""
    if "refused" in result:
        return [] if result["is_expected"] else [f"refused: {result['refused']}"]
    is_known = "gpu-unsupported" in result["text"] and find_reason(judgements, name, "gpu-unsupported") is not None
    faults = [f"the text: {result['text']}"] if result["text"] and not is_known else []
    for mode, seen in result["modes"].items():
        errors = [code for code, text in seen["codes"].items() if text.startswith("error")]
        faults += [f"{mode}: nobody has judged {code} ({seen['codes'][code]})" for code in errors
                   if find_reason(judgements, name, code) is None]
        if not seen["is_right"] and not errors:
            faults.append(f"{mode}: a difference of {seen['difference']:.3g} and no error")
    if not any(seen["is_right"] for seen in result["modes"].values()) and \
            find_reason(judgements, name, "values") is None:
        faults.append("wrong values in every mode")
    return faults


def show(name, result):
    """A line for a terminal."""
    if "refused" in result:
        return f"{name}: {result['refused'][:150]}"
    modes = "; ".join(f"{mode} {seen['verdict']}, {seen['difference']:.2g} off"
                      f"{'' if seen['is_right'] else ' WRONG'} {' '.join(seen['codes'])}"
                      for mode, seen in result["modes"].items())
    return f"{name}: {modes}"


def run_cases(arguments):
    """All, and a file of what came of them."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax

    import cases
    import children
    if arguments.fetch:
        from cases import jax_tutorial
        children.fetch(arguments.tests, (jax_tutorial.FILE,))
    judgements, results, bad = read_judgements(), {}, 0
    for name, case in cases.load(tuple(arguments.group or ("jax", "pages")), arguments.tests).items():
        if arguments.case and name not in arguments.case:
            continue
        results[name] = run_case(case, arguments.grout)
        print(show(name, results[name]), flush=True)
        for fault in find_faults(name, results[name], judgements):
            bad += 1
            print(f"  fault: {fault}", flush=True)
    if arguments.save:
        with open(arguments.save, "w", encoding="utf-8") as out:
            json.dump({"jax": jax.__version__, "results": results}, out, indent=1)
    print(f"{len(results)} cases on JAX {jax.__version__}, {bad} faults")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--group", action="append", choices=("jax", "pages", "tokamax", "tutorial"))
    parser.add_argument("--tests", default="", help="the folder of JAX' test files, for the group tutorial")
    parser.add_argument("--fetch", action="store_true", help="bring the file of the tutorial there")
    parser.add_argument("--save")
    parser.add_argument("--grout")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("case", nargs="*")
    arguments = parser.parse_args()
    if not arguments.update:
        return run_cases(arguments)
    saved = []
    for path in arguments.case:
        with open(path, encoding="utf-8") as file:
            saved.append(json.load(file))
    kernels_page.update(saved, read_judgements(), find_reason)
    return 0


if __name__ == "__main__":
    sys.exit(main())
