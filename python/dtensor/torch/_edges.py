"""What PyTorch takes besides: tensors without dims, integers where floats are meant.

`mend` wraps the functions of a room that are made for less, by the tables below.
"""

import functools
import inspect
from collections.abc import Callable, MutableMapping
from typing import Any, SupportsIndex

import numpy as np

from dtensor import _C, ops as _ops
from dtensor.nn import functional as F
from dtensor.torch._cast import cast, cast_alike, floating
from dtensor.torch._promotion import can_cast
from dtensor.torch._returned import Struct, written
from dtensor.torch._types import keeps

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
Function = Callable[..., Any]

__all__ = ["NAMES", "mend"]


def _is_tensor(x: Any) -> bool:
    return isinstance(x, _C.Tensor)


# --- tensors without dims -------------------------------------------------------------


def _up(x: Any) -> Any:
    return ops.reshape(x, (1,)) if _is_tensor(x) and not x.ndim else x


def _down(x: Any) -> Any:
    if isinstance(x, tuple):
        parts = [_down(each) for each in x]
        return type(x)(parts) if isinstance(x, Struct) else tuple(parts)
    return ops.squeeze(x, 0) if _is_tensor(x) and x.ndim else x


def lifted(function: Function) -> Function:
    """Return a function that gives a tensor without dims one of length 1 meanwhile."""

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        if not args or not _is_tensor(args[0]) or args[0].ndim:
            return function(*args, **options)
        given = {name: _up(x) for name, x in options.items()}
        return _down(function(*map(_up, args), **given))

    return answer


# --- numbers of another kind ----------------------------------------------------------


def _each(change: Function) -> Callable[[Function], Function]:
    """Return a wrapper that changes all tensors among the arguments."""

    def wrapper(function: Function) -> Function:
        @functools.wraps(function)
        def answer(*args: Any, **options: Any) -> Any:
            given = {k: change(x) if _is_tensor(x) else x for k, x in options.items()}
            return function(*(change(x) if _is_tensor(x) else x for x in args), **given)

        return answer

    return wrapper


def _differ(tensors: Any) -> bool:
    return len({x.dtype for x in tensors if _is_tensor(x)}) > 1


def of_pairs(function: Function) -> Function:
    """Return a function that promotes its first two arguments as PyTorch does."""

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        names = [n for n in ("input", "target", "other") if n in options]
        names = names[: 2 - len(args[:2])]
        pair = [*args[:2], *(options[name] for name in names)]
        if len(pair) == 2 and all(map(_is_tensor, pair)) and _differ(pair):
            pair = list(cast_alike(*pair))
            options |= dict(zip(names, pair[len(args) :], strict=True))
            args = (*pair[: len(args)], *args[2:])
        return function(*args, **options)

    return answer


def of_targets(function: Function) -> Function:
    """Return a function that takes its second argument in the dtype of its first."""

    @functools.wraps(function)
    def answer(input: Any, target: Any, *args: Any, **options: Any) -> Any:
        floats = np.dtype(input.dtype).kind not in "bui"
        if floats and _is_tensor(target) and target.dtype != input.dtype:
            target = cast(target, input.dtype)
        return function(input, target, *args, **options)

    return answer


def of_lists(function: Function) -> Function:
    """Return a function that promotes the tensors of a list as PyTorch does."""

    @functools.wraps(function)
    def answer(tensors: Any, *args: Any, **options: Any) -> Any:
        listed = isinstance(tensors, list | tuple) and all(map(_is_tensor, tensors))
        if listed and _differ(tensors):
            tensors = cast_alike(*tensors)
        return function(tensors, *args, **options)

    return answer


def unchanged(function: Function) -> Function:
    """Return a function whose result has the dtype of its first argument."""

    @functools.wraps(function)
    def answer(input: Any, *args: Any, **options: Any) -> Any:
        if np.dtype(input.dtype).kind not in "bui":
            return function(input, *args, **options)
        written = options.pop("inplace", False)
        found = cast(function(floating(input), *args, **options), input.dtype)
        return input.copy_(found) if written else found

    return answer


def of_bytes(function: Function) -> Function:
    """Return a function that gives bytes for bytes, not booleans."""

    @functools.wraps(function)
    def answer(input: Any, *args: Any, **options: Any) -> Any:
        found = function(input, *args, **options)
        return cast(found, np.uint8) if np.dtype(input.dtype) == np.uint8 else found

    return answer


def real(function: Function) -> Function:
    """Return a function that leaves numbers that are not complex as they are."""

    @functools.wraps(function)
    def answer(input: Any, *args: Any, **options: Any) -> Any:
        if np.dtype(input.dtype).kind != "c":
            return input
        return function(input, *args, **options)

    return answer


def of_complex(function: Function) -> Function:
    """Return a function that also takes complex numbers, by its formula."""
    formula = FORMULAS[function.__name__]

    @functools.wraps(function)
    def answer(input: Any, *args: Any, **options: Any) -> Any:
        if np.dtype(input.dtype).kind == "c":
            return formula(input, *args, **options)
        return function(input, *args, **options)

    return answer


def _l1_loss(input: Any, target: Any, *args: Any, **options: Any) -> Any:
    apart = ops.abs(input - target)
    return F.l1_loss(apart, ops.zeros_like(apart), *args, **options)


def _logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    axes = dim if isinstance(dim, SupportsIndex) else tuple(dim)
    most = ops.max(ops.real(input.detach()), axis=axes, keepdims=True)
    total = ops.log(ops.sum(ops.exp(input - most), axis=axes, keepdims=True)) + most
    return total if keepdim else ops.squeeze(total, axes)


FORMULAS: dict[str, Function] = {
    "l1_loss": _l1_loss,
    "logsumexp": _logsumexp,
    "softsign": lambda x: x / (1 + ops.abs(x)),
    "tanhshrink": lambda x: x - ops.tanh(x),
}


def of_kinds(function: Function) -> Function:
    """Return a function that takes booleans as they are, where it keeps the others."""

    @functools.wraps(function)
    def answer(input: Any, *args: Any, **options: Any) -> Any:
        if np.dtype(input.dtype).kind == "b":
            return ops.copy(input)
        return function(input, *args, **options)

    return answer


# --- arguments by name ----------------------------------------------------------------

# Where arguments of PyTorch's names go in functions that have others: as in named.c.
PLACES = (
    {name: 0 for name in "input self tensors elements A x".split()}
    | {name: 1 for name in "other mat2 vec vec2 tensor dims size shape B y n".split()}
    | {name: 1 for name in "dim0 axis0 source decimals indices repeats".split()}
    | {name: 1 for name in "split_size split_size_or_sections split_sizes".split()}
    | {name: 2 for name in "dim1 axis1 destination".split()}
)


def placed(function: Function) -> Function:
    """Return a function that takes arguments by PyTorch's names, too."""
    takes = inspect.signature(function).parameters.values()
    own = {p.name for p in takes if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        if not options:
            return function(*args)
        named = [n for n in options if n in PLACES and n not in own]
        for name in sorted(named, key=PLACES.__getitem__):
            if PLACES[name] != len(args):
                break
            args = (*args, options.pop(name))
        return function(*args, **options)

    return answer


def _written(out: Any, found: Any) -> Any:
    """Write a result into the tensors that were given for it, in its shape."""
    if isinstance(found, tuple):
        parts = [_written(*pair) for pair in zip(out, found, strict=True)]
        return written(found, parts)
    if not can_cast(found.dtype, out.dtype):
        raise RuntimeError(
            f"result type {found.dtype.legacy} can't be cast to the desired output "
            f"type {out.dtype.legacy}"
        )
    if tuple(out.shape) != tuple(found.shape):
        out.resize_(tuple(found.shape))
    return out.copy_(found)


def writes(function: Function) -> Function:
    """Return a function that takes `out`: its result is copied there."""

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        if options.get("out") is None:
            options.pop("out", None)
            return function(*args, **options)
        out = options.pop("out")
        return _written(out, function(*args, **options))

    return answer


# --- the tables -----------------------------------------------------------------------

LIFTED = """
    cosine_similarity cummax cummin cumprod cumsum flip gumbel_softmax
    index_add index_copy index_fill index_reduce index_select kthvalue log_softmax
    logcumsumexp logsumexp max min mode moveaxis movedim multilabel_margin_loss
    multi_margin_loss nanmedian norm normalize prelu scatter scatter_add
    scatter_reduce softmax softmin sort argsort topk unfold
"""
FLOATS = """
    angle sinc logsumexp sigmoid softsign tanh tanhshrink poisson_nll_loss
    local_response_norm gradient
"""
PLACED = """
    allclose argwhere atleast_1d atleast_2d atleast_3d broadcast_to clone column_stack
    dstack expand fliplr flipud hstack inner inverse isclose isin kron
    matrix_power moveaxis movedim outer permute ravel repeat reshape round row_stack
    split split_with_sizes swapaxes swapdims tensor_split tile transpose view vdot
    vstack dot glu mm mv bmm matmul ger slogdet det pinverse tensor_split hsplit
    vsplit dsplit
    chunk unbind unsqueeze unflatten expand_as reshape_as angle round
"""
OUT = """
    adaptive_avg_pool1d addbmm addcdiv addcmul addmm addmv addr all amax amin
    aminmax angle any arange argmax argmin argsort as_strided_scatter avg_pool1d baddbmm
    bartlett_window bernoulli binary_cross_entropy_with_logits bincount
    blackman_window block_diag bucketize cat celu chain_matmul channel_shuffle
    cholesky cholesky_inverse cholesky_solve clamp_max clamp_min clone column_stack
    complex concat concatenate constant_pad_nd cross cummax cummin cumprod cumsum
    diag diag_embed diagonal_scatter diff digamma dist dstack embedding empty
    empty_like empty_permuted empty_strided erfc erfinv eye fill flip float_power
    frac frobenius_norm full full_like gather hamming_window hann_window histc
    histogram hstack i0 index_add index_fill index_put index_reduce index_select
    isin kaiser_window ldexp lerp lgamma linspace log_softmax logcumsumexp logit
    logspace logsumexp masked_fill masked_scatter masked_select max mean median min
    msort multinomial mvlgamma nan_to_num nanmean nanmedian nansum nonzero
    nonzero_static norm normal nuclear_norm ones ones_like orgqr ormqr pixel_shuffle
    pixel_unshuffle polar polygamma prod put rand rand_like randint randint_like
    randn randn_like randperm range renorm repeat_interleave roll rot90 row_stack
    rsub scalar_tensor scatter scatter_add scatter_reduce searchsorted
    select_scatter slice_scatter softmax sort square stack std std_mean sum take
    take_along_dim tensordot threshold topk trace tril tril_indices triu
    triu_indices unique_consecutive var var_mean vstack where xlogy zeros zeros_like
"""
PAIRS = "kron mse_loss l1_loss smooth_l1_loss"
TARGETS = "huber_loss soft_margin_loss"
LISTS = "column_stack dstack hstack row_stack vstack"
UNCHANGED = "hardtanh relu6 threshold"
WRAPPERS: list[tuple[Function, str]] = [
    (of_complex, " ".join(FORMULAS)),
    (lifted, LIFTED),
    (_each(floating), FLOATS),
    (unchanged, UNCHANGED),
    (of_pairs, PAIRS),
    (of_targets, TARGETS),
    (of_lists, LISTS),
    (of_bytes, "all any"),
    (real, "conj conj_physical"),
    (of_kinds, "sign sgn"),
    (keeps, "cov corrcoef cummax cummin unravel_index"),
    (placed, PLACED),
]

NAMES = [name for _, names in WRAPPERS for name in names.split()]


def mend(room: MutableMapping[str, Any], out: bool = False) -> None:
    """Wrap those functions of a room that the tables name; let them take `out`."""
    for wrapper, names in [*WRAPPERS, *([(writes, OUT)] if out else [])]:
        for name in names.split():
            given = room.get(name)
            # It knows the names by itself.
            whole = isinstance(given, _C.Operator) and given.otherwise is None
            if given is not None and not (wrapper is placed and whole):
                room[name] = wrapper(room[name])
