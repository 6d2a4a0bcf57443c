"""Rules about the sources that no compiler checks: what may include what, what a library may call.

usage: lint_sources.py [FILE...]     every C file that git knows or could add, by default

A line that must break a rule says so, with the rule's word and the reason:
    _exit(status); /* lint-allow: _exit, the child must not run the parent's atexit handlers */
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
from lint_files import COMMENT_OR_LITERAL, ROOT, list_files, read

LINES_MAX = 700
# The tables of operations are read side by side: clang-format does not keep them narrow.
NARROW_TABLES = ("include/grout/ops.def", "include/grout-internal/effects.def", "include/grout-internal/sync.def",
                 "ir/core/op_docs.def")
COLUMNS_MAX = 100
LIBRARIES = ("base", "files", "ir", "lowering", "verify", "observe", "interp", "race_checker", "explore", "gpu_backend",
             "ptx", "call", "report", "check", "repair", "doors")

# Public headers above the IR, and the folders that may include them (architecture.md). A public
# header that is not named here belongs to the IR, and everybody may include it.
UPPER_HEADERS = {
    "grout-internal/interp.h": {"interp", "explore"},
    "grout-internal/clocks.h": {"observe", "interp", "race_checker", "explore"},
    "grout-internal/events.h": {"observe", "interp", "race_checker", "explore"},
    "grout-internal/observer.h": {"observe", "interp", "race_checker", "explore"},
    "grout-internal/observe.h": {"observe", "interp", "race_checker", "explore"},
    "grout-internal/race.h": {"race_checker", "explore"},
    "grout-internal/equal.h": {"explore"},
    "grout-internal/past.h": {"explore"},
    "grout-internal/explore.h": {"explore"},
    "grout-internal/advice.h": {"explore"},
    "grout/function.h": {"interp", "doors"},
    "grout/emit.h": {"gpu_backend"},
    "grout/launch.h": {"gpu_backend"},
    "grout-internal/gpu.h": {"gpu_backend"},
    "grout-internal/compare.h": {"gpu_backend"},
    "grout/ptx.h": {"ptx"},
    "grout/binding.h": {"doors"},
    "grout/xla.h": {"doors"},
    "grout-internal/function.h": {"interp", "doors"},
    "grout-internal/xla.h": {"doors"},
    "grout/check.h": {"doors"},
    "grout/report.h": {"doors"},
    "grout/grout.h": {"doors"},
}
# The same for the public headers themselves: what each may include beside the IR's.
UPPER_HEADER_USES = {
    "include/grout/check.h": {"grout/function.h", "grout/report.h"},
    "include/grout/xla.h": {"grout/function.h", "grout/launch.h"},
    "include/grout/launch.h": {"grout/emit.h"},
    "include/grout/grout.h": set(UPPER_HEADERS),
}
SEES_ALL_PUBLIC = ("call", "report", "check", "repair", "doors", "cli", "bench", "tests", "tools", "python", "examples")

STANDARD = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar
wctype""".split())
# Headers beyond the C standard's, and the folders that may use them.
EXTRA_HEADERS = {
    "interp": r"ffi\.h|pthread\.h|(x86|imm|arm_)\w*\.h|cpuid\.h|sleef\.h|libxsmm_\w+\.h|sys/mman\.h|sanitizer/\w+\.h|"
              r"unistd\.h",
    "base": r"pthread\.h|immintrin\.h|sanitizer/\w+\.h",
    "files": r"fcntl\.h|poll\.h|unistd\.h|sys/\w+\.h",
    "ir": r"sanitizer/\w+\.h",
    "verify": r"sanitizer/\w+\.h",
    "lowering": r"sanitizer/\w+\.h",
    "observe": r"sanitizer/\w+\.h",
    "explore": r"pthread\.h|sanitizer/\w+\.h",
    "call": r"",
    "report": r"jansson\.h",
    "check": r"",
    "doors": r"ffi\.h|jansson\.h|sanitizer/\w+\.h",
    "repair": r"",
    "ptx": r"sanitizer/\w+\.h",
    "race_checker": r"sanitizer/\w+\.h",
    "gpu_backend": r"dlfcn\.h|xxhash\.h|unistd\.h|poll\.h|signal\.h|pthread\.h|fcntl\.h|sys/\w+\.h|sanitizer/\w+\.h",
}
BANNED_HEADERS = {"setjmp", "locale", "signal"}

# What a library may not call (style.md, errors and diagnostics 6): the process, the environment and
# the standard streams belong to the command, files reach a library through grout_host.
BANNED_CALLS = re.compile(
    r"(?<![\w.>])(exit|_exit|_Exit|quick_exit|abort|atexit|getenv|secure_getenv|setenv|putenv|system|popen|"
    r"printf|vprintf|puts|putchar|perror|fopen|freopen|tmpfile|tmpnam|remove|rename|scanf|getchar|"
    r"setlocale|strtok|rand|srand|longjmp|setjmp|signal|alloca|gets|sprintf|vsprintf|strcpy|strcat|asctime|ctime)\s*\(")
# And where the same input must give the same bits: nothing that tells one run from another.
BANNED_SOURCES_OF_CHANCE = re.compile(
    r"(?<![\w.>])(time|clock|clock_gettime|gettimeofday|timespec_get|random|rand_r|drand48|getpid|pthread_self)\s*\(")
DETERMINISTIC = ("base", "ir", "lowering", "verify", "observe", "interp", "race_checker", "explore", "ptx")
BANNED_WORDS = re.compile(r"\b(stdout|stderr|stdin)\b")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ALLOW = re.compile(r"lint-allow:\s*([\w./]+),\s*\w")
PROMISE = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")


def strip(text):
    """The text with comments and the insides of literals blanked, its lines kept; includes survive."""
    def blank(match):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if match.group().startswith('"') and "include" in text[line_start:match.start()]:
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())
    return COMMENT_OR_LITERAL.sub(blank, text)


def fault_of_include(path, folder, quoted, header):
    """What is wrong with this include, or None."""
    library = folder in LIBRARIES
    public = path.startswith("include/")
    if header.startswith("grout-internal/") and path.startswith("include/grout/"):
        return "a public header includes no internal one"
    if header.startswith(("grout/", "grout-internal/")):
        if folder in SEES_ALL_PUBLIC or header not in UPPER_HEADERS or path.startswith("include/grout-internal/"):
            return None
        if public and (header in UPPER_HEADER_USES.get(path, ())):
            return None
        if folder in UPPER_HEADERS[header]:
            return None
        return f"'{folder if library else path}' may not include '{header}'"
    if public:
        if quoted:
            return f"a public header includes 'grout/...' and libc only, not '{header}'"
        return None if header.endswith(".h") and header[:-2] in STANDARD else f"'{header}' in a public header"
    if quoted:
        if "/" not in header or folder == "tests":
            return None
        first = header.split("/")[0]
        if folder not in SEES_ALL_PUBLIC and first != folder and os.path.exists(
                os.path.join(ROOT, os.path.dirname(path), header)) and ".." not in header:
            return None
        return f"'{header}': a private header is included by its bare name, where the folder's grout_room line lets it"
    name = header[:-2] if header.endswith(".h") else header
    if not library:
        if header.startswith(("cuda", "nvrtc")) and folder != "tools":
            return f"'{header}': the build needs no CUDA toolkit"
        return "jansson belongs to report/ and cli/" if header == "jansson.h" and folder not in ("cli", "tests") \
            else None
    if re.fullmatch(EXTRA_HEADERS[folder], header):
        return None
    if name in STANDARD and name not in BANNED_HEADERS:
        return None
    return f"'{header}' is not for {folder}/"


def faults_of_line(path, folder, raw, code):
    """Yields (word, message) for one line; the word is what a lint-allow comment names."""
    include = INCLUDE.match(code)
    if include:
        fault = fault_of_include(path, folder, include.group(1) == '"', include.group(2))
        if fault:
            yield include.group(2), f"include in the wrong direction: {fault}"
        return
    if folder in LIBRARIES:
        for call in BANNED_CALLS.finditer(code):
            yield call.group(1), f"a library may not call '{call.group(1)}'"
        for word in BANNED_WORDS.finditer(code):
            yield word.group(1), f"a library may not use '{word.group(1)}'"
    if folder in DETERMINISTIC:
        for call in BANNED_SOURCES_OF_CHANCE.finditer(code):
            yield call.group(1), f"'{call.group(1)}' would make a result depend on the run"
    promise = PROMISE.search(raw)
    if promise:
        yield promise.group(1), f"'{promise.group(1)}' without an issue number: TODO(#12)"


def faults_of_file(path):
    text = read(path)
    folder = path.split("/")[0]
    raw_lines = text.split("\n")
    if len(raw_lines) - 1 > LINES_MAX:
        yield LINES_MAX + 1, f"file of {len(raw_lines) - 1} lines; {LINES_MAX} at most: split a noun off"
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in raw_lines[:8]):
        yield 1, "no line 'SPDX-License-Identifier: Apache-2.0' among the first eight"
    if not raw_lines[0].startswith(("/*", "//")):
        yield 1, "the first line is a comment that says what the file holds"
    for number, (raw, code) in enumerate(zip(raw_lines, strip(text).split("\n")), 1):
        allowed = set(ALLOW.findall(raw))
        for word, message in faults_of_line(path, folder, raw, code):
            if word not in allowed:
                yield number, message


def faults_of_table(path):
    for number, line in enumerate(read(path).split("\n"), 1):
        if len(line) > COLUMNS_MAX:
            yield number, f"{len(line)} columns; {COLUMNS_MAX} at most: wrap the sentence"


def main():
    files = [os.path.relpath(file, ROOT) for file in sys.argv[1:]] or \
        list_files(endings=(".c", ".h", ".cuh"))
    tables = [path for path in NARROW_TABLES if path in files or not sys.argv[1:]]
    faults = [(path, fault) for path in files for fault in faults_of_file(path)]
    faults += [(path, fault) for path in tables for fault in faults_of_table(path)]
    for path, (line, message) in faults:
        print(f"{path}:{line}: {message}")
    print(f"lint_sources: {len(files)} files, {len(faults)} faults")
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
