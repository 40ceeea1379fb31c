"""local_map: a function of one rank's tensors, applied to DTensors."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core import world
from dtensor._core.nested import leaves, with_leaves
from dtensor.device_mesh import DeviceMesh
from dtensor.ops._make.composite import within
from dtensor.placement_types import Placement

__all__ = ["local_map"]

PlacementType = Sequence[Placement] | None
InputPlacements = Sequence[PlacementType] | None
OutputPlacements = PlacementType | tuple[PlacementType, ...]


def local_map(
    func: Callable[..., Any] | None = None,
    out_placements: OutputPlacements = None,
    in_placements: InputPlacements = None,
    in_grad_placements: InputPlacements = None,
    device_mesh: DeviceMesh | None = None,
    *,
    redistribute_inputs: bool = False,
) -> Any:
    """Apply a function of this rank's tensors to DTensors.

    The function gets this rank's part of each DTensor among the arguments, also inside
    lists, tuples and dicts; what it returns becomes DTensors again. The call is
    collective over the mesh: if the function communicates
    (`dtensor.functional_collectives`), and in making each output a DTensor, where the
    ranks agree on the global shape, the sum of their sizes. Without a DTensor among the
    arguments the function is called directly.

    Parameters
    ----------
    func : callable, optional
        The function. Without it a decorator is returned.
    out_placements : placements, or tuple of (placements or None)
        The placements of the output, or of each of several, flattened. None for an
        output that is not a tensor.
    in_placements : sequence of (placements or None), optional
        The required placements of each flattened argument: one entry for every
        argument, with None for those that are not tensors, or one entry for each tensor
        or array only. Tensors and arrays are passed unchanged. Default: no check.
    in_grad_placements : sequence of (placements or None), optional
        The placements of the gradients of the parts; see `DTensor.to_local`. The
        entries are like those of `in_placements`. Default: those of the argument, with
        Replicate instead of Partial.
    device_mesh : DeviceMesh, optional
        The mesh of the DTensors; default: that of the first one.
    redistribute_inputs : bool, default False
        Whether a DTensor with other placements than required is redistributed; if not,
        it is an error.

    Returns
    -------
    callable
        The function of DTensors. Keyword arguments are passed unchanged.

    Raises
    ------
    AssertionError
        When the result is called: for more or fewer placements than arguments or
        outputs; None for a tensor, or placements for anything else; a DTensor on
        another mesh; or a DTensor that `func` returns.
    ValueError
        When the result is called: if a DTensor has other placements than required and
        `redistribute_inputs` is False, or the outputs of the ranks do not match.

    If one rank raises once the call of `func` has begun, the other ranks raise as well,
    when they make DTensors of the outputs.

    Examples
    --------
    >>> from dtensor import Replicate, Shard, distribute_tensor, init_device_mesh
    >>> from dtensor.functional_collectives import all_reduce
    >>> mesh = init_device_mesh("cpu", (1,))
    >>> @local_map(
    ...     out_placements=[Replicate()], in_placements=([Shard(1)], [Shard(0)])
    ... )
    ... def product(a, b):
    ...     return all_reduce(a @ b, "sum", mesh)
    >>> a = distribute_tensor(np.ones((2, 4)), mesh, [Shard(1)])
    >>> b = distribute_tensor(np.ones((4, 3)), mesh, [Shard(0)])
    >>> product(a, b).shape
    (2, 3)
    """
    options = (out_placements, in_placements, in_grad_placements, device_mesh)
    if func is None:
        return lambda function: local_map(
            function, *options, redistribute_inputs=redistribute_inputs
        )
    call = _LocalMap(func, *options, redistribute_inputs)

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        return call(args, kwargs)

    return mapped


_NUMBERS = int, float, complex, str, np.generic


class _LocalMap:
    def __init__(
        self,
        func: Callable[..., Any],
        out_placements: OutputPlacements,
        in_placements: InputPlacements,
        in_grad_placements: InputPlacements,
        device_mesh: DeviceMesh | None,
        redistribute_inputs: bool,
    ) -> None:
        self.func = func
        several = isinstance(out_placements, tuple) and not all(
            isinstance(p, Placement) for p in out_placements
        )
        self.out: Sequence[Any] = (
            tuple(out_placements or ()) if several else (out_placements,)
        )
        self.wanted, self.wanted_grads = in_placements, in_grad_placements
        self.mesh = device_mesh
        self.redistribute = redistribute_inputs

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        flat = leaves(args)
        wanted = _for_each(self.wanted, flat, "in_placements")
        grads = _for_each(self.wanted_grads, flat, "in_grad_placements")
        first = next((x for x in flat if isinstance(x, _C.DTensor)), None)
        mesh = self.mesh if first is None or self.mesh else first.device_mesh
        if mesh is None or first is None:
            for x, spec in zip(flat, wanted, strict=True):
                _check_no_tensor(x, spec, self.wanted)
            return self.func(*args, **kwargs)
        local = [
            self._part(x, mesh, spec, grad)
            for x, spec, grad in zip(flat, wanted, grads, strict=True)
        ]
        try:
            out = self.func(*with_leaves(args, local), **kwargs)
            self._check_outputs(leaves(out))
        except Exception as error:
            # Ranks that are making DTensors of outputs receive the error there.
            if mesh.get_coordinate() is not None and any(self.out):
                world.current().agree(b"", "local_map", error, mesh)
            raise
        pairs = zip(leaves(out), self.out, strict=True)
        operands = [x for x in flat if isinstance(x, _C.DTensor)]
        plain = [*flat, *leaves([kwargs[name] for name in sorted(kwargs)])]
        numbers = [x for x in plain if isinstance(x, _NUMBERS)]
        with within("local_map", _identity(self.func), *operands, *numbers):
            made = [
                x if spec is None else _C.DTensor.from_local(x, mesh, spec)
                for x, spec in pairs
            ]
        return with_leaves(out, made)

    def _part(self, x: Any, mesh: DeviceMesh, spec: Any, grad: Any) -> Any:
        """Return what the function gets for an argument."""
        if not isinstance(x, _C.DTensor):
            _check_no_tensor(x, spec, self.wanted)
            return x
        if x.device_mesh != mesh:
            raise AssertionError(
                f"arg {_short(x)} in local_map has a mismatched device mesh: it has "
                f"device mesh {x.device_mesh} while the expected device mesh is {mesh}!"
            )
        if self.wanted is not None:
            if spec is None:
                raise AssertionError(
                    f"DTensor input {_short(x)} expects placements but received {spec}!"
                )
            asked = x.layout.with_placements(spec).placements
            if x.placements != asked and not self.redistribute:
                raise ValueError(
                    f"arg {_short(x)} in local_map has a mismatched placements: arg "
                    f"placements is {x.placements} but the input placements is {asked}!"
                    " If redistribute_inputs is wanted, set redistribute_inputs=True to"
                    " local_map."
                )
            x = x if x.placements == asked else x.redistribute(placements=asked)
        if self.wanted_grads is None:
            return x.to_local()
        if grad is None:
            raise AssertionError(
                f"DTensor input {_short(x)} expects in grad placements but received "
                f"{grad}!"
            )
        return x.to_local(grad_placements=grad)

    def _check_outputs(self, flat: list[Any]) -> None:
        if len(flat) != len(self.out):
            raise AssertionError(
                "local_map requires one PlacementType be provided for each output "
                f"value, received {len(self.out)} out_placements but {len(flat)} is "
                "expected!"
            )
        for x, spec in zip(flat, self.out, strict=True):
            if isinstance(x, _C.DTensor):
                raise AssertionError(
                    f"torch.Tensor output expected but received {type(x)}: {_short(x)}"
                )
            if _is_array(x) and spec is None:
                raise AssertionError(
                    f"Tensor output of shape {x.shape} expects placements but received "
                    "None!"
                )
            if spec is not None and not (_is_array(x) or isinstance(x, np.generic)):
                raise AssertionError(
                    f"Non-tensor output {x!r} expects None placements but received "
                    f"{spec}!"
                )


def _for_each(placements: InputPlacements, flat: list[Any], name: str) -> list[Any]:
    """Return one entry for each argument; given may be entries for arrays only."""
    if placements is None or len(placements) == len(flat):
        return [None] * len(flat) if placements is None else list(placements)
    given = iter(placements)
    if len(placements) == sum(map(_is_array, flat)):
        return [next(given) if _is_array(x) else None for x in flat]
    raise AssertionError(
        f"{name} length {len(placements)} does not match the number of input args "
        f"{len(flat)}!"
    )


def _identity(function: Callable[..., Any]) -> Any:
    """Return what is to be the same on all ranks: the name of a function, of a lambda
    its code. What it refers to may be of this rank, as its results are."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    code = getattr(function, "__code__", None)
    if code is None or code.co_name != "<lambda>":
        return name
    return name, code.co_code, code.co_names, code.co_consts


def _is_array(x: Any) -> bool:
    return isinstance(x, _C.Tensor | np.ndarray)


def _check_no_tensor(x: Any, spec: Any, wanted: InputPlacements) -> None:
    if wanted is not None and spec is not None and not _is_array(x):
        raise AssertionError(
            f"Non-Tensor input {x!r} expects None placements but received {spec}!"
        )


def _short(x: _C.DTensor) -> str:
    return f"DTensor{x.shape}"
