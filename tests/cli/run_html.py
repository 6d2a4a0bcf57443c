"""Tests of 'grout check --html': the page is well-formed, whole, of itself, and says what the JSON report says.

usage: run_html.py --grout PATH [TEST...]     every test by default

The test 'browser' opens a page with Chromium at two widths; exit code 77 if there is none.
"""
import argparse
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUGS = ("add_tma_no_commit", "add_tma_no_wait", "matmul_hopper_refill_early", "missing_arrive", "no_back_pressure")
SKIPPED = 77
VOID = {"meta", "br", "link", "img", "input", "hr"}
# Two threads, one of which may not write yet.
RACE = """const N = 64
kernel @k(%x: in gmem f32[N], %y: out gmem f32[N]) threads(wg = 2) {
  scratch %s : smem f32[N]
  if (eq (axis_index wg), 0) {
    store %s, (load %x)
  } else {
    store %y, (load %s)
  }
}
"""
# A branch that a small size does not take, and a barrier that is used once.
PARTIAL = """const N = 4
kernel @k(%x: in gmem f32[128], %y: out gmem f32[128]) {
  scratch %s : smem f32[128]
  scratch %b : barrier[2]
  for %i in 0..N / 4 {
    copy_gmem_to_smem %x, %s, %b[%i % 2]
    barrier_wait %b[%i % 2]
    commit_smem
    if (gt N, 8) {
      store %y[0], 1.0
    }
  }
  store %y, (load %s)
}
"""
grout = None


class Page(html.parser.HTMLParser):
    """A page as a list of elements; what is not well-formed fails."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.text = [], [], text
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {[e['tag'] for e in self.open]}"

    def add(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        element = {"tag": tag, "attributes": dict(attributes), "text": "", "inside": list(self.open)}
        self.elements.append(element)
        return element

    def handle_starttag(self, tag, attributes):
        element = self.add(tag, attributes)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.add(tag, attributes)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1]["tag"] == tag, f"</{tag}> at {self.getpos()} closes nothing"
        self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def find(self, tag, class_name=None):
        return [e for e in self.elements
                if e["tag"] == tag and (class_name is None or class_name in e["attributes"].get("class", "").split())]

    def get(self, name):
        return next(e for e in self.elements if e["attributes"].get("id") == name)

    def within(self, outer, tag, class_name=None):
        return [e for e in self.find(tag, class_name) if outer in e["inside"]]


def run(*arguments):
    return subprocess.run([grout, *arguments], cwd=ROOT, capture_output=True, timeout=SECONDS, check=False)


def write(path, text):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def check(folder, path, *options):
    """The page of a kernel and its JSON report."""
    target = f"{folder}/page.html"
    if os.path.exists(target):
        os.unlink(target)
    with_page = run("check", path, *options, "--format", "json", "--html", target)
    without = run("check", path, *options, "--format", "json")
    assert with_page.stdout == without.stdout, "--html changes the JSON report"
    assert with_page.returncode == without.returncode
    with open(target, encoding="utf-8") as file:
        text = file.read()
    return look(text), json.loads(with_page.stdout)


def look(text):
    """What holds for every page."""
    page = Page(text)
    ids = [e["attributes"]["id"] for e in page.elements if "id" in e["attributes"]]
    assert len(ids) == len(set(ids)), "an id is there twice"
    for element in page.elements:
        attributes = element["attributes"]
        target = attributes.get("href", "#" + ids[0])
        assert target.startswith("#") and target[1:] in ids, f"'{target}' leads nowhere"
        for name in attributes.get("aria-labelledby", "").split():
            assert name in ids, f"no '{name}'"
        assert "src" not in attributes and not any(name.startswith("on") for name in attributes)
    tags = {e["tag"] for e in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object"}, tags
    style = page.find("style")[0]["text"]
    assert "url(" not in style and "@import" not in style and "prefers-color-scheme: dark" in style
    assert "@media print" in style
    levels = [int(e["tag"][1]) for e in page.elements if re.fullmatch("h[1-6]", e["tag"])]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(levels, levels[1:])), f"headings skip a level: {levels}"
    for picture in page.find("svg"):
        assert page.within(picture, "title") and picture["attributes"]["role"] == "img"
    return page


def same_words(a, b):
    return " ".join(a.split()) == " ".join(b.split())


def check_findings(page, report):
    """Every finding is there once, with its words, and leads to its line and back."""
    cards = page.find("article", "finding")
    findings = report["findings"]
    assert len(cards) == len(findings), f"{len(cards)} cards of {len(findings)} findings"
    numbers = {finding["identity"]: number for number, finding in enumerate(findings, 1)}
    for number, finding in enumerate(findings, 1):
        card = page.get(f"finding-{number}")
        title = page.get(f"title-{number}")
        assert finding["message"] in title["text"] and finding["code"] in title["text"]
        assert finding["severity"] in card["attributes"]["class"].split()
        notes = list(finding["notes"])
        items = [e for e in page.within(card, "li") if e["inside"][-2] is card]
        assert len(items) == len(notes)
        for item, note in zip(items, notes):
            assert note["message"] in item["text"]
        cause = finding.get("follows_from")
        outside = [e for e in card["inside"] if e["tag"] == "article"]
        assert bool(outside) == (cause is not None), f"finding {number}"
        if cause is not None:
            assert outside[-1]["attributes"]["id"] == f"finding-{numbers[cause]}"
        if finding["primary"] and finding["primary"]["file"] == report["coverage"]["file"]:
            line = page.get(f"L{finding['primary']['line']}")
            assert any(e["attributes"]["href"] == f"#finding-{number}" for e in page.within(line, "a"))
            assert finding["message"] in line["text"]
            assert page.within(line, "mark")
        if finding["edit"]:
            inserted = "".join(e["text"] for e in page.within(card, "ins"))
            for part in finding["edit"]["text"].split("\n"):
                assert part in inserted


def check_source(page, path):
    with open(path, "rb") as file:
        lines = file.read().decode(errors="replace").splitlines()
    shown = [e["text"] for e in page.elements
             if e["tag"] == "code" and any(o["attributes"].get("class") == "source" for o in e["inside"])]
    assert shown == lines, "the source is not the file's text"


def test_bugs(folder):
    """The pages of real mistakes: all findings, a picture of each with the edge that is missing."""
    for name in BUGS:
        path = f"kernels/bugs/{name}.grout"
        page, report = check(folder, path)
        assert report["findings"] and report["verdict"] == "error"
        check_findings(page, report)
        check_source(page, f"{ROOT}/{path}")
        for number, finding in enumerate(report["findings"], 1):
            card = page.get(f"finding-{number}")
            own = [e for e in page.within(card, "svg") if e["inside"][-2] is card]
            assert len(own) == 1, f"{name}: finding {number} has {len(own)} pictures"
            missing = [e for e in page.within(own[0], "path", "missing") if "edge" in e["attributes"]["class"]]
            is_circle = any(note["message"].endswith(": a circle") for note in finding["notes"])
            assert len(missing) == (0 if is_circle else 1), f"{name}: finding {number}: {len(missing)} dashed edges"


def test_pictures(folder):
    """What the pictures say: lanes, steps and edges, in words."""
    page, _ = check(folder, "kernels/bugs/matmul_hopper_refill_early.grout")
    words = page.get("path-words-1")["text"]
    assert "Step 1, CTA (m=0, n=0), thread wg=0: wgmma %acc, %as[%slot], %bs[%slot] (line 27, %k=0)." in words, words
    assert "tensor core of CTA (m=0, n=0): reads %as[0, 0:128, 0:64] (line 27)." in words
    assert "TMA of CTA (m=0, n=0): writes %as[0, 0:128, 0:64] (line 31)." in words
    assert "Known from step 1 to step 2: starts." in words
    assert "Missing from step 2 to step 4: no wgmma_wait." in words
    page, _ = check(folder, "kernels/bugs/missing_arrive.grout")
    words = page.get("path-words-1")["text"]
    assert "Known from step 1 to step 2: waits for %consumed[2]." in words, words
    assert "Known from step 2 to step 1: waits for %produced[2]." in words
    page, _ = check(folder, "kernels/bugs/add_tma_wrong_slot.grout")
    words = page.get("path-words-2")["text"]
    assert "Step 3, %bar[0]: phase 0 completes." in words, words
    assert "Missing from step 3 to step 5: no wait for phase 0." in words


def test_hostile(folder):
    """Names and comments are text, whatever they hold."""
    comment = b"// </code></ol><script>alert(1)</script> & \"'<!-- \xff\xc0\x01 -->\n"
    name = "a'\"><img src=x onerror=alert(1)>&lt;.grout"
    path = write(f"{folder}/{name}", comment + RACE.encode())
    page, report = check(folder, path)
    check_findings(page, report)
    assert page.find("h1")[0]["text"] == path
    line = page.within(page.get("L1"), "code")[0]["text"]
    assert line == "// </code></ol><script>alert(1)</script> & \"'<!-- \\xff\\xc0\\x01 -->"
    assert path in page.find("title")[0]["text"]
    page, report = check(folder, path, "--sweep", "N=64,128")
    check_findings(page, report)


def test_coverage(folder):
    """What never ran is marked beside its line, and nothing else is."""
    path = write(f"{folder}/partial.grout", PARTIAL)
    page, report = check(folder, path)
    unreached = report["coverage"]["kernels"][0]["not_reached"]
    expected = {line for first, last in unreached["lines"] for line in range(first, last + 1)}
    assert expected, "the kernel reaches all"
    marked = {int(e["attributes"]["id"][1:]) for e in page.find("li", "unreached")}
    assert marked == expected, f"{marked} are marked, not {expected}"
    assert "b" in unreached["barriers_that_never_came_round"]
    signs = [e["attributes"].get("title") for e in page.within(page.get("L4"), "span", "gutter")]
    assert signs == ["this barrier never came round again"], signs
    page, _ = check(folder, path, "--max-steps", "2")
    assert not page.find("li", "unreached")
    assert "not known which lines ran" in page.get("source")["text"]


def test_kinds(folder):
    """Several kernels, sweeps, explorations, invalid kernels, runs that are cut, a file that is not there."""
    race = write(f"{folder}/race.grout", RACE)
    two = write(f"{folder}/two.grout", RACE + RACE.replace("@k", "@other").replace("const N = 64\n", ""))
    bad = write(f"{folder}/bad.grout", RACE.replace("load %x", "lod %x").replace("%y,", "%z,"))
    for path, options, verdict in ((two, (), "error"), (race, ("--explore",), "error"),
                                   (race, ("--sweep", "N=32,64"), "error"), (bad, (), "invalid"),
                                   (race, ("--max-findings", "1", "-q"), "error"),
                                   (race, ("--severity", "smem-race=off"), "clean"),
                                   (f"{ROOT}/kernels/softmax.grout", ("--max-steps", "3"), "incomplete")):
        page, report = check(folder, path, *options)
        assert report["verdict"] == verdict, f"{options}: {report['verdict']}"
        assert page.within(page.get("verdict"), "span", "badge")[0]["text"] == verdict
        check_findings(page, report)
        check_source(page, path)
        for kernel in report["coverage"]["kernels"]:
            assert f"@{kernel['kernel']}" in page.get("verdict")["text"]
        for item in report["silenced"]:
            assert item["message"] in page.get("findings")["text"]
    page, _ = check(folder, race, "--sweep", "N=32,64")
    assert "at N=32; N=64" in page.get("finding-1")["text"]
    page, report = check(folder, f"{folder}/none.grout")
    assert report["verdict"] == "invalid" and "cannot read" in page.get("finding-1")["text"]


def test_text(folder):
    """The text report is the same with a page; the page has its summary's words."""
    path = "kernels/bugs/add_tma_no_commit.grout"
    plain = run("check", path)
    with_page = run("check", path, "--html", f"{folder}/page.html")
    assert (plain.stdout, plain.stderr, plain.returncode) == (with_page.stdout, with_page.stderr, with_page.returncode)
    with open(f"{folder}/page.html", encoding="utf-8") as file:
        page = look(file.read())
    for line in plain.stdout.decode().splitlines()[-2:]:
        assert line.strip() in page.get("verdict")["text"]


def test_memory(folder):
    """Objects at their offsets; the banks of an access whose words all lie in one."""
    path = write(f"{folder}/column.grout", "kernel @k(%x: in gmem f32[128], %y: out gmem f32[128]) {\n"
                 "  scratch %s : smem f32[128, 32]\n  store %s[:, 0], (load %x)\n  store %y, (load %s[:, 0])\n}\n")
    page, _ = check(folder, path)
    memory = page.get("memory")
    rows = [[cell["text"] for cell in page.elements if cell["tag"] in ("th", "td") and row in cell["inside"]]
            for row in page.within(memory, "tr")]
    assert ["%s", "smem f32[128, 32]", "0", "16384", "line 2"] in rows, rows
    assert ["line 3", "%s", "32: bank conflicts"] in rows, rows
    bars = page.within(memory, "rect", "bank")
    assert len(bars) == 32 and sum(bar["attributes"]["height"] != "0" for bar in bars) == 1
    page, _ = check(folder, "kernels/softmax.grout")
    assert not page.within(page.get("memory"), "rect", "conflict")
    assert len(page.within(page.get("memory"), "rect", "bank")) == 32


def test_files(folder):
    """The page is never written over what is read, and a target that cannot be written is said."""
    path = write(f"{folder}/race.grout", RACE)
    os.symlink(path, f"{folder}/link.html")
    for target in (path, f"{folder}/link.html"):
        result = run("check", path, "--html", target)
        assert result.returncode == 2 and b"would overwrite" in result.stderr, result.stderr
        with open(path, encoding="utf-8") as file:
            assert file.read() == RACE
    result = run("check", path, "--html", f"{folder}/no/page.html")
    assert result.returncode == 2 and b"cannot write" in result.stderr
    assert b"smem-race" in result.stdout
    result = run("check", path, "--sweep", "N=32,64", "--html", f"{folder}/no/page.html")
    assert result.returncode == 2 and b"cannot write" in result.stderr
    for option in ("--expect", "--minimise"):
        result = run("check", path, option, "--html", f"{folder}/page.html")
        assert result.returncode == 2 and b"--html" in result.stderr
    assert sorted(os.listdir(folder)) == ["link.html", "race.grout"]


def test_browser(folder):
    """Chromium lays the page out at two widths: no part is wider than the window."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("skipped: there is no Chromium on this machine")
        sys.exit(SKIPPED)
    run("check", "kernels/bugs/matmul_hopper_ws_release_early.grout", "--html", f"{folder}/page.html")
    with open(f"{folder}/page.html", encoding="utf-8") as file:
        text = file.read()
    # The page has no script; the copy that is measured says its own width in the title.
    probe = ("<script>addEventListener('load', () => { const e = document.documentElement;"
             " document.title = 'width ' + e.scrollWidth + ' of ' + e.clientWidth })</script></body>")
    measured = re.sub(r"<meta http-equiv=[^>]*>", "", text).replace("</body>", probe)
    for width in (1280, 420):
        inner = write(f"{folder}/inner.html", measured)
        outer = write(f"{folder}/outer.html",
                      f"<iframe width={width} height=900 src=inner.html></iframe><script>"
                      "onload = () => document.title = frames[0].document.title</script>")
        result = subprocess.run([chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom",
                                 "--allow-file-access-from-files", f"--user-data-dir={folder}/profile",
                                 "--window-size=1400,1000", f"file://{outer if inner else ''}"],
                                capture_output=True, timeout=SECONDS, check=False)
        found = re.search(rb"<title>width (\d+) of (\d+)", result.stdout)
        assert found, f"Chromium says nothing of the page: {result.stderr.decode()[-400:]}"
        assert int(found[1]) <= int(found[2]), f"at {width} px the page is {found[1].decode()} px wide"


def main(tests):
    global grout
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True, type=os.path.abspath)
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    grout = args.grout
    failures = 0
    for name in args.tests or tests:
        with tempfile.TemporaryDirectory(prefix="grout-html-") as folder:
            try:
                tests[name](folder)
            except AssertionError as error:
                failures += 1
                print(f"{name}: FAILED: {error}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main({name[5:]: function for name, function in globals().items() if name.startswith("test_")}))
