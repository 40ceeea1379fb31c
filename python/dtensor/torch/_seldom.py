"""Functions that scripts seldom call: forms of layers, histograms, and files."""

import os
from typing import Any

import numpy as np

from dtensor import linalg as _linalg, ops as _ops
from dtensor.autograd import no_grad
from dtensor.nn import functional as F
from dtensor.torch import _create
from dtensor.torch._dtypes import get_default_dtype
from dtensor.torch._returned import TYPES
from dtensor.torch._types import keeps, numpy_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
linalg: Any = _linalg

__all__ = [
    "convolution",
    "embedding_bag",
    "embedding_renorm_",
    "from_file",
    "histogramdd",
    "norm_except_dim",
]

# --- layers ---------------------------------------------------------------------------

_PLAIN = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_TURNED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def convolution(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """Return a convolution of one to three dims, or a transposed one.

    Raises
    ------
    RuntimeError
        If `weight` has not three to five dims.
    """
    dims = weight.ndim - 2
    if dims not in _PLAIN:
        raise RuntimeError("weight should have at least three dimensions, at most 5")
    if transposed:
        how = (stride, padding, output_padding, groups, dilation)
        return _TURNED[dims](input, weight, bias, *map(_tuple, how))
    plain = (stride, padding, dilation, groups)
    return _PLAIN[dims](input, weight, bias, *map(_tuple, plain))


def _tuple(x: Any) -> Any:
    return tuple(x) if isinstance(x, list) else x


_MODES = ("sum", "mean", "max")


def embedding_bag(
    weight: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Any, Any, Any, Any]:
    """Return sums (mode 0), means (1) or maxima (2) of rows, for each bag of indices.

    Returns
    -------
    tuple of four tensors
        What ``torch.nn.functional.embedding_bag`` returns; the bag of each index; how
        many indices each bag has, without padding; of maxima the rows that they are
        from, else the numbers again.
    """
    found = F.embedding_bag(
        indices,
        weight,
        offsets,
        scale_grad_by_freq=scale_grad_by_freq,
        mode=_MODES[mode],
        sparse=sparse,
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )
    starts, index = (np.asarray(_whole(x)) for x in (offsets, indices))
    starts = starts[:-1] if include_last_offset else starts
    bags = np.searchsorted(starts, np.arange(len(index)), side="right") - 1
    counts = np.ones(len(index), bool)
    if padding_idx is not None:
        counts = index != padding_idx % weight.shape[0]
    sizes = np.bincount(bags[counts], minlength=len(starts))
    last: Any = sizes
    if mode == 2:
        last = _rows(np.asarray(_whole(weight)), index, bags, counts, len(starts))
    return found, *(_create.tensor(x, dtype=np.int64) for x in (bags, sizes, last))


def _whole(x: Any) -> Any:
    x = x.detach()
    return x.full_tensor() if hasattr(x, "full_tensor") else x


def _rows(weight: Any, index: Any, bags: Any, counts: Any, n: int) -> Any:
    """Return the row that each maximum is from; 0 of an empty bag."""
    found = np.zeros((n, weight.shape[1]), np.int64)
    for bag in range(n):
        rows = index[(bags == bag) & counts]
        if len(rows):
            found[bag] = rows[weight[rows].argmax(0)]
    return found


def embedding_renorm_(
    input: Any, indices: Any, max_norm: float, norm_type: float = 2.0
) -> Any:
    """Scale the rows that are named down to a norm, in place, and return the table."""
    index = np.unique(np.asarray(_whole(indices)))
    with no_grad():
        rows = ops.take(input, index, axis=0)
        norm = linalg.vector_norm(rows, ord=norm_type, axis=-1, keepdims=True)
        factor = ops.where(ops.greater(norm, max_norm), max_norm / (norm + 1e-7), 1.0)
        input[index] = rows * ops.astype(factor, np.dtype(rows.dtype))
    return input


def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """Return norms of the slices along a dim, with lengths of 1 for the others; of all
    elements if `dim` is -1."""
    if dim == -1:
        return linalg.vector_norm(v, ord=pow)
    rest = tuple(d for d in range(v.ndim) if d != dim)
    return linalg.vector_norm(v, ord=pow, axis=rest, keepdims=True)


# --- histograms -----------------------------------------------------------------------


@keeps
def histogramdd(
    input: Any,
    bins: Any,
    range: Any = None,
    weight: Any = None,
    density: bool = False,
) -> Any:
    """Return the counts of points in boxes, and the edges of these along each dim.

    Parameters
    ----------
    input : Tensor, shape (..., d)
        Points; they may be cut along the first dims.
    bins : int, sequence of int, or of tensors
        How many along each dim, or the edges.
    range : sequence of 2 d float, optional
        The ends along each dim; default: of the points.
    weight : Tensor, optional
        The weight of each point.
    density : bool, default False
        Whether the integral is to be 1.
    """
    dtype, d = np.dtype(input.dtype), input.shape[-1]
    points = ops.reshape(input.detach(), (-1, d))
    ends = None if range is None else list(zip(range[::2], range[1::2], strict=True))
    edges: Any = bins if isinstance(bins, int) else list(bins)
    if not isinstance(bins, int) and hasattr(edges[0], "shape"):
        edges = [np.asarray(_whole(each)) for each in edges]
    weights = None if weight is None else ops.ravel(weight)
    counts, edges = ops.histogramdd(points, edges, ends, density, weights)
    found = tuple(_create.tensor(np.asarray(e).astype(dtype)) for e in edges)
    return TYPES["histogramdd"]((ops.astype(counts, dtype), found))


# --- files ----------------------------------------------------------------------------


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    **options: Any,
) -> Any:
    """Return a vector whose memory is a file's.

    Parameters
    ----------
    filename : str
    shared : bool, default False
        Whether what is written to the tensor is in the file, which is made, and
        lengthened to the size, if need be.
    size : int
        The number of elements.
    dtype : optional
        Default: that of new tensors.
    **options
        Ignored.

    Raises
    ------
    RuntimeError
        If the file is too short, or there is none. On this rank only.
    """
    kind = np.dtype(numpy_dtype(dtype or get_default_dtype()))
    needed = int(size or 0) * kind.itemsize
    if shared and (not os.path.exists(filename) or os.path.getsize(filename) < needed):
        with open(filename, "ab") as file:
            file.truncate(needed)
    if not os.path.exists(filename):
        raise RuntimeError(
            f"unable to open file <{filename}> in read-only mode: No such file or "
            "directory (2)"
        )
    there = os.path.getsize(filename)
    if there < needed:
        raise RuntimeError(
            f"file <{filename}> size <{there}> is smaller than the required mapping "
            f"size <{needed}>"
        )
    if not needed:
        return _create.empty(0, dtype=dtype)
    array = np.memmap(filename, kind, "r+" if shared else "c", shape=(int(size or 0),))
    return _create.from_numpy(np.asarray(array))
