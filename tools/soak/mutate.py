# SPDX-License-Identifier: Apache-2.0
"""Mutations of texts and of bytes: what a hurried hand, a bad merge and an enemy would write."""
import re

TOKEN = re.compile(r"[%@.$]?\w+(?:\.\w+)*|\s+|.", re.DOTALL)
NUMBERS = ("0", "1", "-1", "2", "7", "16", "63", "127", "128", "255", "256", "1023", "4096", "65535", "65536",
           "1048576", "2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775807",
           "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1" + "0" * 60, "1.0e308", "1.0e-320",
           "0x7fffffff", "inf", "nan", "0.1", "-0.0", "3.5")
OPEN, CLOSE = "([{", ")]}"


def draw_words(texts, most=4000):
    """The words of texts: what a token is replaced with."""
    words = set()
    for text in texts:
        words.update(word for word in TOKEN.findall(text) if not word.isspace() and len(word) < 40)
    return sorted(words)[:most]


def _tokens(rng, text, words):
    """A few tokens are dropped, doubled, swapped, or are others."""
    tokens = TOKEN.findall(text)
    if not tokens:
        return text
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(tokens))
        kind = rng.randrange(6)
        if kind == 0:
            tokens[at] = ""
        elif kind == 1:
            tokens[at] *= 2
        elif kind == 2:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = rng.choice(words)
        elif kind == 4:
            tokens[at] = rng.choice(tokens)
        else:
            tokens[at] = rng.choice(NUMBERS)
    return "".join(tokens)


def _numbers(rng, text, _words):
    """Some numbers are others: near ones, or at the edge of a type."""
    places = list(re.finditer(r"\b\d+(?:\.\d+)?\b", text))
    rng.shuffle(places)
    for match in sorted(places[:rng.choice((1, 1, 2, 4))], key=lambda match: -match.start()):
        number = match.group()
        near = str(int(float(number)) + rng.choice((-1, 1, 2, 16))) if len(number) < 18 else number
        changed = rng.choice((near, near, str(int(float(number)) * 2)[:30] if len(number) < 18 else "0",
                              rng.choice(NUMBERS)))
        text = text[:match.start()] + changed + text[match.end():]
    return text


def _lines(rng, text, _words):
    """Lines are dropped, doubled, moved, or repeated many times."""
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind < 3:
            lines[at] = ""
        elif kind < 5:
            lines.insert(other, lines[at])
        elif kind < 7:
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at:at + 1] = [lines[at]] * rng.choice((20, 300, 3000))
    return "\n".join(lines)


def _nest(rng, text, _words):
    """Something in brackets lies in many brackets, or a block in many blocks."""
    places = [match.start() for match in re.finditer(r"[(\[{]", text)]
    if not places:
        return text
    at, count = rng.choice(places), rng.choice((3, 40, 255, 257, 5000, 100000))
    end = text.find(CLOSE[OPEN.index(text[at])], at)
    if end < 0 or rng.randrange(4) == 0:
        return text[:at] + text[at] * count + text[at + 1:]
    return text[:at] + text[at] * count + text[at + 1:end] + text[end] * count + text[end + 1:]


def _bytes_of_text(rng, text, _words):
    """Bytes that no text has: NUL, escapes, half characters, signs that change the direction."""
    for _ in range(rng.choice((1, 2, 10))):
        at = rng.randrange(len(text) + 1)
        odd = rng.choice(("\0", "\x1b[31m", "\r", "\t", "\x7f", "\udcff", "\udcc3", "\u202e", "\ufeff", "\U0001f980",
                          "\u0300" * 300, '"', "'", "\\", "`", "$(touch x)", "\x1b]0;x\x07", "%s%n", "/*", "//", ";"))
        text = text[:at] + odd + text[at + rng.randrange(3):]
    return text


def _cut(rng, text, _words):
    at = rng.randrange(len(text) + 1)
    return text[:at] if rng.randrange(2) else text[at:]


def _long(rng, text, words):
    """A name, a number or a comment of many thousand characters."""
    tokens = TOKEN.findall(text) or [""]
    at = rng.randrange(len(tokens))
    tokens[at] += rng.choice(("x", "9", " ", rng.choice(words), "/")) * rng.choice((300, 5000, 70000))
    return "".join(tokens)


def _gentle(rng, text, _words):
    """One mistake as people make it: a line is missing or a line later, an operand or a number is another one."""
    lines = text.split("\n")
    code = [at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("//")]
    if not code:
        return text
    at, kind = rng.choice(code), rng.randrange(4)
    if kind == 0 and lines[at].count("{") == lines[at].count("}"):
        del lines[at]
    elif kind == 1 and at + 1 < len(lines):
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    elif kind == 2:
        lines[at] = _replace_one(rng, lines[at], r"%\w+", re.findall(r"%\w+", text))
    else:
        lines[at] = _replace_one(rng, lines[at], r"(?<![\w.])\d+(?![\w.])", ("0", "1", "2", "3", "4", "8", "64", "128"))
    return "\n".join(lines)


def _replace_one(rng, line, pattern, others):
    places = list(re.finditer(pattern, line))
    if not places or not others:
        return line
    place = rng.choice(places)
    return line[:place.start()] + rng.choice(others) + line[place.end():]


STEPS = ((_tokens, 8), (_numbers, 8), (_lines, 5), (_nest, 1), (_bytes_of_text, 2), (_cut, 1), (_long, 1))


def mutate_text(rng, text, words, others=()):
    """The text after one gentle step, or one to three others; from time to time a part of another text is in it."""
    if rng.randrange(2):
        for _ in range(rng.choice((1, 1, 2))):
            text = _gentle(rng, text, words)
        return text
    if others and rng.randrange(12) == 0:
        other = rng.choice(others).split("\n")
        start = rng.randrange(len(other))
        lines = text.split("\n")
        at = rng.randrange(len(lines) + 1)
        lines[at:at] = other[start:start + rng.choice((1, 3, 10, 200))]
        text = "\n".join(lines)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        step = rng.choices([step for step, _ in STEPS], [weight for _, weight in STEPS])[0]
        text = step(rng, text, words)
    return text


def mutate_bytes(rng, data):
    """The bytes after one to three steps: other bits, cuts, numbers at the edge of a type, parts twice, chance
    alone."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind, at = rng.randrange(7), rng.randrange(len(data) + 1)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            del data[at:at + rng.choice((1, 4, 16))]
        elif kind == 3:
            size = rng.choice((1, 2, 4, 8))
            data[at:at + size] = rng.choice((0, 1, -1, 1 << 8 * size - 1, (1 << 8 * size - 1) - 1)).to_bytes(
                size + 1, "little", signed=True)[:size]
        elif kind == 4:
            data[at:at] = data[at:at + rng.choice((1, 16, 4096))]
        elif kind == 5:
            data[at:at] = rng.randbytes(rng.choice((1, 8, 100, 5000)))
        elif rng.randrange(4) == 0:
            data[:] = rng.randbytes(rng.choice((0, 1, 10, 128, 10000)))
    return bytes(data)
