"""`backward` and `grad`, and the functions that backward computes with."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dtensor import _C

__all__ = ["GradientEdge", "backward", "grad"]


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor is computed: see `graph.get_gradient_edge`.

    Attributes
    ----------
    node : Node, Tensor or DTensor
        What made the tensor; a leaf itself.
    output_nr : int
        Which of the results of the node it is.
    ownership_token : Tensor or DTensor, optional
        A tensor of that node, without elements.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


Tensors = _C.Tensor | GradientEdge | Sequence[_C.Tensor | GradientEdge]


def backward(
    tensors: Tensors,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradients of tensors to the `grad` of the leaves they were computed from.

    The gradient of a leaf has the leaf's layout, with Replicate in place of Partial.
    Collective if computing the gradients is: all ranks must make the same call.

    Parameters
    ----------
    tensors : Tensor, DTensor, GradientEdge or sequence of these
        The tensors to differentiate.
    grad_tensors : Tensor, DTensor, array_like or sequence of these, optional
        The gradient of each, of the same shape: v in the product of v and the Jacobian.
        Default: 1 for a tensor of one element.
    retain_graph : bool, optional
        Keep the graph for another backward; default: `create_graph`.
    create_graph : bool, default False
        Record the gradients too, so that they can be differentiated.
    inputs : Tensor, DTensor, GradientEdge or sequence of these, optional
        Compute only the gradients of these.

    Raises
    ------
    RuntimeError
        If a tensor requires no gradient; has several elements and no gradient is given;
        or needs saved tensors that an earlier backward freed or that were written to.
    NotImplementedError
        If an operator has no gradient.

    References
    ----------
    .. [1] A. Griewank and A. Walther, "Evaluating Derivatives", 2nd ed., SIAM, 2008.
    """
    given = _tuple(tensors)
    grads = _gradients(given, grad_tensors)
    _check_edges(tensors, grads)
    asked = () if inputs is None else _several(inputs)
    if inputs is not None and not asked:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    if _first_frozen(asked) is not None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    wanted = tuple(map(_tensor, asked)) or None
    keep = create_graph if retain_graph is None else retain_graph
    _C.run_backward(given, grads, keep, create_graph, wanted, True, True)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of outputs with respect to inputs; no `grad` is changed.

    Parameters
    ----------
    outputs, inputs : Tensor, DTensor, GradientEdge or sequence of these
        The tensors to differentiate, and those with respect to which: leaves or
        intermediate results.
    grad_outputs : optional
        As `grad_tensors` in `backward`.
    retain_graph, create_graph : bool, optional
        As in `backward`.
    allow_unused : bool, optional
        Return None for an input that no output depends on, instead of raising; default:
        `materialize_grads`.
    is_grads_batched : bool, default False
        Not supported: True raises RuntimeError.
    materialize_grads : bool, default False
        Return zeros for such an input.

    Returns
    -------
    tuple of Tensor, DTensor or None
        One for each input.

    Raises
    ------
    RuntimeError
        As in `backward`; or if there is no input, or one requires no gradient or is not
        used.
    """
    if is_grads_batched:
        raise RuntimeError(
            "grad: is_grads_batched is not supported; call grad for each"
        )
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True"
        )
    given, asked = _tuple(outputs), _several(inputs)
    if not asked:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if (k := _first_frozen(asked)) is not None:
        raise RuntimeError(
            "One of the differentiated Tensors does not require grad: "
            f"inputs[{k}] of grad()"
        )
    wanted = tuple(map(_tensor, asked))
    first = _gradients(given, grad_outputs)
    _check_edges(outputs, first)
    keep = create_graph if retain_graph is None else retain_graph
    unused = materialize_grads if allow_unused is None else allow_unused
    grads: tuple[Any, ...] = _C.run_backward(
        given,
        first,
        keep,
        create_graph,
        wanted,
        False,
        unused,
    )
    if materialize_grads:
        return tuple(
            _filled(x, 0) if g is None else g
            for x, g in zip(wanted, grads, strict=True)
        )
    return grads


def _several(tensors: Tensors) -> tuple[Any, ...]:
    one = isinstance(tensors, _C.Tensor | GradientEdge)
    return (tensors,) if one else tuple(tensors)


def _tuple(tensors: Tensors) -> tuple[_C.Tensor, ...]:
    return tuple(map(_tensor, _several(tensors)))


def _tensor(x: Any) -> _C.Tensor:
    """Return a tensor as it is, and the one of an edge."""
    found = x.ownership_token if isinstance(x, GradientEdge) else x
    if found is None:
        raise RuntimeError(
            "an edge that is made by hand has no tensor: use autograd.graph."
            "get_gradient_edge"
        )
    if not isinstance(found, _C.Tensor):
        raise TypeError(f"expected Tensors or DTensors, got {type(found).__name__}")
    return found


def _first_frozen(inputs: tuple[Any, ...]) -> int | None:
    """Return which input is the first tensor that requires no gradient; None: no one.

    An edge is to what required one when it was made.
    """
    for k, x in enumerate(inputs):
        if not isinstance(x, GradientEdge) and not _tensor(x).requires_grad:
            return k
    return None


def _check_edges(tensors: Tensors, grads: Sequence[Any] | None) -> None:
    """Raise unless each edge that backward starts from has a gradient."""
    given = [tensors] if isinstance(tensors, _C.Tensor | GradientEdge) else tensors
    for k, x in enumerate(given):
        if isinstance(x, GradientEdge) and (grads is None or grads[k] is None):
            raise RuntimeError("grad can be implicitly created only for scalar outputs")


def _gradients(tensors: tuple[_C.Tensor, ...], given: Any) -> tuple[Any, ...] | None:
    """Return the initial gradient of each tensor, None for ones."""
    if given is None:
        return None
    if isinstance(given, _C.Tensor | np.ndarray | int | float | complex):
        grads: tuple[Any, ...] = (given,)
    else:
        grads = tuple(given)
    if len(grads) != len(tensors):
        raise RuntimeError(
            f"backward: got {len(tensors)} tensors but {len(grads)} gradients"
        )
    return tuple(_gradient(x, g) for x, g in zip(tensors, grads, strict=True))


def _gradient(x: _C.Tensor, given: Any) -> Any:
    if given is None:
        return None
    if not isinstance(given, _C.Tensor):
        given = np.asarray(given)
        given = _replicated(given, x) if isinstance(x, _C.DTensor) else _C.Tensor(given)
    if isinstance(x, _C.DTensor) and not isinstance(given, _C.DTensor):
        raise RuntimeError(
            "backward: the gradient of a DTensor must be a DTensor, not a Tensor: "
            "make one with distribute_tensor or DTensor.from_local"
        )
    if tuple(given.shape) != tuple(x.shape):
        raise RuntimeError(
            f"Mismatch in shape: grad_output has a shape of {tuple(given.shape)} and "
            f"output has a shape of {tuple(x.shape)}."
        )
    return given if given.dtype == x.dtype else cast(given, x.dtype)


def _replicated(array: Any, like: _C.DTensor) -> _C.DTensor:
    layout = _C.Layout(like.device_mesh, None, array.shape, array.dtype)
    return _C.made_of(_C.of_part(array, layout), "a gradient that is given", array)


# --- what backward computes with ------------------------------------------------------


def sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Return the sum over the dims along which `shape` was broadcast."""
    extra = x.ndim - len(shape)
    broadcast = tuple(
        d
        for d in range(x.ndim)
        if d < extra or (shape[d - extra] == 1 and x.shape[d] != 1)
    )
    if extra < 0 or any(
        d not in broadcast and x.shape[d] != shape[d - extra] for d in range(x.ndim)
    ):
        raise ValueError(f"shape {shape} does not broadcast to {tuple(x.shape)}")
    return x.sum(broadcast).reshape(shape)


def cast(x: Any, dtype: np.dtype[Any]) -> Any:
    """Return a gradient in a dtype; its real part if the dtype is real."""
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    return x.astype(dtype)


def zeros(operand: Any) -> Any:
    """Return the gradient of an operand that was not used: zeros."""
    return _made(operand.shape, operand.dtype, operand.layout, 0)


def ones(x: _C.Tensor) -> Any:
    """Return the gradient of a tensor with respect to itself: ones."""
    return _filled(x, 1)


def _filled(x: _C.Tensor, value: int) -> Any:
    layout = x.layout if isinstance(x, _C.DTensor) else None
    made = _made(tuple(x.shape), np.dtype(x.dtype), layout, value, x.device != "meta")
    return _C.into_torch(made) if _C.is_torch(x) else made


def _made(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    layout: _C.Layout | None,
    value: int,
    data: bool = True,
) -> Any:
    if layout is None:
        if not data:
            return _C.without_data(shape, dtype)
        return _C.Tensor(np.full(shape, value, dtype))
    dual = layout.settled()
    if dual.mesh.world == 0 or not data:
        return _C.without_data(dual)
    part = np.full(dual.local_shape(), value, dtype)
    return _C.made_of(_C.of_part(part, dual), f"a gradient of {value}", shape, dtype)


_C.install_tape({"sum_to": sum_to, "cast": cast, "zeros": zeros, "ones": ones})
