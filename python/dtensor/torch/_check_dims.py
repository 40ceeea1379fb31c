"""Checks of dims: which ones a tensor has, and how they are cut into pieces."""

from typing import Any

from dtensor._C import Tensor
from dtensor.torch._checks import of, within

__all__: list[str] = []


@of("median nanmedian")
def _middles(
    name: str, input: Any, dim: Any = None, *args: Any, **options: Any
) -> None:
    if dim is None:
        return
    within(input, dim)
    if input.ndim and not input.shape[dim]:
        raise IndexError(
            f"{name}(): Expected reduction dim {dim % input.ndim} to have non-zero "
            "size."
        )


@of("squeeze squeeze_ fftshift ifftshift narrow_copy")
def _dims(name: str, input: Any, dim: Any = None, *args: Any, **options: Any) -> None:
    for each in dim if isinstance(dim, tuple | list) else (dim,):
        within(input, each)


@of("narrow")
def _narrow(name: str, input: Any, dim: int, start: Any, length: int) -> None:
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    within(input, dim)
    n = input.shape[dim]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -n <= start <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got "
            f"{start})"
        )


@of("select")
def _select(name: str, input: Any, dim: int, index: Any) -> None:
    within(input, dim)
    if input.ndim and not -input.shape[dim] <= index < input.shape[dim]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size "
            f"{list(input.shape)} at dimension {dim}"
        )


@of("roll")
def _shifts(name: str, input: Any, shifts: Any, dims: Any = None) -> None:
    if dims is None or dims == ():
        return
    counts = [len(x) if isinstance(x, tuple | list) else 1 for x in (shifts, dims)]
    if counts[0] != counts[1]:
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {counts[0]}, dims:{counts[1]}"
        )


@of("unfold")
def _windows(name: str, input: Any, dimension: int, size: int, step: int) -> None:
    within(input, dimension)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")


@of("split")
def _lengths(
    name: str, tensor: Any, split_size: Any = 0, dim: int = 0, **options: Any
) -> None:
    split_size = options.get("split_size_or_sections", split_size)
    if not tensor.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    within(tensor, dim)
    if not isinstance(split_size, int):
        if any(n < 0 for n in split_size):
            raise RuntimeError(
                "split_with_sizes expects split_sizes have only non-negative entries, "
                f"but got split_sizes={list(split_size)}"
            )
    elif split_size < 0:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )
    elif split_size == 0 and tensor.ndim and tensor.shape[dim]:
        raise RuntimeError(
            "split_size can only be 0 if dimension size is 0, but got dimension size "
            f"of {tensor.shape[dim]}"
        )


@of("chunk unsafe_chunk")
def _pieces(name: str, input: Any, *args: Any, **options: Any) -> None:
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")


@of("tensor_split")
def _sections(name: str, input: Any, *args: Any, **options: Any) -> None:
    if not input.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor "
            "with 0 dims"
        )


@of("unbind")
def _slices(name: str, input: Any, *args: Any, **options: Any) -> None:
    if not input.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")


@of("diagonal")
def _diagonals(
    name: str, input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> None:
    within(input, dim1)
    within(input, dim2)


@of("rot90")
def _planes(name: str, input: Any, k: int = 1, dims: Any = (0, 1)) -> None:
    if input.ndim < 2:
        raise RuntimeError(
            f"expected total dims >= 2, but got total dims = {input.ndim}"
        )
    for dim in dims:
        within(input, dim)


@of("tril triu tril_ triu_")
def _matrices(name: str, input: Any, *args: Any, **options: Any) -> None:
    if isinstance(input, Tensor) and input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@of("lu_factor lu_factor_ex householder_product matrix_rank")
def _a_matrix(name: str, A: Any, *args: Any, **options: Any) -> None:  # noqa: N803
    if A.ndim < 2:
        raise RuntimeError(
            f"torch.linalg.{name}: The input tensor input must have at least 2 "
            "dimensions."
        )
