# SPDX-License-Identifier: Apache-2.0
"""Texts of PTX by shape, of any size: for structure.py, as shapes.py has them of kernels.

HOW is what the program of one_ptx.c is asked for.
"""
from shapes import Shape

HOW = ("parse", "print", "load", "run", "races")
BOUND_BY_CALLS = ("run", "races")
LAUNCHES = ("load", "run", "races")
HEAD = ".version 8.7\n.target sm_90a\n.address_size 64\n"
REGISTERS = [".reg .pred %p<4>;", ".reg .b32 %r<16>;", ".reg .f32 %f<8>;", ".reg .b64 %d, %rd<8>;"]
BAD = dict.fromkeys(HOW, 1)
PTX_SHAPES = []


def shape(last, **rest):
    def add(make):
        made = Shape(make, last, is_ptx=True, **rest)
        made.name = f"ptx-{made.name}"
        PTX_SHAPES.append(made)
        return make
    return add


def body(lines):
    return "{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def entry(lines, name="k", before=""):
    """An entry with a parameter: the address of an array of a megabyte."""
    return (f"{before}.visible .entry {name}(.param .u64 data)\n"
            + body([*REGISTERS, "ld.param.u64 %d, [data];", "mov.u32 %r0, %tid.x;", *lines, "ret;"]))


def text(lines, before=""):
    return HEAD + entry(lines, before=before)


# ---- texts ----

@shape(1 << 20)
def comments(n):
    """lines of comments, of both kinds"""
    return text(["// what the next line is about", "/* and what", "   it is not */"] * (n // 3))


@shape(48 << 20)
def long_comment(n):
    """bytes of one comment"""
    return "/*" + "x" * n + "*/\n" + text([])


@shape(1 << 22)
def blank_lines(n):
    """lines with nothing"""
    return text(["  "] * n)


@shape(1 << 20)
def one_line(n):
    """instructions on one line"""
    return text(["add.u32 %r1, %r0, 1;" * n])


@shape(1 << 16)
def long_names(n):
    """registers and labels with names of 240 bytes"""
    names = [f"v{i}_".ljust(240, "x") for i in range(n)]
    return text([line for name in names
                 for line in (f".reg .b32 %{name};", f"mov.u32 %{name}, %r0;", f"bra {name};", f"{name}:")])


@shape(1 << 22)
def long_name(n):
    """bytes of the name of one register"""
    name = "%" + "v" * (n // 4) + "_"
    return text([f".reg .b32 {name};", f"mov.u32 {name}, 1;", f"add.u32 {name}, {name}, 1;"])


@shape(1 << 20)
def directives(n):
    """directives between instructions"""
    lines = []
    for i in range(n // 2):
        lines += [f".loc 1 {i + 1} 7", "add.u32 %r1, %r0, 1;", ".pragma \"nounroll\";"]
    return text(lines, before=".file 1 \"of a program.cu\"\n")


@shape(1 << 20)
def sections(n):
    """lines of a section with what a debugger reads"""
    return text([]) + ".section .debug_info\n{\n" + ".b8 1, 2, 3, 4\n" * n + "}\n"


# ---- entries and functions ----

@shape(1 << 17)
def entries(n):
    """entries"""
    return HEAD + "".join(entry(["st.global.u32 [%d], 1;"], f"k{i}") for i in range(n))


@shape(1 << 15)
def functions(n):
    """functions, each called once"""
    made = "".join(f".func (.param .b32 out) f{i}(.param .b32 in)\n"
                   + body([".reg .b32 %a;", "ld.param.b32 %a, [in];", "add.u32 %a, %a, 1;", "st.param.b32 [out], %a;",
                           "ret;"])
                   for i in range(n))
    calls = []
    for i in range(n):
        calls += ["{", ".param .b32 in;", ".param .b32 out;", "st.param.b32 [in], %r0;", f"call.uni (out), f{i}, (in);",
                  "ld.param.b32 %r0, [out];", "}"]
    return HEAD + made + entry(calls)


@shape(1 << 17)
def unused_functions(n):
    """functions that nothing calls"""
    return HEAD + "".join(f".func f{i}()\n" + body(["ret;"]) for i in range(n)) + entry([])


@shape(1 << 18)
def prototypes(n):
    """functions that are declared first, and again"""
    return (HEAD + "".join(f".func f{i}();\n" for i in range(n // 2))
            + "".join(f".func f{i}()\n" + body(["ret;"]) for i in range(n // 2)) + entry([]))


@shape(1 << 17)
def call_groups(n):
    """functions, of which seven call each the next one"""
    made, calls = [], []
    for i in reversed(range(n)):
        inner = [] if i % 7 == 6 or i == n - 1 else [f"call.uni f{i + 1};"]
        made.append(f".func f{i}()\n" + body([*inner, "ret;"]))
        calls += [f"call.uni f{i};"] if i % 7 == 0 else []
    return HEAD + "".join(made) + entry(calls)


@shape(1 << 17, codes=dict.fromkeys(BOUND_BY_CALLS, 1))
def call_chain(n):
    """functions, each of which calls the next one, deeper than a run may go"""
    made = [f".func f{i}()\n" + body([f"call.uni f{i + 1};" if i < n - 1 else "", "ret;"]) for i in reversed(range(n))]
    return HEAD + "".join(made) + entry(["mov.u32 %r1, 1;"] * 1100 + ["call.uni f0;"])


@shape(1 << 17)
def calls(n):
    """calls of one function"""
    return HEAD + ".func f()\n" + body(["ret;"]) + entry(["call.uni f;"] * n)


@shape(1 << 18, without=LAUNCHES)
def parameters(n):
    """parameters of a function"""
    return HEAD + ".func f(" + ", ".join(f".param .b32 a{i}" for i in range(n)) + ")\n" + body(["ret;"]) + entry([])


# ---- registers, variables, contents ----

@shape(1 << 19)
def registers(n):
    """registers, each declared by itself and used"""
    return text([line for i in range(n) for line in (f".reg .b32 %v{i};", f"add.u32 %v{i}, %r0, {i};")])


@shape(1 << 19)
def register_ranges(n):
    """registers of ranges of 16"""
    lines = []
    for i in range(n // 16):
        lines += [f".reg .b32 %v{i}_<16>;", *(f"add.u32 %v{i}_{k}, %r0, {k};" for k in range(16))]
    return text(lines)


@shape(1 << 19)
def one_range(n):
    """registers of one range, each computed from the one before"""
    return text([f".reg .b32 %v<{n + 1}>;", "mov.u32 %v0, 1;", *(f"add.u32 %v{i + 1}, %v{i}, 1;" for i in range(n))])


@shape(1 << 17)
def globals_(n):
    """variables in global memory, each with contents and read"""
    return HEAD + "".join(f".global .align 4 .u32 g{i}[2] = {{{i}, 7}};\n" for i in range(n)) + entry(
        [f"ld.global.u32 %r1, [g{i}+4];" for i in range(n)])


@shape(1 << 18)
def unused_globals(n):
    """variables in global memory that nothing reads"""
    return HEAD + "".join(f".global .align 4 .u32 g{i} = {i};\n" for i in range(n)) + entry([])


@shape(1 << 16, without=LAUNCHES)
def shared_variables(n):
    """variables in shared memory, more than a CTA may have"""
    return text([f".shared .align 4 .u32 s{i};" for i in range(n)] + [f"st.shared.u32 [s{i}], 1;" for i in range(n)])


@shape(1 << 16)
def local_variables(n):
    """local variables, each written and read"""
    lines = [f".local .align 4 .u32 l{i};" for i in range(n)]
    return text(lines + [line for i in range(n) for line in (f"st.local.u32 [l{i}], 1;", f"ld.local.u32 %r1, [l{i}];")])


@shape(1 << 21)
def contents(n):
    """numbers of the contents of one variable"""
    return HEAD + f".global .align 4 .u32 g[{n}] = {{" + ", ".join(str(i) for i in range(n)) + "};\n" + entry(
        ["ld.global.u32 %r1, [g];"])


@shape(1 << 22)
def nested_contents(n):
    """braces in each other around the contents of a variable"""
    return HEAD + ".global .align 4 .u32 g[2] = " + "{" * n + "1" + "}" * n + ";\n" + entry(["ld.global.u32 %r1, [g];"])


# ---- blocks, labels, branches ----

@shape(1 << 18)
def blocks(n):
    """blocks with a register, 60 in each other"""
    deep = [line for _ in range(60) for line in ("{", ".reg .b32 %v;", "mov.u32 %v, %r0;")] + ["}"] * 60
    return text(deep * max(1, n // 60))


@shape(1 << 18)
def labels(n):
    """labels, each branched to from the instruction before"""
    return text([line for i in range(n) for line in (f"bra $L{i};", f"$L{i}:")])


@shape(1 << 18)
def unused_labels(n):
    """labels that nothing branches to"""
    return text([f"$L{i}:" for i in range(n)])


@shape(1 << 18)
def far_labels(n):
    """branches to one label at the end, which are not taken"""
    return text(["setp.eq.u32 %p0, %r0, 99;", *["@%p0 bra $end;"] * n, "$end:"])


@shape(1 << 16)
def divergences(n):
    """branches on which the lanes disagree"""
    return text([line for i in range(n)
                 for line in ("and.b32 %r1, %r0, 1;", "setp.eq.u32 %p0, %r1, 0;", f"@%p0 bra $L{i};",
                              "add.u32 %r2, %r0, 1;", f"$L{i}:")])


@shape(1 << 18)
def targets(n):
    """labels of one list of targets"""
    lines = ["$all: .branchtargets " + ", ".join(f"$L{i}" for i in range(n)) + ";", "mov.u32 %r1, 0;",
             "brx.idx %r1, $all;"]
    return text(lines + [line for i in range(n) for line in (f"$L{i}:", "add.u32 %r1, %r0, 1;")])


@shape(1 << 16)
def target_lists(n):
    """lists of targets, of four labels each"""
    lines = []
    for i in range(n):
        lines += [f"$all{i}: .branchtargets " + ", ".join([f"$L{i}"] * 4) + ";", "mov.u32 %r1, 0;",
                  f"brx.idx %r1, $all{i};", f"$L{i}:"]
    return text(lines)


@shape(1 << 18)
def loops(n):
    """loops of two turns"""
    return text([line for i in range(n)
                 for line in ("mov.u32 %r1, 0;", f"$L{i}:", "add.u32 %r1, %r1, 1;", "setp.lt.u32 %p0, %r1, 2;",
                              f"@%p0 bra $L{i};")])


# ---- instructions ----

@shape(1000000)
def instructions(n):
    """additions in one body, each of the one before"""
    return text(["add.u32 %r0, %r0, 1;"] * n)


@shape(1 << 18)
def constants(n):
    """numbers, each another one"""
    return text([f"add.u32 %r1, %r0, {i};" for i in range(n)])


@shape(1 << 20, without=LAUNCHES)
def wide_vector(n):
    """registers of one vector"""
    return text(["mov.b64 %rd0, {" + ", ".join(["%r0"] * n) + "};"])


ONE = ["setp.eq.u32 %p0, %r0, 0;"]


@shape(1 << 18)
def vectors(n):
    """stores of vectors of four registers"""
    return text([*ONE, *(f"mov.u32 %r{i}, {i};" for i in range(1, 4)),
                 *["@%p0 st.global.v4.u32 [%d], {%r0, %r1, %r2, %r3};"] * n])


@shape(1 << 18)
def stores(n):
    """stores of one thread to one place"""
    return text([*ONE, *["@%p0 st.global.u32 [%d], 1;"] * n])


@shape(1 << 18)
def spread_stores(n):
    """stores of one thread to places of their own"""
    return text([*ONE, *(f"@%p0 st.global.u32 [%d+{4 * i}], 1;" for i in range(n))])


@shape(1 << 15)
def equal_writes(n):
    """stores that two warps make of the same values, to places of their own"""
    return text([f"st.global.u32 [%d+{4 * i}], 1;" for i in range(n)])


@shape(1 << 17)
def many_readers(n):
    """loads of two warps from one place"""
    return text([*ONE, "@%p0 st.global.u32 [%d], 1;", "bar.sync 0;", *["ld.global.u32 %r1, [%d];"] * n])


@shape(1 << 14)
def atomics(n):
    """atomic additions of two warps to one place"""
    return text([*ONE, "@%p0 st.global.u32 [%d], 1;", "bar.sync 0;", *["atom.global.add.u32 %r1, [%d], 1;"] * n])


@shape(1 << 17)
def barriers(n):
    """barriers of two warps, with a store between them"""
    return text([*ONE, *["@%p0 st.global.u32 [%d], 1;", "bar.sync 0;"] * n])


@shape(1 << 17)
def fences(n):
    """fences of the GPU, with a store between them"""
    return text([*ONE, *["@%p0 st.relaxed.gpu.global.u32 [%d], 1;", "fence.acq_rel.gpu;"] * n])


@shape(1 << 13)
def phases(n):
    """phases of an mbarrier, each with an arrival and a wait of two warps"""
    lines = [".shared .align 8 .b64 bar;", *ONE, "@%p0 mbarrier.init.shared.b64 [bar], 64;", "bar.sync 0;"]
    for i in range(n):
        lines += ["mbarrier.arrive.shared.b64 %rd0, [bar];", f"$W{i}:",
                  f"mbarrier.try_wait.parity.shared.b64 %p1, [bar], {i % 2};", f"@!%p1 bra $W{i};"]
    return text(lines)


@shape(25000)
def mbarriers(n):
    """mbarriers, each with an arrival"""
    return text([f".shared .align 8 .b64 bar[{n}];", *ONE,
                 *(line for i in range(n) for line in (f"@%p0 mbarrier.init.shared.b64 [bar+{8 * i}], 1;",
                                                       f"@%p0 mbarrier.arrive.shared.b64 %rd0, [bar+{8 * i}];"))])


def _copy(i):
    return f"@%p0 cp.async.ca.shared.global [s+{4 * (i % 32768)}], [%d], 4;"


@shape(1 << 16)
def copies(n):
    """asynchronous copies, each waited for"""
    return text([".shared .align 16 .b8 s[131072];", *ONE, "@%p0 st.global.u32 [%d], 1;",
                 *(line for i in range(n) for line in (_copy(i), "cp.async.commit_group;", "cp.async.wait_group 0;"))])


@shape(1 << 16)
def copies_in_flight(n):
    """asynchronous copies, none of them waited for before the end"""
    return text([".shared .align 16 .b8 s[131072];", *ONE, "@%p0 st.global.u32 [%d], 1;", *(_copy(i) for i in range(n)),
                 "cp.async.commit_group;", "cp.async.wait_group 0;"])


@shape(1 << 16)
def copies_left(n):
    """asynchronous copies that are in flight when their thread ends"""
    return text([".shared .align 16 .b8 s[131072];", *ONE, "@%p0 st.global.u32 [%d], 1;",
                 *(_copy(i) for i in range(n))])


@shape(1 << 15)
def copies_in_turn(n):
    """asynchronous copies, each of which is waited for by itself while those after it are in flight"""
    return text([".shared .align 16 .b8 s[131072];", *ONE, "@%p0 st.global.u32 [%d], 1;",
                 *(line for i in range(n) for line in (_copy(i), "cp.async.commit_group;")),
                 *(f"cp.async.wait_group {n - 1 - i};" for i in range(n))])


# ---- mistakes ----

@shape(1 << 18, codes=BAD)
def unknown_instructions(n):
    """instructions that there are not"""
    return text([f"ad{i}.u32 %r1, %r0, 1;" for i in range(n)])


@shape(1 << 18, codes=BAD)
def unknown_words(n):
    """words that their instruction does not have"""
    return text([f"add.x{i} %r1, %r0, 1;" for i in range(n)])


@shape(1 << 18, codes=BAD)
def unknown_names(n):
    """registers and labels that nothing declares"""
    return text([line for i in range((n + 1) // 2) for line in (f"mov.u32 %r1, %w{i};", f"bra $N{i};")])


@shape(1 << 18, codes=BAD)
def doubled_names(n):
    """registers that are declared twice"""
    return text([f".reg .b32 %v{i // 2};" for i in range(n + 1)])


@shape(1 << 18, codes=BAD)
def wrong_counts(n):
    """instructions with too few operands"""
    return text(["add.u32 %r1;"] * n)


@shape(1 << 18, codes=BAD)
def wrong_entries(n):
    """entries without a name"""
    return HEAD + ".visible .entry (.param .u64 a) { ret; }\n" * n


@shape(1 << 20, codes=BAD)
def open_blocks(n):
    """braces that nothing closes"""
    return text(["{" * 60] * max(1, n // 60))


@shape(1 << 20, codes=BAD)
def open_lists(n):
    """lists that nothing closes"""
    return text(["mov.b64 %rd0, {{{{{" * 10] * max(1, n // 50))


@shape(4 << 20, codes=BAD)
def bytes_of_no_text(n):
    """characters that are no text"""
    return text(["\x01#`?" * 16] * max(1, n // 64))


@shape(1 << 22, codes=BAD)
def long_word(n):
    """bytes of one word that is not known"""
    return text(["add.u32." + "x" * n + " %r1, %r0, 1;", "y" * n + " %r1;"])


@shape(1 << 22, codes=BAD)
def open_string(n):
    """bytes of a string and of a comment that nothing closes"""
    return text([".pragma \"" + "x" * (n // 2), "/*" + "x" * (n // 2)])
