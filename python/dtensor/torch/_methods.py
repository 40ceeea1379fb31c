"""The methods of a tensor in PyTorch's dialect: a table of functions, installed here.

Most are the functions of `dtensor.torch`, which take the tensor first. What NumPy's
dialect has under PyTorch's name and with PyTorch's meaning is inherited from it.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C, ops as _ops
from dtensor._core import device as _device
from dtensor._core.dtype import CASTS
from dtensor.ops._make.operator import METHODS
from dtensor.torch import (
    _create,
    _edges,
    _errors,
    _index,
    _indexing,
    _lu,
    _matrix,
    _measures,
    _memory,
    _order,
    _pointwise,
    _products,
    _questions,
    _reduce,
    _reflected,
    _same,
    _scans,
    _scatter,
    _settings,
    _shape,
    _special,
    _spectra,
)
from dtensor.torch._alike import clone
from dtensor.torch._attributes import ATTRIBUTES, QUESTIONS, WHOLE
from dtensor.torch._dtypes import contiguous_format
from dtensor.torch._in_place import (
    IN_PLACE,
    abs_,
    changes,
    float_power_,
    masked_fill_,
    polygamma,
    turns,
)
from dtensor.torch._print import formatted, text_of
from dtensor.torch._rows import in_rows
from dtensor.torch._types import numpy_dtype, takes

__all__ = ["TABLE", "install"]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

# Functions of dtensor.torch that are methods as well, by module.
SAME = {
    _index: _index.__all__,
    _scatter: _scatter.__all__,
    _lu: ["lu", "lu_solve"],
    _matrix: """
        adjoint cholesky cholesky_inverse cholesky_solve corrcoef cov det diag_embed
        diagflat dist inverse logdet matrix_exp matrix_power pinverse qr renorm slogdet
        svd triangular_solve
    """.split(),
    _order: """
        argsort bincount cummax cummin cumprod cumsum kthvalue log_softmax median mode
        msort nanmedian softmax sort topk unique
    """.split(),
    _pointwise: [name for name in _pointwise.__all__ if name not in ("where", "rsub")],
    _products: """
        addbmm addcdiv addcmul addmm addmv addr baddbmm bmm cross dot ger lerp matmul
        mm mv outer
    """.split(),
    _questions: ["allclose", "equal"],
    _reflected: ["geqrf", "orgqr", "ormqr"],
    _reduce: """
        all amax amin aminmax any argmax argmin count_nonzero max mean min nanmean
        nansum norm prod quantile std sum var
    """.split(),
    _same: """
        argwhere inner kron logsumexp moveaxis movedim
        swapaxes swapdims t transpose trunc unflatten unsqueeze isin vdot
    """.split(),
    _scans: """
        diff histc histogram index_reduce logcumsumexp multinomial nanquantile
        nonzero_static unique_consecutive
    """.split(),
    _special: _special.__all__,
    _spectra: _spectra.__all__,
    _shape: """
        diag diagonal flatten fliplr flipud frac gather masked_select nan_to_num narrow
        nonzero repeat_interleave roll rot90 select squeeze take take_along_dim
        tensor_split trace tril triu
    """.split(),
}


def _named(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function take NumPy's names of arguments as well, as PyTorch does."""

    @functools.wraps(function)
    def answer(self: Any, *args: Any, **options: Any) -> Any:
        for old, new in (("axis", "dim"), ("keepdims", "keepdim")):
            if old in options:
                options[new] = options.pop(old)
        return function(self, *args, **options)

    return answer


def _casts(dtype: str) -> Callable[..., Any]:
    def cast(self: Any, memory_format: Any = None) -> Any:
        return to(self, dtype, memory_format=memory_format)

    cast.__doc__ = f"Return the tensor in {dtype}."
    return cast


# --- copies, dtypes, devices ----------------------------------------------------------


def to(self: Any, *args: Any, **options: Any) -> Any:
    """Return the tensor in another dtype, or on another device.

    Parameters
    ----------
    *args : dtype, device, or tensor
        A tensor stands for its dtype and device. Then `non_blocking` and `copy`.
    **options
        `dtype`, `device`, `non_blocking`, `copy` and `memory_format`, by name.

    Raises
    ------
    RuntimeError
        If there is no such device.
    NotImplementedError
        For a meta tensor that is to be on another device: it has no elements. Make the
        model's memory with ``module.to_empty``, or the tensor's with `empty_like`.
    """
    dtype, where = options.get("dtype"), options.get("device")
    flags = [x for x in args if isinstance(x, bool)]
    for value in args:
        if isinstance(value, _C.Tensor):
            dtype, where = value.dtype, value.device
        elif isinstance(value, int) and not isinstance(value, bool):
            where = _device.device(value)  # raises
        elif isinstance(value, str) and not _is_dtype(value):
            where = value
        elif value is not None and not isinstance(value, bool):
            dtype = value
    copy = options.get("copy", len(flags) > 1 and flags[1])
    meta = _device.is_meta(self)
    if where is not None and (_device.kind_of(where) == "meta") != meta:
        if meta:
            raise NotImplementedError(
                "Cannot copy out of meta tensor; no data! Use "
                "module.to_empty(device=), or torch.empty_like(x, device=)"
            )
        return _device.empty_like(self, numpy_dtype(dtype), "meta")
    made = METHODS["to"](self, dtype=numpy_dtype(dtype or self.dtype), copy=copy)
    rows = options.get("memory_format") is contiguous_format
    return in_rows(made) if rows else made


def _is_dtype(name: str) -> bool:
    return name in CASTS.values()


def type_as(self: Any, other: Any) -> Any:
    """Return the tensor in the dtype of another one."""
    return to(self, other.dtype)


def cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    """Raise AssertionError, as PyTorch does: there is no CUDA. On this rank only."""
    raise AssertionError("Torch not compiled with CUDA enabled")


def to_sparse(self: Any, *args: Any, **options: Any) -> Any:
    """Raise NotImplementedError: there are no sparse tensors. On this rank only."""
    _settings.no_sparse("Tensor.to_sparse")


def itself(self: Any, *args: Any, **options: Any) -> Any:
    """Return this tensor: it is there, and dense, already."""
    return self


# --- shapes ---------------------------------------------------------------------------


def _sizes(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(sizes[0]) if len(sizes) == 1 and np.iterable(sizes[0]) else sizes


def flip(self: Any, *dims: Any, **options: Any) -> Any:
    """Reverse the order along dims, which may be one list, also by name."""
    return _shape.flip(self, options["dims"] if options else _sizes(dims))


def permute(self: Any, *dims: Any) -> Any:
    """Return the tensor with its dims in another order."""
    return ops.permute_dims(self, _sizes(dims))


def repeat(self: Any, *repeats: Any) -> Any:
    """Return the tensor so often along each dim; more numbers than dims add dims.

    Raises
    ------
    RuntimeError
        If there are fewer numbers than dims.
    """
    counts = _sizes(repeats)
    if len(counts) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of "
            "dimensions of tensor"
        )
    return ops.tile(self, counts)


def tile(self: Any, dims: Any, *more: Any) -> Any:
    """Return the tensor so often along the last dims; more numbers add dims."""
    return ops.tile(self, (dims, *more) if more else dims)


def view(self: Any, *shape: Any) -> Any:
    """Return the elements in another shape, or their bytes as another dtype."""
    first = shape[0] if len(shape) == 1 else 0
    if not np.iterable(first) and not isinstance(first, int | np.integer):
        return METHODS["view"](self, numpy_dtype(first))
    return METHODS["view"](self, *shape)


def view_as(self: Any, other: Any) -> Any:
    """Return the elements in the shape of another tensor."""
    return view(self, *other.shape)


def unfold(self: Any, dimension: int, size: int, step: int) -> Any:
    """Return windows along a dim, as a new last dim.

    Of a Tensor it is a view, read-only if windows overlap, but for parts of it in which
    they do not; of a DTensor a copy.

    Raises
    ------
    RuntimeError
        If `size` is longer than the dim.
    """
    length = self.shape[dimension] if self.ndim else 1
    dim = dimension % self.ndim if self.ndim else 0
    if size > length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {length} but size is {size}"
        )
    starts = np.arange(0, length - size + 1, step)
    index = starts[:, None] + np.arange(size)
    found = ops.getitem(self, (slice(None),) * dim + (index,))
    return ops.moveaxis(found, dim + 1, -1)


def split(self: Any, split_size: Any, dim: int = 0) -> Any:
    """Return parts of a length, or of the lengths in a list, along a dim."""
    return METHODS["split"](self, split_size, dim)


def where(self: Any, condition: Any, other: Any) -> Any:
    """Return this tensor's elements where a condition holds, else those of another."""
    return _pointwise.where(condition, self, other)


def sum_to_size(self: Any, *size: Any) -> Any:
    """Return sums over the dims that broadcasting from a size would add."""
    shape = _sizes(size)
    first = self.ndim - len(shape)
    ones = [first + d for d, n in enumerate(shape) if n == 1 != self.shape[first + d]]
    if not shape:
        return _reduce.sum(self)
    found = _reduce.sum(self, ones, True) if ones else self
    return _reduce.sum(found, list(range(first))) if first else found


def new_tensor(self: Any, data: Any, **options: Any) -> Any:
    """Return a tensor of data, by default of this dtype: see `torch.tensor`."""
    options.setdefault("dtype", self.dtype)
    return _create.tensor(data, **options)


def _new(name: str) -> Callable[..., Any]:
    @takes(_create._new)
    def new(self: Any, *size: Any, requires_grad: bool = False, **options: Any) -> Any:
        for ignored in ("device", "layout", "pin_memory"):
            options.pop(ignored, None)
        options["dtype"] = numpy_dtype(options.get("dtype"))
        made = _C.into_torch(in_rows(METHODS[name](self, *size, **options)))
        return made.requires_grad_() if requires_grad else made

    new.__doc__ = METHODS[name].__doc__
    return new


def rename(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the name of the method that it is."""
    if getattr(function, "__name__", name) in ("<lambda>", "cast", "new"):
        function.__name__ = function.__qualname__ = name
    return function


# --- the table ------------------------------------------------------------------------

TABLE: dict[str, Any] = {
    name: getattr(module, name) for module, names in SAME.items() for name in names
}
TABLE |= {name: _named(getattr(_reduce, name)) for name in SAME[_reduce]}
TABLE |= {name: _named(TABLE[name]) for name in "cumprod cumsum logsumexp".split()}
TABLE |= {n: METHODS[n] for n in _edges.NAMES if n in METHODS and n not in TABLE}
TABLE |= {"broadcast_to": METHODS["expand"], "conj_physical": ops.conj}
TABLE |= {
    f.__name__: f for f in (clone, flip, permute, repeat, split, tile, unfold, view)
}
TABLE |= {"split_with_sizes": split}
_edges.mend(TABLE)
TABLE |= {name: rename(name, _casts(dtype)) for name, dtype in CASTS.items()}
_changed = {name: TABLE.get(name) or METHODS[name] for name in IN_PLACE}
_errors.speak(_changed)
_measures.direct(_changed, methods=True)
TABLE |= {f"{name}_": changes(_changed[name], f"{name}_") for name in IN_PLACE}
TABLE |= {
    f"{name}_": turns(TABLE[name], f"{name}_")
    for name in "squeeze swapaxes swapdims t transpose unsqueeze".split()
}
TABLE |= {
    name: rename(name, _new(name))
    for name in ("new_empty", "new_full", "new_ones", "new_zeros")
}
TABLE |= {function.__name__: function for function in QUESTIONS}
TABLE |= {
    function.__name__: function
    for function in (
        cuda,
        new_tensor,
        sum_to_size,
        to,
        type_as,
        view_as,
        where,
    )
}
TABLE |= {name: METHODS[name] for name in ("copy_",)}
TABLE |= _memory.TABLE
TABLE |= {
    "__format__": formatted,
    "hardshrink": ops.hardshrink,
    "polygamma_": changes(polygamma, "polygamma_"),
    "polygamma": polygamma,
    "float_power_": float_power_,
    "masked_fill_": masked_fill_,
    "abs_": abs_,
    "absolute_": abs_,
    "prelu": ops.prelu,
    "cpu": itself,
    "hsplit": _shape.hsplit,
    "vsplit": _shape.vsplit,
    "dsplit": _shape.dsplit,
    "is_pinned": lambda self, device=None: False,
    "is_shared": lambda self: False,
    "ndimension": _C.Tensor.dim,
    "nelement": _C.Tensor.numel,
    "pin_memory": itself,
    "resolve_conj": itself,
    "resolve_neg": itself,
    "share_memory_": itself,
    "to_sparse": to_sparse,
    "to_sparse_coo": to_sparse,
    "to_sparse_csr": to_sparse,
    "to_dense": itself,
}
_errors.speak(TABLE)
_measures.direct(TABLE, methods=True)


def install(constructor: Callable[..., Any], whole: dict[str, Any]) -> None:
    """Give the types of PyTorch's dialect their methods."""
    _C.install_torch(
        _pointwise.SLOTS
        | _indexing.SLOTS
        | {"power": TABLE["pow"], "matmul": TABLE["matmul"]},
        TABLE | ATTRIBUTES | _memory.ATTRIBUTES,
        WHOLE | whole,
        constructor,
        text_of,
    )
