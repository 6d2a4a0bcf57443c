# SPDX-License-Identifier: Apache-2.0
"""Loads, stores, copies and what orders them."""
from __future__ import annotations

import contextlib
import re
import typing

from . import _jax, _packed, _series
from ._array_rules import reshape, slice_box
from ._im2col import find_pixels, is_of_windows
from ._rules import rule
from ._values import Cell, Val, View, dtype_of, index
from ._views import apply, at_object, find_places, split_leaves, to_val

if typing.TYPE_CHECKING:
    from ._importer import Importer

# Reductions of a TMA store by the name that JAX gives them.
REDUCTIONS = {"umin": "min", "smin": "min", "umax": "max", "smax": "max"}
OOB = {"ZEROS": None, "UNDEFINED": "undefined", "PROMISE_IN_BOUNDS": "in_bounds"}


def load(importer: Importer, view: View, dtype: str) -> Val:
    """The elements of a reference."""
    if view.kind == "acc":
        return importer.op("acc_load", view.dtype, view.shape, view.ref, wait=0)
    if view.padded and _packed.is_packed(view):
        pair = importer.op("load", dtype, (2,), view.ref)
        return reshape(importer, slice_box(importer, pair, [0], [1]), ())
    ref = view.ref.at[0] if view.padded else view.ref
    value = importer.op("load", dtype, view.lies_as or view.stored or view.shape, ref)
    return _packed.after_load(importer, view, value) if view.lies_as is None else reshape(importer, value, view.shape)


@rule("get", "load")
def import_get(importer: Importer, equation: typing.Any, ref: typing.Any, *leaves: typing.Any) -> typing.Any:
    """A load, or the value of a cell."""
    if isinstance(ref, Cell):
        return ref.value
    (transforms,), mask = split_leaves(leaves, equation.params["tree"])
    if mask:
        raise importer.unsupported("a mask: Pallas on Mosaic GPU has no masked loads")
    return load(importer, apply(importer, ref, transforms, in_registers=True), dtype_of(equation.outvars[0].aval.dtype))


@rule("swap")
def import_swap(importer: Importer, equation: typing.Any, ref: typing.Any, value: typing.Any,
                *leaves: typing.Any) -> typing.Any:
    """A store; what was there before is loaded where somebody wants it."""
    (transforms,), mask = split_leaves(leaves, equation.params["tree"])
    if mask:
        raise importer.unsupported("a mask: Pallas on Mosaic GPU has no masked stores")
    if isinstance(ref, Cell):
        if importer.depth != ref.depth:
            raise importer.unsupported("a reference of run_state that is not an accumulator is written in an inner "
                                       "block")
        before, ref.value = ref.value, value
        return before
    view = apply(importer, ref, transforms, in_registers=True)
    old = load(importer, view, value.dtype) if importer.is_used(equation) else None
    store(importer, view, value)
    return old


@rule("store")
def import_store(importer: Importer, equation: typing.Any, ref: typing.Any, value: typing.Any,
                 *leaves: typing.Any) -> None:
    """plgpu.store: optimized= asks JAX' lowering for wide stores, which changes no value."""
    (transforms,), _ = split_leaves(leaves, equation.params["tree"])
    store(importer, apply(importer, ref, transforms, in_registers=True), value)


def store(importer: Importer, view: View, value: Val) -> None:
    """Into all of a reference."""
    if value.shape != view.shape:
        value = importer.broadcast(value, view.shape)
    if view.kind == "acc":
        importer.builder.op("acc_store", view.ref, importer.operand(value))
        return
    if view.padded and _packed.is_packed(view):
        importer.builder.op("store", view.ref, importer.broadcast(value, (2,)).built)
        return
    value = _packed.before_store(importer, view, value) if view.lies_as is None \
        else reshape(importer, value, view.lies_as)
    ref = view.ref.at[0] if view.padded else view.ref
    operand = importer.builder.typed(value.const, value.dtype) if value.is_const else value.built
    importer.builder.op("store", ref, operand)


@rule("addupdate")
def import_addupdate(importer: Importer, equation: typing.Any, ref: typing.Any, value: typing.Any,
                     *leaves: typing.Any) -> None:
    """ref += value."""
    (transforms,), _ = split_leaves(leaves, equation.params["tree"])
    view = apply(importer, ref, transforms, in_registers=True)
    old = load(importer, view, value.dtype)
    store(importer, view, importer.arith("add", old, value))


def _oob(importer: Importer, mode: typing.Any) -> typing.Any:
    if mode is None:
        return {}
    name = getattr(mode, "name", str(mode)).rpartition(".")[2]
    if name not in OOB:
        raise importer.unsupported(f"oob_mode={mode} has no counterpart")
    return {} if OOB[name] is None else {"oob": OOB[name]}


def _of_rows(attributes: typing.Any) -> typing.Any:
    """Rows outside arrive as zeros where anything may: JAX' lowering takes a tensor map then too."""
    return {name: value for name, value in attributes.items() if value != "undefined"}


def _of_leader(partition: typing.Any) -> typing.Any:
    """leader_tracked=CopyPartition.REPLICATED, or PARTITIONED(axis), of which each CTA gets a part."""
    if partition is None:
        return {}
    axis = getattr(partition, "axis", None)
    return {"leader_tracked": True, **({} if axis is None else {"partitioned": int(axis)})}


def _arrive_without_bytes(importer: Importer, barrier: typing.Any, params: typing.Any) -> None:
    """The arrival of a copy that is not made. With leader_tracked= only the leader makes one."""
    leads = None
    if params.get("leader_tracked") is not None:
        leads = importer.arith("eq", importer.axis(params["collective_axes"]), index(0))
    with when(importer, leads):
        importer.builder.op("barrier_arrive", barrier)


def _check_arrival(importer: Importer, variable: typing.Any) -> None:
    """Checks the barrier that gets bytes."""
    aval = getattr(variable.aval, "inner_aval", variable.aval)
    if getattr(aval.dtype, "orders_tensor_core", False) and importer.is_blackwell and not _series.BYTES_ARRIVE_ONCE:
        raise importer.unsupported("its barrier has orders_tensor_core=True: that counts threads, and JAX "
                                   f"{_series.VERSION} lets all 128 lanes arrive; since 0.12 one does. Use two "
                                   "barriers")


@rule("copy_gmem_to_smem")
def import_load_by_tma(importer: Importer, equation: typing.Any, source: typing.Any, target: typing.Any,
                       *operands: typing.Any) -> None:
    """A TMA load."""
    params = equation.params
    if not params.get("has_barrier", True):
        _load_by_lanes(importer, params, source, target, operands)
        return
    barrier, *leaves = operands
    _check_arrival(importer, equation.invars[2])
    (at_source, at_target, at_barrier), rest = split_leaves(
        leaves, params["src_transforms_treedef"], params["dst_transforms_treedef"],
        params["barrier_transforms_treedef"])
    axes = params.get("collective_axes")
    attributes = _oob(importer, params.get("oob_mode"))
    if axes:
        axes = axes if isinstance(axes, (tuple, list)) else (axes,)
        attributes["collective_axes"] = tuple(importer.get_axis_name(axis) for axis in axes)
    attributes.update(_of_leader(params.get("leader_tracked")))
    importer.copied_to.add(barrier.number)
    barrier = at_object(importer, barrier, at_barrier)
    predicate = rest[0] if rest else None

    def copy() -> None:
        to = apply(importer, target, at_target)
        if is_of_windows(at_source):
            if axes:
                raise importer.unsupported("windows are not shared by the CTAs of a cluster; JAX' lowering takes none "
                                           "either")
            pixels = find_pixels(importer, source, at_source)
            importer.builder.op("copy_gmem_to_smem_im2col", pixels.source, to.ref, barrier, *pixels.offsets,
                                pixels=pixels.ranges)  # zeros from outside whatever oob_mode= says, as JAX lowers it
            return
        view = apply(importer, source, at_source, takes_rows=True)
        if view.rows is None:
            importer.builder.op("copy_gmem_to_smem", view.ref, to.ref, barrier, **attributes)
            return
        if axes:
            raise importer.unsupported("rows that an array names are not shared by the CTAs of a cluster")
        importer.builder.op("tma_gather", view.ref, to.ref, barrier, view.rows.built, **_of_rows(attributes))

    arrives = _series.PREDICATED_COPY_ARRIVES
    if predicate is None or predicate.is_const and predicate.const:
        copy()
    elif predicate.is_const:
        if arrives:
            _arrive_without_bytes(importer, barrier, params)
    else:
        with importer.builder.if_(importer.operand(predicate)) as branch:
            copy()
        if arrives:
            with branch.else_():
                _arrive_without_bytes(importer, barrier, params)


def _load_by_lanes(importer: Importer, params: typing.Any, source: typing.Any, target: typing.Any,
                   leaves: typing.Any) -> None:
    """cp.async, as JAX lowers a copy without a barrier for GPUs before Hopper: a group of its own, closed at once."""
    (at_source, at_target), rest = split_leaves(leaves, params["src_transforms_treedef"],
                                                params["dst_transforms_treedef"])
    if params.get("collective_axes") or params.get("leader_tracked") is not None:
        raise importer.unsupported("a copy without a barrier goes by cp.async, which has no collective_axes and "
                                   "leader_tracked")
    if rest or params.get("has_user_predicate"):
        raise importer.unsupported("a copy without a barrier goes by cp.async, which JAX' lowering gives no predicate")
    if _oob(importer, params.get("oob_mode")) != {"oob": "in_bounds"}:
        raise importer.unsupported("a copy without a barrier goes by cp.async, which reads what lies outside of an "
                                   "array: write oob_mode=plgpu.OOBFillMode.PROMISE_IN_BOUNDS, as JAX' lowering asks "
                                   "for")
    view, to = apply(importer, source, at_source), apply(importer, target, at_target)
    importer.builder.op("async_copy", view.ref, to.ref)
    importer.builder.op("async_copy_commit_group")


@rule("wait_gmem_to_smem")
def import_wait_gmem_to_smem(importer: Importer, equation: typing.Any, *count: typing.Any) -> None:
    """Waits until this many of the newest copies by cp.async are in flight."""
    importer.builder.op("async_copy_wait", importer.get_count(equation, count, "the number of copies"))


@rule("copy_smem_to_gmem")
def import_store_by_tma(importer: Importer, equation: typing.Any, source: typing.Any, target: typing.Any,
                        *leaves: typing.Any) -> None:
    """A TMA store."""
    params = equation.params
    (at_source, at_target), rest = split_leaves(leaves, params["src_transforms_treedef"],
                                                params["dst_transforms_treedef"])
    reduction = params.get("reduction_op")
    predicate = rest[0] if params.get("has_user_predicate") else None
    commits = params.get("commit_group", True)
    is_certain = predicate is None or predicate.is_const and bool(predicate.const)
    attributes: dict[str, typing.Any] = {} if commits and is_certain else {"no_commit_group": True}
    if reduction is not None:
        attributes["reduce"] = REDUCTIONS.get(reduction, reduction)

    def copy() -> None:
        view, to = apply(importer, source, at_source), apply(importer, target, at_target, takes_rows=True)
        if to.rows is None:
            importer.builder.op("copy_smem_to_gmem", view.ref, to.ref, **attributes)
            return
        if reduction is not None or predicate is not None:
            raise importer.unsupported("TMA stores rows that an array names without reduction_op and predicate")
        importer.builder.op("tma_scatter", view.ref, to.ref, to.rows.built, **attributes)

    if predicate is None or is_certain or not predicate.is_const:
        with when(importer, predicate):
            copy()
    if commits and not is_certain:  # the group is closed whatever the predicate says, and counts for those who wait
        importer.builder.op("commit_group")


@rule("async_prefetch")
def import_prefetch(importer: Importer, equation: typing.Any, ref: typing.Any, *leaves: typing.Any) -> None:
    """A hint."""
    params = equation.params
    tree = params.get("ref_transforms_treedef", params.get("transforms_treedef", params.get("tree")))
    (transforms,), rest = split_leaves(leaves, tree)
    view = apply(importer, ref, transforms, takes_rows=True)
    if view.rows is not None:
        importer.note("a prefetch of rows that an array names is left out: it changes no value")
        return
    predicate = rest[0] if params.get("has_user_predicate") else None
    if predicate is None or not predicate.is_const or predicate.const:
        with when(importer, predicate):
            importer.builder.op("async_prefetch", view.ref)


@rule("commit_smem")
def import_commit_smem(importer: Importer, equation: typing.Any) -> None:
    """Publishes accesses to the async proxy."""
    del equation
    importer.builder.op("commit_smem")


@rule("commit_group", "commit_smem_to_gmem_group")
def import_commit_group(importer: Importer, equation: typing.Any) -> None:
    """Closes the bulk group."""
    del equation
    importer.builder.op("commit_group")


@rule("wait_smem_to_gmem")
def import_wait_smem_to_gmem(importer: Importer, equation: typing.Any, *count: typing.Any) -> None:
    """Waits for bulk groups."""
    attributes: dict[str, typing.Any] = {"read_only": True} if equation.params["wait_read_only"] else {}
    importer.builder.op("wait_smem_to_gmem", importer.get_count(equation, count, "the number of groups"), **attributes)


def when(importer: Importer, predicate: typing.Any) -> typing.Any:
    """A region that runs where the predicate holds. None: it always does."""
    if predicate is None or predicate.is_const and predicate.const:
        return contextlib.nullcontext()
    return importer.builder.if_(importer.operand(predicate))


def _on(importer: Importer, equation: typing.Any, barrier: typing.Any, leaves: typing.Any) -> typing.Any:
    """The barrier, and the predicate where there is one."""
    (transforms,), rest = split_leaves(leaves, equation.params["transforms_treedef"])
    if len(rest) > bool(equation.params.get("has_user_predicate")):
        raise importer.unsupported("an operand more than it has in the versions that were tried")
    return at_object(importer, barrier, transforms), rest[0] if rest else None


@rule("barrier_wait")
def import_barrier_wait(importer: Importer, equation: typing.Any, barrier: typing.Any, *leaves: typing.Any) -> None:
    """Waits for the phase that comes next."""
    importer.builder.op("barrier_wait", _on(importer, equation, barrier, leaves)[0])


@rule("barrier_test")
def import_barrier_test(importer: Importer, equation: typing.Any, barrier: typing.Any, *leaves: typing.Any) -> Val:
    """Whether the phase is complete."""
    return importer.op("barrier_test", "bool", (), _on(importer, equation, barrier, leaves)[0])


@rule("barrier_arrive")
def import_barrier_arrive(importer: Importer, equation: typing.Any, barrier: typing.Any, *leaves: typing.Any) -> None:
    """An arrival."""
    barrier, predicate = _on(importer, equation, barrier, leaves)
    with when(importer, predicate):
        importer.builder.op("barrier_arrive", barrier)


@rule("barrier_arrive_and_wait")
def import_barrier_arrive_and_wait(importer: Importer, equation: typing.Any, barrier: typing.Any,
                                   *leaves: typing.Any) -> None:
    """Both."""
    barrier, _ = _on(importer, equation, barrier, leaves)
    importer.builder.op("barrier_arrive", barrier)
    importer.builder.op("barrier_wait", barrier)


@rule("async_store_smem")
def import_async_store(importer: Importer, equation: typing.Any, value: typing.Any, target: typing.Any,
                       barrier: typing.Any, place: typing.Any, *leaves: typing.Any) -> None:
    """st.async into another CTA, and an arrival on that CTA's barrier. JAX' lowering makes the arrival first, with the
    bytes that it announces; here the bytes announce themselves, so they come first."""
    params = equation.params
    (at_target, at_barrier), rest = split_leaves(leaves, params["ref_transforms_treedef"],
                                                 params["barrier_transforms_treedef"])
    if rest:
        raise importer.unsupported("an operand more than it has in the versions that were tried")
    _check_arrival(importer, equation.invars[2])
    if not value.shape:
        raise importer.unsupported("a scalar: JAX' lowering takes none")
    if params["cluster_dim"] not in dict(importer.source.cluster):
        raise importer.unsupported(f"cluster_dim={params['cluster_dim']!r} is not an axis of the cluster")
    places = find_places(importer, {params["cluster_dim"]: to_val(importer, place)})
    view = apply(importer, target, at_target)
    attributes = {} if params["atomic"] is None else {"reduce": params["atomic"]}
    operand = importer.builder.typed(value.const, value.dtype) if value.is_const else value.built
    importer.builder.op("async_store_smem", operand, view.ref.cluster(*places),
                        at_object(importer, barrier, at_barrier), **attributes)
    importer.builder.op("barrier_arrive", at_object(importer, barrier, at_barrier, places))


@rule("mgpu_atomic_store")
def import_atomic_store(importer: Importer, equation: typing.Any, *operands: typing.Any) -> None:
    """Element by element, each at once."""
    params = equation.params
    ref, transforms, value = params["args_tree"].unflatten(operands)
    kind = getattr(params["atomic_type"], "value", params["atomic_type"])
    view = apply(importer, ref, transforms)
    if view.shape and not value.shape:
        value = importer.broadcast(value, view.shape)
    importer.builder.op(f"atomic_{kind}", view.ref.at[0] if view.padded else view.ref,
                        importer.builder.typed(value.const, value.dtype) if value.is_const else value.built)


@rule("set_max_registers")
def import_set_max_registers(importer: Importer, equation: typing.Any, *count: typing.Any) -> None:
    """Moves registers between warpgroups."""
    action: dict[str, typing.Any] = {equation.params["action"]: True}
    importer.builder.op("set_max_registers", importer.get_count(equation, count, "the number of registers"), **action)


@rule("griddepcontrol_wait")
def import_griddepcontrol_wait(importer: Importer, equation: typing.Any) -> None:
    """Waits for the launch before."""
    del equation
    importer.builder.op("griddepcontrol_wait")


@rule("griddepcontrol_launch_dependents")
def import_griddepcontrol_launch(importer: Importer, equation: typing.Any) -> None:
    """Lets the next launch begin."""
    del equation
    importer.builder.op("griddepcontrol_launch_dependents")


@rule("delay")
def import_delay(importer: Importer, equation: typing.Any, nanoseconds: typing.Any) -> None:
    """Time passes on a GPU; the checker looks at every timing anyway."""
    del equation
    importer.builder.op("delay", importer.operand(nanoseconds))


@rule("check")
def import_check(importer: Importer, equation: typing.Any, *operands: typing.Any) -> None:
    """pl.debug_check: nothing unless JAX' debug checks are on."""
    params = equation.params
    if not params["debug"]:
        raise importer.unsupported("a check that is not a debug check; JAX' lowering for GPUs takes none")
    if not _jax.pallas_core.debug_checks_enabled():
        return
    is_wrong, message = _jax.read_check(params["err_tree"], operands)
    importer.builder.op("debug_check", importer.builder.op("not", importer.operand(is_wrong)),
                        _plain_text(importer, message))


@rule("print_layout")
def import_print_layout(importer: Importer, equation: typing.Any, *operands: typing.Any) -> None:
    """For JAX' lowering alone."""
    del equation, operands
    importer.note("print_layout is left out: 'grout run' prints layouts with print_layout of its own")


@rule("debug_print")
def import_debug_print(importer: Importer, equation: typing.Any, *operands: typing.Any) -> None:
    """A line of output."""
    params = equation.params
    static = dict(params.get("static_args") or ())
    count = len(operands) + len(static)
    values = [static.get(number) for number in range(count)]
    rest = iter(operands)
    values = [next(rest) if value is None else value for value in values]
    text = params["fmt"]
    shown = [importer.operand(value) if isinstance(value, Val) else value for value in values]
    importer.builder.op("debug_print", _plain_format(importer, text, len(shown)), *shown)


def _plain_format(importer: Importer, text: str, count: int) -> str:
    """As grout has it."""
    pieces = re.split(r"(\{\{|\}\}|\{\})", text)
    if pieces.count("{}") == 0 and count == 1:  # an array, printed after its name
        return f"{_plain_text(importer, text)} {{}}"
    if pieces.count("{}") != count:
        raise importer.unsupported(f"debug_print takes one '{{}}' for each value: {text!r} has {count} values")
    return "".join(piece if piece == "{}" else _plain_text(importer, piece) for piece in pieces)


def _plain_text(importer: Importer, text: str) -> str:
    """Without braces, which mean values in grout's texts alone."""
    plain = text.replace("{{", "{").replace("}}", "}").replace("{", "(").replace("}", ")")
    if "(" in plain and "{" in text:
        importer.note("braces in the texts that are printed are brackets here")
    return plain
