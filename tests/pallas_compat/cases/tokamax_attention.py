# SPDX-License-Identifier: Apache-2.0
"""tokamax' attention for sm_80, sm_90 and sm_100: tokamax 0.0.17 from PyPI, which needs JAX 0.11 or newer."""
import importlib

import jax
import numpy as np

from . import Prepared, case
from .jax_attention import attend, differentiate

ORIGIN = "tokamax attention"


def _draw(positions, heads, kv_heads, elements):
    rng = np.random.default_rng(5)
    return [(0.5 * rng.normal(size=(positions, count, elements))).astype(np.float16)
            for count in (heads, kv_heads, kv_heads)]


GPUS = {80: "a100", 90: "h100", 100: "b200"}
NO_STORE = "has no attribute 'store'"  # before JAX 0.12 it does not trace
ON_80 = {"arch": 80, "positions": 128, "config": {"block_q": 64, "block_kv": 64}, "refused": NO_STORE}
ON_100 = {"arch": 100, "config": {"block_q": 128, "block_kv": 128, "collective": False}}


@case("tokamax_attention", ORIGIN, "sm90, forward, 2 heads on 1")
@case("tokamax_attention_causal", ORIGIN, "sm90, forward, causal", is_causal=True)
@case("tokamax_attention_residuals", ORIGIN, "sm90, forward, with maxima and sums", has_residuals=True)
@case("tokamax_attention_bias", ORIGIN, "sm90, forward, with a bias for each pair", has_bias=True)
@case("tokamax_attention_mask", ORIGIN, "sm90, forward, with a mask for each pair", has_mask=True)
@case("tokamax_attention_range", ORIGIN, "sm90, forward, keys from k_start to k_end", has_range=True)
@case("tokamax_attention_80", ORIGIN, "sm80, forward", **ON_80)
@case("tokamax_attention_80_causal", ORIGIN, "sm80, forward, causal", is_causal=True, **ON_80)
@case("tokamax_attention_80_split", ORIGIN, "sm80, forward, columns of v split among the warpgroups", arch=80,
      positions=128, refused=NO_STORE,
      config={"block_q": 64, "block_kv": 64, "v_split0": 32})
@case("tokamax_attention_80_stages", ORIGIN, "sm80, forward, two slots for keys and values, q in SMEM", arch=80,
      positions=128, refused=NO_STORE,
      config={"block_q": 64, "block_kv": 32, "num_stages": 2, "q_smem": True})
@case("tokamax_attention_100", ORIGIN, "sm100, forward", **ON_100)
@case("tokamax_attention_100_causal", ORIGIN, "sm100, forward, causal", is_causal=True, **ON_100)
@case("tokamax_attention_100_bias", ORIGIN, "sm100, forward, with a bias for each pair", has_bias=True, **ON_100)
@case("tokamax_attention_100_mask", ORIGIN, "sm100, forward, with a mask for each pair, in bits", has_mask=True,
      **ON_100)
@case("tokamax_attention_100_rescaled", ORIGIN, "sm100, forward, sums rescaled where a warp has to", arch=100,
      positions=512, rescale_threshold=0.5, config=ON_100["config"])
@case("tokamax_attention_100_pairs", ORIGIN, "sm100, forward, pairs of CTAs", arch=100, positions=512,
      config={"block_q": 256, "block_kv": 128, "collective": True})
@case("tokamax_attention_100_dynamic", ORIGIN, "sm100, forward, CTAs that ask for work", arch=100,
      config={"block_q": 128, "block_kv": 128, "collective": False, "persistent": True})
@case("tokamax_attention_100_persistent", ORIGIN, "sm100, forward, one CTA an SM", arch=100,
      config={"block_q": 128, "block_kv": 128, "collective": False, "persistent": "static"})
def make_forward(is_causal=False, has_residuals=False, has_bias=False, has_mask=False, has_range=False, positions=256,
                 heads=2, kv_heads=1, elements=64, arch=90, config=None, rescale_threshold=1.0):
    """Named barriers make the warpgroups take turns; q and k share their SMEM with the results."""
    module = importlib.import_module(f"tokamax._src.ops.attention.pallas_mosaic_gpu_kernel_sm{arch}")
    q, k, v = _draw(positions, heads, kv_heads, elements)
    rng = np.random.default_rng(6)
    extra = {"bias": None, "mask": None, "k_start": None, "k_end": None}
    allowed = np.ones((heads, positions, positions), bool)
    if has_bias:
        extra["bias"] = rng.normal(size=(heads, positions, positions)).astype(np.float16)
    if has_mask:
        extra["mask"] = rng.random((heads, positions, positions)) < 0.7
        extra["mask"][..., 0] = True
        allowed &= extra["mask"]
    if has_range:
        extra["k_start"] = rng.integers(0, 64, (heads, positions)).astype(np.int32)
        extra["k_end"] = rng.integers(100, positions, (heads, positions)).astype(np.int32)
        keys = np.arange(positions)
        allowed &= (keys >= extra["k_start"][..., None]) & (keys < extra["k_end"][..., None])
    names = [name for name, value in extra.items() if value is not None]
    config = module.Config(**config or {"block_q": 64, "block_kv": 64, "num_stages": 2})

    def function(q, k, v, *given):
        return module.flash_attention_kernel(
            q, k, v, **{**extra, **dict(zip(names, given))}, is_causal=is_causal, logits_soft_cap=None,
            logits_scale=elements ** -0.5, out_dtype=np.dtype(np.float16), normalize_output=True,
            return_residuals=has_residuals, use_stable_softmax=True, rescale_threshold=rescale_threshold, config=config)

    def reference():
        if is_causal:
            allowed[:] &= np.tri(positions, dtype=bool)
        return [_attend_where(q, k, v, extra["bias"], allowed, elements ** -0.5)]

    return Prepared(jax.jit(function), (q, k, v, *(extra[name] for name in names)), reference, 6e-3, gpu=GPUS[arch])


def _attend_where(q, k, v, bias, allowed, scale):
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    k, v = (np.repeat(array, q.shape[1] // array.shape[1], axis=1) for array in (k, v))
    logits = np.einsum("qhd,khd->hqk", q, k) * scale + (0 if bias is None else bias.astype(np.float64))
    logits = np.where(allowed, logits, -np.inf)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return np.einsum("hqk,khd->qhd", weights / weights.sum(-1, keepdims=True), v)


@case("tokamax_attention_backward", ORIGIN, "sm90, backward: dq, dk and dv")
@case("tokamax_attention_backward_causal", ORIGIN, "sm90, backward, causal", is_causal=True)
@case("tokamax_attention_backward_100", ORIGIN, "sm100, backward: dq, dk and dv", arch=100)
@case("tokamax_attention_backward_100_causal", ORIGIN, "sm100, backward, causal", arch=100, is_causal=True)
def make_backward(is_causal=False, positions=256, heads=2, kv_heads=1, elements=64, arch=90):
    """Two kernels."""
    module = importlib.import_module(f"tokamax._src.ops.attention.pallas_mosaic_gpu_vjp_kernel_sm{arch}")
    q, k, v = _draw(positions, heads, kv_heads, elements)
    gradient = (0.5 * np.random.default_rng(7).normal(size=q.shape)).astype(np.float16)
    one = lambda array: array[None]
    out, _ = attend(one(q), one(k), one(v), is_causal)
    top, sums = _residuals(q, k, is_causal)
    block = 128 if arch == 100 else 64
    config = module.Config(block_q_dkv=block, block_kv_dkv=block, block_q_dq=block, block_kv_dq=block, num_stages=2,
                           compute_wgs=1)

    def function(q, k, v, top, sums, out, gradient):
        return module.flash_attention_vjp_kernel(q, k, v, (top, sums), out, gradient, None, None, None, None,
                                                 logits_scale=1.0, logits_soft_cap=None, is_causal=is_causal,
                                                 ds_dtype=None, config=config)[:3]

    def reference():
        return [array[0] for array in differentiate(one(q), one(k), one(v), one(gradient), is_causal)]

    return Prepared(jax.jit(function), (q, k, v, top, sums, out[0].astype(np.float16), gradient), reference, 1e-2,
                    gpu=GPUS[arch])


def _residuals(q, k, is_causal):
    k = np.repeat(k.astype(np.float64), q.shape[1] // k.shape[1], axis=1)
    logits = np.einsum("qhd,khd->hqk", q.astype(np.float64), k)
    if is_causal:
        logits = np.where(np.tri(q.shape[0], dtype=bool), logits, -np.inf)
    top = logits.max(-1)
    return top.astype(np.float32), np.exp(logits - top[..., None]).sum(-1).astype(np.float32)
