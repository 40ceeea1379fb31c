"""Losses of many classes: with frequent ones apart, and with the linear map before."""

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor.nn import functional as F
from dtensor.nn.containers import ModuleList, Sequential
from dtensor.nn.linear import Linear
from dtensor.nn.module import Module
from dtensor.nn.utils.rnn import numbers

__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
    "LinearCrossEntropyLoss",
    "LinearCrossEntropyOptions",
]


class _ASMoutput(NamedTuple):
    """What `AdaptiveLogSoftmaxWithLoss` returns."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of classes, of which the frequent ones have their own scores.

    The others are in clusters, each with one score among those of the frequent classes,
    and with a projection to fewer features.

    Parameters
    ----------
    in_features, n_classes : int
        The features of an input, and the number of classes, the frequent ones first.
    cutoffs : sequence of int
        Where the clusters begin.
    div_value : float, default 4.0
        The features of a cluster are those of the one before, divided by it.
    head_bias : bool, default False
        Whether the scores of frequent classes and clusters have a bias.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Raises
    ------
    ValueError
        If the cutoffs do not ascend, or are not classes.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        unfit = cutoffs != sorted(set(cutoffs)) or any(int(c) != c for c in cutoffs)
        if unfit or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in "
                "an increasing order, where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        how: Any = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **how)
        self.tail = ModuleList()
        for k, (start, stop) in enumerate(itertools.pairwise(self.cutoffs)):
            inner = int(in_features // (div_value ** (k + 1)))
            first = Linear(in_features, inner, bias=False, **how)
            self.tail.append(
                Sequential(first, Linear(inner, stop - start, bias=False, **how))
            )

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.head.reset_parameters()
        for parts in self.tail:
            for part in parts:
                part.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> _ASMoutput:
        """Return the log-probabilities of targets, and the mean of their negatives.

        Parameters
        ----------
        input_ : tensor, shape ([N,] in_features)
        target_ : tensor of int, shape ([N])
            Every rank needs all of them.

        Raises
        ------
        RuntimeError
            If shapes do not fit, or a target is no class.
        """
        self._check(input_, target_)
        alone = target_.ndim == 0
        input: Any = np.expand_dims(input_, 0) if alone else input_
        target = numbers(target_).reshape(-1)
        if target.size and not 0 <= target.min() <= target.max() < self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in "
                f"range [{target.min()}, {target.max()}] were found. "
            )
        cluster = np.searchsorted(self.cutoffs, target, side="right")
        places = np.where(cluster == 0, target, self.shortlist_size + cluster - 1)
        head: Any = F.log_softmax(self.head(input), 1)
        output: Any = np.take_along_axis(head, places[:, None], 1)[:, 0]
        rows, parts = [np.flatnonzero(cluster == 0)], []
        if rows[0].size:
            parts.append(np.take(output, rows[0], axis=0))
        for k, tail in enumerate(self.tail):
            index = np.flatnonzero(cluster == k + 1)
            if index.size:
                found = F.log_softmax(tail(np.take(input, index, axis=0)), 1)
                wanted = (target[index] - self.cutoffs[k])[:, None]
                here = np.take_along_axis(found, wanted, 1)[:, 0]
                parts.append(np.take(output, index, axis=0) + here)
                rows.append(index)
        if parts:
            order = np.argsort(np.concatenate(rows))
            output = np.take(np.concatenate(parts), order, axis=0)
        loss = np.mean(-output)
        return _ASMoutput(np.squeeze(output, 0) if alone else output, loss)

    def _check(self, input: Any, target: Any) -> None:
        if target.ndim > 1:
            raise RuntimeError(
                "0D or 1D target tensor expected, multi-target not supported"
            )
        if target.ndim == 1 and input.shape[0] != target.shape[0]:
            raise RuntimeError(
                "Input and target should have the same size in the batch dimension."
            )
        if input.ndim != target.ndim + 1:
            raise RuntimeError(
                f"{target.ndim}D target tensor expects {target.ndim + 1}D input "
                f"tensors, but found inputs with size {input.shape}"
            )

    def log_prob(self, input: Any) -> Any:
        """Return the log-probabilities of all classes, (N, n_classes)."""
        head = F.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for k, tail in enumerate(self.tail):
            place = self.shortlist_size + k
            parts.append(F.log_softmax(tail(input), 1) + head[:, place : place + 1])
        return np.concatenate(parts, 1)

    def predict(self, input: Any) -> Any:
        """Return the class of the largest probability, (N,)."""
        return np.argmax(self.log_prob(input), axis=1)


# --- with the linear map --------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch computes `LinearCrossEntropyLoss` in parts; it has no effect here.

    Parameters
    ----------
    allow_retain_graph : bool
        Whether backward may run twice.
    batch_chunk_size : int, optional
        How many samples a part has.
    chunking_method : str, optional
        What is cut into parts.
    acc_policy : {"auto", "accurate", "balanced", "compact"}
        How sums over parts are kept.
    acc_dtype : dtype, optional
        In which dtype.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(
                f"batch_chunk_size must be positive int or None, got {size!r}"
            )


class LinearCrossEntropyLoss(Module):
    """The cross entropy behind a linear map, which the loss has: see
    `functional.linear_cross_entropy`.

    Parameters
    ----------
    in_features, num_classes : int
    out_features : tuple of int, default ()
        The lengths of further dims.
    bias : bool, default False
        Whether the linear map has a bias.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.
    reduction, weight, ignore_index, label_smoothing
        As of `CrossEntropyLoss`.
    options : LinearCrossEntropyOptions, optional
        Ignored.

    Raises
    ------
    RuntimeError
        If there is not a weight for each class, or `label_smoothing` is not from 0
        to 1.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
        reduction: str = "mean",
        weight: Any = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got "
                f"{tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__()
        self.register_buffer("weight", weight)
        self.reduction = reduction
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        outs = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, outs, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Any, target: Any) -> Any:
        """Return the loss of inputs of shape ([N,] in_features)."""
        shape = (self.num_classes, *self.out_features)
        linear = self.linear
        bias = None if linear.bias is None else np.reshape(linear.bias, shape)
        return F.linear_cross_entropy(
            input,
            np.reshape(linear.weight, (*shape, linear.in_features)),
            target,
            linear_bias=bias,
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
