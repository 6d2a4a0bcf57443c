#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the built command and libraries are hardened (cmake/GroutHarden.cmake), as their ELF files say.

usage: hardened.py FILE...

Each file has to have: code that may lie anywhere, and no text relocations; tables of the linker read-only before
anything runs (RELRO and BIND_NOW); no stack, and no other memory, that is both written and executed; canaries on the
stack; checked copies; libraries looked for beside the file alone; functions that begin with a mark for indirect
calls, where the machine has one.
"""
import struct
import sys

ET_DYN, PT_LOAD, PT_DYNAMIC, PT_GNU_STACK, PT_GNU_RELRO = 3, 1, 2, 0x6474E551, 0x6474E552
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_TEXTREL, DT_FLAGS, DT_RUNPATH, DT_FLAGS_1 = 1, 5, 15, 22, 30, 29, 0x6FFFFFFB
DF_TEXTREL, DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 4, 8, 1, 0x08000000
SHT_SYMTAB, SHT_DYNSYM, STT_FUNC, EXECUTES, WRITES = 2, 11, 2, 1, 2
# By the machine: what a function begins with. endbr64; paciasp, bti c.
MARKS = {62: (b"\xf3\x0f\x1e\xfa",), 183: (b"\x3f\x23\x03\xd5", b"\x5f\x24\x03\xd5")}
CHECKED = ("__memcpy_chk", "__memset_chk", "__memmove_chk", "__snprintf_chk", "__vsnprintf_chk", "__read_chk")


class Elf:
    """What is asked of a file of 64 bits, little-endian."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is not an ELF file of 64 bits")
        self.type, self.machine = struct.unpack_from("<HH", self.data, 16)
        at, sections_at = struct.unpack_from("<QQ", self.data, 32)
        size, count, section_size, section_count = struct.unpack_from("<HHHH", self.data, 54)
        # type, flags, offset, address, _, bytes in the file
        self.segments = [struct.unpack_from("<IIQQQQ", self.data, at + i * size) for i in range(count)]
        # name, type, flags, address, offset, size, link
        self.sections = [struct.unpack_from("<IIQQQQI", self.data, sections_at + i * section_size)
                         for i in range(section_count)]
        self.dynamic = []
        for kind, _, offset, _, _, length in self.segments:
            if kind == PT_DYNAMIC:
                self.dynamic = list(struct.iter_unpack("<qQ", self.data[offset:offset + length]))

    def find(self, tag):
        return [value for kind, value in self.dynamic if kind == tag]

    def offset_of(self, address):
        for kind, _, offset, start, _, length in self.segments:
            if kind == PT_LOAD and start <= address < start + length:
                return offset + address - start
        raise ValueError(f"no byte of the file is at {address:#x}")

    def text_at(self, offset):
        return self.data[offset:self.data.index(b"\0", offset)].decode()

    def symbols(self):
        """Name, whether it is a function, whether it is defined here, address."""
        for _, kind, _, _, offset, size, link in self.sections:
            if kind in (SHT_SYMTAB, SHT_DYNSYM):
                names = self.sections[link][4]
                for name, info, _, section, address, _ in struct.iter_unpack("<IBBHQQ",
                                                                             self.data[offset:offset + size]):
                    yield self.text_at(names + name).split("@")[0], info & 15 == STT_FUNC, section != 0, address


def faults_of(path):
    elf = Elf(path)
    flags, flags_1 = sum(elf.find(DT_FLAGS)), sum(elf.find(DT_FLAGS_1))
    symbols = list(elf.symbols())
    undefined = {name for name, _, is_defined, _ in symbols if not is_defined}
    stacks = [segment for segment in elf.segments if segment[0] == PT_GNU_STACK]
    if elf.type != ET_DYN:
        yield "its code lies at a fixed address"
    if "main" in {name for name, _, is_defined, _ in symbols if is_defined} and not flags_1 & DF_1_PIE:
        yield "it is a program, and not one that may lie anywhere (PIE)"
    if elf.find(DT_TEXTREL) or flags & DF_TEXTREL:
        yield "its code is written to before it runs (TEXTREL)"
    if not any(segment[0] == PT_GNU_RELRO for segment in elf.segments):
        yield "nothing of it becomes read-only (RELRO)"
    if not (flags & DF_BIND_NOW or flags_1 & DF_1_NOW):
        yield "functions are looked for when they are called (no BIND_NOW)"
    if not stacks or stacks[0][1] & EXECUTES:
        yield "its stack may be executed (GNU_STACK)"
    if any(segment[0] == PT_LOAD and segment[1] & EXECUTES and segment[1] & WRITES for segment in elf.segments):
        yield "a part of it is both written and executed"
    if "__stack_chk_fail" not in undefined:
        yield "no canary is looked at (stack protector)"
    if not undefined & set(CHECKED):
        yield "no copy is checked (_FORTIFY_SOURCE)"
    for tag in (DT_RPATH, DT_RUNPATH):
        for value in elf.find(tag):
            folders = elf.text_at(elf.offset_of(elf.find(DT_STRTAB)[0]) + value).split(":")
            if not all(folder.startswith("$ORIGIN") for folder in folders):
                yield f"libraries are looked for in {folders}"
    yield from faults_of_marks(elf, symbols)


def faults_of_marks(elf, symbols):
    marks = MARKS.get(elf.machine)
    ours = {(name, address) for name, is_function, is_defined, address in symbols
            if is_function and is_defined and (name == "main" or (name.startswith("grout_") and "__" not in name))}
    if not ours:
        yield "it has no function of ours"
    bare = [name for name, address in sorted(ours)
            if marks is not None and not elf.data.startswith(marks, elf.offset_of(address))]
    # What no pointer leads to may go without.
    if len(bare) > len(ours) // 20:
        yield f"{len(bare)} of {len(ours)} functions have no mark: {', '.join(bare[:5])}"


def main(paths):
    faults = [(path, fault) for path in paths for fault in faults_of(path)]
    for path, fault in faults:
        print(f"{path}: {fault}")
    print(f"hardened: {len(paths)} files, {len(faults)} faults")
    return 1 if faults or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
