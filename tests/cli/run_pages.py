"""Tests of what grout writes for other programs: manual pages, completions of shells, syntax files of editors.

usage: run_pages.py --grout PATH [--update] [TEST...]     every test by default

Exit code 77 if the program is missing that a test asks: mandoc, bash, zsh, fish or vim. --update writes the syntax
files of editors/.
"""
import argparse
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import families
from limit import SECONDS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EDITORS = os.path.join(ROOT, "editors")
SKIPPED = 77
# The folder in which words are completed.
FILES = ("first.grout", "second.npy", "third file.grout", "inner/fourth.grout")
# What is typed, and what it is completed to. Every shell does these.
COMPLETIONS = (
    ("grout che", "grout check "),
    ("grout check --form", "grout check --format"),
    ("grout check --timing eag", "grout check --timing eager "),
    ("grout run --timing eag", "grout run --timing eager "),
    ("grout check fir", "grout check first.grout "),
    ("grout check --replay sec", "grout check --replay second.npy "),
    ("grout check --input a=sec", "grout check --input a=second.npy "),
    ("grout run --device cud", "grout run --device cuda"),
    ("grout ops reduce_su", "grout ops reduce_sum "),
    ("grout ops --synt", "grout ops --syntax"),
    ("grout explain smem-ra", "grout explain smem-race "),
    ("grout check --severity smem-race=wa", "grout check --severity smem-race=warning "),
    ("grout help expl", "grout help explain "),
    ("grout cache cl", "grout cache clear "),
    # Nothing is offered: an option of another command, a file for a word.
    ("grout ops --timi", "grout ops --timi"),
    ("grout check --timing sec", "grout check --timing sec"),
    ("grout check --seed fir", "grout check --seed fir"),
)
grout = None
update = False


class Skip(Exception):
    """What a test needs is missing."""


def run(*words):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GROUT_")}
    done = subprocess.run([grout, *words], capture_output=True, text=True, env=environment, timeout=SECONDS,
                          check=False)
    assert done.returncode == 0 and done.stderr == "", f"grout {' '.join(words)}: {done.returncode}: {done.stderr}"
    return done.stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def find_program(name):
    path = shutil.which(name)
    if path is None:
        raise Skip(f"there is no {name} here")
    return path


def list_commands():
    [commands] = re.findall(r"(?:^  \w+ .*\n)+^\n", run("help"), re.M)
    return re.findall(r"^  (\w+) ", commands, re.M)


def list_options(command):
    """[(name, what follows it)] of the help of a command."""
    return re.findall(r"^  (?:-\w, )?(--?[\w-]+)(?: (\S+))?", run("help", command), re.M)


# ---- the manual ----------------------------------------------------------------------------------


def read_man(page):
    """A page as a reader sees it, on one line."""
    text = subprocess.run(["mandoc", "-T", "ascii", page], capture_output=True, text=True, check=True).stdout
    return re.sub(r"\s+", " ", re.sub(".\b", "", text))


def test_manual(folder):
    """Every command has a page, with every option; mandoc finds no fault."""
    find_program("mandoc")
    for command in ("", *list_commands()):
        page = write(f"{folder}/grout{'-' if command else ''}{command}.1", run("help", "--man", *command.split()))
        done = subprocess.run(["mandoc", "-T", "lint", page], capture_output=True, text=True, check=False)
        # A page is as new as its grout, whose version it names.
        faults = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
        assert not faults, "\n".join(faults)
        text = read_man(page)
        if not command:
            for name in list_commands():
                assert f" {name} " in text and f"grout-{name}(1)" in text, f"grout(1) does not name '{name}'"
            for title in re.findall(r"^## (.*)", read(f"{ROOT}/docs/cli.md"), re.M):
                assert title == "Options" or title.upper() in text, f"grout(1) lacks the chapter '{title}'"
            assert "`" not in text and "](" not in text and "|---" not in text, "Markdown is left"
            continue
        for name, argument in list_options(command):
            assert re.search(rf" {re.escape(name)}(?:,| {re.escape(argument)}) ?", text), f"{page} lacks {name}"
        help_text = re.sub(r"\s+", " ", run("help", command))
        description = help_text.split("[OPTION...]")[1].split(" -")[0].strip().split(" ", 1)[1]
        assert description.strip() in text, f"{page} lacks its description: {description}"


# ---- completions ---------------------------------------------------------------------------------


def make_files(folder):
    for name in FILES:
        write(f"{folder}/files/{name}", "")
    return f"{folder}/files"


def type_line(command, environment, folder, line):
    """What an interactive shell makes of a line, a TAB and Enter: the arguments that grout gets, each in <>. The
    shell's grout is a function that prints them."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, {**os.environ, **environment, "TERM": "dumb"})
    output = b""
    wanted = b"READY"
    try:
        while True:
            if not select.select([terminal], [], [], SECONDS)[0]:
                raise AssertionError(f"{command[0]} says nothing after: {output[-300:]!r}")
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                break
            output += piece
            if wanted == b"READY" and output.count(b"READY") > 0:
                wanted = b"DONE"
                os.write(terminal, line.encode() + b"\t\n")
            match = re.search(rb"ARGUMENTS (.*?) DONE", output, re.S)
            if match:
                return match.group(1).decode().replace("\r", "").replace("\n", "")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    raise AssertionError(f"{command[0]} ended: {output[-300:]!r}")


def compare(got, typed, wanted):
    """Blanks at the end say that a word is complete; the shell's function cannot see them."""
    words = "".join(f"<{word}>" for word in wanted.split()[1:])
    assert got == words, f"'{typed}' became {got}, not {words}"


def test_bash(folder):
    """bash asks the function of the script, as readline would call it."""
    bash = find_program("bash")
    files = make_files(folder)
    script = write(f"{folder}/grout.bash", run("help", "--completion", "bash"))
    # Words as readline cuts them, at blanks and at '='.
    program = write(f"{folder}/ask.bash", f"""source {script}
cd {files}
while IFS= read -r line; do
    mapfile -t COMP_WORDS < <(printf '%s' "$line" | sed -e 's/=/ = /g' | tr -s ' ' '\\n')
    [[ $line == *= || $line == *' ' ]] && [[ $line != *= ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
    COMPREPLY=()
    _grout grout "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
    printf '%s\\t' "${{COMPREPLY[@]}}"
    printf '\\n'
done
""")

    def ask(*lines):
        done = subprocess.run([bash, "--norc", program], input="".join(line + "\n" for line in lines), text=True,
                              capture_output=True, timeout=SECONDS, check=False)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return [set(filter(None, line.split("\t"))) for line in done.stdout.splitlines()]

    for (typed, wanted), offered in zip(COMPLETIONS, ask(*(typed for typed, _ in COMPLETIONS))):
        stem = re.split("[ =]", typed)[-1]
        words = {re.split("[ =]", wanted.rstrip())[-1]} if typed != wanted else set()
        assert offered == words, f"'{typed}' offers {offered}, not {words} for '{stem}'"
    # Everything that the help lists is offered, and nothing else.
    assert ask("grout ")[0] == {*list_commands(), "--help", "--version"}
    for command in list_commands():
        shown = set(re.findall(r"(?:^|, )(--?[\w-]+)", re.sub(r"(?m)^  (?=-)", "", run("help", command)), re.M))
        offered = ask(f"grout {command} -")[0]
        assert {name for name, _ in list_options(command)} <= offered <= shown, f"{command}: {offered}, {shown}"
        for name, argument in list_options(command):
            if re.fullmatch(r"[a-z_0-9|]+", argument) and "|" in argument:
                assert ask(f"grout {command} {name} ")[0] == set(argument.split("|")), f"{command} {name}"
    assert ask("grout ops ")[0] == set(re.findall(r"^(\w+)", run("ops"), re.M))
    assert ask("grout explain ")[0] == set(re.findall(r"^([\w-]+) ", run("explain"), re.M))
    assert ask("grout check ")[0] == {"first.grout", "third file.grout", "inner"}
    assert ask("grout check --severity smem-race=")[0] == {"error", "warning", "off"}


def test_zsh(folder):
    """An interactive zsh completes what is typed."""
    zsh = find_program("zsh")
    files = make_files(folder)
    write(f"{folder}/functions/_grout", run("help", "--completion", "zsh"))
    write(f"{folder}/home/.zshrc", f"""fpath=({folder}/functions $fpath)
autoload -Uz compinit && compinit -u -d {folder}/dump
unsetopt beep list_beep zle_bracketed_paste prompt_cr prompt_sp 2>/dev/null
unset zle_bracketed_paste
PS1='' PS2=''
grout() {{ print -rn -- "ARGUMENTS "; printf '<%s>' "$@"; print -r -- " DONE"; exit }}
zle-line-init() {{ zle -D zle-line-init; print -n READY }}
zle -N zle-line-init
""")
    for typed, wanted in COMPLETIONS:
        compare(type_line([zsh, "-i"], {"ZDOTDIR": f"{folder}/home"}, files, typed), typed, wanted)


def test_fish(folder):
    """fish says what it would offer."""
    fish = find_program("fish")
    files = make_files(folder)
    script = write(f"{folder}/grout.fish", run("help", "--completion", "fish"))
    program = write(f"{folder}/ask.fish", f"source {script}\ncd {files}\n" + "".join(
        f"echo '>'\ncomplete -C '{typed}'\n" for typed, _ in COMPLETIONS))
    environment = {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder}
    done = subprocess.run([fish, "--no-config", program], capture_output=True, text=True, env=environment,
                          timeout=SECONDS, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    for (typed, wanted), said in zip(COMPLETIONS, done.stdout.split(">\n")[1:]):
        offered = {line.split("\t")[0] for line in said.splitlines()}
        words = {wanted.split()[-1]} if typed != wanted else set()
        assert offered == words or offered == {word + "=" for word in words}, f"'{typed}' offers {offered}, not {words}"


# ---- editors -------------------------------------------------------------------------------------


def list_words():
    """Every word of the language but the keywords: its operations, types, attributes and choices by 'grout ops'."""
    page = run("ops", "--markdown")
    types = re.findall(r"^\| `(\w+)` \|", page, re.M)
    attributes = re.findall(r"^- attribute `(\w+)", page, re.M)
    choices = re.findall(r"^- `(\w+)`:", page, re.M)
    generators = re.findall(r"^\| `(\w+)[:`]", read(f"{ROOT}/docs/cli.md").split("| generator |")[1].split("\n\n")[0],
                            re.M)
    operations = re.findall(r"^(\w+)", run("ops"), re.M)
    assert min(map(len, (types, attributes, choices, generators, operations))) > 4
    return {*operations, *types, *attributes, *choices, *generators}


def compare_file(path, text):
    if update:
        write(path, text)
    assert os.path.exists(path) and read(path) == text, f"{path} is not what grout prints: run_pages.py --update"


def list_kernels(folder):
    kernels = sorted(families.find_kernels([f"{ROOT}/kernels", f"{ROOT}/tests/behaviour"], folder))
    assert len(kernels) > 50
    return kernels


def test_textmate(folder):
    """Each pattern compiles, and together they know every word of the kernels but the names that these give."""
    path = f"{EDITORS}/vscode/syntaxes/grout.tmLanguage.json"
    compare_file(path, run("ops", "--syntax", "textmate"))
    patterns = [(pattern["name"], re.compile(pattern["match"])) for pattern in json.loads(read(path))["patterns"]]
    for word in list_words():
        found = [name for name, pattern in patterns if pattern.fullmatch(word)]
        assert len(found) == 1, f"'{word}' is {found}"
    for kernel in list_kernels(folder):
        text = read(kernel)
        # Consts and axes have names of their own, and so do the two attributes of a kernel.
        names = set(re.findall(r"(\w+)(?: : f32)? = ", re.sub(r"//.*|%\w+", "", text)))
        for number, line in enumerate(text.splitlines(), 1):
            check_line(patterns, line, names, f"{kernel}:{number}")


def check_line(patterns, line, names, place):
    """Reads a line as editors do: at each place the first pattern that fits."""
    at = 0
    while at < len(line):
        matches = [match for match in (pattern.match(line, at) for _, pattern in patterns) if match and
                   match.end() > at]
        word = re.match(r"\w+", line[at:])
        if matches:
            at = matches[0].end()
        elif word:
            assert word.group() in names, f"{place}: '{word.group()}' is nothing"
            at += word.end()
        else:
            assert line[at] in " \t(){}[],:.", f"{place}: '{line[at]}' is nothing"
            at += 1


def test_vscode(folder):
    """The extension names files that are there, and the version of grout; node reads the patterns too."""
    base = f"{EDITORS}/vscode"
    package = json.loads(read(f"{base}/package.json"))
    [language], [grammar] = package["contributes"]["languages"], package["contributes"]["grammars"]
    assert package["version"] == re.search(r"[\d.]+", run("--version")).group(), "another version than grout's"
    json.loads(read(f"{base}/{language['configuration']}"))
    scope = json.loads(read(f"{base}/{grammar['path']}"))["scopeName"]
    assert scope == grammar["scopeName"] and language["id"] == grammar["language"]
    node = find_program("node")
    program = ("const g = JSON.parse(require('fs').readFileSync(process.argv[1]));"
               "for (const p of g.patterns) new RegExp(p.match, 'u'.replace('u', ''));"
               "const c = JSON.parse(require('fs').readFileSync(process.argv[2]));"
               "new RegExp(c.wordPattern); Object.values(c.indentationRules).forEach(r => new RegExp(r));"
               "console.log(g.patterns.length)")
    done = subprocess.run([node, "-e", program, f"{base}/{grammar['path']}", f"{base}/{language['configuration']}"],
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0 and int(done.stdout) > 10, done.stderr


VIM_KERNEL = """// expect: clean
const N = 64
kernel @k(%x: in gmem f32[N], %y: out gmem f32[N] init(zeros)) threads(wg = 2)
{
  for %i in 0..4 {
    store %y, (reduce_sum %x dim(0)) // text
  }
}
"""
# Word, line, and the group of vim that it is in.
VIM_GROUPS = (("expect", 1, "groutMark"), ("clean", 1, "groutComment"), ("const", 2, "groutModule"), ("N", 2, ""),
              ("64", 2, "groutNumber"), ("@k", 3, "groutKernel"), ("%x", 3, "groutValue"), ("gmem", 3, "groutStorage"),
              ("f32", 3, "groutType"), ("zeros", 3, "groutGenerator"), ("wg", 3, ""), ("for", 5, "groutFlow"),
              ("0", 5, "groutNumber"), ("4", 5, "groutNumber"), ("reduce_sum", 6, "groutOperation"),
              ("dim", 6, "groutAttribute"), ("text", 6, "groutComment"))


def test_vim(folder):
    """vim knows the type of the file, colours it, and reads the findings."""
    path = f"{EDITORS}/vim/syntax/grout.vim"
    compare_file(path, run("ops", "--syntax", "vim"))
    listed = set(re.findall(r"^    \\ (\w+)$", read(path), re.M))
    assert list_words() <= listed, list_words() - listed
    vim = find_program("vim")
    if "+syntax" not in subprocess.run([vim, "--version"], capture_output=True, text=True, check=False).stdout:
        raise Skip("this vim knows no syntax files")
    kernel = write(f"{folder}/k.grout", VIM_KERNEL)
    lines = VIM_KERNEL.split("\n")
    asked = "".join(f"call add(said, synIDattr(synID({line}, {lines[line - 1].index(word) + 1}, 0), 'name'))\n"
                    for word, line, _ in VIM_GROUPS)
    broken = write(f"{folder}/broken.grout", VIM_KERNEL.replace("reduce_sum", "reduce_sun"))
    script = write(f"{folder}/ask.vim", f"""set nomore
filetype plugin on
syntax on
edit {kernel}
let said = [&filetype, &commentstring]
{asked}edit {broken}
let $PATH = '{os.path.dirname(grout)}:' . $PATH
silent make!
let places = filter(getqflist(), 'v:val.valid')
call extend(said, [len(places) . ' ' . places[0].lnum . ' ' . places[0].type . ' ' . bufname(places[0].bufnr)])
call writefile(said, '{folder}/said')
qall!
""")
    subprocess.run([vim, "-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "--cmd", f"set runtimepath^={EDITORS}/vim",
                    "-S", script], capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
    assert os.path.exists(f"{folder}/said"), "vim did not come to the end of the script"
    said = read(f"{folder}/said").splitlines()
    assert said[:2] == ["grout", "// %s"], said[:2]
    for (word, line, group), got in zip(VIM_GROUPS, said[2:]):
        assert got == group, f"'{word}' in line {line} is '{got}', not '{group}'"
    assert said[-1] == f"1 6 e {broken}", said[-1]


def main():
    global grout, update
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True, type=os.path.abspath)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    grout, update = args.grout, args.update
    tests = {name[5:]: function for name, function in globals().items() if name.startswith("test_")}
    failures, skipped = 0, 0
    for name in args.tests or tests:
        with tempfile.TemporaryDirectory(prefix="grout-pages-") as folder:
            try:
                tests[name](folder)
            except Skip as reason:
                skipped += 1
                print(f"{name}: skipped: {reason}")
            except AssertionError as error:
                failures += 1
                print(f"{name}: FAILED: {error}")
    return 1 if failures else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
