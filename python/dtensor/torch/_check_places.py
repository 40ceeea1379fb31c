"""Checks of indices: most count from 0 on, where NumPy counts negative ones back."""

from typing import Any

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops.index.terms import checked_index
from dtensor.torch._checks import kind, legacy, no_number, of, within

__all__: list[str] = []


def _from_0_on(name: str, input: Any, dim: int, index: Any) -> None:
    """Raise an IndexError, on all ranks, if an index is negative or too large."""
    if input.ndim and isinstance(index, _C.Tensor) and not is_meta(index):
        checked_index(name, index, input.shape, dim % input.ndim, least=0)


@of(
    "index_select index_add index_add_ index_copy index_copy_ index_reduce "
    "index_reduce_"
)
def _along(
    name: str, input: Any, dim: Any, index: Any, *args: Any, **options: Any
) -> None:
    no_number(name, "index", 3, index)
    within(input, dim)
    if isinstance(index, _C.Tensor) and kind(index) not in "iu":
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {legacy(index)}"
        )
    if name != "index_select":
        _alike(name, input, options.get("source", args[0] if args else None))
    _from_0_on(name, input, dim, index)


_UNLIKE = {
    "index_add": "{0}_(): self ({1}) and source ({2}) must have the same scalar type",
    "index_copy": "{0}_(): self and source expected to have the same dtype, but got "
    "(self) {1} and (source) {2}",
    "put": "{0}_(): self and source expected to have the same dtype, but got "
    "self.dtype = {1} and source.dtype = {2}",
    "index_put": "Index put requires the source and destination dtypes match, got {1} "
    "for the destination and {2} for the source.",
    "masked_scatter": "masked_scatter: expected self and source to have same dtypes "
    "but got{1} and {2}",
}
_UNLIKE["index_reduce"] = _UNLIKE["index_add"]


def _alike(name: str, input: Any, source: Any) -> None:
    """Raise unless what is written has the dtype of what it is written into."""
    if isinstance(source, _C.Tensor) and source.dtype != input.dtype:
        bare = name.removesuffix("_")
        dtypes = legacy(input), legacy(source)
        raise RuntimeError(_UNLIKE[bare].format(bare, *dtypes))


@of("index_put index_put_ masked_scatter masked_scatter_")
def _by_places(name: str, input: Any, places: Any, *args: Any, **options: Any) -> None:
    named = options.get("values", options.get("source"))
    _alike(name, input, args[0] if args else named)


@of("take put put_")
def _flat(
    name: str, input: Any, index: Any, source: Any = None, *args: Any, **options: Any
) -> None:
    no_number(name, "index", 2, index)
    if isinstance(index, _C.Tensor) and kind(index) not in "iu":
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {legacy(index)}"
        )
    no_number(name, "source", 3, source)
    _alike(name, input, source)


@of("gather scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_")
def _grid(
    name: str, input: Any, dim: int, index: Any, *args: Any, **options: Any
) -> None:
    what = "gather" if name == "gather" else "scatter"
    if isinstance(index, _C.Tensor) and kind(index) not in "iu":
        raise RuntimeError(f"{what}(): Expected dtype int32/int64 for index")
    if 0 in index.shape:  # nothing is picked or put, whatever the dims
        return
    if max(index.ndim, 1) != max(input.ndim, 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as "
            f"{'input' if what == 'gather' else 'self'} tensor"
        )
    src = options.get("src", args[0] if args else None)
    if isinstance(src, _C.Tensor) and src.dtype != input.dtype:
        raise RuntimeError(f"{what}(): Expected self.dtype to be equal to src.dtype")
    within(input, dim)
    _from_0_on(name, input, dim, index)


@of("index_fill index_fill_")
def _one_value(
    name: str, input: Any, *args: Any, value: Any = None, **options: Any
) -> None:
    value = args[-1] if value is None and args else value
    if isinstance(value, _C.Tensor) and value.ndim:
        raise RuntimeError(
            f"{name.removesuffix('_')}_ only supports a 0-dimensional value tensor, "
            f"but got tensor with {value.ndim} dimension(s)."
        )
