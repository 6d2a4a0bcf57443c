# SPDX-License-Identifier: Apache-2.0
"""Inline PTX: what its instructions do to registers. Those that do something else are handed to the reader's
effects."""
from __future__ import annotations

import re
import struct
import typing

from . import _lane_arithmetic as arithmetic
from ._errors import UnsupportedError
from ._lanes import Node, Word, and_bits, const, not_bit, of, or_bits, uniform, whole, width_of

_CONSTRAINT_KINDS = {"r": "i32", "l": "i64", "h": "i16", "f": "f32", "d": "f64", "b": "i1", "n": "i32"}
_APPROXIMATE = {"ex2": "exp2", "lg2": "log2", "sin": "sin", "cos": "cos", "tanh": "tanh", "rsqrt": "rsqrt",
                "sqrt": "sqrt"}


def _refuse(text: str) -> UnsupportedError:
    return UnsupportedError(f"inline PTX '{text}' is not understood: say what the function does with "
                            "grout.pallas.register_inline")


def _lanes_of(name: str) -> tuple[str, int]:
    """A PTX type as one of elements, and how many lie in a register: ('f16', 2) of 'f16x2'."""
    match = re.fullmatch(r"([a-z]+)(\d+|f16)?(?:(e\dm\d))?(?:x(\d))?", name)
    count = int(name[-1]) if re.search(r"x\d$", name) else 1
    base = name[:-2] if count > 1 else name
    if base in ("e4m3", "e5m2"):
        return f"f8{base}", count
    if base == "pred":
        return "i1", 1
    if base == "bf16" or base[0] == "f" and match:
        return base, count
    if base[0] in "sub" and base[1:].isdigit():
        return f"i{base[1:]}", count
    raise _refuse(name)


class Reader:
    """Runs one piece of inline PTX. effect(words, operands, text) does what is no arithmetic."""

    def __init__(self, effect: typing.Callable[..., typing.Any]) -> None:
        self._effect = effect
        self._registers: dict[str, Word] = {}
        self._kinds: dict[str, str] = {}

    def run(self, asm: str, constraints: str, operands: typing.Sequence[Word],
            result_kinds: typing.Sequence[str]) -> list[Word]:
        """The results, of these types."""
        places = [place.strip() for place in constraints.split(",") if place.strip() and not place.startswith("~")]
        outputs = [place for place in places if place[0] == "="]
        if len(outputs) != len(result_kinds):
            raise UnsupportedError(f"inline PTX with the constraints {constraints!r} and {len(result_kinds)} results")
        given = iter(operands)
        for number, place in enumerate(places):
            letter = place.lstrip("=&+")
            name = f"${number}"
            if place[0] == "=":
                self._kinds[name] = _CONSTRAINT_KINDS.get(letter, "i32")
                continue
            word = next(given)
            kind = _CONSTRAINT_KINDS.get(letter)
            if letter.isdigit():  # in the register of that result
                name, kind = f"${letter}", None
                self._registers[f"${number}"] = word
            self._registers[name] = word if kind is None or width_of(kind) != width_of(word.kind) \
                else word.as_kind(kind)
        self._run_lines(asm)
        return [self._result(f"${number}", kind, asm) for number, kind in enumerate(result_kinds)]

    def _result(self, name: str, kind: str, asm: str) -> Word:
        if name not in self._registers:
            raise _refuse(f"{' '.join(asm.split())}: {name} is never set")
        word = self._registers[name]
        return word.as_kind(kind) if width_of(word.kind) == width_of(kind) else arithmetic.resize(word, kind)

    def _run_lines(self, asm: str) -> None:
        text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", asm, flags=re.S).replace("{{", "{").replace("}}", "}")
        pieces = [piece.strip() for piece in re.split(r";", text)]
        for piece in pieces:
            while piece[:1] in ("{", "}") and not re.match(r"\{[^{}]*\}\s*,", piece):
                piece = piece[1:].strip()
            piece = re.sub(r"(?<![\w,\s{])\s*\}$", "", piece).strip() if piece.count("}") > piece.count("{") else piece
            if piece:
                self._step(" ".join(piece.split()))

    def _step(self, text: str) -> None:
        if text.startswith(".reg"):
            self._declare(text)
            return
        guard = re.match(r"@(!?)([%$\w]+)\s+", text)
        body = text[guard.end():] if guard else text
        name, _, rest = body.partition(" ")
        words = name.split(".")
        operands = _split_operands(rest)
        function = getattr(self, f"_do_{words[0]}", None)
        if function is None:
            if guard:
                raise _refuse(text)
            try:
                given = [self._word(operand, "i32") for operand in operands]
            except UnsupportedError:
                raise _refuse(text) from None
            self._effect(words, given, text)
            return
        before = dict(self._registers)
        function(words[1:], operands, text)
        if guard:
            self._keep_where_false(before, self._truth(guard.group(2)), guard.group(1) == "!", text)

    def _keep_where_false(self, before: typing.Any, condition: Word, is_turned: bool, text: str) -> None:
        condition = arithmetic.invert(condition) if is_turned else condition
        for name, word in self._registers.items():
            if before.get(name) is word:
                continue
            if name not in before:
                raise _refuse(f"{text}: {name} has no value where the guard is false")
            self._registers[name] = arithmetic.select(condition, word, before[name].as_kind(word.kind))

    def _declare(self, text: str) -> None:
        _, kind, names = text.split(None, 2)
        for name in names.split(","):
            if "<" in name:
                raise _refuse(text)
            self._kinds[name.strip()] = _lanes_of(kind[1:])[0]

    # ---- operands ---------------------------------------------------------------------------------------------------

    def _word(self, name: str, kind: str) -> Word:
        """A register, or a number, as this type."""
        if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", name):
            return whole(int(name.rstrip("U"), 0), kind) if kind[0] == "i" else \
                Word(kind, bits=whole(int(name.rstrip("U"), 0), f"i{width_of(kind)}").bits)
        if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", name):
            return of(const(int(name[2:], 16), "f32"))
        if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", name):
            return of(const(int(name[2:], 16), "f64"))
        if re.fullmatch(r"-?\d+\.\d*", name):
            return of(const(struct.unpack("<I", struct.pack("<f", float(name)))[0], "f32"))
        if name not in self._registers:
            raise _refuse(f"{name}, which has no value")
        word = self._registers[name]
        if width_of(word.kind) != width_of(kind):
            if width_of(word.kind) < width_of(kind):
                raise _refuse(f"{name} with {width_of(kind)} bits")
            return Word(kind, bits=word.bits[:width_of(kind)])
        return word.as_kind(kind)

    def _truth(self, name: str) -> Word:
        return self._word(name, "i1")

    def _set(self, name: str, word: Word) -> None:
        """A register is as wide as it is declared: what is narrower leaves its other bits 0."""
        kind = self._kinds.get(name)
        if kind is not None and width_of(kind) > width_of(word.kind):
            word = arithmetic.resize(word.as_kind(f"i{width_of(word.kind)}"), f"i{width_of(kind)}")
        self._registers[name] = word

    def _packed(self, name: str, kind: str, count: int) -> list[Word]:
        """The elements of a register."""
        if count == 1:
            return [self._word(name, kind)]
        return arithmetic.split(self._word(name, f"i{width_of(kind) * count}").bits, kind)

    def _set_packed(self, name: str, words: typing.Sequence[Word]) -> None:
        if len(words) == 1:
            self._set(name, words[0])
            return
        bits = arithmetic.join(words)
        self._set(name, Word(f"i{len(bits)}", bits=bits))

    # ---- bits -------------------------------------------------------------------------------------------------------

    def _do_mov(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        kind = _lanes_of(words[-1])[0]
        target, given = operands
        if given.startswith("{"):
            size = width_of(kind) // len(_list_parts(given))
            bits = arithmetic.join([self._word(part, f"i{size}") for part in _list_parts(given)])
            self._set(target, Word(kind, bits=bits))
        elif target.startswith("{"):
            parts = _list_parts(target)
            held = arithmetic.split(self._word(given, kind).bits, f"i{width_of(kind) // len(parts)}")
            for part, word in zip(parts, held):
                if part != "_":
                    self._set(part, word)
        elif given.startswith("%"):
            raise _refuse(text)
        else:
            self._set(target, self._word(given, kind))

    def _bitwise(self, name: str, words: typing.Sequence[str], operands: typing.Any) -> None:
        kind = _lanes_of(words[-1])[0]
        self._set(operands[0], arithmetic.binary(name, self._word(operands[1], kind), self._word(operands[2], kind)))

    def _do_and(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._bitwise("and", words, operands)

    def _do_or(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._bitwise("or", words, operands)

    def _do_xor(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._bitwise("xor", words, operands)

    def _do_not(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._set(operands[0], arithmetic.invert(self._word(operands[1], _lanes_of(words[-1])[0])))

    def _do_shl(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._shift("shl", words, operands)

    def _do_shr(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._shift("shrs" if words[-1][0] == "s" else "shru", words, operands)

    def _shift(self, name: str, words: typing.Sequence[str], operands: typing.Any) -> None:
        kind = _lanes_of(words[-1])[0]
        count = self._word(operands[2], "i32")
        count = arithmetic.resize(count, kind)
        self._set(operands[0], arithmetic.shift(name, self._word(operands[1], kind), count))

    def _do_lop3(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        if words != ["b32"]:
            raise _refuse(text)
        table = int(operands[4], 0)
        inputs = [self._word(name, "i32").bits for name in operands[1:4]]
        self._set(operands[0], Word("i32", bits=[_look_up(table, *bits) for bits in zip(*inputs)]))

    def _do_prmt(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        selector = uniform(self._word(operands[3], "i32").node)
        if words != ["b32"] or selector is None:
            raise _refuse(text)
        held = arithmetic.join([self._word(name, "i32") for name in operands[1:3]])
        bits: list[object] = []
        for number in range(4):
            code = selector >> 4 * number & 15
            byte = held[8 * (code & 7):8 * (code & 7) + 8]
            bits += [byte[7]] * 8 if code & 8 else byte
        self._set(operands[0], Word("i32", bits=bits))

    def _do_bfe(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        kind = _lanes_of(words[-1])[0]
        start, count = (uniform(self._word(name, "i32").node) for name in operands[2:4])
        if start is None or count is None:
            raise _refuse(text)
        word = self._word(operands[1], kind)
        cut = word.bits[start:start + count]
        fill = cut[-1] if words[-1][0] == "s" and cut else False
        self._set(operands[0], Word(kind, bits=cut + (fill,) * (width_of(kind) - len(cut))))

    def _do_bfi(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        kind = _lanes_of(words[-1])[0]
        start, count = (uniform(self._word(name, "i32").node) for name in operands[3:5])
        if start is None or count is None:
            raise _refuse(text)
        bits, below = self._word(operands[1], kind).bits, self._word(operands[2], kind).bits
        end = min(start + count, len(below))
        self._set(operands[0], Word(kind, bits=below[:start] + bits[:end - start] + below[end:]))

    # ---- numbers ----------------------------------------------------------------------------------------------------

    def _each(self, words: typing.Sequence[str], operands: typing.Any, function: typing.Any) -> None:
        """A function of the elements of registers, by the type at the end of an instruction's name."""
        kind, count = _lanes_of(words[-1])
        columns = [self._packed(name, kind, count) for name in operands[1:]]
        self._set_packed(operands[0], [function(kind, *row) for row in zip(*columns)])

    def _arith(self, name: str, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        allowed = {"rn", "ftz", "lo", "NaN"} | {words[-1]}
        if set(words) - allowed:
            raise _refuse(text)
        if name in ("min", "max"):
            is_float = _lanes_of(words[-1])[0][0] != "i"
            name = (name if "NaN" in words else f"{name}num") if is_float \
                else name + ("s" if words[-1][0] == "s" else "u")
        self._each(words, operands, lambda kind, a, b: arithmetic.binary(name, a, b))

    def _do_add(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        self._arith("add", words, operands, text)

    def _do_sub(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        self._arith("sub", words, operands, text)

    def _do_mul(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        self._arith("mul", words, operands, text)

    def _do_min(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        self._arith("min", words, operands, text)

    def _do_max(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        self._arith("max", words, operands, text)

    def _do_div(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        kind = _lanes_of(words[-1])[0]
        name = "div" if kind[0] != "i" else "divs" if words[-1][0] == "s" else "divu"
        self._each(words, operands, lambda kind, a, b: arithmetic.binary(name, a, b))

    def _do_mad(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        if "lo" not in words:
            raise _refuse(text)
        self._each(words, operands, lambda kind, a, b, c: arithmetic.binary("add", arithmetic.binary("mul", a, b), c))

    def _do_fma(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        if set(words[:-1]) - {"rn", "ftz"}:
            raise _refuse(text)
        self._each(words, operands, lambda kind, a, b, c: of(Node("fma", kind, (a.node, b.node, c.node))))

    def _do_neg(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._each(words, operands, lambda kind, a: arithmetic.unary("neg", a))

    def _do_abs(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._each(words, operands, lambda kind, a: arithmetic.unary("abs", a))

    def _approximate(self, name: str, words: typing.Sequence[str], operands: typing.Any) -> None:
        attrs = ("approx",) if "approx" in words else ()
        self._each(words, operands, lambda kind, a: arithmetic.unary(_APPROXIMATE[name], a, attrs=attrs))

    def _do_ex2(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._approximate("ex2", words, operands)

    def _do_lg2(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._approximate("lg2", words, operands)

    def _do_sin(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._approximate("sin", words, operands)

    def _do_cos(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._approximate("cos", words, operands)

    def _do_tanh(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._approximate("tanh", words, operands)

    def _do_rsqrt(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._approximate("rsqrt", words, operands)

    def _do_sqrt(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._approximate("sqrt", words, operands)

    def _do_rcp(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        if words[-1] != "f32":
            raise _refuse(text)
        one = of(const(0x3F800000, "f32"))
        self._each(words, operands, lambda kind, a: arithmetic.binary("div", one, a))

    def _do_popc(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._each(words, operands, lambda kind, a: arithmetic.unary("popcount", a))

    def _do_clz(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        self._each(words, operands, lambda kind, a: arithmetic.unary("clz", a))

    def _do_setp(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        if len(words) != 2 or words[0] not in ("eq", "ne", "lt", "le", "gt", "ge") or "|" in operands[0]:
            raise _refuse(text)
        kind = _lanes_of(words[1])[0]
        name = words[0] if kind[0] != "i" or words[0] in ("eq", "ne") \
            else words[0] + ("s" if words[1][0] == "s" else "u")
        if kind[0] != "i" and name == "ne":  # false where one is NaN
            raise _refuse(text)
        self._set(operands[0],
                  arithmetic.binary(name, self._word(operands[1], kind), self._word(operands[2], kind), "i1"))

    def _do_selp(self, words: typing.Sequence[str], operands: typing.Any, _: typing.Any) -> None:
        kind = _lanes_of(words[-1])[0]
        yes, no = (self._word(name, kind) for name in operands[1:3])
        self._set(operands[0], arithmetic.select(self._truth(operands[3]), yes, no))

    # ---- conversions ------------------------------------------------------------------------------------------------

    def _do_cvt(self, words: typing.Sequence[str], operands: typing.Any, text: str) -> None:
        (to, count), (kind, taken) = _lanes_of(words[-2]), _lanes_of(words[-1])
        flags = set(words[:-2])
        if len(operands) == 3:  # two elements, of which the first goes into the upper half
            high, low = (self._word(name, kind) for name in operands[1:])
            given, taken = [low, high], 2
        else:
            given = self._packed(operands[1], kind, taken)
        if count != taken or flags - {"rn", "rz", "rzi", "rni", "ftz", "satfinite", "sat"} or "sat" in flags:
            raise _refuse(text)
        signs = (words[-2][0], words[-1][0])
        self._set_packed(operands[0], [convert(word, to, signs, flags, text) for word in given])


def convert(word: Word, to: str, signs: typing.Any, flags: typing.Any, text: str) -> Word:
    """In another type. signs: the first letters of both PTX types."""
    kind = word.kind
    if kind[0] == "i" and to[0] == "i":
        return arithmetic.resize(word, to, signs[1] == "s")
    if kind[0] == "i":
        if "rn" not in flags:
            raise _refuse(text)
        return arithmetic.unary("itof" if signs[1] == "s" else "utof", word, to)
    if to[0] == "i":
        if "rni" in flags:
            word = arithmetic.unary("round", word)
        elif "rzi" not in flags:
            raise _refuse(text)
        return arithmetic.unary("ftoi" if signs[0] == "s" else "ftou", word, to)
    if "rz" in flags or to.startswith("f8") and "satfinite" not in flags:
        raise _refuse(text)
    if to.startswith("f8"):
        return arithmetic.unary("saturate", word, to)
    return arithmetic.unary("ftof", word, to) if to != kind else word


def _look_up(table: int, a: typing.Any, b: typing.Any, c: typing.Any) -> typing.Any:
    """lop3: the bit of the table that three bits name."""
    result: object = False
    for number in range(8):
        if table >> number & 1:
            parts = [bit if number >> place & 1 else not_bit(bit) for bit, place in ((a, 2), (b, 1), (c, 0))]
            result = or_bits(result, and_bits(and_bits(parts[0], parts[1]), parts[2]))
    return _simplify(table, (a, b, c), result)


def _simplify(table: int, bits: typing.Any, result: typing.Any) -> typing.Any:
    """As one of the operations on two bits where the third is known, or does not matter."""
    open_bits = list(dict.fromkeys(bit for bit in (_plain(bit) for bit in bits) if not isinstance(bit, bool)))
    if len(open_bits) > 2:
        return result
    rows = []
    for number in range(2 ** len(open_bits)):
        value = {bit: bool(number >> place & 1) for place, bit in enumerate(open_bits)}
        taken = [bit if isinstance(bit, bool) else value[_plain(bit)] ^ (bit[0] == "not") for bit in bits]
        rows.append(bool(table >> (taken[0] * 4 + taken[1] * 2 + taken[2]) & 1))
    if len(set(rows)) == 1:
        return rows[0]
    if len(open_bits) == 1:
        return open_bits[0] if rows[1] else not_bit(open_bits[0])
    return _of_two(open_bits[0], open_bits[1], rows)


def _of_two(a: typing.Any, b: typing.Any, rows: typing.Any) -> typing.Any:
    """rows: the results for (0, 0), (a, 0), (0, b) and (a, b)."""
    if rows[0] == rows[1] and rows[2] == rows[3]:
        return b if rows[2] else not_bit(b)
    if rows[0] == rows[2] and rows[1] == rows[3]:
        return a if rows[1] else not_bit(a)
    if rows[0] == rows[3]:
        return ("xor", a, b) if rows[1] else not_bit(("xor", a, b))
    number = rows.index(sum(rows) == 1)
    left, right = (a if number & 1 else not_bit(a)), (b if number & 2 else not_bit(b))
    found = and_bits(left, right)
    return found if sum(rows) == 1 else not_bit(found)


def _plain(bit: typing.Any) -> typing.Any:
    return bit[1] if not isinstance(bit, bool) and bit[0] == "not" else bit


def _split_operands(text: str) -> list[str]:
    """At commas, but not inside of braces."""
    return [part.strip() for part in re.split(r",(?![^{]*\})", text) if part.strip()]


def _list_parts(text: str) -> list[str]:
    return [part.strip() for part in text.strip("{} ").split(",")]
