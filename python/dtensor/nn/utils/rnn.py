"""Sequences of different lengths in one tensor: the names of ``torch.nn.utils.rnn``."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from dtensor import _C

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

Ints = npt.NDArray[np.int64]


def numbers(x: Any) -> Ints:
    """Return integers that every rank has."""
    whole = x.full_tensor() if isinstance(x, _C.DTensor) else x
    return np.asarray(whole, np.int64)


def floats(x: Any) -> npt.NDArray[np.float64]:
    """Return numbers that every rank has."""
    x = x.detach() if isinstance(x, _C.Tensor) else x
    whole = x.full_tensor() if isinstance(x, _C.DTensor) else x
    return np.asarray(whole, np.float64)


# --- packed sequences -----------------------------------------------------------------


class _Packed(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Packed):
    """Sequences, the longest first, as their elements at each time, one after another.

    Made by `pack_padded_sequence` and `pack_sequence`; recurrent layers take and return
    them.

    Attributes
    ----------
    data : tensor, shape (elements of all sequences, ...)
    batch_sizes : Tensor of int64
        How many sequences have an element at each time.
    sorted_indices, unsorted_indices : Tensor of int64, or None
        Which of the given sequences is at each place, and at which place each is.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> Self:
        if batch_sizes is None:
            if not (isinstance(data, list | tuple) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Return the sequences with ``data.to(...)``."""
        return self._replace(data=self.data.to(*args, **kwargs))

    def double(self) -> Self:
        """Return the sequences in float64."""
        return self.to(np.float64)

    def float(self) -> Self:
        """Return the sequences in float32."""
        return self.to(np.float32)

    def half(self) -> Self:
        """Return the sequences in float16."""
        return self.to(np.float16)

    def cpu(self) -> Self:
        """Return the sequences: all tensors are in CPU memory."""
        return self

    def pin_memory(self) -> Self:
        """Return the sequences: there is no other memory."""
        return self

    def is_pinned(self) -> bool:
        """Return False."""
        return False

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False


def invert_permutation(permutation: Any) -> Any:
    """Return the permutation that undoes one; None for None. Not collective.

    Parameters
    ----------
    permutation : Tensor of int, or None
    """
    return (
        None if permutation is None else _C.as_tensor(np.argsort(numbers(permutation)))
    )


def valid_steps(sizes: Ints) -> npt.NDArray[np.bool_]:
    """Return whether each sequence has an element at each time."""
    count = int(sizes[0]) if len(sizes) else 0
    return np.asarray(np.arange(count) < sizes[:, None])


def pack_padded_sequence(
    input: Any,  # noqa: A002
    lengths: Any,
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Return padded sequences without their padding.

    Of a DTensor the result is one; what is cut along the batch is sent, since packed
    elements have no such dim.

    Parameters
    ----------
    input : tensor, shape (time, batch, ...)
        Or (batch, time, ...) if `batch_first`.
    lengths : sequence of int or tensor
        The same on all ranks.
    batch_first : bool, default False
    enforce_sorted : bool, default True
        Whether the longest must be first; else they are sorted.

    Raises
    ------
    RuntimeError
        If the lengths do not fit.
    """
    sizes, order = numbers(lengths), None
    if not enforce_sorted:
        order = np.argsort(-sizes, kind="stable")
        sizes = sizes[order]
    x = np.swapaxes(input, 0, 1) if batch_first else input
    if sizes.shape != (x.shape[1],):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {sizes.size} "
            f"(batch_size={x.shape[1]})"
        )
    if not sizes.size:
        raise RuntimeError("Cannot pack empty tensors.")
    if (np.diff(sizes) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` "
            "is True. You can pass `enforce_sorted=False` to pack_padded_sequence "
            "and/or pack_sequence to sidestep this requirement if you do not need ONNX "
            "exportability."
        )
    if sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in "
            "'lengths' that is <= 0"
        )
    if sizes[0] > len(x):
        raise RuntimeError(
            f"Expected all lengths to be at most {len(x)}, but the greatest is "
            f"{sizes[0]}"
        )
    times, places = np.nonzero(np.arange(sizes[0])[:, None] < sizes)
    data = x[times, places if order is None else order[places]]
    batch_sizes = _C.as_tensor(np.bincount(times, minlength=int(sizes[0])))
    return PackedSequence(
        data, batch_sizes, None if order is None else _C.as_tensor(order)
    )


def padded(sequence: PackedSequence, value: float = 0.0, total: int = 0) -> Any:
    """Return sequences with padding, in packed order: (time, batch, ...)."""
    valid = valid_steps(numbers(sequence.batch_sizes))
    rows = np.where(valid, np.cumsum(valid).reshape(valid.shape) - 1, 0)
    mask = valid.reshape(*valid.shape, *(1,) * (sequence.data.ndim - 1))
    out = np.where(mask, sequence.data[rows], value)
    if total > len(valid):
        ends = [(0, total - len(valid)), *[(0, 0)] * (out.ndim - 1)]
        out = np.pad(out, ends, constant_values=value)
    return out


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """Return sequences with padding, in the order they were given in, and lengths.

    Parameters
    ----------
    sequence : PackedSequence
    batch_first : bool, default False
        Whether the result is (batch, time, ...) or (time, batch, ...).
    padding_value : float, default 0.0
    total_length : int, optional
        The length that all are padded to; default: that of the longest.

    Raises
    ------
    ValueError
        If `total_length` is too small.
    """
    sizes = numbers(sequence.batch_sizes)
    if total_length is not None and total_length < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence "
            f"in input, but got total_length={total_length} and max sequence length "
            f"being {len(sizes)}"
        )
    lengths = valid_steps(sizes).sum(axis=0)
    out = padded(sequence, padding_value, total_length or 0)
    if sequence.unsorted_indices is not None:
        order = numbers(sequence.unsorted_indices)
        out, lengths = out[:, order], lengths[order]
    return np.swapaxes(out, 0, 1) if batch_first else out, _C.as_tensor(lengths)


# --- lists of sequences ---------------------------------------------------------------


def pad_sequence(
    sequences: Iterable[Any],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:
    """Return sequences as one tensor, padded to the length of the longest.

    Parameters
    ----------
    sequences : iterable of tensor, shape (length, ...)
    batch_first : bool, default False
        Whether the result is (batch, time, ...) or (time, batch, ...).
    padding_value : float, default 0.0
    padding_side : ``"right"`` or ``"left"``

    Raises
    ------
    RuntimeError
        If there are no sequences, or no such side.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    each: Sequence[Any] = tuple(sequences)
    if not each:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("right", "left"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    longest = max(len(x) for x in each)

    def pad(x: Any) -> Any:
        missing = longest - len(x)
        first = (0, missing) if padding_side == "right" else (missing, 0)
        ends = [first, *[(0, 0)] * (x.ndim - 1)]
        return np.pad(x, ends, constant_values=padding_value) if missing else x

    return np.stack([pad(x) for x in each], axis=0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Any, lengths: Any, batch_first: bool = False
) -> list[Any]:
    """Return padded sequences as a list of tensors without padding.

    Parameters
    ----------
    padded_sequences : tensor, shape (time, batch, ...)
        Or (batch, time, ...) if `batch_first`.
    lengths : sequence of int or tensor
    batch_first : bool, default False
    """
    x = padded_sequences if batch_first else np.swapaxes(padded_sequences, 0, 1)
    return [x[k, :n] for k, n in enumerate(numbers(lengths).tolist())]


def pack_sequence(
    sequences: Sequence[Any], enforce_sorted: bool = True
) -> PackedSequence:
    """Return a list of sequences packed.

    Parameters
    ----------
    sequences : sequence of tensor, shape (length, ...)
    enforce_sorted : bool, default True
        Whether the longest must be first; else they are sorted.
    """
    lengths = [len(x) for x in sequences]
    return pack_padded_sequence(
        pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted
    )


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """Return packed sequences as a list of tensors."""
    x, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(x, lengths, batch_first=True)
