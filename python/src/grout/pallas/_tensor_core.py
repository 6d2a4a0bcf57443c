# SPDX-License-Identifier: Apache-2.0
"""The tensor core, and code that Mosaic GPU takes as it stands."""
from __future__ import annotations

import inspect
import typing

from ._rules import rule
from ._values import Val, View, dtype_of
from ._views import apply, split_leaves


def _operand(importer, operand, transforms):
    """Of a wgmma: shared memory, or an array in registers."""
    if isinstance(operand, View):
        return apply(importer, operand, transforms).ref
    return importer.operand(operand)


@rule("wgmma_ref")
def import_wgmma(importer, equation, acc, a, b, *leaves):
    """acc += a b."""
    params = equation.params
    (at_acc, at_a, at_b), _ = split_leaves(leaves, params["acc_transforms_tree"], params["a_transforms_tree"],
                                           params["b_transforms_tree"])
    name = "wgmma_async" if importer.is_wgmma_async else "wgmma"
    importer.builder.op(name, apply(importer, acc, at_acc).ref, _operand(importer, a, at_a),
                        _operand(importer, b, at_b))


@rule("wgmma_wait")
def import_wgmma_wait(importer, equation, *count):
    """Waits for groups."""
    importer.builder.op("wgmma_wait", importer.get_count(equation, count, "the number of groups"))


@rule("wgmma_accumulator_deref")
def import_acc_load(importer, equation, acc, *leaves):
    """The elements of an accumulator."""
    del leaves
    wait = equation.params.get("wait_n", 0)
    attributes = {} if wait is None else {"wait": int(wait)}
    return importer.op("acc_load", acc.dtype, acc.shape, acc.ref, **attributes)


@rule("wgmma_accumulator_store")
def import_acc_store(importer, equation, acc, value):
    """Sets an accumulator."""
    del equation
    if not value.shape:
        value = importer.broadcast(value, acc.shape)
    importer.builder.op("acc_store", acc.ref, importer.operand(value))


@rule("mma")
def import_mma(importer, equation, acc, a, b):
    """Matrix multiplication in registers."""
    return importer.op("mma", dtype_of(equation.outvars[0].aval.dtype), acc.shape, importer.operand(acc),
                       importer.operand(a), importer.operand(b))


# ---- inline_mgpu ----------------------------------------------------------------------------------------------------

# By the qualified name of the function that inline_mgpu wraps: what it means.
INLINE: typing.Dict[str, typing.Callable] = {}


def register_inline(name: str, function: typing.Callable) -> None:
    """Says what a function that plgpu.inline_mgpu wraps does: function(builder, *operands) -> values or None.

    name is module.qualname of that function; operands are grout.builder values and references. Variables that it closes
    over come as keyword arguments, those that function has parameters for.
    """
    INLINE[name] = function


def _list_closed_over(code, known) -> typing.Dict[str, object]:
    """The variables of code that known asks for by name."""
    wanted = inspect.signature(known).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in wanted.values())
    variables = inspect.getclosurevars(code).nonlocals if inspect.isfunction(code) else {}
    return {name: value for name, value in variables.items()
            if takes_all or name in wanted and wanted[name].kind is wanted[name].KEYWORD_ONLY}


def _name_of(function) -> str:
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', function)}"


@rule("inline_mgpu")
def import_inline(importer, equation, *operands):
    """Known code by its name."""
    params = equation.params
    function = params["mgpu_fn"]
    name = _name_of(function)
    known = INLINE.get(name)
    if known is None:
        raise importer.unsupported(f"inline_mgpu runs {name}, whose meaning grout does not know: say it with "
                                   "grout.pallas.register_inline")
    count = len(params["flat_arg_types"])
    trees, _ = [params["pytree_ref_transforms"]], None
    transforms = trees[0].unflatten(list(operands[count:]))
    given = [apply(importer, operand, at or ()).ref if isinstance(operand, View) else importer.operand(operand)
             for operand, at in zip(operands[:count], transforms)]
    results = known(importer.builder, *given, **_list_closed_over(function, known))
    results = () if results is None else results if isinstance(results, (tuple, list)) else (results,)
    return [Val(dtype_of(variable.aval.dtype), variable.aval.shape, result)
            for variable, result in zip(equation.outvars, results)]
