"""Checks a drawn text: for the scripts of this folder.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS


def check(grout, text, options):
    """Exit code; the report, None where there is none; the end of stderr."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "drawn.grout")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([grout, "check", "--format", "json", "-q", *options, path], capture_output=True,
                              text=True, errors="replace", timeout=SECONDS, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = None
    return done.returncode, report, done.stderr[-300:]
