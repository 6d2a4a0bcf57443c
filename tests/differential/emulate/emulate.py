#!/usr/bin/env python3
# emulate.py - emitted CUDA on the CPU, compared with the interpreter: what needs no GPU to be right.
# SPDX-License-Identifier: Apache-2.0
"""usage: emulate.py --grout GROUT [--cxx CXX] [--runtime LIBRARY] [--header DIR] [--work DIR] [--seed N]
                  [--kernel @NAME] [--largest] [--beside] [--keep] FILE [-D NAME=VALUE]...
       emulate.py --grout GROUT [--cxx CXX] --make-header DIR

For every kernel of FILE: 'grout emit' writes its CUDA C++, the C++ compiler compiles it against
emulate.h, in which a CTA is a process of fibers and inline PTX is interpreted, and 'grout run' runs
the same inputs through the interpreter. LIBRARY is emulate.cpp as CXX compiles it; without it that
is done here. Every output array must have the same bits; NaNs are equal.
Where functions such as exp are called, elements may differ by the bound of docs/gpu.md, 'Compare
rule': here they are the C++ library's, and neither side's are rounded correctly.

--make-header writes into DIR what is the same in the CUDA of all kernels, as C++, and precompiles it;
--header takes it from there. Without it each program compiles it anew, which takes most of its time.

--beside takes the inputs from the files that 'check_random .. write=FOLDER' leaves beside FILE, and
holds each element against those with what it has to be: bit for bit what the reference knows
exactly, all else within the reference's own bound, which knows the units in the last place of each
function and how far each operation carries them.

--largest gives each const of FILE's line '// DRAW: NAME = LOW..HIGH, ..' (tests/ops/README.md) its
highest value.

A comment '// fails: TEXT' before a kernel: the emulation stops and says TEXT. '// like: @NAME': what
comes out is what the interpreter makes of that kernel: for what a GPU does otherwise than the
interpreter, and the checker reports.

Options of 'grout run' in a comment '// same: OPTION...' before a kernel are its own: --rtol and
--atol (here of each element by itself), and --input P=WHAT, of which zeros, ones,
uniform:SEED:LO:HI and randn:SEED are made here.

Exit code 0: all equal; 1: not; 77: no C++ compiler.
"""
import argparse
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "gpu"))
from random_on_gpu import Mismatch, compare_array

# struct's letter of an element type, and numpy's descr; bf16 and what has 8 bits or less are raw bits.
DTYPES = {
    "i4": ("B", "|u1"), "u4": ("B", "|u1"), "f4e2m1": ("B", "|u1"), "f6e2m3": ("B", "|u1"), "f6e3m2": ("B", "|u1"),
    "bool": ("B", "|b1"), "i8": ("b", "|i1"), "u8": ("B", "|u1"), "i16": ("h", "<i2"),
    "u16": ("H", "<u2"), "i32": ("i", "<i4"), "u32": ("I", "<u4"), "i64": ("q", "<i8"),
    "u64": ("Q", "<u8"), "f8e4m3": ("B", "|u1"), "f8e5m2": ("B", "|u1"), "f8e8m0": ("B", "|u1"), "f16": ("e", "<f2"),
    "bf16": ("H", "<u2"), "f32": ("f", "<f4"), "f64": ("d", "<f8"),
}
FUNCTIONS = re.compile(r"\b(exp2?|expm1|log2?|log1p|sin|cos|tanh|rsqrt|logistic|erf|atan2|pow) ")
BOUNDS = {"f64": 2.0 ** -46, "f32": 2.0 ** -17, "f16": 2.0 ** -9, "bf16": 2.0 ** -6, "f8e4m3": 0.25, "f8e5m2": 0.25,
          "f8e8m0": 1.0}
PACKED = ("i4", "u4", "f4e2m1")  # two in a byte of memory, one in a byte of a file
# Kernels are small: to optimise them takes longer than to run them as they are.
CXX_FLAGS = ["-std=c++17", "-O0", "-ffp-contract=off", "-w", "-Wno-psabi"]
FIRST_LINE = "typedef signed char grout_i8;"  # of the CUDA, after what emulate.h includes


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit("%s\n%s%s[exit %d]" % (" ".join(command), result.stdout, result.stderr,
                                        result.returncode))
    return result.stdout


# ---- inline PTX to calls ----

def find_end(text, start):
    """The index after the parenthesis that closes the one at start; strings are skipped."""
    depth = 0
    k = start
    while True:
        c = text[k]
        if c == '"':
            k += 1
            while text[k] != '"':
                k += 2 if text[k] == "\\" else 1
        depth += 1 if c in "([{" else -1 if c in ")]}" else 0
        k += 1
        if depth == 0:
            return k


def split(text, by):
    """At a character outside parentheses and strings."""
    parts, start, k = [], 0, 0
    while k < len(text):
        if text[k] in "([{":
            k = find_end(text, k)
        elif text[k] == '"':
            k += 1
            while text[k] != '"':
                k += 2 if text[k] == "\\" else 1
            k += 1
        elif text[k] == by:
            parts.append(text[start:k])
            k += 1
            start = k
        else:
            k += 1
    return parts + [text[start:]]


def make_list(operands, function):
    calls = []
    for operand in split(operands, ","):
        match = re.match(r'\s*((?:"[^"]*"\s*)+)(\(.*\))\s*$', operand, re.S)
        if match:
            calls.append("%s(%s, %s)" % (function, match.group(1), match.group(2)))
    return "{%s}" % ", ".join(calls)


def replace_asm(text):
    """asm volatile("..." : outputs : inputs : clobbers) as emulate_asm("...", {..}, {..})"""
    out, at = [], 0
    for match in re.finditer(r"\basm\s*(volatile)?\s*\(", text):
        end = find_end(text, match.end() - 1)
        body = text[match.end():end - 1]
        parts = split(body, ":") + ["", ""]
        outputs = make_list(parts[1], "emulate_out")
        # '+' operands are read, too: an input by the same number is what PTX text calls it.
        out.append(text[at:match.start()])
        out.append("emulate_asm(%s, %s, %s)" % (parts[0].strip(), outputs,
                                               make_list(parts[2], "emulate_in")))
        at = end
    return "".join(out) + text[at:]


# ---- arrays ----

def round_bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 if math.isfinite(value) else bits >> 16


def pack(array, data):
    """What a file holds, as memory does."""
    if array["dtype"] not in PACKED:
        return data
    return bytes(low & 15 | (high & 15) << 4 for low, high in zip(data[::2], data[1::2]))


def unpack(array, data):
    if array["dtype"] not in PACKED:
        return data
    return bytes(half for byte in data for half in (byte & 15, byte >> 4))


def make_element(dtype, value):
    if dtype == "bf16":
        return round_bf16(float(value))
    if dtype.startswith("f"):
        return float(value)
    return abs(int(value)) if dtype.startswith("u") else int(value)


# 0 to 4 as 8-bit floats; with 128 more they are negative.
SMALL_F8 = {"f8e4m3": (0x00, 0x38, 0x40, 0x44, 0x48), "f8e5m2": (0x00, 0x3C, 0x40, 0x42, 0x44)}


def make_elements(dtype, kind, count, source):
    if dtype == "bool":
        return source.choices(range(2), k=count)
    if dtype in PACKED or dtype.startswith("f6"):
        return source.choices(range(16 if dtype in PACKED else 64), k=count)
    if dtype in SMALL_F8 and kind[0] == "ints":
        return source.choices([sign + code for sign in (0, 128) for code in SMALL_F8[dtype]], k=count)
    if dtype in ("f8e4m3", "f8e5m2", "f8e8m0"):
        return source.choices(range(256 if dtype == "f8e8m0" else 128), k=count)
    if kind[0] in ("zeros", "ones"):
        return [make_element(dtype, kind[0] == "ones")] * count
    if kind[0] == "randn":
        return [make_element(dtype, source.gauss(0.0, 1.0)) for _ in range(count)]
    if kind[0] == "uniform":
        return [make_element(dtype, source.uniform(float(kind[2]), float(kind[3]))) for _ in range(count)]
    return source.choices([make_element(dtype, value) for value in range(-8, 9)], k=count)


def make_input(array, what):
    source = random.Random("%s %s" % (array["name"], what))
    count = math.prod(array["shape"])
    letter = DTYPES[array["dtype"]][0]
    elements = make_elements(array["dtype"], (what or "any").split(":"), count, source)
    return struct.pack("<%d%s" % (count, letter), *elements)


def write_npy(path, array, data):
    shape = "(%s)" % "".join("%d, " % dim for dim in array["shape"])
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (
        DTYPES[array["dtype"]][1], shape)
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


def widen(dtype, element):
    """As a number, as far as comparing needs it: NaN is all that the 8-bit floats need."""
    if dtype == "bf16":
        return struct.unpack("<f", struct.pack("<I", element << 16))[0]
    is_nan = (dtype == "f8e4m3" and element & 0x7F == 0x7F or
              dtype == "f8e5m2" and element & 0x7F > 0x7C or dtype == "f8e8m0" and element == 0xFF)
    return math.nan if is_nan else element


def compare(array, expected, found, rtol, atol):
    """The number of elements that differ, and a line about the first one."""
    dtype = array["dtype"]
    letter = DTYPES[dtype][0]
    is_float = dtype.startswith(("f", "bf"))
    size = struct.calcsize(letter)
    differ, first = 0, ""
    if expected == found:
        return 0, ""
    for k in range(math.prod(array["shape"])):
        a, b = expected[k * size:(k + 1) * size], found[k * size:(k + 1) * size]
        if a == b:
            continue
        x, y = (widen(dtype, struct.unpack("<" + letter, part)[0]) for part in (a, b))
        is_same = is_float and ((x != x and y != y) or
                                (rtol + atol > 0 and abs(x - y) <= atol + rtol * abs(x)))
        if not is_same:
            differ += 1
            index = []
            for dim in reversed(array["shape"]):
                index.insert(0, k % dim)
                k //= dim
            first = first or "%s%s is %r, expected %r" % (array["name"], index, y, x)
    return differ, first


# ---- kernels ----

def find_kernels(path):
    """Names, with the options of the comments before them; '--bound' if functions are called; '--fails TEXT' and
    '--like @NAME' from the comments of those names."""
    kernels, options = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"// same: (.*)", line)
            if match:
                options += match.group(1).split()
            match = re.match(r"// (fails|like): (.*)", line)
            if match:
                options += ["--" + match.group(1), match.group(2)]
            match = re.match(r"kernel (@\w+)", line)
            if match:
                kernels.append((match.group(1), options))
                options = []
            elif kernels and FUNCTIONS.search(line.split("//")[0]):
                kernels[-1][1].append("--bound")
    return kernels


def find_largest(path):
    """Name and highest value of each const that may be drawn."""
    with open(path, encoding="utf-8") as file:
        line = re.search(r"^// DRAW: (.*)$", file.read(), re.M)
    return re.findall(r"(\w+) = \d+\.\.(\d+)", line.group(1)) if line else []


def make_externs(path, work):
    """Options that name the functions of FILE's line '// EXTERN: C-FILE': for the CPU, and for a GPU."""
    with open(path, encoding="utf-8") as file:
        line = re.search(r"^// EXTERN: (\S+)$", file.read(), re.M)
    if not line:
        return [], []
    source = os.path.join(os.path.dirname(path), line.group(1))
    library = os.path.join(work, "externs.so")
    run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, source])
    return ["--extern", library], ["--extern", source]


def get_text(options, name):
    return options[options.index(name) + 1] if name in options else None


def get_option(options, name, fallback):
    return float(options[options.index(name) + 1]) if name in options else fallback


def get_inputs(options):
    given = {}
    for k, option in enumerate(options):
        if option == "--input":
            name, what = options[k + 1].split("=", 1)
            given[name] = what
    return given


def get_default(array):
    """What the kernel says of an array or a workspace; None: it says nothing, or too much to be listed."""
    if "contents" in array:
        return bytes.fromhex(array["contents"])
    if "fill" in array:
        size = len(array["fill"]) // 2 - 1
        return int(array["fill"], 16).to_bytes(size, "little") * (array["bytes"] // size)
    return None


LAUNCH = """
%(declarations)s
static void run_%(name)s(void *) {
    %(symbol)s(%(arguments)s);
}
static void launch_%(name)s() {
%(body)s    emulate_launch({%(grid)d, %(block)d, %(cluster)d, %(smem)d, %(seed)d, %(resident)s},
                   run_%(name)s, nullptr);
    emulate_write();
}
"""
MAIN = """
int main(int, char **arguments) {
    const std::string name = arguments[1];
%s}
"""


class Kernel:
    """One kernel: its manifest, and where its arrays are."""

    def __init__(self, options, name, own, work):
        self.name, self.own, self.work = name, own, work
        self.beside = os.path.splitext(options.file)[0] if options.beside else None
        self.common = [options.file, "--kernel", name] + options.defines
        self.expected = [options.file, "--kernel", get_text(own, "--like") or name] + options.defines
        os.mkdir(work)
        path = os.path.join(work, "kernel.json")
        run([options.grout, "emit", "--manifest", path, "-o", os.devnull] + self.common)
        with open(path, encoding="utf-8") as file:
            self.manifest = json.load(file)
        given = get_inputs(own)
        self.scalars = {parameter["name"]: given.get(parameter["name"], parameter.get("init", "3"))
                        for parameter in self.manifest["parameters"]
                        if parameter["kind"] == "scalar"}
        self.arguments = []
        for name, value in self.scalars.items():
            self.arguments += ["--input", "%s=%s" % (name, value)]
        for array in self.manifest["arrays"]:
            self.write_array(array, given.get(array["name"]))

    def get_path(self, array, tail):
        return os.path.join(self.work, array["name"] + tail)

    def make_data(self, array, what):
        """The elements of an array, as a file has them."""
        beside = "%s.%s.npy" % (self.beside, array["name"])
        if self.beside and os.path.exists(beside):
            return read_npy(beside)
        data = get_default(array) if what is None else None
        return make_input(array, what) if data is None else unpack(array, data)

    def write_array(self, array, what):
        data = self.make_data(array, what)
        base = self.get_path(array, "")
        if array["direction"] == "out":
            self.arguments += ["--output", "%s=%s.out.npy" % (array["name"], base)]
        elif array["direction"] == "in":
            self.arguments += ["--input", "%s=%s.npy" % (array["name"], base)]
        else:
            self.arguments += ["--inout", "%s=%s.npy:%s.out.npy" % (array["name"], base, base)]
        write_npy(base + ".npy", array, data)
        with open(base + ".bin", "wb") as file:
            file.write(pack(array, data))

    def get_pattern(self, workspace):
        """The bytes that a workspace holds again and again, or all of them."""
        given = workspace.get("contents") or workspace["fill"][2:]
        pattern = bytes.fromhex(given)
        return ", ".join(map(str, pattern if "contents" in workspace else reversed(pattern)))

    def write_launch(self, seed):
        """C++ that reads the arrays, launches the kernel and writes them."""
        name, manifest = self.name[1:], self.manifest
        declarations, body, arguments = [], [], []
        for array in manifest["arrays"]:
            variable = "%s_array_%s" % (name, array["name"])
            declarations.append("static emulate_array %s;" % variable)
            source, target = self.get_path(array, ".bin"), self.get_path(array, ".out.bin")
            body.append('%s = emulate_read("%s", %d);' % (variable, source, array["bytes"])
                        if array["direction"] == "in" else
                        '%s = emulate_output("%s", %d, "%s");' % (variable, target, array["bytes"],
                                                                 source))
        for k, workspace in enumerate(manifest["workspaces"]):
            declarations.append("static emulate_array %s_space_%d;" % (name, k))
            body.append("%s_space_%d = emulate_workspace({%s}, %d);" % (
                name, k, self.get_pattern(workspace), workspace["bytes"]))
        for tensor_map in manifest["tensor_maps"]:
            variable = "%s_map_%s" % (name, tensor_map["name"])
            size = struct.calcsize(DTYPES[tensor_map["dtype"]][0])
            data = ("%s_array_%s" % (name, tensor_map["array"]) if "array" in tensor_map else
                    "%s_space_%d" % (name, tensor_map["workspace"]))
            declarations.append("static emulate_map %s_record;" % variable)
            declarations.append("static grout_tensor_map %s;" % variable)
            body.append('%s_record = {%s.data, %d, %d, %d, "%s", {%s}, {%s}, {%s}, %s, %d, {%s}, {%s}, {%s}};' % (
                variable, data, tensor_map["rank"], size, tensor_map["swizzle_bytes"],
                tensor_map["dtype"].replace("i", "s"), ", ".join(map(str, tensor_map["dims"])),
                ", ".join(map(str, [size] + tensor_map["strides_bytes"])),
                ", ".join(map(str, tensor_map["box"])),
                "true" if tensor_map["oob_fill"] == "nan" else "false",
                len(tensor_map.get("lower_corner", [])), ", ".join(map(str, tensor_map.get("lower_corner", []))),
                ", ".join(map(str, tensor_map.get("upper_corner", []))),
                ", ".join(map(str, tensor_map["element_strides"]))))
            body.append("%s.opaque[0] = (grout_u64)&%s_record;" % (variable, variable))
        for parameter in manifest["parameters"]:
            arguments.append(self.write_argument(parameter))
        return LAUNCH % {
            "declarations": "\n".join(declarations), "name": name, "symbol": manifest["symbol"],
            "arguments": ", ".join(arguments), "body": "".join("    %s\n" % line for line in body),
            "grid": manifest["grid"][0], "block": manifest["block"][0],
            "cluster": manifest["cluster"][0], "smem": manifest["dynamic_smem_bytes"],
            "resident": "true" if self.is_resident() else "false", "seed": seed}

    def is_resident(self):
        """Whether clusters may wait for each other: all of them have to run at once then."""
        return any(workspace["instances"] == 1 for workspace in self.manifest["workspaces"])

    def write_argument(self, parameter):
        name = self.name[1:]
        if parameter["kind"] == "array":
            array = next(a for a in self.manifest["arrays"] if a["name"] == parameter["array"])
            dtype = "u8" if array["dtype"] == "bool" else array["dtype"]
            return "(grout_%s *)%s_array_%s.data" % (dtype, name, array["name"])
        if parameter["kind"] == "scalar":
            dtype = parameter["dtype"]
            return "grout_cast<%s>(%s)" % ("bool" if dtype == "bool" else "grout_" + dtype,
                                           self.scalars[parameter["name"]])
        if parameter["kind"] == "tensor_map":
            return "%s_map_%s" % (name, self.manifest["tensor_maps"][parameter["map"]]["name"])
        if parameter["kind"] == "workspace":
            workspace = self.manifest["workspaces"][parameter["workspace"]]
            dtype = "u8" if workspace["dtype"] == "bool" else workspace["dtype"]
            return "(grout_%s *)%s_space_%d.data" % (dtype, name, parameter["workspace"])
        return "grout_watchdog()"

    def get_tolerance(self, array, expected):
        """Relative and absolute."""
        if "--bound" in self.own and "--rtol" not in self.own and array["dtype"] in BOUNDS:
            letter = DTYPES[array["dtype"]][0]
            elements = struct.unpack("<%d%s" % (math.prod(array["shape"]), letter), expected)
            largest = max((abs(number) for number in (widen(array["dtype"], element)
                                                      for element in elements)
                           if math.isfinite(number)), default=0.0)
            return 0.0, BOUNDS[array["dtype"]] * largest
        return get_option(self.own, "--rtol", 0.0), get_option(self.own, "--atol", 0.0)

    def compare_beside(self, array, found):
        """None, or what is wrong with an output, by the files beside the kernel."""
        path, beside = self.get_path(array, ".found.npy"), "%s.%s" % (self.beside, array["name"])
        write_npy(path, array, found)
        try:
            compare_array(path, beside + ".want.npy", beside + ".bounds.npy", array["dtype"])
        except Mismatch as mismatch:
            return "%s (%s): %s" % (array["name"], array["dtype"], mismatch)
        return None

    def find_fault(self, options, program):
        """Runs both; None, or what is wrong."""
        result = subprocess.run([program, self.name[1:]], capture_output=True, text=True)
        wanted = get_text(self.own, "--fails")
        if wanted:
            return None if wanted in result.stderr else "it does not fail with '%s', but says '%s'" % (
                wanted, result.stderr.strip())
        if result.returncode != 0:
            return "the emulated kernel failed: %s" % (
                result.stderr.strip() or "exit code %d, and it said nothing" % result.returncode)
        if not self.beside:
            run([options.grout, "run"] + self.expected + options.library + self.arguments)
        for array in self.manifest["arrays"]:
            if array["direction"] != "in":
                with open(self.get_path(array, ".out.bin"), "rb") as file:
                    found = unpack(array, file.read())
                if self.beside:
                    fault = self.compare_beside(array, found)
                    if fault:
                        return fault
                    continue
                expected = read_npy(self.get_path(array, ".out.npy"))
                differ, first = compare(array, expected, found, *self.get_tolerance(array, expected))
                if differ > 0:
                    return "%d elements differ; %s" % (differ, first)
        return None


def preprocess(options, text, work, *flags):
    """CUDA as C++ without its macros, and with calls for its inline PTX."""
    source = os.path.join(work, "expand.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "emulate.h"\n' + text)
    return replace_asm(run([options.cxx, "-E", "-P", "-w", "-std=c++17", *flags, "-I", HERE, source]))


# Two kernels whose CUDA has nothing in common but the device header.
APART = ("kernel @%s(%%x: out gmem i32[1]) threads(wg = 1) {\n    store %%x[0], %s\n}\n" % pair
         for pair in (("one", "1"), ("two", "2")))


def make_header(options, folder):
    """header.cu: the device header as emitted kernels begin with it; header.h: the same for the C++ compiler."""
    os.makedirs(folder, exist_ok=True)
    texts = [subprocess.run([options.grout, "emit", "-"], input=text, capture_output=True, text=True, check=True).stdout
             for text in APART]
    common = os.path.commonprefix(texts)
    common = common[:common.rindex("\n#endif") + 1]
    common = common + texts[0][len(common):texts[0].index("\n", len(common)) + 1]
    # With -dD the macros stay, for the kernels; what emulate.h defines comes from there.
    text = preprocess(options, common, folder, "-dD")
    first = text.index(FIRST_LINE)
    macros = re.findall(r"^#define GROUT_.*\n", text[:first], re.M)
    with open(os.path.join(folder, "header.h"), "w", encoding="utf-8") as file:
        file.write('#pragma once\n#include "emulate.h"\n#include <string>\n' + "".join(macros) +
                   text[first:])
    with open(os.path.join(folder, "header.cu"), "w", encoding="utf-8") as file:
        file.write(common)
    run([options.cxx] + CXX_FLAGS + ["-I", HERE, "-x", "c++-header", os.path.join(folder, "header.h"), "-o",
                                     os.path.join(folder, "header.h.gch")])


def write_program(options, text, work):
    """The emitted CUDA as C++: what comes before the launches."""
    if options.header:
        with open(os.path.join(options.header, "header.cu"), encoding="utf-8") as file:
            header = file.read()
        if not text.startswith(header):
            sys.exit("the CUDA does not begin with %s: make it again" % file.name)
        return '#include "header.h"\n' + replace_asm(text[len(header):])
    text = preprocess(options, text, work)
    return '#include "emulate.h"\n#include <string>\n' + text[text.index(FIRST_LINE):]


def compile_kernels(options, kernels, work):
    """The program of all kernels; its argument is the name of the one that it runs."""
    source, cuda = os.path.join(work, "kernels.cpp"), os.path.join(work, "kernels.cu")
    which = ["--kernel", options.kernel] if options.kernel else []
    run([options.grout, "emit", options.file, "-o", cuda] + which + options.cuda + options.defines)
    with open(cuda, encoding="utf-8") as file:
        text = write_program(options, file.read(), work)
    launches = [kernel.write_launch(options.seed) for kernel in kernels]
    choices = ['    if (name == "%s") {\n        launch_%s();\n    }\n' % (
        kernel.name[1:], kernel.name[1:]) for kernel in kernels]
    with open(source, "w", encoding="utf-8") as file:
        file.write(text + "".join(launches) + MAIN % "".join(choices))
    program = os.path.join(work, "kernels")
    runtime = options.runtime or os.path.join(HERE, "emulate.cpp")
    folders = ["-I", options.header] if options.header else []
    run([options.cxx] + CXX_FLAGS + folders + ["-I", HERE, source, runtime, "-o", program])
    return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?")
    parser.add_argument("--grout", required=True)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--runtime")
    parser.add_argument("--header")
    parser.add_argument("--make-header")
    parser.add_argument("--work")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernel")
    parser.add_argument("--largest", action="store_true")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("-D", action="append", default=[], dest="values")
    options = parser.parse_args()
    if (options.file is None) == (options.make_header is None):
        parser.error("either FILE or --make-header DIR")
    if options.make_header:
        return make_header(options, options.make_header)
    if options.largest:
        options.values += ["%s=%s" % pair for pair in find_largest(options.file)]
    options.defines = [word for value in options.values for word in ("-D", value)]
    if shutil.which(options.cxx) is None:
        print("skipped: no C++ compiler '%s'" % options.cxx)
        return 77
    work = tempfile.mkdtemp(prefix="grout-emulate-", dir=options.work)
    failures = 0
    try:
        options.library, options.cuda = make_externs(options.file, work)
        kernels = [Kernel(options, name, own, os.path.join(work, name[1:]))
                   for name, own in find_kernels(options.file) if options.kernel in (None, name)]
        program = compile_kernels(options, kernels, work)
        for kernel in kernels:
            fault = kernel.find_fault(options, program)
            print("%-8s%s %s%s" % ("ok" if fault is None else "FAILED", options.file, kernel.name,
                                   "" if fault is None else ": " + fault), flush=True)
            failures += 0 if fault is None else 1
    finally:
        if options.keep:
            print("kept", work)
        else:
            shutil.rmtree(work)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
