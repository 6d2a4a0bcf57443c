# SPDX-License-Identifier: Apache-2.0
"""Inputs that keep a command in one phase for seconds: each function returns the text of a kernel file, or writes
another."""
import struct

HEAD = "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64])\n{\n"
WORK = "kernel @k(%x: in gmem f32[N], %y: out gmem f32[N])\n{\n  %a = load %x\n  store %y, %a\n}\n"


def lines():
    """Comments and requires: work for the reader alone."""
    return 'require 1 == 1, "a"\n' * 1500000 + HEAD + "}\n"


def consts():
    """Each const is made of the one before."""
    count = 400000
    return "const C0 = 1\n" + "".join(f"const C{i} = (C{i - 1} * 3 + {i}) % 1000\n"
                                      for i in range(1, count)) + HEAD + "}\n"


def operations():
    """Operations on arrays, one after the other."""
    count = 250000
    body = "".join(f"  %a{i + 1} = add %a{i}, 1.0\n" for i in range(count))
    return HEAD + "  %a0 = load %x\n" + body + f"  store %y, %a{count}\n}}\n"


def accesses():
    """Loads and stores of SMEM, with barriers: much to verify, and to order."""
    body = "  store %s, (load %x)\n  commit_smem\n  block_barrier\n  store %y, (load %s)\n  block_barrier\n" * 40000
    return HEAD + "  scratch %s : smem f32[64]\n" + body + "}\n"


def kernels():
    return "".join(f"kernel @k{i}(%x: in gmem f32[4], %y: out gmem f32[4])\n{{\n  store %y, (load %x)\n}}\n"
                   for i in range(60000))


def loop():
    return ("// expect: clean\nconst A = 4\nkernel @k(%x: in gmem i32[64], %y: inout gmem i32[64]) grid(g = A)\n{\n"
            "  for %i in 0..1000000000 {\n"
            "    store %y[(axis_index g)], (add (load %y[(axis_index g)]), 1)\n  }\n}\n")


def looks():
    """Atomics in a while: what each finds is followed through the whole of it."""
    count = 6000
    body = "".join(f"    %o{i} = atomic_exchange %f[{i % 8}], %a{i}\n    %a{i + 1} = add %a{i}, %o{i}\n"
                   for i in range(count))
    return ("kernel @k(%f: inout gmem i32[8], %y: out gmem i32[1])\n{\n  %r = while carry(%v = 0) {\n    cond (lt %v, "
            f"1)\n  }} do {{\n    %a0 = add %v, 1\n{body}    yield %a{count}\n  }}\n  store %y[0], %r\n}}\n")


def launches():
    return ("const N = 20000\nkernel @k(%y: inout gmem i32[64])\n{\n  for %i in 0..N {\n    store %y[0], %i\n  }\n}\n"
            + "launch @k(%y)\n" * 64)


def ctas():
    return "kernel @k(%y: inout gmem i32[64]) grid(g = 2147483647)\n{\n}\n"


def large_operations():
    return ("kernel @k(%x: in gmem f32[1048576], %y: out gmem f32[1048576])\n{\n  %a = load %x\n  for %i in 0..1000000 "
            "{\n    store %y, (exp (sin (tanh (pow %a, %a))))\n  }\n}\n")


def arrays():
    """Inputs that are made, and outputs that are written: a gigabyte."""
    return ("const N = 268435456\nkernel @k(%x: in gmem f32[N], %y: out gmem f32[N])\n{\n  store %y[0], (load "
            "%x[0])\n}\n")


def written():
    """An output of 256 MiB, made soon."""
    return ("const N = 67108864\nkernel @k(%y: out gmem f32[N])\n{\n  store %y[0], 1.0\n}\n")


def spins():
    """Many orders of CTAs end otherwise: work for a search."""
    return ("const G = 12, T = 40\nkernel @k(%n: inout gmem i32[1], %y: inout gmem i32[G]) grid(g = G)\n{\n  for %i in "
            "0..T {\n    %old = atomic_exchange %n[0], (axis_index g) order(acq_rel)\n    if (lt %old, (axis_index g)) "
            "{\n      store %y[(axis_index g)], %old\n"
            "    }\n  }\n}\n")


def races():
    """A finding that a search shrinks and mends, in a loop that takes time."""
    return ("const G = 64, T = 3000\nkernel @k(%y: inout gmem i32[G]) grid(g = G)\n{\n  for %i in 0..T {\n"
            "    store %y[(rem %i, G)], (axis_index g)\n  }\n}\n")


def findings():
    """As many places as there are lines have a race."""
    body = "".join(f"  store %y[{i}], (axis_index g)\n" for i in range(20000))
    return f"kernel @k(%y: inout gmem i32[20000]) grid(g = 2)\n{{\n{body}}}\n"


def prints():
    return ("kernel @k(%y: inout gmem i32[64])\n{\n  for %i in 0..100000000 {\n    debug_print \"line\", %i\n  }\n}\n")


def write_npy(path, count):
    """Zeros of f32; the file has holes."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.truncate(file.tell() + 4 * count)
