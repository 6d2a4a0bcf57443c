"""Kernels of Triton's Gluon to try the study on. Nothing here needs a GPU; trace.py traces them.

SPDX-License-Identifier: Apache-2.0
"""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def add_kernel(x, y, z, columns, SLOTS: gl.constexpr, FENCE: gl.constexpr):
    """z = x + y, a band of rows a program, loads that run SLOTS - 1 blocks ahead. Without FENCE nothing publishes the
    sums to TMA, as the Python has it; Triton's compiler adds a fence later."""
    rows: gl.constexpr = x.block_type.shape[0]
    width: gl.constexpr = x.block_type.shape[1]
    registers: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0])
    x_slots = gl.allocate_shared_memory(gl.float32, [SLOTS, rows, width], x.layout)
    y_slots = gl.allocate_shared_memory(gl.float32, [SLOTS, rows, width], y.layout)
    sums = gl.allocate_shared_memory(gl.float32, [rows, width], z.layout)
    full = mbarrier.allocate_mbarrier(batch=SLOTS)
    for i in gl.static_range(SLOTS):
        mbarrier.init(full.index(i), count=1)
    top = gl.program_id(0) * rows
    steps = gl.cdiv(columns, width)
    for step in range(steps + SLOTS - 1):
        slot = step % SLOTS
        mbarrier.expect(full.index(slot), x.block_type.nbytes + y.block_type.nbytes, pred=step < steps)
        tma.async_load(x, [top, step * width], full.index(slot), x_slots.index(slot), pred=step < steps)
        tma.async_load(y, [top, step * width], full.index(slot), y_slots.index(slot), pred=step < steps)
        if step >= SLOTS - 1:
            done = step - (SLOTS - 1)
            slot = done % SLOTS
            mbarrier.wait(full.index(slot), (done // SLOTS) & 1)
            total = x_slots.index(slot).load(registers) + y_slots.index(slot).load(registers)
            tma.store_wait(0)
            sums.store(total)
            if FENCE:
                fence_async_shared()
            tma.async_store(z, [top, done * width], sums)
    tma.store_wait(0)


def add(x, y, z, slots=2, fence=True):
    layout = gl.NVMMASharedLayout.get_default_for([32, 64], gl.float32)
    descriptors = [TensorDescriptor.from_tensor(array, [32, 64], layout) for array in (x, y, z)]
    add_kernel[(x.shape[0] // 32, )](*descriptors, x.shape[1], slots, fence)


@gluon.jit
def matmul_kernel(a, b, c, IN_FLIGHT: gl.constexpr):
    """c = a b, a tile of c a program, two slots for the operands, IN_FLIGHT wgmmas left running while the next
    operands are loaded. With 2 the loads overwrite what a wgmma still reads."""
    m: gl.constexpr = c.block_type.shape[0]
    n: gl.constexpr = c.block_type.shape[1]
    k: gl.constexpr = a.block_type.shape[1]
    accumulator: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, n, 16])
    a_slots = gl.allocate_shared_memory(gl.float16, [2, m, k], a.layout)
    b_slots = gl.allocate_shared_memory(gl.float16, [2, k, n], b.layout)
    out = gl.allocate_shared_memory(gl.float16, [m, n], c.layout)
    full = mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(full.index(i), count=1)
    row = gl.program_id(0) * m
    column = gl.program_id(1) * n
    total = gl.zeros([m, n], gl.float32, accumulator)
    step = 0
    for at in range(0, a.shape[1], k):
        slot = step % 2
        mbarrier.expect(full.index(slot), a.block_type.nbytes + b.block_type.nbytes)
        tma.async_load(a, [row, at], full.index(slot), a_slots.index(slot))
        tma.async_load(b, [at, column], full.index(slot), b_slots.index(slot))
        mbarrier.wait(full.index(slot), (step // 2) & 1)
        total = warpgroup_mma(a_slots.index(slot), b_slots.index(slot), total, is_async=True)
        total = warpgroup_mma_wait(IN_FLIGHT, deps=(total, ))
        step += 1  # noqa: SIM113  (Gluon has no enumerate)
    total = warpgroup_mma_wait(0, deps=(total, ))
    out.store(total.to(gl.float16))
    fence_async_shared()
    tma.async_store(c, [row, column], out)
    tma.store_wait(0)


def matmul(a, b, c, in_flight=1):
    blocks = ((a, [64, 64]), (b, [64, 64]), (c, [64, 64]))
    descriptors = [
        TensorDescriptor.from_tensor(array, block, gl.NVMMASharedLayout.get_default_for(block, gl.float16))
        for array, block in blocks
    ]
    matmul_kernel[(c.shape[0] // 64, c.shape[1] // 64)](*descriptors, in_flight)
