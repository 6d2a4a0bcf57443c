# SPDX-License-Identifier: Apache-2.0
"""Kernels as JAX' primitives bring them: plgpu.kernel and core_map (mpmd_map), and pallas_call."""
from __future__ import annotations

import typing

from . import _jax, _series
from ._errors import UnsupportedError
from ._importer import Source

gpu, core = _jax.gpu, _jax.core
INSTEAD = "write plgpu.kernel with this grid, and plgpu.emit_pipeline in it for the blocks"  # of a pallas_call


def is_mosaic_gpu(primitive: typing.Any, params: typing.Any) -> bool:
    """Whether a kernel is written for Mosaic GPU; others (TPU, Triton) are left to JAX."""
    if primitive is _jax.mpmd.mpmd_map_p:
        return any(isinstance(mesh, gpu.Mesh) for mesh in params["meshes"])
    given = params.get("compiler_params")
    if isinstance(params.get("mesh"), gpu.Mesh) or isinstance(given, gpu.CompilerParams):
        return True
    if _jax.InterpretGPUParams and isinstance(params.get("interpret"), _jax.InterpretGPUParams):
        return True
    asks = getattr(_jax.jax_config, "jax_pallas_use_mosaic_gpu", None)
    return given is None and not params.get("interpret") and bool(asks is not None and asks.value)


def make_source(primitive: typing.Any, params: typing.Any, frames: typing.Any) -> Source:
    """The kernel of an equation. frames: where it is called."""
    try:
        if primitive is _jax.mpmd.mpmd_map_p:
            return _of_mpmd_map(params, frames)
        return _of_pallas_call(params, frames)
    except UnsupportedError as error:
        raise error if error.frames else UnsupportedError(error.message, primitive.name, frames) from None


def _axes_of(mesh: typing.Any) -> dict[str, typing.Any]:
    threads = (mesh.thread_name, mesh.num_threads) if mesh.thread_name is not None else None
    return {"grid": tuple(zip(mesh.grid_names, mesh.grid)), "cluster": tuple(zip(mesh.cluster_names, mesh.cluster)),
            "threads": threads}


def _settings_of(params: typing.Any) -> dict[str, typing.Any]:
    given = params.get("compiler_params")
    return {"approx_math": bool(getattr(given, "approx_math", False)),
            "auto_barriers": not getattr(given, "unsafe_no_auto_barriers", False),
            "skips_floats": bool(getattr(params.get("interpret"), "skip_floating_point_ops", False)),
            "raises_races": _series.raises_races(params.get("interpret"))}


def _of_mpmd_map(params: typing.Any, frames: typing.Any) -> Source:
    if len(params["jaxprs"]) != 1 or params.get("external_meshes"):
        raise UnsupportedError("several meshes: grout takes kernels with one")
    mesh = params["meshes"][0]
    jaxpr, consts = _jax.open_jaxpr(params["jaxprs"][0])
    count = len(jaxpr.invars) - len(params["out_avals"])
    aliases = dict(params.get("input_output_aliases") or {})
    return Source(params.get("name") or "kernel", jaxpr, consts, count, aliases, frames=tuple(frames),
                  **_axes_of(mesh), **_settings_of(params))


class _Captured(Exception):
    """What the lowering of a pallas_call would compile."""

    def __init__(self, arguments: typing.Any) -> None:
        super().__init__()
        self.arguments = arguments


def _of_plain_pallas_call(params: typing.Any, frames: typing.Any) -> Source:
    """For a JAX that has none for GPUs, but an interpreter that takes those of one program and whole arrays."""
    mapping, jaxpr = params["grid_mapping"], params["jaxpr"]
    if any(size != 1 for size in mapping.grid) or \
            not all(block.has_trivial_window() for block in mapping.block_mappings):
        raise UnsupportedError(f"a grid or blocks: JAX {_series.VERSION} lowers no pallas_call for Mosaic GPU any "
                               f"more, and its interpreter takes whole arrays alone; {INSTEAD}")
    if any("smem" in str(getattr(variable.aval, "memory_space", "")).lower() for variable in jaxpr.invars) and \
            params.get("mesh") is not None:
        raise UnsupportedError(f"a mesh and references in shared memory; {INSTEAD}")
    scratch = len(jaxpr.invars) - mapping.num_inputs - mapping.num_outputs
    back = params.get("kernel_arg_transforms") or ((),) * len(jaxpr.invars)
    local = {number: tuple(undo) for number, (variable, undo) in enumerate(zip(jaxpr.invars, back))
             if number >= len(jaxpr.invars) - scratch or
             "smem" in str(getattr(variable.aval, "memory_space", "")).lower()}
    name = params.get("name") or getattr(jaxpr.debug_info, "func_name", None) or "kernel"
    return Source(name, jaxpr, (), mapping.num_inputs, dict(params.get("input_output_aliases") or ()), grid=(),
                  cluster=(), threads=None, frames=tuple(frames), local=local, scratch_count=scratch,
                  **_settings_of(params))


def _of_pallas_call(params: typing.Any, frames: typing.Any) -> Source:
    """JAX writes the pipeline around the body itself; what it would lower is taken from it."""
    lower = getattr(_jax.gpu_lowering, "lower_pipelined_jaxpr_to_module", None)
    if lower is None:
        return _of_plain_pallas_call(params, frames)
    given = params.get("compiler_params") or gpu.CompilerParams()
    mapping, mesh = params["grid_mapping"], params.get("mesh")

    def capture(jax_mesh: typing.Any, axis_names: typing.Any, grid: typing.Any, block: typing.Any, cluster: typing.Any,
                in_shapes: typing.Any, out_shapes: typing.Any, jaxpr: typing.Any, *rest: typing.Any,
                **named: typing.Any) -> None:
        del jax_mesh, block, cluster, rest, named
        raise _Captured((axis_names, grid, in_shapes, out_shapes, jaxpr))

    real = _jax.gpu_lowering.lower_jaxpr_to_module
    _jax.gpu_lowering.lower_jaxpr_to_module = capture
    try:
        lower(mapping, mesh, None, params["jaxpr"], given, None)
    except _Captured as captured:
        axis_names, grid, in_shapes, _, jaxpr = captured.arguments
    except (NotImplementedError, ValueError) as error:
        raise UnsupportedError(f"JAX does not take this pallas_call for Mosaic GPU: {error}") from error
    finally:
        _jax.gpu_lowering.lower_jaxpr_to_module = real
    settings = {"input_count": len(in_shapes), "aliases": dict(params.get("input_output_aliases") or ()),
                "frames": tuple(frames), **_settings_of({**params, "compiler_params": given})}
    name = params.get("name") or getattr(params["jaxpr"].debug_info, "func_name", None) or "kernel"
    if mesh is not None:
        return Source(name, jaxpr, (), **_axes_of(mesh), **settings)
    names = [own if own is not None else f"d{number}" for number, own in
             enumerate(tuple(axis_names.grid) or (None,) * len(grid))]
    return Source(name, jaxpr, (), grid=tuple(zip(names, grid)), cluster=(), threads=None, **settings)
