# SPDX-License-Identifier: Apache-2.0
"""Kernel files by shape, of any size: for structure.py.

A shape has a name and makes the text of n things. Twice as many things are a text of about twice the length, and ask
for twice the work.
"""
DEEP = 250  # blocks or parentheses in each other; 256 is the limit


class Shape:
    """What a text is made of, and how many there can be."""

    def __init__(self, make, last, **rest):
        self.name = make.__name__.strip("_").replace("_", "-")
        self.usage = " ".join(make.__doc__.split())
        self.make, self.last = make, last
        self.codes = rest.get("codes", {})  # the exit code of a command, where it is not 0
        self.words = rest.get("words", {})  # more words, of a command
        self.files = rest.get("files", {})  # name and what makes it
        self.ratio = rest.get("ratio", 0)  # a doubling that is right, where it is more than the usual one
        self.ratios = rest.get("ratios", {})  # the same of a command
        self.without = rest.get("without", ())  # commands that are not for it
        self.is_ptx = rest.get("is_ptx", False)
        self.file = "k.ptx" if self.is_ptx else "k.grout"
        if not rest.get("has_expectations", False):
            self.without = (*self.without, "expect")


SHAPES = []
# What docs/reliability.md names: it takes the square, and something else bounds it.
SQUARE = 5.0


def shape(last, **rest):
    def add(make):
        SHAPES.append(Shape(make, last, **rest))
        return make
    return add


def kernel(head, lines, name="k"):
    return "\n".join([f"kernel @{name}({head}", "{", *("  " + line for line in lines), "}"]) + "\n"


OUT = "%y: inout gmem i32[64])"
REPORTS = ("check", "json", "sarif", "github", "html", "verbose", "explore", "advice", "minimise")
CODE_1 = dict.fromkeys(REPORTS, 1)
CODE_1_TO_FIX = {**CODE_1, "fix": 1}
ALL_FINDINGS = dict.fromkeys(REPORTS, ("--max-findings", "100000000"))
OF_ONE_KERNEL = ("run", "host", "manifest")
# What is searched for by the clock: --budget ends it, not the size of the file.
SEARCHES = ("fix", "minimise", "explore", "advice")
# 'fix' searches where no edit is exact: some changes for each line, each of which it tries on all of the text. --budget
# ends that, not the size of the file; tests/cli/run_ends.py holds it to its budget.
A_SEARCH = ("fix",)
BAD = dict.fromkeys((*REPORTS, "run", "emit", "host", "manifest", "fmt", "fix"), 2)


@shape(4 << 20)
def comments(n):
    """lines of comments"""
    return kernel(OUT, ["store %y[0], 1", *(f"// {i} what the next line is about" for i in range(n))])


@shape(60 << 20)
def long_comment(n):
    """bytes of one comment"""
    return "// " + "x" * n + "\n" + kernel(OUT, ["store %y[0], 1"])


@shape(4 << 20)
def blank_lines(n):
    """lines with nothing"""
    return kernel(OUT, ["store %y[0], 1", *["  "] * n, "store %y[1], 1"])


@shape(1 << 20)
def consts(n):
    """consts, a line each"""
    return "".join(f"const C{i} = {i}\n" for i in range(n)) + kernel(OUT, [f"store %y[0], C{n - 1}"])


@shape(1 << 20)
def consts_of_one_line(n):
    """consts on one line"""
    return "const " + ", ".join(f"C{i} = {i}" for i in range(n)) + "\n" + kernel(OUT, [f"store %y[0], C{n - 1}"])


@shape(1 << 20)
def const_chain(n):
    """consts, each of the one before"""
    return ("const C0 = 1\n" + "".join(f"const C{i} = C{i - 1} + 1\n" for i in range(1, n))
            + kernel(OUT, [f"store %y[0], C{n - 1}"]))


@shape(1 << 20)
def const_chain_upwards(n):
    """consts, each of the next one"""
    return ("".join(f"const C{i} = C{i + 1} + 1\n" for i in range(n)) + f"const C{n} = 1\n"
            + kernel(OUT, ["store %y[0], C0"]))


@shape(1 << 17)
def long_names(n):
    """values with names of 240 bytes"""
    names = ["%" + f"v{i}".ljust(240, "x") for i in range(n)]
    return kernel(OUT, ["%a = load %y[0]", *(f"{name} = add %a, 1" for name in names), f"store %y[1], {names[-1]}"])


@shape(1 << 20)
def requires(n):
    """requires"""
    return "const N = 5\n" + "".join(f'require N > 4, "number {i}"\n'
                                     for i in range(n)) + kernel(OUT, ["store %y[0], N"])


@shape(1 << 20)
def literals(n):
    """numbers in expressions of 200 each"""
    lines = ["store %y[0], " + " + ".join(str(i % 10) for i in range(200)) for _ in range(max(1, n // 200))]
    return kernel(OUT, lines)


@shape(100000, without=OF_ONE_KERNEL)
def kernels(n):
    """kernels"""
    return "\n".join(kernel(OUT, ["store %y[0], 1"], f"k{i}") for i in range(n))


TWO_SIZES = ["--sweep", "N=1,2"]


@shape(100000, words=dict.fromkeys(("check", "json", "sarif", "github", "html", "verbose"), TWO_SIZES),
       without=(*OF_ONE_KERNEL, *SEARCHES))
def swept_kernels(n):
    """kernels at two sizes"""
    return "const N = 1\n" + "\n".join(kernel(OUT, ["store %y[0], N"], f"k{i}") for i in range(n))


@shape(100000, codes=CODE_1, without=(*OF_ONE_KERNEL, *SEARCHES))
def kernels_with_findings(n):
    """kernels, each with a race"""
    return "\n".join(kernel(OUT + " grid(g = 2)", ["store %y[0], (axis_index g)"], f"k{i}") for i in range(n))


@shape(1 << 16)
def parameters(n):
    """parameters of a kernel"""
    return kernel(", ".join(f"%p{i}: inout gmem i32[4]" for i in range(n)) + ")", ["store %p0[0], 1"])


@shape(1 << 16)
def used_parameters(n):
    """parameters of a kernel, each written"""
    return kernel(", ".join(f"%p{i}: inout gmem i32[4]" for i in range(n)) + ")",
                  [f"store %p{i}[0], 1" for i in range(n)])


@shape(1 << 16)
def scalar_parameters(n):
    """scalar parameters of a kernel"""
    return kernel(", ".join(f"%p{i}: i32" for i in range(n)) + f", {OUT}", [f"store %y[0], %p{i}" for i in range(n)])


def _launches(n, lines, later=""):
    """A kernel of n / 8 parameters, launched eight times."""
    names = ", ".join(f"%p{i}" for i in range(n // 8 + 1))
    return (kernel(", ".join(f"%p{i}: inout gmem i32[4]" for i in range(n // 8 + 1)) + ")", lines)
            + f"launch @k({names})\n" + f"launch @k({names}){later}\n" * 7)


@shape(1 << 18)
def launched_parameters(n):
    """parameters in 8 launches"""
    return _launches(n, ["store %p0[0], 1"])


@shape(1 << 17, without=("fix", "advice", "explore"))
def parameters_of_grids(n):
    """parameters in 8 launches that may overlap, each used by all of them"""
    return _launches(n, ["griddepcontrol_wait", *(f"atomic_add %p{i}[0], 1" for i in range(n // 8 + 1))], " dependent")


@shape(1000000)
def scalars(n):
    """additions, each of the one before"""
    return kernel(OUT, ["%v0 = load %y[0]", *(f"%v{i} = add %v{i - 1}, 1" for i in range(1, n)),
                        f"store %y[0], %v{n - 1}"])


@shape(1000000)
def scalars_of_the_first(n):
    """additions, all of one value"""
    return kernel(OUT, ["%v0 = load %y[0]", *(f"%v{i} = add %v0, {i}" for i in range(1, n)), f"store %y[0], %v{n - 1}"])


@shape(1000000)
def products_of_indices(n):
    """multiplications that may wrap, of which indices are made"""
    lines = ["%b = load %y[0]"]
    for i in range(n // 3):
        lines += [f"%m{i} = mul %b, 300", f"%i{i} = rem (max %m{i}, 0), 64", f"store %y[%i{i}], 1"]
    return kernel(OUT, lines)


@shape(1000000)
def chained_products(n):
    """multiplications that may wrap, each of the one before, and an index of the last"""
    return kernel(OUT, ["%v0 = load %y[0]", *(f"%v{i} = mul %v{i - 1}, %v{i - 1}" for i in range(1, n)),
                        f"store %y[%v{n - 1}], 1"])


@shape(1000000)
def stores(n):
    """stores to one element"""
    return kernel(OUT, [f"store %y[0], {i}" for i in range(n)])


@shape(1000000)
def spread_stores(n):
    """stores to elements of their own"""
    return kernel(f"%y: inout gmem i32[{n}])", [f"store %y[{i}], {i}" for i in range(n)])


@shape(1000000)
def loads(n):
    """loads of elements of their own, summed up"""
    lines = ["%s0 = load %x[0]"]
    for i in range(1, n // 2):
        lines += [f"%v{i} = load %x[{i}]", f"%s{i} = add %s{i - 1}, %v{i}"]
    return kernel(f"%x: in gmem i32[{n}], {OUT}", [*lines, f"store %y[0], %s{max(n // 2, 1) - 1}"])


@shape(1 << 18)
def arrays(n):
    """operations on arrays of 128 elements"""
    return kernel("%y: inout gmem f32[128])", ["%v0 = load %y", *(f"%v{i} = mul %v{i - 1}, 0.5" for i in range(1, n)),
                                                 f"store %y, %v{n - 1}"])


@shape(1 << 18)
def living_arrays(n):
    """arrays that all live until the end"""
    m = n // 2 + 1
    return kernel("%y: inout gmem f32[4])", ["%v0 = load %y", *(f"%v{i} = mul %v0, {i}.5" for i in range(1, m)),
                                               *(f"store %y, %v{i}" for i in range(m))])


@shape(1000000)
def nested_loops(n):
    """loops, 250 in each other"""
    lines = []
    for _ in range(max(1, n // DEEP)):
        lines += [f"for %i{k} in 0..1 {{" for k in range(DEEP)] + ["store %y[%i7], %i0"] + ["}"] * DEEP
    return kernel(OUT, lines)


@shape(1000000)
def nested_branches(n):
    """branches, 250 in each other"""
    lines = ["%t = ge (load %y[0]), -100"]
    for _ in range(max(1, n // DEEP)):
        lines += ["if %t {"] * DEEP + ["store %y[0], 1"] + ["}"] * DEEP
    return kernel(OUT, lines)


@shape(1000000)
def nested_scopes(n):
    """scopes with an array, 200 in each other"""
    lines = []
    for _ in range(max(1, n // 200)):
        lines += ["scoped(%s : smem i32[1]) {"] * 200 + ["store %y[0], 1"] + ["}"] * 200
    return kernel(OUT, lines)


@shape(1000000)
def nested_results(n):
    """branches with a result, 250 in each other"""
    lines = ["%t = ge (load %y[0]), -100"]
    for _ in range(max(1, n // DEEP)):
        lines += ["%r = if %t {"] * DEEP + ["yield 1"] + ["} else {", "yield 2", "}", "yield %r"] * (DEEP - 1)
        lines += ["} else {", "yield 2", "}", "store %y[0], 1"]
    text, seen = [], 0
    for line in lines:  # a block may not name a value twice
        if line.startswith("%r = if"):
            text.append(line.replace("%r", f"%r{seen}"))
            seen += 1
        else:
            text.append(line)
    return kernel(OUT, _close_results(text))


def _close_results(lines):
    """Each 'yield %r' names the result of the branch that has just ended."""
    open_names, ended, out = [], None, []
    for line in lines:
        if line.startswith("%r"):
            open_names.append(line.split(" ", 1)[0])
        if line == "}":
            ended = open_names.pop()
        out.append(f"yield {ended}" if line == "yield %r" else line)
    return out


@shape(1000000)
def nested_operations(n):
    """operations in parentheses, 200 in each other"""
    line = "store %y[0], " + "(add " * 200 + "1, 1" + "), 1" * 199 + ")"
    return kernel(OUT, [line] * max(1, n // 200))


@shape(1 << 20)
def branches(n):
    """branches, one after the other"""
    return kernel(OUT, ["%t = ge (load %y[0]), 0", *["if %t {", "  store %y[0], 1", "}"] * n])


@shape(1 << 20)
def loops(n):
    """loops, one after the other"""
    return kernel(OUT, ["for %i in 0..2 {", "  store %y[%i], 1", "}"] * n)


@shape(1 << 18)
def scopes(n):
    """scopes with an array, one after the other"""
    return kernel(OUT, ["scoped(%s : smem i32[4]) {", "  store %s[0], 1", "  store %y[0], (load %s[0])", "}"] * n)


@shape(1 << 18)
def warp_maps(n):
    """warp maps, one after the other"""
    return kernel(OUT, ["warp_map(%w) {", "  store %y[%w], 1", "}"] * n)


@shape(1 << 18)
def debug_prints(n):
    """prints"""
    return kernel(OUT, [f'debug_print "line {i} {{}}", {i}' for i in range(n)] + ["store %y[0], 1"])


@shape(1 << 18)
def debug_checks(n):
    """checks"""
    return kernel(OUT, [f'debug_check (ge {i}, 0), "check {i} {{}}", {i}' for i in range(n)] + ["store %y[0], 1"])


@shape(16 << 20)
def long_string(n):
    """bytes of one string"""
    return kernel(OUT, ['debug_print "' + "x" * n + '"', "store %y[0], 1"])


@shape(1 << 20)
def init_lists(n):
    """elements of inits, 4096 in each of a kernel's parameters"""
    m = max(1, n // 4096)
    values = ", ".join(str(i % 10) for i in range(4096))
    return kernel(", ".join(f"%x{i}: in gmem i32[4096] init([{values}])" for i in range(m)) + f", {OUT}",
                  ["store %y[0], 1"])


@shape(28000, without=("advice",))
def barriers(n):
    """barriers of a CTA"""
    return kernel(OUT, [f"scratch %b{i} : barrier[1]" for i in range(n)] + ["store %y[0], 1"])


@shape(28000, without=SEARCHES, ratio=SQUARE)
def used_barriers(n):
    """barriers of a CTA, each with an arrival and a wait"""
    return kernel(OUT, [f"scratch %b{i} : barrier[1]" for i in range(n)] + ["store %y[0], 1"]
                  + [line for i in range(n) for line in (f"barrier_arrive %b{i}[0]", f"barrier_wait %b{i}[0]")])


@shape(28000, without=SEARCHES, ratio=SQUARE)
def open_barriers(n):
    """barriers of a CTA, at all of which one thread arrives before the other does"""
    return kernel(OUT + " threads(wg = 2)",
                  [f"scratch %b{i} : barrier[1] arrivals(2)" for i in range(n)] + ["store %y[(axis_index wg)], 1"]
                  + [f"barrier_arrive %b{i}[0]" for i in range(n)] + [f"barrier_wait %b{i}[0]" for i in range(n)])


@shape(1 << 14, without=SEARCHES, ratio=SQUARE)
def scoped_barriers(n):
    """scopes with a barrier, one after the other"""
    return kernel(OUT, ["scoped(%b : barrier[1]) {", "  barrier_arrive %b[0]", "  barrier_wait %b[0]", "}"] * n
                  + ["store %y[0], 1"])


@shape(1 << 18)
def phases(n):
    """phases of one barrier, each with an arrival and a wait"""
    return kernel(OUT, ["scratch %b : barrier[1]", *["barrier_arrive %b[0]", "barrier_wait %b[0]"] * n,
                        "store %y[0], 1"])


@shape(1 << 18, without=("advice",))
def meetings(n):
    """barriers of two threads"""
    return kernel(OUT + " threads(wg = 2)", ["store %y[(axis_index wg)], 1", *["block_barrier"] * n])


@shape(1 << 17)
def copies(n):
    """copies to SMEM, each waited for"""
    return kernel("%x: in gmem i32[64], %y: inout gmem i32[64])",
                  ["scratch %s : smem i32[64]", "scratch %b : barrier[1]",
                   *["copy_gmem_to_smem %x, %s, %b[0]", "barrier_wait %b[0]"] * n, "store %y, (load %s)"])


@shape(1 << 17)
def bulk_groups(n):
    """copies from SMEM in flight"""
    return kernel(f"%y: inout gmem i32[{4 * n}])",
                  ["scratch %s : smem i32[4]", "store %s, (broadcast 1 : i32[4])", "commit_smem",
                   *(f"copy_smem_to_gmem %s, %y[ds({4 * i}, 4)]" for i in range(n)), "wait_smem_to_gmem 0"])


@shape(1 << 15, codes=CODE_1, without=SEARCHES)
def scopes_beside_copies(n):
    """scopes that end while copies are in flight"""
    return kernel("%x: in gmem i32[4], %y: inout gmem i32[4])",
                  ["scratch %s : smem i32[4]", f"scratch %b : barrier[1] arrivals({n})",
                   *["copy_gmem_to_smem %x, %s, %b[0]"] * n,
                   *["scoped(%t : smem i32[1]) {", "  store %t[0], 1", "}"] * n, "barrier_wait %b[0]",
                   "store %y, (load %s)"])


@shape(1 << 15, codes=CODE_1, without=SEARCHES)
def scopes_with_copies(n):
    """scopes, each of which ends a copy of its own and none of those around it"""
    return kernel("%x: in gmem i32[4], %y: inout gmem i32[4])",
                  ["scratch %s : smem i32[4]", "scratch %b : barrier[1]",
                   *["copy_gmem_to_smem %x, %s, %b[0]", "scoped(%t : smem i32[4]) {",
                     "  copy_gmem_to_smem %x, %t, %b[0]", "}"] * n, "store %y[0], 1"])


LED = "collective_axes(x) leader_tracked partitioned(0)"


@shape(1 << 15, codes=CODE_1, words=dict.fromkeys((*REPORTS, "run"), ("--arch", "sm_100a")),
       without=(*SEARCHES, "html", "emit", "host", "manifest"))
def deliveries(n):
    """copies of a CTA in flight that bring bytes to the barrier of another one, after as many others"""
    return kernel("%y: in gmem f32[8]) grid(g = 1) cluster(x = 2) threads(wg = 1)",
                  ["scratch %p : smem f32[4]", "scratch %q : smem f32[4]",
                   f"scratch %full : barrier arrivals({n})", f"scratch %own : barrier arrivals({n})",
                   *["copy_gmem_to_smem %y[ds(0, 4)], %q, %own"] * n,
                   *[f"copy_gmem_to_smem %y, %p, %full {LED}"] * n,
                   "if (eq (axis_index x), 1) {", *["  block_barrier"] * 9, "}"])


PAIR = "%y: inout gmem f32[8]) cluster(x = 2) threads(wg = {})"


@shape(1 << 15, without=SEARCHES)
def stores_of_a_cluster(n):
    """stores to one element of SMEM by the one thread of each of two CTAs"""
    return kernel(PAIR.format(1), ["scratch %p : smem f32[4]", *["store %p[0], 1.0"] * n, "cluster_barrier",
                                   "store %y[(axis_index x)], (load %p[0])"])


@shape(1 << 14, without=SEARCHES)
def spread_stores_of_a_cluster(n):
    """stores to elements of their own, by two threads of each of two CTAs, to halves of one array"""
    sides = [[f"  store %p[{half}, {i % 8}, {i // 8 % 512}], 1.0" for i in range(n)] for half in (0, 1)]
    return kernel(PAIR.format(2), ["scratch %p : smem f32[2, 8, 512]", "if (eq (axis_index wg), 0) {", *sides[0],
                                   "} else {", *sides[1], "}", "cluster_barrier", "if (eq (axis_index wg), 0) {",
                                   "  store %y[(axis_index x)], (load %p[1, 0, 0])", "}"])


@shape(1 << 14, codes=CODE_1, without=SEARCHES)
def copies_for_pairs(n):
    """copies for both CTAs of a pair, to one array, all of which one wait awaits"""
    return kernel(PAIR.format(1) + ' attr arch = "sm_100a"',
                  ["scratch %p : smem f32[4]", f"scratch %full : barrier arrivals({n})",
                   *[f"copy_gmem_to_smem %y, %p, %full {LED}"] * n, "if (eq (axis_index x), 0) {",
                   "  barrier_wait %full", "}", "cluster_barrier", "store %y[(axis_index x)], (load %p[0])"])


def _reads(n, store, between="block_barrier"):
    """Two rounds of n loads of one element of SMEM by each of two threads, after the store."""
    return kernel(OUT + " threads(wg = 2)",
                  ["scratch %s : smem i32[4]", "%w = axis_index wg", *store, between, "for %i in 0..2 {",
                   *(f"  %v{i} = load %s[0]" for i in range(n)), "}", "store %y[%w], 1"])


@shape(1 << 17)
def reads(n):
    """reads of one element by two threads in two rounds"""
    return _reads(n, ["if (eq %w, 0) {", "  store %s[0], 1", "}"])


@shape(1 << 17, without=A_SEARCH)
def reads_beside_equal_writes(n):
    """reads of one element that two threads have written the same to"""
    return _reads(n, ["store %s[0], 1"])


@shape(1 << 15, codes=CODE_1, without=SEARCHES)
def racing_reads(n):
    """reads of one element by two threads, one of which writes it"""
    return _reads(n, ["if (eq %w, 0) {", "  store %s[0], 1", "}"], between="store %y[4 + %w], 1")


@shape(1 << 16, without=SEARCHES)
def reads_of_gmem(n):
    """reads of one element by four CTAs"""
    return kernel("%x: inout gmem i32[4], %y: inout gmem i32[8]) grid(g = 4) threads(wg = 2)",
                  ["%g = axis_index g", "%w = axis_index wg", *(f"%v{i} = load %x[0]" for i in range(n)),
                   "store %y[%g * 2 + %w], 1", "if (eq %g, 7) {", "  store %x[0], 1", "}"])


@shape(1 << 18)
def aliases(n):
    """names of the same bytes"""
    return kernel(OUT, ["scratch %s : smem i32[64]", *(f"scratch %a{i} : smem i32[64] alias(%s)" for i in range(n)),
                        "store %s[0], 1", f"store %y[0], (load %a{n - 1}[0])"])


@shape(1 << 14)
def used_aliases(n):
    """names of the same bytes, each used"""
    return kernel(OUT, ["scratch %s : smem i32[64]", *(f"scratch %a{i} : smem i32[64] alias(%s)" for i in range(n)),
                        *(f"store %a{i}[0], 1" for i in range(n)), "store %y[0], (load %s[0])"])


@shape(1 << 14)
def inferred_tiles(n):
    """names with a tile that is inferred, each used"""
    return kernel("%y: inout gmem i32[64])",
                  ["scratch %s : smem i32[64]",
                   *(f"scratch %a{i} : smem i32[64] tile(infer) alias(%s)" for i in range(n)),
                   *(f"store %a{i}[0], 1" for i in range(n)), "store %y[0], (load %s[0])"])


@shape(1 << 14)
def recasts_of_inferred_tiles(n):
    """names with a tile that is inferred, each used as numbers of another type"""
    return kernel("%y: inout gmem f32[64])",
                  ["scratch %s : smem f32[64] tile(infer)",
                   *(f"scratch %a{i} : smem f32[64] tile(infer) alias(%s)" for i in range(n)),
                   *(f"store %a{i}.bitcast(i32), (broadcast {i} : i32[64])" for i in range(n)), "store %y, (load %s)"])


@shape(1 << 16)
def uses_of_inferred_tile(n):
    """copies of one array with a tile that is inferred"""
    return kernel("%x: in gmem f16[64, 64], %y: inout gmem f16[64, 64])",
                  ["scratch %s : smem f16[64, 64] tile(infer)", "scratch %b : barrier[1]",
                   *["copy_gmem_to_smem %x, %s, %b[0]", "barrier_wait %b[0]"] * n, "store %y, (load %s)"])


@shape(1 << 16, without=A_SEARCH)
def semaphores(n):
    """arrays of semaphores"""
    return kernel(OUT, [*(f"scratch %u{i} : semaphore[1] global" for i in range(n)),
                        *(f"semaphore_signal %u{i}[0], 1" for i in range(n)), "store %y[0], 1"])


@shape(1 << 16)
def workspaces(n):
    """arrays in global memory for the launch"""
    return kernel(OUT, [*(f"scratch %w{i} : gmem i32[4]" for i in range(n)),
                        *(f"store %w{i}[0], 1" for i in range(n)), "store %y[0], 1"])


@shape(1 << 14)
def wgmmas(n):
    """products of the tensor core"""
    return kernel("%a: in gmem f16[64, 64], %b: in gmem f16[64, 64], %c: out gmem f32[64, 64])",
                  ["scratch %as : smem f16[64, 64] tile(8, 64) swizzle(128)",
                   "scratch %bs : smem f16[64, 64] tile(8, 64) swizzle(128)", "scratch %acc : acc f32[64, 64]",
                   "scratch %full : barrier[1] arrivals(2)", "copy_gmem_to_smem %a, %as, %full[0]",
                   "copy_gmem_to_smem %b, %bs, %full[0]", "barrier_wait %full[0]", *["wgmma %acc, %as, %bs"] * n,
                   "store %c, (load %acc)"])


@shape(1 << 16, codes=CODE_1, words=ALL_FINDINGS, without=SEARCHES)
def races(n):
    """races, all listed"""
    return kernel(f"%y: inout gmem i32[{n}]) grid(g = 2)",
                  ["%g = axis_index g", *(f"store %y[{i}], %g" for i in range(n))])


@shape(1 << 18, codes=CODE_1, without=SEARCHES)
def unlisted_races(n):
    """races, 20 of them listed"""
    return kernel(f"%y: inout gmem i32[{n}]) grid(g = 2)",
                  ["%g = axis_index g", *(f"store %y[{i}], %g" for i in range(n))])


@shape(1 << 16, codes=CODE_1, without=SEARCHES)
def races_of_all(n):
    """writes of two threads to one element, each of which races with each of the other one's"""
    return kernel(OUT + " threads(wg = 2)", ["%g = axis_index wg", *["store %y[0], %g"] * n])


@shape(1 << 16, without=SEARCHES)
def equal_races_of_all(n):
    """writes of the same by two threads to one element"""
    return kernel(OUT + " threads(wg = 2)", ["store %y[0], 1"] * n)


@shape(1 << 16, words=ALL_FINDINGS, without=SEARCHES)
def equal_races(n):
    """writes of the same by two CTAs, each pair to an element of its own, all listed"""
    return kernel(f"%y: inout gmem i32[{n}]) grid(g = 2)", [f"store %y[{i}], {i}" for i in range(n)])


@shape(1 << 16, codes=CODE_1, words=ALL_FINDINGS, without=SEARCHES)
def smem_races(n):
    """races in SMEM, all listed"""
    return kernel(OUT + " threads(wg = 2)",
                  [f"scratch %s : smem i32[{min(n, 1 << 15)}]", "%g = axis_index wg",
                   *(f"store %s[{i % (1 << 15)}], %g" for i in range(n))])


@shape(1 << 15, codes=CODE_1_TO_FIX, words=ALL_FINDINGS, without=("minimise", "explore", "advice"))
def missing_commits(n):
    """stores to SMEM that no commit publishes to the copy after them, all listed"""
    lines = ["scratch %s : smem i32[4]"]
    for i in range(n):
        lines += ["store %s, (broadcast 1 : i32[4])", f"copy_smem_to_gmem %s, %y[ds({4 * i}, 4)]",
                  "wait_smem_to_gmem 0"]
    return kernel(f"%y: inout gmem i32[{4 * n}])", lines)


@shape(1 << 14, codes=CODE_1, words=ALL_FINDINGS, without=SEARCHES)
def missing_commits_of_others(n):
    """the same, where several threads store and meet before the copy"""
    lines = ["scratch %s : smem i32[4]", "%w = axis_index wg", "%t = eq %w, 0"]
    for i in range(n):
        lines += ["store %s[%w], 1", "block_barrier", "if %t {", f"  copy_smem_to_gmem %s, %y[ds({4 * i}, 4)]",
                  "  wait_smem_to_gmem 0", "}", "block_barrier"]
    return kernel(f"%y: inout gmem i32[{4 * n}]) threads(wg = 2)", lines)


@shape(1 << 15, codes=CODE_1, words=ALL_FINDINGS, without=SEARCHES)
def missing_waits(n):
    """loads of SMEM before the wait for the copy to it, all listed"""
    return kernel("%x: in gmem i32[64], %y: inout gmem i32[64])",
                  ["scratch %s : smem i32[64]", "scratch %b : barrier[1]",
                   *["copy_gmem_to_smem %x, %s, %b[0]", "store %y[0], (load %s[0])", "barrier_wait %b[0]"] * n])


@shape(1 << 15, codes=CODE_1_TO_FIX, words=ALL_FINDINGS, without=("minimise", "explore", "advice"))
def reused_sources(n):
    """stores to SMEM from which a copy in flight reads, all listed"""
    lines = ["scratch %s : smem i32[4]"]
    for i in range(n):
        lines += ["store %s, (broadcast 1 : i32[4])", "commit_smem", f"copy_smem_to_gmem %s, %y[ds({4 * i}, 4)]"]
    return kernel(f"%y: inout gmem i32[{4 * n}])", [*lines, "wait_smem_to_gmem 0"])


@shape(1 << 14, codes=CODE_1, words=ALL_FINDINGS, without=SEARCHES)
def early_releases(n):
    """reads of SMEM that another thread writes over, all listed: a barrier tells it too early"""
    return kernel(OUT + " threads(wg = 2)",
                  [f"scratch %s : smem i32[{n}]", "scratch %b : barrier[1]", "%w = axis_index wg", "if (eq %w, 0) {",
                   f"  store %s, (broadcast 1 : i32[{n}])", "}", "block_barrier", "if (eq %w, 1) {",
                   "  barrier_arrive %b[0]", *(f"  %v{i} = load %s[{i}]" for i in range(n)), "}", "if (eq %w, 0) {",
                   "  barrier_wait %b[0]", *(f"  store %s[{i}], 2" for i in range(n)), "}"])


@shape(1 << 14, codes=CODE_1, words=ALL_FINDINGS, without=SEARCHES)
def missing_waits_of_a_loop(n):
    """copies in a loop, all of them in one phase, and loads that do not wait for it, all listed"""
    places = [32 * (i % 1024) for i in range(n)]
    return kernel("%x: in gmem i32[64], %y: inout gmem i32[64])",
                  ["scratch %s : smem i32[32768]", f"scratch %b : barrier[1] arrivals({n})", "for %i in 0..1 {",
                   *(f"  copy_gmem_to_smem %x[ds(0, 4)], %s[ds({at}, 4)], %b[0]" for at in places),
                   *(f"  store %y[0], (load %s[{at}])" for at in places), "}"])


@shape(1 << 15, codes=CODE_1, words=ALL_FINDINGS, without=SEARCHES)
def overruns(n):
    """phases of a barrier that two threads share, all listed"""
    return kernel(OUT + " threads(wg = 2)",
                  ["scratch %b : barrier[1] arrivals(2)",
                   *["barrier_arrive %b[0]", "barrier_arrive %b[0]", "barrier_wait %b[0]"] * n,
                   "store %y[(axis_index wg)], 1"])


@shape(1 << 16, codes=CODE_1, without=SEARCHES)
def missing_quotients(n):
    """divisions by zero, each of which is an index"""
    lines = ["%z = load %y[0]", "%o = sub %z, %z"]
    for i in range(n // 2):
        lines += [f"%v{i} = div 5, %o", f"store %y[%v{i}], 1"]
    return kernel(OUT, lines)


@shape(1 << 16, codes=CODE_1, without=SEARCHES)
def unwritten_values(n):
    """values that nobody wrote, each stored"""
    lines = ["scratch %s : smem i32[64]"]
    for i in range(n // 2):
        lines += [f"%v{i} = load %s[{i % 64}]", f"store %y[{i % 64}], %v{i}"]
    return kernel(OUT, lines)


@shape(1 << 15, codes=CODE_1, without=SEARCHES)
def unawaited_copies(n):
    """copies to SMEM that nobody waits for"""
    return kernel("%x: in gmem i32[64], %y: inout gmem i32[64])",
                  ["scratch %s : smem i32[64]", "scratch %b : barrier[1]",
                   *["copy_gmem_to_smem %x, %s, %b[0]"] * n, "store %y[0], 1"])


@shape(1 << 16, without=SEARCHES)
def allowed_races(n):
    """races, each allowed by a comment"""
    return kernel(f"%y: inout gmem i32[{n}]) grid(g = 2)",
                  ["%g = axis_index g", *(f"store %y[{i}], %g  // allow: gmem-race number {i}" for i in range(n))])


@shape(1 << 16, words=dict.fromkeys(REPORTS, ("--suppress", "rules")), without=SEARCHES,
       files={"rules": lambda n: "".join(f"gmem-race k.grout:{i + 4} number {i}\n" for i in range(n))})
def suppressed_races(n):
    """races, each suppressed by a line of a file"""
    return races(n)


@shape(1 << 16, codes=CODE_1, without=SEARCHES, has_expectations=True)
def expected_races(n):
    """races, each expected by a comment"""
    return kernel(f"%y: inout gmem i32[{n}]) grid(g = 2)",
                  ["%g = axis_index g", *(f"store %y[{i}], %g  // expect-error: gmem-race" for i in range(n))])


@shape(1 << 18, codes=CODE_1, without=SEARCHES, has_expectations=True)
def expected_races_of_a_loop(n):
    """iterations of a loop that race, expected by a comment"""
    return kernel(f"%y: inout gmem i32[{n}]) grid(g = 2)",
                  ["%g = axis_index g", f"for %i in 0..{n} {{", "  store %y[%i], %g  // expect-error: gmem-race", "}"])


@shape(1 << 12, has_expectations=True)
def run_lines(n):
    """run lines, and 16 times as many lines of comments"""
    return ("// expect: clean\n" + "".join(f"// run: --seed {i}\n" for i in range(n))
            + kernel(OUT, [f"// {i} what the next line is about" for i in range(16 * n)] + ["store %y[0], 1"]))


@shape(1 << 18, codes=BAD, without=A_SEARCH)
def unknown_names(n):
    """values that nobody has defined"""
    return kernel(OUT, [f"store %y[0], %w{i}" for i in range(n)])


@shape(1 << 18, codes=BAD, without=A_SEARCH)
def unknown_words(n):
    """operations that there are not"""
    return kernel(OUT, [f"stor{i} %y[0], 1" for i in range(n)])


@shape(1 << 18, codes=BAD, without=A_SEARCH)
def doubled_names(n):
    """values that are defined twice"""
    return kernel(OUT, [line for i in range(n // 2) for line in (f"%v{i} = add 1, 2", f"%v{i} = add 1, 2")])


@shape(1 << 18, codes={**BAD, "fmt": 0}, without=A_SEARCH)
def wrong_types(n):
    """operands of a wrong type"""
    return kernel(OUT, [f"store %y[{i}, 0], 1.5" for i in range(n)])


@shape(1 << 18, codes=BAD, without=A_SEARCH)
def open_blocks(n):
    """braces that nothing closes"""
    return kernel(OUT, ["store %y[0], 1", "{" * 200] * max(1, n // 200))


@shape(4 << 20, codes=BAD, without=A_SEARCH)
def bytes_of_no_text(n):
    """characters that are no text"""
    return kernel(OUT, ["\x01$`?" * 16] * max(1, n // 64))


@shape(1 << 18, codes={**BAD, "fmt": 0})
def failed_requires(n):
    """requires that do not hold"""
    return "const N = 5\n" + "".join(f'require N > {i + 10}, "number {i}"\n'
                                     for i in range(n)) + kernel(OUT, ["store %y[0], N"])
