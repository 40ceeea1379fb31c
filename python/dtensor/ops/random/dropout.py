"""dropout and bernoulli: each element is drawn by its index in the whole array."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.operator import Operand, Part, call, letters, method, operator
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.create.like import empty_like, zeros_like
from dtensor.ops.random.generator import Generator
from dtensor.ops.random.stream import Stream, check, fill, taken
from dtensor.random import default_generator

__all__ = ["bernoulli", "dropout"]

Array = npt.NDArray[Any]


def _elementwise(x: Operand, state: Operand) -> Any:
    """Return the rule: `x` element by element, and all of the state of a stream."""
    names = letters(x.ndim)
    return rule([names, letters(state.ndim, whole=[0], skip=x.ndim)], [names])


def _where(
    operands: tuple[_C.Layout, ...], results: tuple[_C.Layout, ...]
) -> _C.Layout | None:
    """Return which part this rank has; without a mesh it has all."""
    return results[0] if results[0].mesh.world else None


# --- dropout --------------------------------------------------------------------------


@operator(name="dropout")
def _dropout(x: Operand, state: Operand, p: float) -> Answer:
    """Return the elements divided by 1 - p, or 0 where those of a stream are below p.

    The state is an operand: it is no part of the key of a call, and
    ``DTENSOR_CHECK=2`` compares it across ranks.
    """
    where = Part(_where)
    return (
        _elementwise(x, state),
        call(_C.random_dropout, x, state, p, where),
        x.dtype,
    )


# The mask is made again from the state: nothing but its four words is kept.
_dropout.vjp(lambda grad, _out, _x, state, p: _dropout(grad, state, p), None)


def dropout(
    input: Any,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Any:
    """Return the elements divided by ``1 - p``, but each with probability `p` 0.

    What is dropped depends on the index of an element in the whole array only: element
    i is dropped where element i of ``rand(shape, dtype=float32)`` would be below `p`.
    A gradient is dropped alike; nothing but the state of the generator is kept for it.

    Parameters
    ----------
    input : DTensor or Tensor
        Of a floating or complex dtype. Where it is Partial it is reduced first.
    p : float, default 0.5
        From 0 to 1.
    training : bool, default True
        If False, or if `p` is 0, the input itself is returned and nothing is drawn.
    inplace : bool, default False
        Whether to write the result into `input`.
    generator : Generator, optional
        Default: `dtensor.random.default_generator`.

    Returns
    -------
    Tensor or DTensor

    Raises
    ------
    ValueError
        If `p` is no probability.
    RuntimeError
        For integers and booleans.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    dtype = np.dtype(input.dtype)
    if dtype.kind in "biu":
        raise RuntimeError(
            f"result type float32 can't be cast to the desired output type {dtype}"
        )
    state = taken(_of(generator), input, "uniform", np.float32)
    if inplace:
        return _dropout(input, state, float(p), out=input)
    return _dropout(input, state, float(p))


def _of(generator: Generator | None) -> Stream:
    return default_generator() if generator is None else generator


# --- bernoulli ------------------------------------------------------------------------


def _ones(p: Array, state: Array, where: _C.Layout | None) -> Array:
    if not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError("bernoulli expects all elements of p to be in [0, 1]")
    shape = p.shape if where is None else where
    drawn = _C.random_part(state, "uniform", 0.0, 1.0, np.float64, shape)
    return (drawn < p).astype(p.dtype)


@operator(name="bernoulli", agrees=RuntimeError)
def _bernoulli(p: Operand, state: Operand) -> Answer:
    """Return 1 where an element of a stream is below that of p, else 0."""
    return _elementwise(p, state), call(_ones, p, state, Part(_where)), p.dtype


_bernoulli.vjp(lambda grad, _out, _p, _state: zeros_like(grad), None)


@method
def bernoulli(
    input: Any, p: float | None = None, *, generator: Generator | None = None
) -> Any:
    """Return 1 with the probability that each element is, else 0.

    Collective where `input` is a DTensor and its elements are the probabilities.

    Parameters
    ----------
    input : DTensor or Tensor
        Probabilities, of a floating dtype. Where it is Partial it is reduced first.
    p : float, optional
        One probability for all: of `input` only shape, dtype and layout count.
    generator : Generator, optional
        Default: `dtensor.random.default_generator`.

    Returns
    -------
    Tensor or DTensor
        Of the dtype of `input`.

    Raises
    ------
    RuntimeError
        If a probability is not between 0 and 1: on all ranks.
    NotImplementedError
        For probabilities that are integers.
    """
    stream = _of(generator)
    if p is not None:
        check("bernoulli", p, 0)
        x = empty_like(input)
        fill(x, stream, "bernoulli", p, 0.0, "bernoulli")
        return x
    dtype = np.dtype(input.dtype)
    if dtype.kind in "biuc":
        raise NotImplementedError(f"bernoulli is not implemented for {dtype}")
    state = taken(stream, input, "bernoulli", np.float64)
    return _bernoulli(input, state)
