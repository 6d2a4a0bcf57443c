# SPDX-License-Identifier: Apache-2.0
"""Code of known libraries that goes by plgpu.inline_mgpu, and what it is in grout."""
from __future__ import annotations

from ._errors import UnsupportedError
from ._tensor_core import register_inline

ATTENTION = "tokamax._src.ops.attention.pallas_mosaic_gpu_common"


def _named_barrier(builder, *operands, operation, num_threads, barrier_id=None):
    """bar.sync or bar.arrive: the number of the barrier is written, or an operand."""
    names = {"sync": "named_barrier_sync", "arrive": "named_barrier_arrive"}
    if operation not in names:
        raise UnsupportedError(f"bar.{operation} has no counterpart")
    builder.op(names[operation], operands[0] if operands else barrier_id, num_threads, lanes=True)


def _fence(builder):
    """fence.proxy.async.shared::cta."""
    builder.op("fence_async_shared")


def _warpgroup_barrier(builder):
    """The lanes of a thread, which are one here."""
    del builder


register_inline(f"{ATTENTION}._bar_operation.<locals>.bar_op", _named_barrier)
register_inline(f"{ATTENTION}.fence_async_shared_cta", _fence)
register_inline(f"{ATTENTION}.warpgroup_barrier.<locals>.<lambda>", _warpgroup_barrier)
