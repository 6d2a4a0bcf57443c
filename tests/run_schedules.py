"""Runs 'grout check --expect' on kernels under every timing, the fair schedule and random seeds.

usage: run_schedules.py --grout PATH [--seeds 20] KERNEL...

The findings a file expects must come out of every one of these runs: a verdict that depends on the
schedule or on the timing is a fault of the checker.
"""
import argparse
import subprocess
import sys


def variants(seeds):
    for timing in ("lazy", "eager", "random"):
        yield ["--schedule", "fair", "--timing", timing, "--seed", "1"]
        for seed in range(1, seeds + 1):
            yield ["--schedule", "random", "--timing", timing, "--seed", str(seed)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("kernels", nargs="+")
    args = parser.parse_args()
    failures = 0
    for kernel in args.kernels:
        for options in variants(args.seeds):
            command = [args.grout, "check", "--expect", *options, kernel]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=100, check=False)
            if done.returncode != 0:
                failures += 1
                print(f"exit code {done.returncode}: grout {' '.join(command[1:])}\n{done.stdout}{done.stderr}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
