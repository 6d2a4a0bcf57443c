# SPDX-License-Identifier: Apache-2.0
"""JAX' attention for Hopper: attention_mgpu.py, forward and backward."""
import numpy as np

from . import Prepared, case

FILE = "attention_mgpu"


def attend(q, k, v, is_causal=False):
    """Softmax attention in f64, [batch, position, head, element], and the logarithm to base 2 of the sums."""
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    k, v = (np.repeat(array, q.shape[2] // array.shape[2], axis=2) for array in (k, v))
    logits = np.einsum("bqhd,bkhd->bhqk", q, k)
    if is_causal:
        logits = np.where(np.tri(*logits.shape[-2:], dtype=bool), logits, -np.inf)
    top = logits.max(-1, keepdims=True)
    weights = np.exp(logits - top)
    sums = weights.sum(-1, keepdims=True)
    out = np.einsum("bhqk,bkhd->bqhd", weights / sums, v)
    return out, ((top + np.log(sums)) * np.log2(np.e))[..., 0]


def differentiate(q, k, v, gradient, is_causal=False):
    """The gradients of attention, by its formula, in f64."""
    q, k, v, gradient = (array.astype(np.float64) for array in (q, k, v, gradient))
    heads = q.shape[2] // k.shape[2]
    k, v = (np.repeat(array, heads, axis=2) for array in (k, v))
    logits = np.einsum("bqhd,bkhd->bhqk", q, k)
    if is_causal:
        logits = np.where(np.tri(*logits.shape[-2:], dtype=bool), logits, -np.inf)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    to_weights = np.einsum("bqhd,bkhd->bhqk", gradient, v)
    to_logits = weights * (to_weights - (to_weights * weights).sum(-1, keepdims=True))
    results = [np.einsum("bhqk,bkhd->bqhd", to_logits, k), np.einsum("bhqk,bqhd->bkhd", to_logits, q),
               np.einsum("bhqk,bqhd->bkhd", weights, gradient)]
    return [results[0], *(array.reshape(*array.shape[:2], -1, heads, array.shape[3]).sum(3) for array in results[1:])]


def _draw(batch, positions, heads, kv_heads, elements, scale=1.0):
    rng = np.random.default_rng(5)
    return [(scale * rng.normal(size=(batch, positions, count, elements))).astype(np.float16)
            for count in (heads, kv_heads, kv_heads)]


@case("attention", FILE, "forward, 2 heads on 1")
@case("attention_causal", FILE, "forward, causal", is_causal=True)
@case("attention_causal_wide", FILE, "forward, causal, 128 keys a block", is_causal=True, block_kv=128)
@case("attention_lse", FILE, "forward, with LSE", has_lse=True)
@case("attention_unscheduled", FILE, "forward, without the barrier that makes warpgroups take turns",
      use_schedule_barrier=False)
@case("attention_128", FILE, "forward, 128 elements a head, 4 heads on 2, 1024 positions", positions=1024, heads=4,
      kv_heads=2, elements=128, block_kv=128)
@case("attention_emitter", FILE, "forward by emit_pipeline_warp_specialized", is_emitter=True)
@case("attention_emitter_lse", FILE, "the same with LSE", is_emitter=True, has_lse=True)
def make_forward(is_causal=False, has_lse=False, is_emitter=False, batch=1, positions=256, heads=2, kv_heads=1,
                 elements=64, **config):
    """q k v."""
    from jax.experimental.pallas.ops.gpu import attention_mgpu as module
    settings = module.TuningConfig(**{"block_q": 64, "block_kv": 64, "max_concurrent_steps": 2, "causal": is_causal,
                                      **config})
    q, k, v = _draw(batch, positions, heads, kv_heads, elements)
    attention = module.attention_with_pipeline_emitter if is_emitter else module.attention

    def function(q, k, v):
        return attention(q, k, v, settings, has_lse)

    def reference():
        out, lse = attend(q, k, v, is_causal)
        return [out, lse] if has_lse else [out]

    return Prepared(function, (q, k, v), reference, 4e-3)


@case("attention_backward", FILE, "forward with LSE, then dq and dk with dv, through jax.vjp")
@case("attention_backward_2", FILE, "the same with 2 warpgroups that compute", groups=2, elements=64, positions=512)
def make_backward(batch=1, positions=256, heads=2, kv_heads=1, elements=64, groups=1):
    """Gradients."""
    import jax
    from jax.experimental.pallas.ops.gpu import attention_mgpu as module
    settings = module.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, compute_wgs_bwd=groups,
                                   block_q_dkv=64, block_kv_dkv=64, block_q_dq=64, block_kv_dq=64)
    q, k, v = _draw(batch, positions, heads, kv_heads, elements, 0.3)
    gradient = (0.3 * np.random.default_rng(6).normal(size=q.shape)).astype(np.float16)

    def function(q, k, v, gradient):
        _, pull = jax.vjp(lambda *given: module.attention(*given, settings), q, k, v)
        return pull(gradient)

    return Prepared(function, (q, k, v, gradient), lambda: differentiate(q, k, v, gradient), 4e-3)
