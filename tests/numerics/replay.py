"""Unpacks dots that an H200 has made, and lets the program replay compare them with exact numerics.

usage: replay.py PROGRAM
"""
import lzma
import os
import subprocess
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with lzma.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "h200_dots.xz")) as file:
        dots = file.read()
    return subprocess.run([sys.argv[1]], input=dots, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
