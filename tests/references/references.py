"""References: the kernels of kernels/ against what they are said to compute, in float64 by plain Python, over awkward
sizes: one row, no whole tile, one step, more steps than slots.

usage: references.py --grout PATH [--products LIBRARY] [KERNEL...]

LIBRARY is products.c compiled: it makes the same sums as Python does, thirty times as fast.

Inputs are multiples of 1/8 between -15/8 and 15/8, which every float type here has exactly (f8e5m2, f6e3m2: of 1/4
beyond 1); so a difference is the kernel's. A tolerance stands with each case: 0 where all sums are exact, else half a
unit of the output's type and what the kernel's own arithmetic may lose.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import array
import ast
import collections
import concurrent.futures
import ctypes
import itertools
import math
import operator
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


# ---- arrays: flat lists, row-major ----

INTEGERS = ("i32", "i8")
TYPES = {"i8": ("b", "|i1"), "codes": ("H", "<u2"), "codes_of_two": ("H", "<u2"), "f4": ("f", "<f4"),
         "scales": ("f", "<f4")}
# What an f4e2m1 holds, and powers of two.
CHOICES = {"f4": [sign * size for sign in (-1, 1) for size in (0, 0.5, 1, 1.5, 2, 3, 4, 6)],
           "scales": [2.0 ** exponent for exponent in range(-2, 3)]}


def draw(generator, count, words):
    if words.split()[0] in CHOICES:
        return generator.choices(CHOICES[words.split()[0]], k=count)
    values = generator.choices(range(-15, 16), k=count)
    return values if words.startswith(INTEGERS) else [value / 8 for value in values]


def write_array(path, dims, values, words):
    code, descr = TYPES.get(words.split()[0], ("i", "<i4") if isinstance(values[0], int) else ("f", "<f4"))
    shape = "".join(f"{dim}, " for dim in dims)
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n".encode()
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack(f"<{len(values)}{code}", *values))


def read_array(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    code, width = {"<f8": ("d", 8), "<i4": ("i", 4)}[header["descr"]]
    return list(struct.unpack(f"<{(len(data) - 10 - size) // width}{code}", data[10 + size:]))


def cut_rows(values, width):
    return [values[at:at + width] for at in range(0, len(values), width)]


class Products(ctypes.Structure):
    """As products.c has it."""
    _fields_ = [(name, ctypes.c_void_p) for name in ("rows", "columns", "sums")] + [
        (name, ctypes.c_size_t) for name in "mnk"]


LIBRARY = []  # of --products


def multiply(rows, columns):
    """The products of each row with each column."""
    if not LIBRARY or not rows or not columns or isinstance(rows[0][0], int):
        return [sum(map(operator.mul, row, column)) for row in rows for column in columns]
    parts = [array.array("d", itertools.chain.from_iterable(part)) for part in (rows, columns)]
    sums = array.array("d", bytes(8 * len(rows) * len(columns)))
    addresses = (part.buffer_info()[0] for part in (*parts, sums))
    LIBRARY[0].multiply(ctypes.byref(Products(*addresses, len(rows), len(columns), len(rows[0]))))
    return sums.tolist()


def turn(rows):
    """Rows as columns."""
    return list(zip(*rows))


# ---- what the kernels compute ----

def compute_matmul(arrays, sizes):
    a, b = cut_rows(arrays["a"], sizes["K"]), cut_rows(arrays["b"], sizes["N"])
    return {"c": multiply(a, turn(b))}


def compute_matmul_sparse(arrays, sizes):
    rows, words = cut_rows(arrays["a"], sizes["K"] // 2), cut_rows(arrays["e"], sizes["W"])
    whole = []
    for row, codes in zip(rows, words):
        full = [0.0] * sizes["K"]
        for at, value in enumerate(row):
            code = codes[at // 8] >> at // 2 % 4 * 4
            full[at // 2 * 4 + (code >> at % 2 * 2 & 3)] = value
        whole += full
    return compute_matmul({"a": whole, "b": arrays["b"]}, sizes)


def compute_tcgen05_sparse(width):
    """The same with the words of metadata where the tensor core of Blackwell reads them, by bytes of an element of
    a."""
    def place(m, w):
        return (m, w % 8) if width == 1 else (m // 16 * 16 + w % 2 * 8 + m % 8, w % 8 // 2 * 2 + m % 16 // 8)

    def compute(arrays, sizes):
        blocks, words = -(-sizes["K"] // 128), []
        for m, w in itertools.product(range(sizes["M"]), range(blocks * 8)):
            row, column = place(m % 128, w)
            words.append(arrays["e"][((m // 128 * blocks + w // 8) * 128 + row) * 8 + column])
        turned = [value for row in turn(cut_rows(arrays["b"], sizes["K"])) for value in row]
        return compute_matmul_sparse({"a": arrays["a"], "b": turned, "e": words}, {**sizes, "W": blocks * 8})
    return compute


def compute_tcgen05_sparse_f32(arrays, sizes):
    """One of each two neighbours; the words lie as those of an a of two bytes, of half as many neighbours."""
    blocks, whole = sizes["KT"], []
    for m, row in enumerate(cut_rows(arrays["a"], sizes["K"] // 2)):
        full = [0.0] * sizes["K"]
        for at, value in enumerate(row):
            w = at // 4
            lane, column = m % 128 // 16 * 16 + w % 2 * 8 + m % 8, w % 8 // 2 * 2 + m % 16 // 8
            word = arrays["e"][((m // 128 * blocks + w // 8) * 128 + lane) * 8 + column]
            full[2 * at + (word >> at % 4 * 4 & 15 == 14)] = value
        whole += full
    turned = [value for row in turn(cut_rows(arrays["b"], sizes["K"])) for value in row]
    return compute_matmul({"a": whole, "b": turned}, sizes)


def compute_matmul_added(arrays, sizes):
    return {"c": list(map(operator.add, compute_matmul(arrays, sizes)["c"], arrays["c"]))}


def compute_matmul_relu(arrays, sizes):
    columns, values = sizes["N"], compute_matmul(arrays, sizes)["c"]
    return {"c": [max(value + arrays["bias"][i % columns], 0.0) for i, value in enumerate(values)]}


def compute_matmul_fp8(arrays, sizes):
    a, b = cut_rows(arrays["a"], sizes["K"]), cut_rows(arrays["b"], sizes["K"])
    return {"c": [arrays["scale"][0] * value for value in multiply(a, b)]}


def compute_block_scaled(block):
    """With a scale for this many elements along K: of 128 rows by 4 of them, 16 bytes of rows r, r + 32, .. follow each
    other."""
    def scale(values, scales, width):
        groups = width // block // 4
        rows = cut_rows(values, width)
        return [[value * scales[((m // 128 * groups + k // block // 4) * 32 + m % 32) * 16
                                + m % 128 // 32 * 4 + k // block % 4] for k, value in enumerate(row)]
                for m, row in enumerate(rows)]

    def compute(arrays, sizes):
        sides = [scale(arrays[name], arrays[name + "_scale"], sizes["K"]) for name in "ab"]
        factor = arrays.get("alpha", [1.0])[0]
        return {"c": [factor * value for value in multiply(*sides)]}
    return compute


def compute_conv(arrays, sizes):
    height, width, channels, taps, stride, dilation, pad = (
        sizes[name] for name in ("H", "W", "C", "S", "STRIDE", "DILATION", "PAD"))
    pixels, filters = cut_rows(arrays["x"], channels), cut_rows(arrays["w"], channels)
    rows, columns = ((size + 2 * pad - dilation * (count - 1) - 1) // stride + 1
                     for size, count in ((height, sizes["R"]), (width, taps)))
    result = []
    for n, p, q, k in itertools.product(*map(range, (sizes["N"], rows, columns, sizes["K"]))):
        total = 0.0
        for r, s in itertools.product(range(sizes["R"]), range(taps)):
            h, w = p * stride - pad + r * dilation, q * stride - pad + s * dilation
            if 0 <= h < height and 0 <= w < width:
                total += sum(map(operator.mul, pixels[(n * height + h) * width + w],
                                 filters[(k * sizes["R"] + r) * taps + s]))
        result.append(total)
    return {"y": result}


def compute_softmax_row(row):
    top = max(row)
    powers = [math.exp(value - top) for value in row]
    whole = math.fsum(powers)
    return [power / whole for power in powers]


def compute_softmax(arrays, sizes):
    rows = cut_rows(arrays["x"], sizes.get("C") or sizes["COLS"])
    return {"y": [value for row in rows for value in compute_softmax_row(row)]}


def compute_layer_norm(arrays, sizes):
    result = []
    for row in cut_rows(arrays["x"], sizes["C"]):
        mean = math.fsum(row) / len(row)
        variance = math.fsum((value - mean) ** 2 for value in row) / len(row)
        scale = 1 / math.sqrt(variance + 0.00001)
        result += [(value - mean) * scale * gamma + beta
                   for value, gamma, beta in zip(row, arrays["gamma"], arrays["beta"])]
    return {"y": result}


def compute_add(arrays, sizes):
    del sizes
    return {"c": list(map(operator.add, arrays["a"], arrays["b"]))}


def compute_matmul_scaled(arrays, sizes):
    scaled = [value * scale for row in cut_rows(arrays["a"], sizes["K"]) for value, scale in zip(row, arrays["scale"])]
    return compute_matmul({"a": scaled, "b": arrays["b"]}, sizes)


def compute_line(factor, summand):
    """A function that computes y = factor x + summand."""
    return lambda arrays, sizes: {"y": [factor * value + summand for value in arrays["x"]]}


def compute_rms_norm(arrays, sizes):
    sums, result = list(map(operator.add, arrays["x"], arrays["residual"])), []
    for row in cut_rows(sums, sizes["C"]):
        scale = 1 / math.sqrt(math.fsum(value * value for value in row) / len(row) + 0.00001)
        result += [value * scale * weight for value, weight in zip(row, arrays["weight"])]
    return {"y": result, "residual": sums}


def compute_transpose(arrays, sizes):
    return {"y": [value for column in zip(*cut_rows(arrays["x"], sizes["N"])) for value in column]}


def compute_scan(arrays, sizes):
    del sizes
    return {"y": list(itertools.accumulate(arrays["x"]))}


def compute_matmul_ragged(arrays, sizes):
    rows, result = cut_rows(arrays["a"], sizes["K"]), []
    for low, high, matrix in zip(arrays["offsets"], arrays["offsets"][1:],
                                 cut_rows(arrays["b"], sizes["K"] * sizes["N"])):
        result += multiply(rows[low:high], turn(cut_rows(matrix, sizes["N"])))
    return {"c": result}


def compute_matmul_ragged_transposed(arrays, sizes):
    x, y, result = cut_rows(arrays["x"], sizes["M"]), cut_rows(arrays["y"], sizes["N"]), []
    for low, high in zip(arrays["offsets"], arrays["offsets"][1:]):
        if low == high:
            result += [0.0] * (sizes["M"] * sizes["N"])
        else:
            result += multiply(turn(x[low:high]), turn(y[low:high]))
    return {"out": result}


def compute_matmul_moe_gather(arrays, sizes):
    tokens = cut_rows(arrays["x"], sizes["K"])
    gathered = {"a": [value for row in arrays["rows"] for value in tokens[row]]}
    return compute_matmul_ragged({**arrays, **gathered}, sizes)


def compute_matmul_blocks(arrays, sizes):
    """The products of each block of K by themselves, with their scales."""
    count, padded = sizes["K"], len(arrays["a_scale"]) // sizes["STEPS"]
    result = []
    for i, row in enumerate(cut_rows(arrays["a"], count)):
        for j, column in enumerate(cut_rows(arrays["b"], count)):
            blocks = zip(cut_rows(row, 128), cut_rows(column, 128))
            result.append(sum(sum(map(operator.mul, *block)) * arrays["a_scale"][k * padded + i]
                              * arrays["b_scale"][j // 128 * sizes["STEPS"] + k] for k, block in enumerate(blocks)))
    return {"c": result}


def compute_matmul_plus(arrays, sizes):
    return {"d": list(map(operator.add, compute_matmul(arrays, sizes)["c"], arrays["c"]))}


def compute_normalised(arrays, sizes):
    del sizes
    whole = math.fsum(arrays["x"])
    return {"y": [value / whole for value in arrays["x"]]}


def compute_histogram(arrays, sizes):
    counts = collections.Counter(value % sizes["BINS"] for value in arrays["x"])
    return {"counts": [counts[i] for i in range(sizes["BINS"])]}


def compute_attention_head(queries, keys, values, is_causal):
    """The outputs of one head and the logarithms of its rows' sums."""
    weights, logs = [], []
    for i, row in enumerate(cut_rows(multiply(queries, keys), len(keys))):
        count = len(keys) - len(queries) + i + 1 if is_causal else len(keys)
        products = [0.125 * value for value in row[:count]]
        top = max(products)
        weights.append(compute_softmax_row(products) + [0.0] * (len(keys) - count))
        logs.append(top + math.log(math.fsum(math.exp(value - top) for value in products)))
    return multiply(weights, turn(values)), logs


def compute_attention(arrays, sizes):
    result = {"o": [], "lse": []}
    rows, lanes = 64 * sizes["WGS"], sizes["S"] * sizes["D"]
    padding = [None] * (-sizes["S"] % rows)
    queries = cut_rows(arrays["q"], lanes)
    keys, values = (cut_rows(arrays[name], sizes["SK"] * sizes["D"]) for name in "kv")
    for head, query in enumerate(queries):
        group = head // sizes["GROUP"]
        outputs, logs = compute_attention_head(*(cut_rows(part, sizes["D"]) for part in
                                                 (query, keys[group], values[group])), is_causal=sizes["CAUSAL"])
        result["o"] += outputs
        result["lse"] += logs + padding  # nothing is promised of the rows that fill the last block
    return result


def derive_decode(arrays, sizes):
    """From one key to all, the first sequence with one."""
    return {"lengths": [value % sizes["SK"] + 1 if i > 0 else 1 for i, value in enumerate(arrays["lengths"])]}


def compute_decode(arrays, sizes):
    result = []
    queries, keys, values = (cut_rows(arrays[name], count * sizes["D"]) for name, count in (
        ("q", sizes["GROUP"]), ("k", sizes["SK"]), ("v", sizes["SK"])))
    for head, query in enumerate(queries):
        length = arrays["lengths"][head // 2]
        rows = (cut_rows(part, sizes["D"])[:count] for part, count in (
            (query, sizes["GROUP"]), (keys[head], length), (values[head], length)))
        result += compute_attention_head(*rows, is_causal=False)[0]
    return {"o": result}


def compute_backward_rows(arrays, sizes):
    rows, padded = sizes["S"], sizes["ROWS"]
    products = list(map(operator.mul, arrays["o"], arrays["do"]))
    deltas = [math.fsum(row) for row in cut_rows(products, sizes["D"])]
    lse2 = [value / math.log(2) if i % padded < rows else math.inf for i, value in enumerate(arrays["lse"])]
    return {"lse2": lse2, "delta": [delta for head in cut_rows(deltas, rows) for delta in head + [0] * (padded - rows)],
            "sums": [0.0] * len(products)}


def derive_backward(arrays, sizes):
    """What @attention_backward gets of the forward pass."""
    padded = sizes["ROWS"] - sizes["S"]
    result = compute_attention({**arrays}, {**sizes, "WGS": 1})
    per_head = -(-sizes["S"] // 64) * 64
    logs = [log for head in cut_rows(result["lse"], per_head) for log in head[:sizes["S"]] + [math.inf] * padded]
    rows = compute_backward_rows({"o": result["o"], "do": arrays["do"], "lse": logs}, sizes)
    return {"lse2": rows["lse2"], "delta": rows["delta"]}


def compute_backward_head(queries, keys, values, outward, rows, is_causal):
    """The unscaled gradients of one head, each a list of rows; rows: lse to base 2 and delta of each query."""
    weights, changes = [], []
    products, gradients = (cut_rows(multiply(*pair), len(keys)) for pair in ((queries, keys), (outward, values)))
    for i, (lse2, delta) in enumerate(rows[:len(queries)]):
        count = len(keys) - len(queries) + i + 1 if is_causal else len(keys)
        row = [2 ** (0.125 / math.log(2) * value - lse2) for value in products[i][:count]]
        padding = [0.0] * (len(keys) - count)
        changes.append([weight * (value - delta) for weight, value in zip(row, gradients[i])] + padding)
        weights.append(row + padding)
    sums = ((changes, turn(keys)), (turn(changes), turn(queries)), (turn(weights), turn(outward)))
    return [cut_rows(multiply(*pair), len(queries[0])) for pair in sums]


def compute_backward(arrays, sizes):
    """The sums of dQ, which are not scaled yet, dK and dV."""
    d, group, result = sizes["D"], sizes["GROUP"], {"sums": [], "dk": [], "dv": []}
    queries, outward = (cut_rows(arrays[name], sizes["S"] * d) for name in ("q", "do"))
    keys, values = (cut_rows(arrays[name], sizes["SK"] * d) for name in "kv")
    rows = cut_rows(list(zip(arrays["lse2"], arrays["delta"])), sizes["ROWS"])
    for shared, (key, value) in enumerate(zip(keys, values)):
        heads = [compute_backward_head(*(cut_rows(part, d) for part in (queries[head], key, value, outward[head])),
                                       rows=rows[head], is_causal=sizes["CAUSAL"])
                 for head in range(shared * group, (shared + 1) * group)]
        result["sums"] += itertools.chain(*(row for head in heads for row in head[0]))
        for name, at, scale in (("dk", 1, 0.125), ("dv", 2, 1.0)):
            for parts in zip(*(head[at] for head in heads)):
                result[name] += [scale * sum(column) for column in zip(*parts)]
    return result


def compute_backward_queries(arrays, sizes):
    del sizes
    return {"dq": [0.125 * value for value in arrays["sums"]]}


def derive_embedding(arrays, sizes):
    """Bags of 0 to L rows; tokens after the end of a bag are in no table."""
    lengths = [value % (sizes["L"] + 1) for value in arrays["lengths"]]
    rows = cut_rows([value * 7 % sizes["ROWS"] for value in arrays["tokens"]], sizes["L"])
    return {"lengths": lengths, "tokens": [value if at < length else -1 for length, row in zip(lengths, rows)
                                           for at, value in enumerate(row)]}


def compute_embedding(arrays, sizes):
    table, result = cut_rows(arrays["table"], sizes["C"]), []
    for length, row in zip(arrays["lengths"], cut_rows(arrays["tokens"], sizes["L"])):
        taken = [table[token] for token in row[:length]]
        result += [math.fsum(column) for column in zip(*taken)] if taken else [0.0] * sizes["C"]
    return {"y": result}


# ---- the cases ----

MATMUL = {"a": "M K", "b": "K N"}
BACKWARD = {"q": "HEADS S D", "k": "KV SK D", "v": "KV SK D", "do": "HEADS S D", "lse2": "HEADS ROWS",
            "delta": "HEADS ROWS"}
# FILE or FILE@KERNEL; function; arrays and their dimensions ('i32' or 'i8' in front: integers, 'codes': metadata;
# 'offsets', 'rows': of the groups, of an array of TOKENS rows); relative and absolute
# tolerance; the consts of each case
SPARSE = {"a": "M KEPT", "b": "N K", "e": "codes MT KT 128 8"}
CASES = [
    ("tests/references/tcgen05_sparse", compute_tcgen05_sparse(2), SPARSE, 0, 0,
     ["M=1 N=4 K=16", "M=130 N=72 K=272", "M=130 N=72 K=272 f16=bf16"]),
    ("tests/references/tcgen05_sparse", compute_tcgen05_sparse(1), SPARSE, 0, 0,
     [f"M={m} N={n} K={k} BYTES=1 f16={dtype}" for dtype, m, n, k in (
         ("f8e4m3", 130, 72, 288), ("f8e5m2", 1, 4, 32), ("f8e5m2", 129, 68, 160))]),
    ("tests/references/tcgen05_sparse", compute_tcgen05_sparse(1), {**SPARSE, "a": "i8 M KEPT", "b": "i8 N K"}, 0, 0,
     ["M=130 N=72 K=288 BYTES=1 f16=i8 f32=i32"]),
    ("tests/references/tcgen05_sparse_f32", compute_tcgen05_sparse_f32, {**SPARSE, "e": "codes_of_two MT KT 128 8"}, 0,
     0, ["M=1 N=4 K=8", "M=130 N=72 K=136"]),
    ("matmul_hopper", compute_matmul, MATMUL, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=100 N=72 K=136", "M=129 N=264 K=64", "M=64 N=128 K=640"]),
    ("matmul_blackwell", compute_matmul, MATMUL, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=100 N=72 K=136", "M=129 N=264 K=64", "M=64 N=128 K=640", "M=70 N=72 K=136 bf16=f16"]),
    ("matmul_blackwell_ws", compute_matmul, MATMUL, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=100 N=72 K=136", "M=600 N=264 K=64", "M=64 N=128 K=640 TILES=1", "M=9 N=8 K=8 TILES=1"]),
    ("matmul_blackwell_collective", compute_matmul, MATMUL, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=300 N=200 K=136 TILES=3", "M=256 N=256 K=320 TM=64 TN=128 EPI=64 TILES=2"]),
    ("matmul_blackwell_mxfp8", compute_block_scaled(32), {"a": "M K", "b": "N K", "a_scale": "scales MB GROUPS 32 16",
                                                           "b_scale": "scales NB GROUPS 32 16"}, 2 ** -8, 1e-2,
     ["M=128 N=128 K=128", "M=100 N=72 K=256", "M=200 N=264 K=128 TN=256", "M=130 N=72 K=256 f8e4m3=f8e5m2",
      "M=100 N=136 K=128 f8e4m3=f6e2m3", "M=1 N=8 K=384 f8e4m3=f6e3m2"]),
    ("matmul_blackwell_mxfp8_collective", compute_block_scaled(32),
     {"a": "M K", "b": "N K", "a_scale": "scales MB GROUPS 32 16", "b_scale": "scales NB GROUPS 32 16"}, 2 ** -8, 1e-2,
     ["M=256 N=128 K=128", "M=300 N=72 K=256", "M=100 N=200 K=640 STAGES=2"]),
    ("matmul_blackwell_nvfp4", compute_block_scaled(32),
     {"a": "f4 M K", "b": "f4 N K", "a_scale": "scales MB GROUPS 32 16",
       "b_scale": "scales NB GROUPS 32 16", "alpha": "1"},
     2 ** -8, 1e-2, ["M=100 N=72 K=512 BLOCK=32 f8e4m3=f8e8m0"]),
    ("matmul_blackwell_nvfp4", compute_block_scaled(16),
     {"a": "f4 M K", "b": "f4 N K", "a_scale": "scales MB GROUPS 32 16",
       "b_scale": "scales NB GROUPS 32 16", "alpha": "1"},
     2 ** -8, 1e-2,
     ["M=128 N=128 K=256", "M=100 N=72 K=512", "M=200 N=264 K=256 TN=256", "M=100 N=72 K=512 f8e4m3=f8e8m0"]),
    ("matmul_blackwell_epilogue", compute_matmul, MATMUL, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=100 N=72 K=136", "M=129 N=264 K=64", "M=64 N=128 K=640 TN=256 EN=32"]),
    ("matmul_blackwell_persistent", compute_matmul, MATMUL, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=100 N=72 K=136", "M=600 N=264 K=64 SMS=2", "M=264 N=400 K=72 SMS=1 ACCS=3"]),
    ("matmul_blackwell_fp8", compute_matmul_fp8, {"a": "M K", "b": "N K", "scale": "1"}, 2 ** -8, 1e-5,
     ["M=1 N=8 K=16", "M=100 N=72 K=272", "M=129 N=264 K=144 TM=64", "M=100 N=72 K=272 f8e4m3=f8e5m2",
      "M=130 N=72 K=136 W=64 f8e4m3=f16", "M=64 N=136 K=72 W=64 TM=64 f8e4m3=bf16", "M=200 N=72 K=68 W=32 f8e4m3=f32",
      "M=100 N=72 K=384 f8e4m3=f6e2m3", "M=129 N=136 K=128 TM=64 f8e4m3=f6e3m2"]),
    ("matmul_blackwell_narrow", compute_matmul_fp8, {"a": "f4 M K", "b": "f4 N K", "scale": "1"}, 2 ** -8, 1e-5,
     ["M=1 N=8 K=128", "M=100 N=72 K=384", "M=129 N=264 K=256", "M=100 N=72 K=384 f8e4m3=f8e5m2",
      "M=100 N=72 K=384 f4e2m1=f6e2m3", "M=129 N=136 K=128 f4e2m1=f6e3m2", "M=100 N=72 K=256 f8e4m3=f4e2m1",
      "M=64 N=136 K=256 f8e4m3=f6e3m2"]),
    ("matmul_blackwell_clc", compute_matmul, MATMUL, 2 ** -8, 1e-5, ["M=1 N=8 K=8", "M=300 N=264 K=72"]),
    ("matmul_blackwell_clc_collective", compute_matmul, MATMUL, 2 ** -8, 1e-5, ["M=1 N=8 K=8", "M=300 N=264 K=72"]),
    ("matmul_hopper_async", compute_matmul, MATMUL, 0, 1e-5, ["M=64 N=64 K=640", "M=64 N=64 K=256"]),
    ("matmul_hopper_partitions", compute_matmul, MATMUL, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=100 N=72 K=136", "M=129 N=264 K=64", "M=64 N=128 K=640"]),
    ("matmul_hopper_epilogue", compute_matmul_relu, {**MATMUL, "bias": "N"}, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=100 N=72 K=136", "M=300 N=264 K=72 SMS=1"]),
    ("matmul_hopper_cluster", compute_matmul_plus, {**MATMUL, "c": "M N"}, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=72 N=264 K=136", "M=64 N=1000 K=256"]),
    ("matmul_hopper_union", compute_matmul, MATMUL, 0, 1e-5, ["M=256 N=512 K=64", "M=128 N=256 K=320"]),
    ("matmul_hopper_ws", compute_matmul, MATMUL, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=100 N=72 K=136", "M=257 N=264 K=72 SMS=1", "M=64 N=128 K=640 SMS=1"]),
    ("matmul_hopper_fp8", compute_matmul_fp8, {"a": "M K", "b": "N K", "scale": "1"}, 2 ** -8, 1e-5,
     ["M=1 N=8 K=16", "M=100 N=72 K=272", "M=257 N=264 K=144 SMS=1"]),
    ("matmul_hopper_blocks", compute_matmul_blocks,
     {"a": "M K", "b": "N K", "a_scale": "STEPS MP", "b_scale": "NT STEPS"}, 2 ** -8, 1e-5,
     ["M=1 N=8 K=16", "M=100 N=72 K=272", "M=257 N=136 K=144 SMS=1"]),
    ("matmul_hopper_mixed", compute_matmul, {"a": "i8 M K", "b": "K N"}, 2 ** -8, 1e-5,
     ["M=1 N=8 K=16", "M=100 N=72 K=144", "M=257 N=264 K=80 SMS=1"]),
    ("matmul_hopper_pingpong", compute_matmul_plus, {**MATMUL, "c": "M N"}, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=100 N=72 K=136", "M=640 N=136 K=72 SMS=4"]),
    ("matmul_sparse", compute_matmul_sparse, {"a": "M KEPT", "e": "codes MP W", "b": "K N"}, 2 ** -8, 1e-5,
     ["M=1 N=8 K=16", "M=100 N=72 K=272", "M=257 N=264 K=144 SMS=1"]),
    ("matmul_stream_k", compute_matmul, MATMUL, 2 ** -8, 1e-5,
     ["M=1 N=8 K=8", "M=100 N=72 K=136 CTAS=3", "M=130 N=264 K=320 CTAS=7", "M=520 N=264 K=128 CTAS=3"]),
    ("matmul_ragged", compute_matmul_ragged, {"a": "TOTAL K", "b": "G K N", "offsets": "offsets"}, 2 ** -8, 1e-5,
     ["TOTAL=1 N=64 K=8", "TOTAL=130 N=64 K=72", "TOTAL=300 N=192 K=64 SMS=2"]),
    ("matmul_blackwell_ragged", compute_matmul_ragged,
     {"a": "TOTAL K", "b": "G K N", "offsets": "offsets"}, 2 ** -8, 1e-5,
     ["TOTAL=1 N=8 K=8", "TOTAL=130 N=72 K=72", "TOTAL=300 N=192 K=64 SMS=2", "TOTAL=500 N=136 K=328 SMS=1"]),
    ("matmul_grouped", compute_matmul_ragged, {"a": "TOTAL K", "b": "G K N", "offsets": "offsets"}, 2 ** -8, 1e-5,
     ["TOTAL=1 N=8 K=8", "TOTAL=130 N=72 K=72", "TOTAL=300 N=192 K=64 SMS=2", "TOTAL=500 N=136 K=328 SMS=1"]),
    ("matmul_ragged_transposed", compute_matmul_ragged_transposed,
     {"x": "TOTAL M", "y": "TOTAL N", "offsets": "offsets"}, 2 ** -8, 1e-5,
     ["TOTAL=1 M=8 N=8", "TOTAL=130 M=72 N=264", "TOTAL=500 M=136 N=72 SMS=2"]),
    ("matmul_moe_gather", compute_matmul_moe_gather,
     {"x": "TOKENS K", "rows": "rows", "b": "E K N", "offsets": "offsets"}, 2 ** -8, 1e-5,
     ["TOKENS=1 SLOTS=1 N=8 K=1", "TOKENS=50 SLOTS=130 N=72 K=70", "TOKENS=7 SLOTS=300 N=200 K=136 SMS=2",
      "TOKENS=400 SLOTS=257 N=128 K=64 SMS=1"]),
    ("matmul_blackwell_gather", compute_matmul_moe_gather,
     {"x": "TOKENS K", "rows": "rows", "b": "E K N", "offsets": "offsets"}, 2 ** -8, 1e-5,
     ["TOKENS=1 SLOTS=1 N=8 K=8", "TOKENS=50 SLOTS=130 N=72 K=72", "TOKENS=7 SLOTS=300 N=200 K=136 SMS=2",
      "TOKENS=400 SLOTS=257 N=128 K=64 SMS=1 ACCS=3", "TOKENS=60 SLOTS=140 N=72 K=136 bf16=f16"]),
    ("conv_implicit_gemm", compute_conv, {"x": "N H W C", "w": "K TAPS C"}, 2 ** -8, 1e-5,
     ["N=1 H=1 W=1 C=8 K=8", "N=3 H=7 W=9 C=72 K=136", "N=2 H=13 W=10 C=64 K=8 STRIDE=2 SMS=1",
      "N=5 H=6 W=5 C=16 K=16 STRIDE=3 PAD=0", "N=1 H=9 W=30 C=24 K=40 R=5 S=2 PAD=2 DILATION=2",
      "N=17 H=4 W=4 C=8 K=8 R=1 S=1 PAD=0 SMS=2", "N=2 H=8 W=11 C=8 K=24 R=2 S=4 PAD=3 STRIDE=4"]),
    ("embedding_bag", compute_embedding, {"tokens": "i32 BAGS L", "lengths": "i32 BAGS", "table": "ROWS C"}, 0, 0,
     ["BAGS=1 L=1 ROWS=1 C=2", "BAGS=33 L=7 ROWS=231 C=72", "BAGS=64 L=2 ROWS=128 C=200 DEPTH=5",
      "BAGS=5 L=4 ROWS=30 C=64 DEPTH=1"]),
    ("rms_norm", compute_rms_norm, {"x": "R C", "residual": "R C", "weight": "C"}, 2 ** -8, 1e-5,
     ["R=1 C=8", "R=7 C=200", "R=6 C=1024 THREADS=2"]),
    ("transpose@transpose_f32", compute_transpose, {"x": "M N"}, 0, 0, ["M=8 N=8", "M=104 N=136"]),
    ("transpose@transpose_bf16", compute_transpose, {"x": "M N"}, 0, 0, ["M=8 N=8", "M=104 N=136"]),
    ("scan", compute_scan, {"x": "i32 N"}, 0, 0, ["N=2 B=2", "N=64 B=64", "N=2560"]),
    ("softmax", compute_softmax, {"x": "R C"}, 1e-5, 1e-7, ["R=1 C=32", "R=100 C=160"]),
    ("softmax_cluster", compute_softmax, {"x": "ROWS COLS"}, 1e-5, 1e-7,
     ["ROWS=1 COLS=1024 CTAS=1", "ROWS=3 COLS=4096 CTAS=16"]),
    ("layer_norm", compute_layer_norm, {"x": "R C", "gamma": "C", "beta": "C"}, 1e-5, 1e-5,
     ["R=4 C=128", "R=3 C=768 THREADS=3"]),
    ("add_tma", compute_add, {"a": "X Y", "b": "X Y"}, 0, 0, ["X=1 Y=4", "X=33 Y=100", "X=96 Y=1000"]),
    ("add_explicit", compute_add, {"a": "X Y", "b": "X Y"}, 0, 0, ["X=32 Y=64", "X=64 Y=512 SLOTS=3"]),
    ("add_cp_async", compute_add, {"a": "ROWS N", "b": "ROWS N"}, 0, 0,
     ["ROWS=1 N=4 DEPTH=2", "ROWS=2 N=256", "ROWS=9 N=1024"]),
    ("add_one@add_one", compute_line(1, 1), {"x": "N"}, 0, 0, ["N=128", "N=1024"]),
    ("add_one@add_one_smem", compute_line(1, 1), {"x": "N"}, 0, 0, ["N=128", "N=96 B=32"]),
    ("producer_consumer@computed", compute_line(2, 1), {"x": "STEPS N"}, 0, 0, ["STEPS=3 N=32", "STEPS=10 N=256"]),
    ("producer_consumer@copied", compute_line(2, 1), {"x": "STEPS N"}, 0, 0,
     ["STEPS=1 N=128 SLOTS=1", "STEPS=10 N=256"]),
    ("producer_warps", compute_line(2, 0), {"x": "STEPS N"}, 0, 0, ["STEPS=2 N=128", "STEPS=9 N=256"]),
    ("tiles_dynamic", compute_line(2, 1), {"x": "TILES N"}, 0, 0, ["TILES=1 N=128", "TILES=7 N=32 CTAS=5"]),
    ("normalise_grid", compute_normalised, {"x": "ROWS N"}, 1e-6, 0, ["ROWS=2 N=32 CTAS=4", "ROWS=9 N=256 CTAS=3"]),
    ("histogram", compute_histogram, {"x": "i32 N"}, 0, 0, ["N=8 BINS=16", "N=500 BINS=4"]),
    ("split_k@ordered", compute_matmul, MATMUL, 0, 0, ["M=64 N=64 K=256", "M=64 N=64 K=448 PARTS=3"]),
    ("split_k@unordered", compute_matmul_added, {**MATMUL, "c": "M N"}, 0, 0, ["M=64 N=64 K=448 PARTS=3"]),
    ("matmul_hopper_scaled", compute_matmul_scaled, {"a": "M K", "scale": "K", "b": "K N"}, 0, 0,
     ["M=64 N=128 K=64", "M=128 N=256 K=192"]),
    ("attention_hopper", compute_attention, {"q": "HEADS S D", "k": "KV SK D", "v": "KV SK D"}, 2 ** -10, 0.001,
     ["S=1 SK=1", "S=1 SK=200 CAUSAL=1", "S=70 SK=70 CAUSAL=1", "S=130 SK=70", "S=40 SK=136 D=128 GROUP=2 CAUSAL=1",
      "S=20 SK=90 D=256 BN=80", "S=100 SK=100 WGS=3 REGS=160 PRODUCER_REGS=32 CAUSAL=1"]),
    ("attention_blackwell", compute_attention, {"q": "HEADS S D", "k": "KV SK D", "v": "KV SK D"}, 2 ** -10, 0.001,
     ["S=1 SK=1", "S=1 SK=200 CAUSAL=1", "S=70 SK=70 CAUSAL=1", "S=300 SK=330",
      "S=40 SK=136 D=128 GROUP=2 CAUSAL=1 BN=64", "S=260 SK=400 BN=64 CAUSAL=1", "S=20 SK=90 BN=80 STAGES=3"]),
    ("attention_blackwell", compute_attention, {"q": "HEADS S D", "k": "KV SK D", "v": "KV SK D"}, 2 ** -7, 0.008,
     ["S=40 SK=200 CAUSAL=1 f16=bf16"]),
    ("attention_blackwell_shared", compute_attention, {"q": "HEADS S D", "k": "KV SK D", "v": "KV SK D"}, 2 ** -10,
     0.001,
     ["S=1 SK=1", "S=1 SK=200 CAUSAL=1", "S=70 SK=70 CAUSAL=1", "S=300 SK=330",
      "S=40 SK=136 D=64 GROUP=2 CAUSAL=1 BN=64", "S=260 SK=400 BN=64 CAUSAL=1 STAGES=3"]),
    ("attention_blackwell_decode", compute_decode,
     {"q": "HEADS GROUP D", "k": "HEADS SK D", "v": "HEADS SK D", "lengths": "i32 BATCH"}, 2 ** -10, 0.001,
     ["BATCH=1 SK=1", "BATCH=2 SK=333 SPLITS=1", "BATCH=3 SK=700 SPLITS=5", "BATCH=2 SK=260 D=128 GROUP=16",
      "BATCH=4 SK=130 GROUP=1 SPLITS=2"]),
    ("attention_hopper_backward_rows@attention_backward_rows", compute_backward_rows,
     {"o": "HEADS S D", "do": "HEADS S D", "lse": "HEADS ROWS"}, 2 ** -20, 1e-5,
     ["S=1", "S=70", "S=130 D=128", "S=70 D=256"]),
    ("attention_hopper_backward", compute_backward, BACKWARD, 2 ** -9, 0.008,
     ["S=1 SK=1", "S=1 SK=200 CAUSAL=1", "S=70 SK=70 CAUSAL=1", "S=130 SK=70 GROUP=2",
      "S=40 SK=136 D=128 GROUP=2 CAUSAL=1", "S=200 SK=130 D=128", "S=300 SK=300 CAUSAL=1"]),
    ("attention_hopper_backward_rows@attention_backward_queries", compute_backward_queries, {"sums": "HEADS S D"},
     2 ** -10, 1e-7, ["S=1", "S=70 D=128", "S=70 D=256"]),
    ("attention_hopper_backward_wide", compute_backward, BACKWARD, 2 ** -9, 0.03,
     ["S=1 SK=1", "S=70 SK=70 CAUSAL=1 GROUP=2", "S=130 SK=40", "S=40 SK=136 CAUSAL=1"]),
]
# An option TYPE=TYPE, in small letters, is no const: the kernel is run with the one instead of the other.
# Inputs that are computed from the drawn ones.
DERIVED = {"attention_blackwell_decode": derive_decode, "embedding_bag": derive_embedding,
           "attention_hopper_backward": derive_backward, "attention_hopper_backward_wide": derive_backward}


def draw_codes(generator, count, is_of_two):
    """Words of 4 codes, each of two different places in any order, or of one of two."""
    codes = [4, 14] if is_of_two \
        else [first + 4 * second for first in range(4) for second in range(4) if first != second]
    return [sum(generator.choice(codes) << at for at in (0, 4, 8, 12)) for _ in range(count)]


# The first rows of the groups, and the number of all rows: the second group is empty, and others where they can be.
def draw_offsets(generator, sizes):
    inner = sorted(generator.randint(0, sizes["TOTAL"]) for _ in range(sizes["G"] - 2))
    return [0, *inner[:1], *inner[:1], *inner[1:], sizes["TOTAL"]]


HEADS = {"HEADS": 2, "GROUP": 1, "D": 64, "WGS": 2, "CAUSAL": 0}
GROUPS = {"G": 4}
FILTER = {"R": 3, "S": 3, "PAD": 1, "STRIDE": 1, "DILATION": 1}
DEFAULTS = {"conv_implicit_gemm": FILTER, "matmul_blackwell_ragged": GROUPS, "matmul_ragged": GROUPS,
            "matmul_grouped": GROUPS,
            "matmul_ragged_transposed": GROUPS, "matmul_moe_gather": {"E": 4},
            "matmul_blackwell_gather": {"E": 4},
            "attention_blackwell": {**HEADS, "WGS": 4}, "attention_blackwell_shared": {**HEADS, "WGS": 4, "D": 128},
            "attention_blackwell_decode": {"GROUP": 8, "D": 64},
            "attention_hopper": HEADS, "attention_hopper_backward": HEADS, "attention_hopper_backward_rows": HEADS,
            "attention_hopper_backward_wide": {**HEADS, "D": 256}}


def get_dims(words, sizes):
    return [int(word) if word.isdigit() else sizes[word] for word in words.split() if word not in (*INTEGERS, *TYPES)]


def list_missing():
    """The kernels without a case."""
    files = {name[:-len(".grout")] for name in os.listdir(f"{ROOT}/kernels") if name.endswith(".grout")}
    return sorted(files - {case[0].partition("@")[0] for case in CASES})


def find_difference(name, got, wanted, relative, absolute):
    if len(got) != len(wanted):
        return f"%{name} has {len(got)} elements, not {len(wanted)}"
    for i, (ours, theirs) in enumerate(zip(got, wanted)):
        if theirs is not None and ours != theirs and not abs(ours - theirs) <= absolute + relative * abs(theirs):
            return f"%{name}, element {i}: {ours!r}, float64 says {theirs!r}"
    return ""


def copy_with_types(source, types, folder):
    """The path of a copy of a kernel with other element types."""
    with open(f"{ROOT}/{source}") as file:
        text = file.read()
    for old, new in types:
        text = re.sub(rf"\b{old}\b", new, text)
        if new[:2] in ("f4", "f6"):  # operands of the tensor core beside those of 8 bits
            text = re.sub(rf"(gmem {new}\[[^\]]*\])(?! packed)", r"\1 packed", text)
            text = re.sub(rf"(smem {new}\[[^\]]*\])(?! padded)", r"\1 padded", text)
    copy = f"{folder}/{os.path.basename(source)}"
    with open(copy, "w") as file:
        file.write(text)
    return copy


def run_case(grout, case, words):
    """What is wrong, or nothing."""
    name, compute, inputs, relative, absolute, _ = case
    options = [option.split("=") for option in words.split()]
    types = [option for option in options if option[0].islower()]
    given = {key: int(value) for key, value in options if not key.islower()}
    sizes = {**DEFAULTS.get(name.partition("@")[0], {}), **given}
    if name == "attention_blackwell_decode":
        sizes.update(HEADS=2 * sizes["BATCH"])
    elif "HEADS" in sizes:
        sizes.update(KV=sizes["HEADS"] // sizes["GROUP"], ROWS=-(-sizes["S"] // 128) * 128)
    if name == "conv_implicit_gemm":
        sizes.update(TAPS=sizes["R"] * sizes["S"])
    if name in ("matmul_moe_gather", "matmul_blackwell_gather"):
        sizes.update(TOTAL=sizes["SLOTS"], G=sizes["E"])
    if name == "matmul_sparse":
        sizes.update(KEPT=sizes["K"] // 2, W=-(-sizes["K"] // 128) * 8, MP=-(-sizes["M"] // 128) * 128)
    if name.endswith("tcgen05_sparse"):
        sizes.update(KEPT=sizes["K"] // 2, MT=-(-sizes["M"] // 128), KT=-(-sizes["K"] // 128))
    if name.endswith("tcgen05_sparse_f32"):
        sizes.update(KEPT=sizes["K"] // 2, MT=-(-sizes["M"] // 128), KT=-(-sizes["K"] // 64))
    if name in ("matmul_blackwell_mxfp8", "matmul_blackwell_mxfp8_collective", "matmul_blackwell_nvfp4"):
        sizes.update(MB=-(-sizes["M"] // 128), NB=-(-sizes["N"] // 128),
                     GROUPS=sizes["K"] // (4 * sizes.get("BLOCK", 16 if name.endswith("nvfp4") else 32)))
    if name == "matmul_hopper_blocks":
        sizes.update(STEPS=-(-sizes["K"] // 128), NT=-(-sizes["N"] // 128), MP=-(-sizes["M"] // 128) * 128)
    generator = random.Random(f"{name} {words}")
    arrays = {}
    with tempfile.TemporaryDirectory(prefix="grout-references-") as folder:
        path, _, kernel = name.partition("@")
        source = f"{path if '/' in path else 'kernels/' + path}.grout"
        command = [grout, "run", "--check", "-q", copy_with_types(source, types, folder) if types else source]
        command += ["--kernel", "@" + kernel] if kernel else []
        for array, words in inputs.items():
            if words == "offsets":
                arrays[array] = draw_offsets(generator, sizes)
            elif words == "rows":
                arrays[array] = [generator.randrange(sizes["TOKENS"]) for _ in range(sizes["SLOTS"])]
            elif words.startswith("codes"):
                arrays[array] = draw_codes(generator, math.prod(get_dims(words, sizes)), "two" in words)
            else:
                arrays[array] = draw(generator, math.prod(get_dims(words, sizes)), words)
                if any(new in ("f8e5m2", "f6e3m2") for _, new in types):
                    arrays[array] = [value - value % 0.25 if abs(value) > 1 else value for value in arrays[array]]
        arrays.update(DERIVED[name](arrays, sizes) if name in DERIVED else {})
        for array, words in inputs.items():
            dims = [len(arrays[array])] if words in ("offsets", "rows") else get_dims(words, sizes)
            write_array(f"{folder}/{array}.npy", dims, arrays[array], words)
            command += ["--input", f"{array}={folder}/{array}.npy"]
        wanted = compute(arrays, sizes)
        command += itertools.chain(*(["-D", f"{key}={value}"] for key, value in given.items()))
        for array, values in wanted.items():
            suffix = "" if isinstance(values[0], int) else ":f64"
            command += ["--output", f"{array}={folder}/{array}.out.npy{suffix}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode != 0:
            return f"exit code {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-1000:]}"
        wrong = (find_difference(array, read_array(f"{folder}/{array}.out.npy"), values, relative, absolute)
                 for array, values in wanted.items())
        return next((text for text in wrong if text), "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--products", type=os.path.abspath)
    parser.add_argument("kernels", nargs="*")
    arguments = parser.parse_args()
    grout = os.path.abspath(arguments.grout)
    if arguments.products:
        LIBRARY.append(ctypes.CDLL(arguments.products))
    jobs = [(case, options) for case in CASES for options in case[5]
            if not arguments.kernels or case[0].partition("@")[0] in arguments.kernels]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: run_case(grout, *job), jobs))
    failed = [(job, wrong) for job, wrong in zip(jobs, results) if wrong]
    for (case, options), wrong in failed:
        print(f"{case[0]} {options}: {wrong}")
    missing = list_missing()
    print(f"{len(jobs)} cases, {len(failed)} wrong" + "".join(f"\n{name}.grout has no case" for name in missing))
    return 1 if failed or missing or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
