# SPDX-License-Identifier: Apache-2.0
"""The importer: walks the jaxpr of one kernel and builds the same in grout."""
from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import math
import typing

import numpy

from .._diagnostics import KernelError
from .._kernel import Kernel, Module
from ..builder import Builder
from ..builder._operations import TABLE
from . import _jax, _series
from ._errors import UnsupportedError
from ._inline import writes_tensor_fence
from ._memory import load, store
from ._names import Names, find_kernel_name, find_parameter_names, find_place
from ._objects import describe, logical_shape, make_scratch
from ._rules import REFUSED, RULES
from ._semaphores import declare_param
from ._values import Cell, Val, View, const, dims_of_scalar, dtype_of, index, is_float, lay_out, splat_of

core = _jax.core
FRAMES_MAX = 16
NO_AUTO_BARRIERS = ("unsafe_no_auto_barriers=True takes away the barriers between the lanes of a warpgroup; what lanes "
                    "do to each other is not looked at")


@dataclasses.dataclass(frozen=True)
class Options:
    """How kernels are read.

    wgmma: 'lowered' as JAX lowers plgpu.wgmma, which waits for nothing; 'documented' as its page has it, which waits
    for the ones before.
    """

    wgmma: str = "lowered"

    def __post_init__(self) -> None:
        if self.wgmma not in ("lowered", "documented"):
            raise ValueError(f"wgmma={self.wgmma!r}: it is 'lowered' or 'documented'")


@dataclasses.dataclass(frozen=True)
class Source:
    """A kernel as JAX has it: a body on references, and the mesh that it runs on.

    aliases: by number of an input, the output that lies in it. input_count: how many of the body's references are
    inputs; the others are outputs. local: those that are objects in shared memory, each with the transforms that lead
    from its physical shape to the logical one. After the outputs they are scratch; an input is brought there before
    the body runs, and an output goes out after it.
    """

    name: str
    jaxpr: typing.Any
    consts: typing.Sequence[typing.Any]
    input_count: int
    aliases: typing.Mapping[int, int]
    grid: typing.Sequence[tuple[object, int]]
    cluster: typing.Sequence[tuple[object, int]]
    threads: tuple[object, int] | None
    approx_math: bool
    auto_barriers: bool
    skips_floats: bool
    raises_races: bool  # a call that has one is an exception
    frames: typing.Sequence[typing.Any]
    local: typing.Mapping[int, typing.Sequence[typing.Any]] = dataclasses.field(default_factory=dict)
    scratch_count: int = 0


@dataclasses.dataclass(frozen=True)
class Imported:
    """What came of a kernel. inputs and outputs: the names of the parameters, in the order of JAX'.

    aliases: as Source has them. changed: numbers of inputs that the kernel writes. notes: what the reader may want to
    know, with how often.
    """

    module: Module
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    aliases: typing.Mapping[int, int]
    changed: frozenset[int]
    notes: dict[str, int]
    raises_races: bool = False
    semaphores: frozenset[int] = frozenset()  # numbers of inputs that are semaphores
    gaps: tuple[str, ...] = ()  # what the checker does not see: no verdict of the kernel is 'clean'

    @property
    def kernel(self) -> Kernel:
        """The grout.Kernel."""
        return self.module[self.name]

    @property
    def text(self) -> str:
        """The .grout text, with the notes in front."""
        notes = "".join(f"// {note}{f' ({count} times)' if count > 1 else ''}\n" for note, count in self.notes.items())
        return notes + str(self.module)


class Importer:
    """Imports one kernel."""

    def __init__(self, source: Source, options: Options) -> None:
        self.source, self.options = source, options
        self.builder = Builder(source.name, checks=False, surface="pallas")
        self.names = Names()
        self.notes: typing.Counter[str] = collections.Counter()
        self.env: dict[object, object] = {}
        self.axes: dict[object, tuple[str, int]] = {}  # by JAX' name: grout's, and the size
        self.warps: dict[object, Val] = {}  # indices of warps by the name of their axis
        self.program_ids: list[Val | None] = []
        self.program_axes: list[object] = []
        self.is_blackwell = needs_blackwell(source.jaxpr)
        self.gaps: list[str] = [] if source.auto_barriers else [NO_AUTO_BARRIERS]
        self.depth = 0  # of regions
        self.where: tuple[typing.Any, ...] = tuple(source.frames)[:FRAMES_MAX]
        self.is_within_call = False  # what is built is made inside of what the line of where calls
        self.home = find_place(source.jaxpr)  # of the kernel
        self.current = ""  # the primitive that is being imported
        self.carry_count = 0
        self.copied_to: set[int] = set()  # barriers, by View.number, that a copy by TMA arrives on
        self._barrier_count = 0
        self._scopes_here = 0
        self._users: dict[object, set[str]] = {}  # of the jaxpr that is walked

    # ---- errors and places ------------------------------------------------------------------------------------------

    def unsupported(self, why: str) -> UnsupportedError:
        """To be raised: the equation at hand cannot be imported."""
        return UnsupportedError(why, self.current, self.where or self.home)

    def note(self, text: str) -> None:
        """Something that the reader of the report may want to know."""
        self.notes[text] += 1

    @contextlib.contextmanager
    def _at(self, equation: typing.Any) -> typing.Iterator[None]:
        outer, name, was_within_call = self.where, self.current, self.is_within_call
        frames = tuple(_jax.list_frames(equation))
        if frames:
            known = len(frames) >= len(outer) and frames[len(frames) - len(outer):] == outer
            self.where = (frames if known else frames + outer)[:FRAMES_MAX]
        self.current = _series.name_of(equation.primitive)
        self.is_within_call = _jax.is_of_pipeline(equation) or (was_within_call and not frames)
        try:
            with self.builder.at(*self._places()):
                yield
        finally:
            self.where, self.current, self.is_within_call = outer, name, was_within_call

    def _places(self) -> tuple[typing.Any, ...]:
        """Where what is built comes from, the innermost frame first."""
        places = tuple(self.where or self.home)
        if not self.is_within_call or not places:
            return places
        return ((*places[0], 0, 0)[:4] + (True,), *places[1:])

    # ---- walking ----------------------------------------------------------------------------------------------------

    def read(self, atom: typing.Any) -> typing.Any:
        """What represents a variable or a literal."""
        return self.make_const(atom.val, atom.aval) if isinstance(atom, core.Literal) else self.env[atom]

    def make_const(self, value: typing.Any, aval: typing.Any = None) -> typing.Any:
        """A constant of the jaxpr."""
        if isinstance(value, (Val, View, Cell)):
            return value
        array = numpy.asarray(value)
        dtype = dtype_of(aval.dtype if aval is not None and hasattr(aval, "dtype") else array.dtype)
        element = splat_of(array)
        if element is None:
            raise self.unsupported("the kernel has an array constant; pass it as an input")
        scalar = const(element, dtype)
        return self.broadcast(scalar, array.shape) if array.ndim else scalar

    def walk(self, jaxpr: typing.Any, arguments: typing.Any, consts: typing.Any = (),
             dropped: int | None = None) -> list[typing.Any]:
        """Imports a jaxpr: what represents its results. dropped: one that is not computed; None takes its place."""
        for variable, value in zip(jaxpr.constvars, consts):
            self.env[variable] = self.make_const(value, variable.aval)
        self.env.update(zip(_series.list_inputs(jaxpr)[len(consts):], arguments))
        jaxpr = _jax.drop_dead(jaxpr, dropped)
        outer_users, self._users = self._users, _list_users(jaxpr)
        outer, scopes = self._scopes_here, sum(_opens_scope(equation) for equation in jaxpr.eqns)
        for equation in jaxpr.eqns:
            self._scopes_here = max(scopes, outer) if self.depth == 0 else scopes
            self._import(equation)
        self._scopes_here, self._users = outer, outer_users
        results = [self.read(variable) for variable in jaxpr.outvars]
        return results if dropped is None else [*results[:dropped], None, *results[dropped:]]

    def call(self, jaxpr: typing.Any, arguments: typing.Any, dropped: int | None = None) -> list[typing.Any]:
        """Imports a closed jaxpr, or one without constants."""
        opened, consts = _jax.open_jaxpr(jaxpr)
        return self.walk(opened, arguments, consts, dropped)

    def _import(self, equation: typing.Any) -> None:
        name = _series.name_of(equation.primitive)
        with self._at(equation):
            if self.source.skips_floats and _makes_floats_alone(equation):
                self.env.update((variable, self._skipped(variable.aval)) for variable in equation.outvars)
                return
            function = RULES.get(name)
            if function is None:
                raise self.unsupported(REFUSED.get(name, "there is no counterpart of this primitive"))
            if _is_truth_of_branch(equation, self._users):  # no number is made for a condition
                truth = self.read(equation.invars[0])
                self.env[equation.outvars[0]] = Val("i32", (), truth.built, truth.const, truth)
                return
            try:
                result = function(self, equation, *map(self.read, equation.invars))
            except UnsupportedError as error:
                if error.frames:
                    raise
                raise self.unsupported(error.message) from None
            except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise self.unsupported(f"the importer does not get on with it ({type(error).__name__}: {error}); it "
                                       f"is JAX {_series.VERSION}; {_series.SAY_TESTED}") from error
        results = [] if result is None else result if isinstance(result, list) else [result]
        if self.source.skips_floats:
            results = [self._skipped(variable.aval) if isinstance(value, Val) and is_float(value.dtype) else value
                       for variable, value in zip(equation.outvars, results)]
        self.env.update(zip(equation.outvars, results))

    def _skipped(self, aval: typing.Any) -> Val:
        """What JAX' interpreter has for every float with skip_floating_point_ops=True."""
        value = const(numpy.inf, dtype_of(aval.dtype))
        return self.broadcast(value, aval.shape) if aval.shape else value

    def is_last_scope(self, equation: typing.Any) -> bool:
        """Whether a scope is the only one that its jaxpr opens: then its objects live as long as the kernel."""
        return self._scopes_here == 1 and equation.primitive.name == "run_scoped"

    def is_used(self, equation: typing.Any, number: int = 0) -> bool:
        """Whether something uses a result of an equation of the jaxpr that is walked."""
        return bool(self._users.get(equation.outvars[number]))

    # ---- values -----------------------------------------------------------------------------------------------------

    def operand(self, value: Val, beside: Val | None = None) -> typing.Any:
        """For the builder. beside: an operand that gives a constant its type."""
        if not value.is_const:
            return value.built
        takes_type = beside is not None and not beside.is_const and beside.dtype == value.dtype and \
            (not is_float(value.dtype) or math.isfinite(value.const))  # the others are written with their type
        if takes_type or value.dtype in ("i32", "f32", "bool"):
            return value.const
        return self.builder.typed(value.const, value.dtype)

    def op(self, name: str, result: str, dims: typing.Any, /, *operands: typing.Any, **attributes: typing.Any) -> Val:
        """An operation whose result has elements of this type in these dimensions. dtype= and shape= are for those
        operations that are written with their type."""
        return Val(result, dims, self.builder.op(name, *operands, **attributes))

    def broadcast(self, value: Val, shape: typing.Any, dim: int | None = None) -> Val:
        """A scalar everywhere, or an array from a dimension on."""
        attributes = {} if dim is None else {"dim": dim}
        return self.op("broadcast", value.dtype, shape, self.operand(value), dtype=value.dtype, shape=shape,
                       **attributes)

    def get_static(self, value: Val, what: str) -> int:
        """A number that has to be known now."""
        if not isinstance(value, Val) or not value.is_const:
            raise self.unsupported(f"{what} is known when the kernel runs alone; here it has to be a constant")
        return int(value.const)

    def get_count(self, equation: typing.Any, operands: typing.Any, what: str) -> int:
        """The number n of an equation."""
        number = _series.find_number(equation, operands)
        return number if isinstance(number, int) else self.get_static(number, what)

    def axis(self, name: typing.Any) -> Val:
        """The index along an axis, or along several as one."""
        if isinstance(name, (tuple, list)):
            result: Val | None = None
            for part in name:
                place = self.axis(part)
                result = place if result is None else self.arith("add", self.arith(
                    "mul", result, index(self.axis_size(part))), place)
            return result if result is not None else index(0)
        if name in self.warps:
            return self.warps[name]
        if name not in self.axes:
            raise self.unsupported(f"{name!r} is not an axis of the kernel: it has "
                                   f"{', '.join(map(str, self.axes)) or 'none'}. An axis of several devices has no "
                                   "counterpart")
        own, size = self.axes[name]
        return index(0) if size == 1 else self.op("axis_index", "i32", (), own)

    def axis_size(self, name: typing.Any) -> int:
        """How long an axis of the kernel is."""
        if name in self.warps:
            return 4
        if name not in self.axes:
            raise self.unsupported(f"{name!r} is not an axis of the kernel")
        return self.axes[name][1]

    @functools.cached_property
    def fences_tensor_core(self) -> bool:
        """Whether code of inline_mgpu has a tcgen05.fence: then the kernel orders the tensor core by hand, and barriers
        that are not declared to do so may do it."""
        return any(writes_tensor_fence(equation) for equation in _walk_equations(self.source.jaxpr)
                   if _series.name_of(equation.primitive) == "inline_mgpu")

    def count_barrier(self) -> int:
        """The number of a barrier that is being declared."""
        self._barrier_count += 1
        return self._barrier_count - 1

    def find_block(self, dimension: int) -> tuple[Val, int]:
        """The id of a CTA along x (0), y (1) or z (2), and the size of the grid: the last axis is x, the one before it
        y, and all others make z. The CTAs of a cluster are neighbours."""
        def fold(named: typing.Any) -> typing.Any:
            axes = [name for name, _ in named][::-1]
            chosen = axes[dimension:dimension + 1] if dimension < 2 else axes[:1:-1]
            sizes = dict(named)
            return self.axis(chosen), math.prod(sizes[name] for name in chosen)

        (own, size), (place, width) = fold(self.source.grid), fold(self.source.cluster)
        return self.arith("add", self.arith("mul", own, index(width)), place), size * width

    def get_axis_name(self, name: typing.Any) -> str:
        """What an axis is called in grout."""
        if name not in self.axes:
            raise self.unsupported(f"{name!r} is not an axis of the kernel")
        return self.axes[name][0]

    def arith(self, name: str, a: Val, b: Val) -> Val:
        """An operation of the importer's own on two i32: folded where it can be."""
        return RULES[name](self, None, a, b)

    # ---- the kernel -------------------------------------------------------------------------------------------------

    def _declare_axes(self, named: typing.Any) -> dict[str, int]:
        declared = {}
        for name, size in named:
            own = self.names.take_axis(name if isinstance(name, str) else "axis")
            self.axes[name] = (own, int(size))
            declared[own] = int(size)
        return declared

    def _declare_params(self) -> tuple[list[View], list[str], list[str]]:
        source = self.source
        names = find_parameter_names(source.jaxpr, source.input_count)
        changed = self.list_changed()
        written = {output: number for number, output in source.aliases.items()}
        views: list[View] = []
        inputs: list[str] = []
        outputs: list[str] = []
        for number, variable in enumerate(source.jaxpr.invars[:len(source.jaxpr.invars) - source.scratch_count]):
            output = number - source.input_count
            if output in written:  # it lies in its input
                views.append(views[written[output]])
                outputs.append(inputs[written[output]])
                continue
            aval = getattr(variable.aval, "inner_aval", variable.aval)
            if number in source.local:
                aval = aval.update(shape=logical_shape(self, aval.shape, source.local[number]))
            if _series.is_semaphore(aval.dtype):
                name = self.names.take(names[number])
                inputs.append(name)
                views.append(declare_param(self, name, aval.shape))
                continue
            direction = "out" if output >= 0 else "inout" if number in changed else "in"
            name = self.names.take(names[number])
            (outputs if output >= 0 else inputs).append(name)
            views.append(self._declare_param(name, direction, aval))
        return views, inputs, outputs

    def list_changed(self) -> frozenset[int]:
        """Numbers of the inputs that hold something else in the end: an output lies there, or the kernel writes
        them."""
        written = _jax.list_written(self.source.jaxpr)
        inputs = self.source.jaxpr.invars[:self.source.input_count]
        return frozenset(number for number, variable in enumerate(inputs)
                         if variable in written or number in self.source.aliases) | self.list_semaphores()

    def list_semaphores(self) -> frozenset[int]:
        """Numbers of the inputs that are semaphores from outside."""
        avals = [getattr(variable.aval, "inner_aval", variable.aval)
                 for variable in self.source.jaxpr.invars[:self.source.input_count]]
        return frozenset(number for number, aval in enumerate(avals) if _series.is_semaphore(aval.dtype))

    def _declare_param(self, name: str, direction: str, aval: typing.Any) -> View:
        if 0 in aval.shape:
            raise UnsupportedError(f"%{name} has no elements", frames=self.home or self.where)
        dtype, shape, word = lay_out(aval.dtype, aval.shape)
        if word > 1 and direction != "in":
            raise UnsupportedError(f"%{name} is written, and its elements have less than 4 bits",
                                   frames=self.home or self.where)
        ref = self.builder.array(name, direction, dtype, *(shape or dims_of_scalar(dtype)))
        return View("gmem", ref, shape, dtype, padded=not shape, word=word)

    def _enter(self, params: typing.Sequence[View]) -> list[View]:
        """What the body's references are: parameters, or objects in shared memory, where inputs are brought."""
        local = self.source.local
        views: list[typing.Any] = [*params, *[None] * self.source.scratch_count]  # those without a view get one
        declared = [describe(self, self.source.jaxpr.invars[number].aval, undo, f"local{number}")
                    for number, undo in local.items()]
        for number, view in zip(local, make_scratch(self, declared)):
            views[number] = view
            if number < self.source.input_count:
                store(self, view, load(self, params[number], view.dtype))
        return views

    def _leave(self, params: typing.Sequence[View], views: typing.Sequence[View]) -> None:
        """Outputs in shared memory go out."""
        for number in self.source.local:
            if self.source.input_count <= number < len(params):
                store(self, params[number], load(self, views[number], params[number].dtype))

    def run(self) -> Imported:
        """Imports the kernel."""
        source, builder = self.source, self.builder
        name = self.names.take(find_kernel_name(source.name, source.jaxpr))
        with builder.at(*self.home or self.where):
            grid = self._declare_axes(source.grid)
            cluster = self._declare_axes(source.cluster)
            threads = self._declare_axes([source.threads] if source.threads else [])
            self.program_axes = [axis for axis, _ in (*source.grid, *source.cluster)]
            self.program_axes += [source.threads[0]] if source.threads else []
            with builder.kernel(name, grid, cluster, threads, arch="sm_100a" if self.is_blackwell else None,
                                cluster_exit="sync" if _shares_tmem(source.jaxpr) else None):
                params, inputs, outputs = self._declare_params()
                views = self._enter(params)
                self.walk(source.jaxpr, views, source.consts)
                self._leave(params, views)
        if any(equation.primitive.name == "wgmma_ref" for equation in _walk_equations(source.jaxpr)):
            how = "lowers it: it waits for nothing"
            if not self.is_wgmma_async:
                how = "documents it: it waits for the ones before"
            self.note(f"plgpu.wgmma is read as JAX {how}")
        return Imported(self._finish(), name, tuple(inputs), tuple(outputs), source.aliases, self.list_changed(),
                        dict(self.notes), source.raises_races, self.list_semaphores(), tuple(self.gaps))

    @property
    def is_wgmma_async(self) -> bool:
        """Whether plgpu.wgmma waits for nothing."""
        return self.options.wgmma == "lowered"

    def _finish(self) -> Module:
        try:
            module = self.builder.finish()
            module.unsaid = frozenset({"unused-result"})  # what JAX traces and nothing uses is nobody's mistake
            return module
        except KernelError as error:
            raise UnsupportedError(f"grout does not take what came of @{self.source.name}:\n{error}") from error


def _opens_scope(equation: typing.Any) -> bool:
    """Whether an equation outside of loops and branches allocates."""
    if equation.primitive.name in ("run_scoped", "run_state"):
        return True
    return equation.primitive.name in ("jit", "pjit", "closed_call") and any(
        _opens_scope(inner) for jaxpr in core.jaxprs_in_params(equation.params)
        for inner in _jax.open_jaxpr(jaxpr)[0].eqns)


def _list_users(jaxpr: typing.Any) -> dict[object, set[str]]:
    """By variable the primitives that use it; '' means a result of the jaxpr."""
    users: dict[object, set[str]] = collections.defaultdict(set)
    for equation in jaxpr.eqns:
        for number, variable in enumerate(equation.invars):
            if isinstance(variable, core.Var):
                users[variable].add(f"{equation.primitive.name} {number}")
    for variable in jaxpr.outvars:
        if isinstance(variable, core.Var):
            users[variable].add("")
    return users


def _makes_floats_alone(equation: typing.Any) -> bool:
    """Whether its results are floats, and it does nothing else."""
    return bool(equation.outvars) and not equation.effects and not list(core.jaxprs_in_params(equation.params)) and \
        all(getattr(variable.aval, "dtype", None) is not None and not hasattr(variable.aval, "inner_aval") and
            numpy.dtype(variable.aval.dtype).kind in "fV" for variable in equation.outvars)


def _is_truth_of_branch(equation: typing.Any, users: typing.Any) -> bool:
    """Whether it casts a bool for a 'cond' alone."""
    if equation.primitive.name != "convert_element_type" or isinstance(equation.invars[0], core.Literal):
        return False
    aval = equation.invars[0].aval
    return getattr(aval, "dtype", None) == numpy.bool_ and not aval.shape and users[equation.outvars[0]] == {"cond 0"}


def _walk_equations(jaxpr: typing.Any) -> typing.Iterator[typing.Any]:
    for equation in jaxpr.eqns:
        yield equation
        for inner in core.jaxprs_in_params(equation.params):
            yield from _walk_equations(_jax.open_jaxpr(inner)[0])


def _names_rows(equation: typing.Any) -> bool:
    """Whether a copy by TMA has an array among its indices."""
    return equation.primitive.name in ("copy_gmem_to_smem", "copy_smem_to_gmem") and any(
        not hasattr(operand.aval, "inner_aval") and getattr(operand.aval, "shape", ()) for operand in equation.invars)


def _list_tmem(equation: typing.Any) -> list[typing.Any]:
    """What an equation allocates in tensor memory."""
    if equation.primitive.name != "run_scoped":
        return []
    jaxpr = _jax.open_jaxpr(equation.params["jaxpr"])[0]
    return [variable.aval for variable in _series.list_allocated(jaxpr, len(equation.invars))[0]
            if "tmem" in str(getattr(variable.aval, "memory_space", "")).lower()]


def _shares_tmem(jaxpr: typing.Any) -> bool:
    """Whether the CTAs of pairs have tensor memory together: JAX' kernels meet at the end then."""
    return any(aval.collective for equation in _walk_equations(jaxpr) for aval in _list_tmem(equation))


def _is_of_blackwell(equation: typing.Any) -> bool:
    """Whether the operation of a primitive is of Blackwell; they have one name, but for loads of tensor memory."""
    name = _series.name_of(equation.primitive)
    operation = TABLE.get("async_load_tmem" if name == "async_load" else name)
    return operation is not None and operation.is_of_blackwell


def needs_blackwell(jaxpr: typing.Any) -> bool:
    """Whether a kernel has something that no other hardware has."""
    return any(_is_of_blackwell(equation) or _names_rows(equation) or _list_tmem(equation) or
               equation.params.get("leader_tracked") is not None for equation in _walk_equations(jaxpr))


def import_kernel(source: Source, options: Options) -> Imported:
    """A kernel of JAX as one of grout. Raises UnsupportedError."""
    importer = Importer(source, options)
    if importer.is_blackwell and \
            importer.fences_tensor_core:  # which barriers copies arrive on is seen by reading it once
        scout = Importer(source, options)
        with contextlib.suppress(UnsupportedError):
            scout.run()
        importer.copied_to |= scout.copied_to
    return importer.run()
