"""The fallback of NumPy functions without an operator: gather, compute, warn."""

import functools
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world as _world
from dtensor._core.caller import caller
from dtensor._core.nested import mapped
from dtensor.device_mesh import DeviceMesh
from dtensor.ops._make.composite import as_dtype, composite
from dtensor.ops._make.halves import is_bfloat16
from dtensor.ops._make.operator import implements
from dtensor.ops._make.parts import inside, move_all, place, plain
from dtensor.ops._make.strict import sent

__all__ = [
    "FallbackWarning",
    "alone",
    "composed",
    "fallback",
    "mesh_of",
    "on_mesh",
    "replicated",
    "without_gradient",
]

F = TypeVar("F", bound=Callable[..., Any])

_told: set[tuple[str, int, str, int]] = set()
_lock = threading.Lock()


class FallbackWarning(UserWarning):
    """A NumPy function had to gather its arguments on every rank."""


def fallback(
    function: Callable[..., Any],
) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Any]:
    """Return a function that implements `function` by gathering.

    Every DTensor among the arguments, also in lists, tuples and dicts, is gathered on
    all ranks, and NumPy computes there. Arrays and NumPy scalars in the result become
    replicated DTensors; Python numbers and other objects stay as they are. The first
    such call from each line of the caller warns with a `FallbackWarning`; inside
    `strict` it is an error.

    Parameters
    ----------
    function : callable
        One of NumPy's.

    Returns
    -------
    callable
        Of ``(args, kwargs)``. Collective. ``device_mesh=`` is not passed on:
        with ``like=`` it gives the mesh of the result.
    """
    name = _name_of(function)

    def answer(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        kwargs = dict(kwargs)
        mesh = kwargs.pop("device_mesh", None)
        tensors = list({id(x): x for x in _tensors((args, kwargs))}.values())
        if not tensors and mesh is None:
            return alone(function, args, kwargs)
        mesh = tensors[0].device_mesh if mesh is None else mesh
        arrays = _gathered(name, [x.detach() for x in tensors])
        found = {id(x): array for x, array in zip(tensors, arrays, strict=True)}
        bare, named = mapped((args, kwargs), _C.DTensor, lambda x: found[id(x)])
        result = function(*bare, **named)
        kinds = (np.ndarray, np.generic)
        before = _C.begin_call(name, args, kwargs)
        try:
            result = mapped(result, kinds, lambda array: replicated(array, mesh))
        finally:
            _C.end_call(before)
        return without_gradient(name, (args, kwargs), result)

    return answer


def _array(x: _C.Tensor) -> npt.NDArray[Any]:
    return np.asarray(x.detach())


def alone(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Call a NumPy function on Tensors of this rank; return arrays as Tensors.

    Arguments that it writes to are changed in place. It has no gradient.
    """
    bare, named = mapped((args, dict(kwargs)), _C.Tensor, _array)
    result = mapped(function(*bare, **named), np.ndarray, _C.as_tensor)
    return without_gradient(_name_of(function), (args, kwargs), result)


def composed(
    *functions: Callable[..., Any], gradient: bool = True, orders: bool = False
) -> Callable[[F], F]:
    """Register a function as the implementation of NumPy's for calls with a DTensor.

    Other calls go to the first of the NumPy functions. Otherwise as `composite`.

    Parameters
    ----------
    *functions : callable
        NumPy's.
    gradient : bool, default True
        Whether the function is composed of operators, so that it has a gradient. A
        Tensor that requires one is then treated as a DTensor on a mesh of this rank
        alone. If False, backward through the results raises `NotImplementedError`.
    orders : bool, default False
        Whether it puts elements in order. Those of bfloat16 are then float32 on the
        way, as NumPy has no place for NaN among them.
    """

    def register(answer: F) -> F:
        spread = composite(answer)
        name = _name_of(functions[0])

        def here(*args: Any, **kwargs: Any) -> Any:
            return alone(functions[0], args, kwargs)

        @functools.wraps(answer)
        def either(*args: Any, **kwargs: Any) -> Any:
            given = (args, kwargs)
            recorded = _recorded(given)
            if next(_tensors(given), None) is None:
                if recorded and gradient:
                    return _on_one_rank(spread, args, kwargs)
                return _C.composed(here, args, kwargs)
            result = spread(*args, **kwargs)
            return result if gradient else without_gradient(name, given, result)

        return cast(F, implements(*functions)(_ordering(either) if orders else either))

    return register


def _ordering(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that sees arrays of bfloat16 as float32, which has all their
    values; if there are no others, so does the caller see what it returns."""
    kinds = (_C.Tensor, np.ndarray)

    def wide(x: Any) -> Any:
        return as_dtype(x, np.float32) if is_bfloat16(x.dtype) else x

    @functools.wraps(function)
    def answer(*args: Any, **kwargs: Any) -> Any:
        given: list[Any] = []
        mapped((args, kwargs), kinds, lambda x: given.append(x.dtype))
        narrow = [dtype for dtype in given if is_bfloat16(dtype)]
        if not narrow:
            return function(*args, **kwargs)
        args, kwargs = mapped((args, kwargs), kinds, wide)
        found = function(*args, **kwargs)
        if len(narrow) < len(given):
            return found
        return mapped(
            found,
            _C.Tensor,
            lambda y: as_dtype(y, narrow[0]) if y.dtype == np.float32 else y,
        )

    return answer


def _on_one_rank(
    answer: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Call a function of DTensors on Tensors of this rank."""
    world = _world.current()
    ranks = np.array([world.rank])
    mesh = DeviceMesh._make("cpu", (1,), ranks, None, world.number)
    whole = [_C.Replicate()]
    args, kwargs = mapped(
        (args, dict(kwargs)), _C.Tensor, lambda x: _C.DTensor.from_local(x, mesh, whole)
    )
    return mapped(answer(*args, **kwargs), _C.DTensor, lambda y: y.to_local())


# --- what has no gradient -------------------------------------------------------------


def _recorded(value: Any) -> tuple[_C.Tensor, ...]:
    """Return the tensors that require a gradient, if operators are being recorded."""
    if not _C.is_grad_enabled():
        return ()
    found: list[_C.Tensor] = []
    mapped(value, _C.Tensor, lambda x: found.append(x) if x.requires_grad else None)
    return tuple(found)


def without_gradient(name: str, arguments: Any, result: Any) -> Any:
    """Return the result so that backward from it to the arguments raises.

    Parameters
    ----------
    name : str
        Of the function, for the message.
    arguments, result : object
        Tensors, also in lists, tuples and dicts.
    """
    inputs = _recorded(arguments)
    outputs: list[_C.Tensor] = []
    if inputs:
        mapped(result, _C.Tensor, lambda y: outputs.append(y))

    def back(*grads: Any) -> Any:
        raise NotImplementedError(f"derivative for {name} is not implemented")

    if outputs:
        _C.record_function(name, back, inputs, tuple(outputs))
    return result


def _name_of(function: Callable[..., Any]) -> str:
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module}.{getattr(function, '__name__', function)}"


def _gathered(name: str, tensors: list[_C.DTensor]) -> list[npt.NDArray[Any]]:
    """Return the whole arrays, moved together; one warning for each calling line."""
    if not tensors:
        return []
    whole = [x.layout.with_placements(None) for x in tensors]
    moved = move_all(name, tensors, whole)
    pairs = zip(tensors, whole, strict=True)
    if any(x.layout != to for x, to in pairs):
        _tell(name, [x.layout for x in tensors], whole)
    if inside(tensors[0].layout):
        return [np.asarray(x) for x in moved]
    # A rank outside the mesh has no data: it computes with a dummy of the same shape.
    return [np.broadcast_to(np.ones((), x.dtype), x.shape) for x in tensors]


# What becomes of the gathered arrays.
_RESULT = "and the result is replicated"
_FILES = "and each rank writes its open file; given a path, they write one file"
_WRITERS = ("numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt")


def _tell(name: str, before: list[_C.Layout], after: list[_C.Layout]) -> None:
    file, line, level = caller()
    key = file, line, name, hash(before[0].mesh)
    total = 0 if key in _told else sum(map(sent, before, after))
    with _lock:
        known = key in _told
        if total:
            _told.add(key)
    if total and not known:
        warnings.warn(
            f"{name} has no rule for DTensors: its arguments were gathered on every "
            f"rank ({total} bytes sent) {_FILES if name in _WRITERS else _RESULT}",
            FallbackWarning,
            stacklevel=level,
        )


def mesh_of(value: Any) -> _C.Mesh:
    """Return the mesh of the first DTensor of some arguments."""
    return next(_tensors(value)).device_mesh


def _tensors(value: Any) -> Iterator[_C.DTensor]:
    """Yield every DTensor, also those in lists, tuples and dicts."""
    if isinstance(value, _C.DTensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


def on_mesh(x: Any, mesh: _C.Mesh) -> Any:
    """Return a DTensor as it is, and a value equal on all ranks as a replicated one."""
    return x if isinstance(x, _C.DTensor) else replicated(plain("dtensor", x), mesh)


def replicated(array: npt.NDArray[Any] | np.generic, mesh: _C.Mesh) -> Any:
    """Return a value equal on all ranks as a DTensor; objects and strings unchanged."""
    if array.dtype.kind not in "biufcV":
        return array
    return place(np.asarray(array), _C.Layout(mesh, None, array.shape, array.dtype))
