# SPDX-License-Identifier: Apache-2.0
"""Control flow: branches, loops, calls, axes, regions of warps."""
from __future__ import annotations

import contextlib
import typing

from . import _jax, _series
from ._arithmetic import binary
from ._rules import rule
from ._values import Val, View, const, index

if typing.TYPE_CHECKING:
    from ._importer import Importer

core = _jax.core


@contextlib.contextmanager
def _deeper(importer: Importer) -> typing.Iterator[None]:
    importer.depth += 1
    yield
    importer.depth -= 1


def _yielded(importer: Importer, values: typing.Sequence[Val], likes: typing.Any = None) -> list[typing.Any]:
    """Operands of a yield: each says its type. likes: what they have to be, where the jaxpr says so."""
    operands = []
    for number, value in enumerate(values):
        if likes is not None and value.is_const and likes[number].shape:
            value = importer.broadcast(value, likes[number].shape)
        operands.append(importer.operand(value))
    return operands


@rule("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "eval_jaxpr")
def import_call(importer: Importer, equation: typing.Any, *arguments: typing.Any) -> typing.Any:
    """Inlined."""
    params = equation.params
    return importer.call(params.get("jaxpr", params.get("call_jaxpr")), arguments)


@rule("custom_jvp_call", "custom_vjp_call")
def import_custom_call(importer: Importer, equation: typing.Any, *arguments: typing.Any) -> typing.Any:
    """The function itself."""
    params = equation.params
    return importer.call(params.get("call_jaxpr", params.get("fun_jaxpr")), arguments)


@rule("custom_vmap_call")
def import_custom_vmap(importer: Importer, equation: typing.Any, *arguments: typing.Any) -> typing.Any:
    """The function itself."""
    return importer.call(equation.params["call"], arguments)


@rule("axis_index")
def import_axis_index(importer: Importer, equation: typing.Any) -> Val:
    """The index along an axis."""
    return importer.axis(equation.params["axis_name"])


@rule("axis_size")
def import_axis_size(importer: Importer, equation: typing.Any) -> Val:
    """How long an axis is."""
    return index(importer.axis_size(equation.params["axis_name"]))


@rule("program_id")
def import_program_id(importer: Importer, equation: typing.Any) -> typing.Any:
    """The index along an axis by its number; a pipeline has some of its own."""
    number = equation.params["axis"]
    if number < len(importer.program_ids) and importer.program_ids[number] is not None:
        return importer.program_ids[number]
    if number >= len(importer.program_axes):
        raise importer.unsupported(f"axis {number}: the kernel has {len(importer.program_axes)}")
    return importer.axis(importer.program_axes[number])


@rule("num_programs")
def import_num_programs(importer: Importer, equation: typing.Any) -> Val:
    """How long an axis is, by its number."""
    return index(importer.axis_size(importer.program_axes[equation.params["axis"]]))


@rule("jaxpr_call")
def import_jaxpr_call(importer: Importer, equation: typing.Any, *operands: typing.Any) -> typing.Any:
    """The body of a pallas_call in its pipeline: references that are parts, and the indices of its grid."""
    from ._views import apply
    params = equation.params
    rest, references = list(operands), []
    for tree in params["ref_treedefs"]:
        reference = tree.unflatten(rest[:tree.num_leaves])
        rest = rest[tree.num_leaves:]
        view, transforms = reference if isinstance(reference, tuple) else (reference, ())
        if isinstance(view, View) and transforms:
            # the body has a tiled one in its physical shape again
            view = apply(importer, view, transforms, in_registers=True)
        references.append(view)
    ids = params["program_ids_treedef"].unflatten(rest)
    before, importer.program_ids = importer.program_ids, list(ids)
    axes = importer.program_axes
    parallel = iter(axes)
    importer.program_axes = [next(parallel, None) if own is None else None for own in ids]
    try:
        return importer.call(params["jaxpr"], references)
    finally:
        importer.program_ids, importer.program_axes = before, axes


# ---- branches -------------------------------------------------------------------------------------------------------

@rule("cond")
def import_cond(importer: Importer, equation: typing.Any, which: typing.Any, *arguments: typing.Any) -> typing.Any:
    """A branch by number; of a bool branch 0 is that of false."""
    branches = equation.params["branches"]
    avals = [variable.aval for variable in equation.outvars]
    if which.is_const:
        return importer.call(branches[max(0, min(int(which.const), len(branches) - 1))], arguments)
    return _branch(importer, which, branches, arguments, avals, 0)


def _branch(importer: Importer, which: Val, branches: typing.Any, arguments: typing.Any, avals: typing.Any,
            first: int) -> list[typing.Any]:
    if len(branches) == 1:
        return importer.call(branches[0], arguments)
    if len(branches) == 2 and first == 0:
        truth = which.truth or (which if which.dtype == "bool" else binary(importer, "ne", which, const(0, which.dtype),
                                                                           "bool"))
        return _if(importer, truth, lambda: importer.call(branches[1], arguments),
                   lambda: importer.call(branches[0], arguments), avals, *map(_is_empty, reversed(branches)))
    here = binary(importer, "le", which, const(first, which.dtype), "bool")
    return _if(importer, here, lambda: importer.call(branches[0], arguments),
               lambda: _branch(importer, which, branches[1:], arguments, avals, first + 1), avals,
               _is_empty(branches[0]), all(map(_is_empty, branches[1:])))


def _is_empty(branch: typing.Any) -> bool:
    jaxpr = _jax.open_jaxpr(branch)[0]
    return not jaxpr.eqns and not jaxpr.outvars


def _if(importer: Importer, truth: Val, yes: typing.Any, no: typing.Any, avals: typing.Any, is_yes_empty: bool,
        is_no_empty: bool) -> list[typing.Any]:
    builder = importer.builder
    if is_yes_empty and is_no_empty:
        return []
    condition = importer.operand(truth)
    if is_yes_empty:
        condition, yes, is_no_empty = builder.op("not", condition), no, True
    with _deeper(importer):
        with builder.if_(condition) as branch:
            results = yes()
            branch.yield_(*_yielded(importer, results, avals))
        if not is_no_empty:
            with branch.else_() as other:
                other.yield_(*_yielded(importer, no(), avals))
    return [Val(result.dtype, aval.shape, value) for result, aval, value in zip(results, avals, branch.results)] \
        if avals else []


# ---- loops ----------------------------------------------------------------------------------------------------------

def _counts_up(jaxpr: typing.Any, const_count: int, carry: int) -> bool:
    """Whether a carry of a loop's body is one more in the next turn."""
    before, after = jaxpr.invars[const_count + carry], jaxpr.outvars[carry]
    for equation in jaxpr.eqns:
        if after in equation.outvars:
            one = equation.invars[1] if len(equation.invars) == 2 else None
            return equation.primitive.name == "add" and equation.invars[0] is before and \
                isinstance(one, core.Literal) and int(one.val) == 1
    return False


def _count_loop(importer: Importer, low: Val, high: Val, init: typing.Any, counter: typing.Any, body: typing.Any,
                unroll: typing.Any = 1, is_counted: typing.Any = True) -> list[typing.Any]:
    """for i in low..high, with the other carries. counter: the carry that is i, None: none.

    body(index, carries) gives all carries of the next turn. The last ones come back; is_counted: whether that of the
    counter is wanted.
    """
    builder = importer.builder
    carried = [number for number in range(len(init)) if number != counter]
    views = {number for number in carried if isinstance(init[number], View)}
    carried = [number for number in carried if number not in views]
    names = {f"c{number}_{builder_name(importer)}": importer.operand(init[number]) for number in carried}
    loop = builder.for_(importer.operand(low), importer.operand(high), carry=names or None,
                        unroll=unroll if unroll > 1 else None)
    with _deeper(importer):
        with loop as entered:
            i, *carries = entered if carried else (entered,)
            values = list(init)
            for number, value in zip(carried, carries):
                values[number] = Val(init[number].dtype, init[number].shape, value)
            here = Val("i32", (), i)
            if counter is not None:
                values[counter] = here
            after = body(here, values)
            loop.yield_(*_yielded(importer, [after[number] for number in carried],
                                  [init[number] for number in carried]))
    results = list(init)
    for number, value in zip(carried, loop.results):
        results[number] = Val(init[number].dtype, init[number].shape, value)
    if counter is not None and is_counted:
        results[counter] = binary(importer, "max", low, high, "i32")
    return results


def builder_name(importer: Importer) -> int:
    """A number that makes names of carries differ."""
    importer.carry_count += 1
    return importer.carry_count


@rule("scan")
def import_scan(importer: Importer, equation: typing.Any, *arguments: typing.Any) -> typing.Any:
    """A loop of this many turns."""
    params = equation.params
    const_count, carry_count = _series.count_scan(params)
    jaxpr = params["jaxpr"]
    if params["reverse"] or len(arguments) > const_count + carry_count or len(equation.outvars) > carry_count:
        raise importer.unsupported("a scan over arrays, or in reverse: Pallas on Mosaic GPU takes fori_loop alone")
    consts, init = list(arguments[:const_count]), list(arguments[const_count:])
    opened = _jax.open_jaxpr(jaxpr)[0]
    counter = next((number for number, value in enumerate(init) if isinstance(value, Val) and value.is_const and
                    value.dtype == "i32" and _counts_up(opened, const_count, number)), None)
    low = index(0) if counter is None else init[counter]
    high = index(low.const + params["length"])
    unroll = params["unroll"] if isinstance(params["unroll"], int) else 1
    init = [_spread(importer, value, variable.aval) for value, variable in
            zip(init, opened.invars[const_count:const_count + carry_count])]
    is_counted = counter is not None and importer.is_used(equation, counter)
    return _count_loop(importer, low, high, init, counter,
                       lambda _, values: importer.call(jaxpr, consts + values, counter), unroll, is_counted)


def _spread(importer: Importer, value: typing.Any, aval: typing.Any) -> typing.Any:
    """A constant as an array, where the loop carries one."""
    is_array = isinstance(value, Val) and bool(getattr(aval, "shape", None)) and not value.shape
    return importer.broadcast(value, aval.shape) if is_array else value


@rule("while")
def import_while(importer: Importer, equation: typing.Any, *arguments: typing.Any) -> typing.Any:
    """A counting loop where it is one, else as it stands."""
    params = equation.params
    cond_count, body_count = params["cond_nconsts"], params["body_nconsts"]
    cond_consts, body_consts = list(arguments[:cond_count]), list(arguments[cond_count:cond_count + body_count])
    init = list(arguments[cond_count + body_count:])
    cond, body = _jax.open_jaxpr(params["cond_jaxpr"])[0], _jax.open_jaxpr(params["body_jaxpr"])[0]
    counting = _find_counter(cond, body, body_count, cond_consts, init)
    if counting is not None:
        counter, high, fixed = counting
        init = [_spread(importer, value, variable.aval) for value, variable in zip(init, body.invars[body_count:])]

        def turn(_: typing.Any, values: typing.Any) -> typing.Any:
            if fixed is not None:
                values[fixed] = init[fixed]
            return importer.call(params["body_jaxpr"], body_consts + values, counter)

        is_counted = importer.is_used(equation, counter)
        if fixed is None:
            return _count_loop(importer, init[counter], high, init, counter, turn, is_counted=is_counted)
        return _count_without(importer, init, counter, fixed, turn, is_counted)
    return _plain_while(importer, params, cond_consts, body_consts,
                        [_spread(importer, value, variable.aval) for value, variable
                         in zip(init, body.invars[body_count:])])


def _count_without(importer: Importer, init: typing.Any, counter: int, fixed: int, turn: typing.Any,
                   is_counted: bool) -> list[typing.Any]:
    """A counting loop whose bound is a carry that never changes: it is no carry here."""
    kept = [number for number in range(len(init)) if number != fixed]

    def body(i: typing.Any, values: typing.Any) -> typing.Any:
        full = list(init)
        for number, value in zip(kept, values):
            full[number] = value
        after = turn(i, full)
        return [after[number] for number in kept]

    results = _count_loop(importer, init[counter], init[fixed], [init[number] for number in kept],
                          kept.index(counter), body, is_counted=is_counted)
    full = list(init)
    for number, value in zip(kept, results):
        full[number] = value
    return full


def _find_counter(cond: typing.Any, body: typing.Any, body_count: int, cond_consts: typing.Any,
                  init: typing.Any) -> typing.Any:
    """The carry i of a loop 'while i < n' with i going up, the bound, and the carry that the bound is, if it is
    one."""
    if len(cond.eqns) != 1 or cond.eqns[0].primitive.name != "lt":
        return None
    left, right = cond.eqns[0].invars
    carries = cond.invars[len(cond_consts):]
    if isinstance(left, core.Literal) or left not in carries or len(init) != len(carries):
        return None
    counter = carries.index(left)
    if getattr(init[counter], "dtype", "") != "i32" or not _counts_up(body, body_count, counter):
        return None
    if isinstance(right, core.Literal):
        return counter, index(int(right.val)), None
    if right in carries:
        number = carries.index(right)
        return (counter, init[number], number) if body.outvars[number] is body.invars[body_count + number] else None
    if right in cond.invars:
        return counter, cond_consts[cond.invars.index(right)], None
    return None


def _plain_while(importer: Importer, params: typing.Any, cond_consts: typing.Any, body_consts: typing.Any,
                 init: typing.Any) -> list[typing.Any]:
    builder = importer.builder
    if any(isinstance(value, View) for value in init):
        raise importer.unsupported("a loop carries a reference")
    names = {f"c{number}_{builder_name(importer)}": importer.operand(value) for number, value in enumerate(init)}
    is_empty = not init
    loop = builder.while_(names)
    with _deeper(importer):
        with loop as entered:
            entered = () if is_empty else entered if isinstance(entered, tuple) else (entered,)
            values = [Val(value.dtype, value.shape, own) for value, own in zip(init, entered)]
            goes_on, = importer.call(params["cond_jaxpr"], cond_consts + values)
            loop.do(importer.operand(goes_on))
            loop.yield_(*_yielded(importer, importer.call(params["body_jaxpr"], body_consts + values), init))
    return [Val(value.dtype, value.shape, own) for value, own in zip(init, loop.results)]


# ---- warps ----------------------------------------------------------------------------------------------------------

@rule("core_map", "mpmd_map")
def import_warp_mesh(importer: Importer, equation: typing.Any, *arguments: typing.Any) -> typing.Any:
    """A region of warps."""
    params = equation.params
    meshes = params.get("meshes", (params.get("mesh"),))
    jaxprs = params.get("jaxprs", (params.get("jaxpr"),))
    if len(meshes) != 1 or not isinstance(meshes[0], _jax.gpu.WarpMesh):
        raise importer.unsupported(f"inside a kernel a WarpMesh is meant, not {type(meshes[0]).__name__}")
    if importer.warps:
        raise importer.unsupported("regions of warps do not nest")
    jaxpr, consts = _jax.open_jaxpr(jaxprs[0])
    with _deeper(importer):
        with importer.builder.warp_map() as warp:
            importer.warps[meshes[0].axis_name] = Val("i32", (), warp)
            importer.walk(jaxpr, arguments, consts)
    importer.warps.clear()
    return []
