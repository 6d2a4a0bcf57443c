#!/usr/bin/env python3
# pallas_interpret.py - a checked matmul of JAX on grout, next to JAX' own interpreter of Pallas kernels for GPUs.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/pallas_interpret.py [SIZE [SMS]]      with grout and JAX 0.11 in this Python; 1024 and 132

JAX' hopper_matmul, f16, SIZE^3, for a device of this many SMs: by JAX' interpreter (InterpretGPUParams, which looks for
no races here), and under grout's race checker. Both run in this process, one after the other; tracing, and what comes
between it and the run, are timed apart. Minutes for JAX' part. Exit code 77 where JAX has no such interpreter.
"""
import os
import pathlib
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "pallas_compat"))


class Clock:
    """Prints what took how long."""

    def __init__(self, who):
        self.who, self.last = who, time.monotonic()

    def lap(self, what):
        """Seconds since the lap before."""
        seconds, self.last = time.monotonic() - self.last, time.monotonic()
        print(f"{self.who:8}{what:34}{seconds:10.3f} s", flush=True)
        return seconds


def run_jax(prepared, sms):
    import jax
    from jax._src.pallas.mosaic_gpu.interpret import params

    from grout.pallas._device import pretend
    with pretend(sms), params.force_gpu_interpret_mode(params.InterpretGPUParams()):
        clock = Clock("JAX")
        traced = jax.jit(prepared.function).trace(*prepared.inputs)
        clock.lap("trace")
        compiled = traced.lower().compile()
        clock.lap("make the interpreter of it")
        result = jax.block_until_ready(compiled(*prepared.inputs))
        return clock.lap("run"), result


def run_grout(prepared, sms):
    from grout import pallas
    clock = Clock("grout")
    imported, = pallas.import_kernels(prepared.function, sms=sms)(*prepared.inputs)
    clock.lap("trace and import")
    kernel = imported.kernel
    values = dict(zip(imported.inputs, prepared.inputs))
    report = kernel.check(values=values)
    seconds = clock.lap("check, the first time")
    seconds = min(seconds, *(_time_check(kernel, values, clock) for _ in range(3)))
    print(f"{'grout':8}{report.verdict}; {report.promise}")
    result = kernel.run(values=values)
    clock.lap("run without the checker")
    return seconds, result


def _time_check(kernel, values, clock):
    kernel.check(values=values)
    return clock.lap("check, again")


def main():
    given = [int(argument) for argument in sys.argv[1:3]]
    size, sms = [*given, *(1024, 132)[len(given):]]
    try:
        import jax
        import numpy
        from jax._src.pallas.mosaic_gpu.interpret.params import force_gpu_interpret_mode  # noqa: F401  (is it there?)

        import cases
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    prepared = cases.load(("jax",))["hopper_matmul"].make(m=size, n=size, k=size, sms=sms)
    print(f"hopper_matmul, f16, {size}^3, {sms} SMs, JAX {jax.__version__}")
    ours, checked = run_grout(prepared, sms)
    theirs, interpreted = run_jax(prepared, sms)
    wanted, = prepared.reference()
    if not numpy.array_equal(checked, wanted) or not numpy.array_equal(numpy.asarray(interpreted), wanted):
        print("pallas_interpret: a product is wrong")
        return 1
    print(f"JAX' run takes {theirs / ours:.0f} times as long as grout's check")
    return 0


if __name__ == "__main__":
    sys.exit(main())
