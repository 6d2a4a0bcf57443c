"""Writes the demo's two input arrays, or verifies that the third is their sum, bit for bit.

usage: demo_npy.py write A.npy B.npy
       demo_npy.py verify A.npy B.npy C.npy
"""
import array
import ast
import random
import sys

SHAPE = (4000, 120)
MAGIC = b"\x93NUMPY\x01\x00"


def write(path, seed):
    generator = random.Random(seed)
    values = array.array("f", (generator.uniform(-100.0, 100.0) for _ in range(SHAPE[0] * SHAPE[1])))
    if sys.byteorder == "big":
        values.byteswap()
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {SHAPE}, }}"
    # The format wants the data aligned to 64 bytes, and a newline at the header's end.
    header = header.ljust(-(len(MAGIC) + 2 + len(header) + 1) % 64 + len(header)) + "\n"
    with open(path, "wb") as file:
        file.write(MAGIC + len(header).to_bytes(2, "little") + header.encode() + values.tobytes())
    print(f"wrote {path}")


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    size_bytes = 2 if data[6] == 1 else 4
    start = 8 + size_bytes + int.from_bytes(data[8:8 + size_bytes], "little")
    header = ast.literal_eval(data[8 + size_bytes:start].decode("latin-1").strip())
    if header != {"descr": "<f4", "fortran_order": False, "shape": SHAPE}:
        sys.exit(f"demo: {path} is not a {SHAPE[0]} x {SHAPE[1]} f32 array: {header}")
    values = array.array("f", data[start:])
    if sys.byteorder == "big":
        values.byteswap()
    return values


def verify(path_a, path_b, path_c):
    # A sum of two floats, rounded to double and then to float, is the float sum.
    expected = array.array("f", (a + b for a, b in zip(read(path_a), read(path_b))))
    actual = read(path_c)
    wrong = [i for i, (e, c) in enumerate(zip(expected, actual)) if e != c]
    if wrong or len(expected) != len(actual):
        row, column = divmod(wrong[0], SHAPE[1]) if wrong else (len(actual), 0)
        sys.exit(f"demo: {len(wrong)} elements of {path_c} are wrong, the first at [{row}, {column}]")
    print(f"{path_c} = a + b in all {len(actual)} elements")


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "write":
        write(sys.argv[2], 1)
        write(sys.argv[3], 2)
    elif len(sys.argv) == 5 and sys.argv[1] == "verify":
        verify(*sys.argv[2:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
