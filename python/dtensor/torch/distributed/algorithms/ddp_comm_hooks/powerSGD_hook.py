"""``torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook``: what is sent of a
gradient are two narrow matrices, whose product is near to it.

T. Vogels, S. P. Karimireddy and M. Jaggi, "PowerSGD: Practical Low-Rank Gradient
Compression for Distributed Optimization", NeurIPS 2019, algorithms 1 and 2.
"""

import logging
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.fsdp._bucket import GradBucket
from dtensor.torch.distributed._groups import Group, mesh_of
from dtensor.torch.distributed.algorithms.ddp_comm_hooks._flat import (
    done,
    summed,
    values_of,
)
from dtensor.torch.distributed.algorithms.ddp_comm_hooks.default_hooks import (
    allreduce_hook,
)
from dtensor.torch.futures import Future

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]

Array = npt.NDArray[Any]

logger = logging.getLogger(__name__)


class PowerSGDState:
    """What `powerSGD_hook` and `batched_powerSGD_hook` keep from step to step.

    Parameters
    ----------
    process_group : process group, optional
        The ranks whose gradients are averaged; default: all.
    matrix_approximation_rank : int, default 1
        The columns of the matrices that are sent, at most.
    start_powerSGD_iter : int, default 1000
        The step from which on gradients are compressed.
    min_compression_rate : float, default 2
        How many times less has to be sent of a gradient, or it is sent as it is.
    use_error_feedback : bool, default True
        Whether what was lost of a gradient is added to the next one: a bucket's memory.
    warm_start : bool, default True
        Whether a step begins with the matrices of the last one.
    orthogonalization_epsilon : float, default 0
        What is added to the norms of columns, in case that one is 0.
    random_seed : int, default 0
        Of the first matrices; the same on all ranks.
    compression_stats_logging_frequency : int, default 10000
        After how many steps the compression is logged.
    batch_tensors_with_same_shape : bool, default False
        Without effect: it changes how PyTorch computes, not what.

    Raises
    ------
    ValueError
        If compression begins before step 2 with what is kept from step to step.
    """

    def __init__(
        self,
        process_group: Group,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000,  # noqa: N803
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or "
                "`warm_start` is enabled, because PowerSGD can only be applied after "
                "the first two iterations in DDP."
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback = use_error_feedback
        self.warm_start = warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = np.random.RandomState(random_seed)
        self.error_dict: dict[int, Array] = {}
        self.p_memory_dict: dict[int, list[Array]] = {}
        self.q_memory_dict: dict[int, list[Array]] = {}
        self.iter = 0
        self.total_numel_before_compression = 0
        self.total_numel_after_compression = 0
        self.compression_stats_logging_frequency = max(
            1, compression_stats_logging_frequency
        )
        self.next_stats_report = 0
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: all but the group, which is that of the job."""
        return {k: v for k, v in vars(self).items() if k != "process_group"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, process_group=None)

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a step after its last bucket."""
        self.iter += bucket.is_last()

    def compression_stats(self) -> tuple[float, int, int]:
        """Return the rate of compression, and the elements before and after it."""
        before = self.total_numel_before_compression
        after = self.total_numel_after_compression
        return before / after if after else 0, before, after


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Any]:  # noqa: N802
    """Average the gradients, of those that are worth it by two narrow matrices each.

    A gradient with rows and columns of other dims becomes ``p @ q.T``, where `p` and
    `q` have `matrix_approximation_rank` columns. Vectors, and what would not be
    compressed by `min_compression_rate`, are averaged as they are.

    Collective: three all_reduces of a bucket, of all `p`, all `q`, and the rest.
    """
    if state.iter < state.start_powerSGD_iter:
        return _whole(state, bucket)
    flat = values_of(bucket)
    given = _corrected(state, bucket, flat)
    low: list[Array] = []
    rest: list[Array] = []
    for grad in bucket._cut(flat):
        matrix = grad.reshape(len(grad), -1) if grad.ndim > 1 else grad
        (low if _is_worth(state, matrix) else rest).append(matrix)
    summed(state.process_group, rest)
    for part in rest:
        part /= mesh_of(state.process_group).size()
    _approximate(state, bucket.index(), low)
    _count(state, low, rest)
    return _next(state, bucket, flat, given)


def batched_powerSGD_hook(  # noqa: N802
    state: PowerSGDState, bucket: GradBucket
) -> Future[Any]:
    """Average a bucket as one square matrix of all its elements: see `powerSGD_hook`.

    Collective: two all_reduces of a bucket.
    """
    if state.iter < state.start_powerSGD_iter:
        return _whole(state, bucket)
    flat = values_of(bucket)
    given = _corrected(state, bucket, flat)
    side = math.isqrt(max(flat.size - 1, 0)) + 1
    square = np.zeros((side, side), flat.dtype)
    square.ravel()[: flat.size] = flat
    _approximate(state, bucket.index(), [square])
    flat[...] = square.ravel()[: flat.size]
    _count(state, [square], [])
    return _next(state, bucket, flat, given)


def _whole(state: PowerSGDState, bucket: GradBucket) -> Future[Any]:
    state.maybe_increase_iter(bucket)
    return allreduce_hook(state.process_group, bucket)


def _corrected(state: PowerSGDState, bucket: GradBucket, flat: Array) -> Array | None:
    """Add what was lost of the last gradients; return a copy, if it is to be kept."""
    if not state.use_error_feedback:
        return None
    lost = state.error_dict.get(bucket.index())
    if lost is not None and lost.shape == flat.shape:
        flat += lost
    return flat.copy()


def _next(
    state: PowerSGDState, bucket: GradBucket, flat: Array, given: Array | None
) -> Future[Any]:
    """End a bucket: keep what was lost of it, and count the step."""
    if given is not None:
        state.error_dict[bucket.index()] = given - flat
    state.maybe_increase_iter(bucket)
    return done(bucket, flat)


def _is_worth(state: PowerSGDState, matrix: Array) -> bool:
    if matrix.ndim < 2:
        return False
    sent = sum(matrix.shape) * state.matrix_approximation_rank
    return bool(sent * state.min_compression_rate < matrix.size)


def _approximate(state: PowerSGDState, index: int, matrices: Sequence[Array]) -> None:
    """Replace matrices by products near to the average of all ranks'."""
    rank, epsilon = state.matrix_approximation_rank, state.orthogonalization_epsilon
    shapes = [(m.shape[1], min(*m.shape, rank)) for m in matrices]
    last = state.q_memory_dict.get(index) if state.warm_start else None
    if last is None or [q.shape for q in last] != shapes:
        last = [state.rng.standard_normal(shape) for shape in shapes]
    qs = [_orthogonal(q, epsilon) for q in last]
    ps = [m @ q.astype(m.dtype) for m, q in zip(matrices, qs, strict=True)]
    summed(state.process_group, ps)
    ps = [_orthogonal(p, epsilon) for p in ps]
    qs = [m.T @ p.conj() for m, p in zip(matrices, ps, strict=True)]
    summed(state.process_group, qs)
    for q in qs:
        q /= mesh_of(state.process_group).size()
    for m, p, q in zip(matrices, ps, qs, strict=True):
        np.matmul(p, q.T, out=m)
    if state.warm_start:
        state.p_memory_dict[index], state.q_memory_dict[index] = ps, qs


def _orthogonal(matrix: Array, epsilon: float) -> Array:
    """Return a matrix whose columns span the same and are orthonormal."""
    if epsilon == 0:
        return np.linalg.qr(matrix).Q
    found = matrix.copy()
    for k in range(found.shape[1]):
        column = found[:, k]
        column /= np.linalg.norm(column) + epsilon
        after = found[:, k + 1 :]
        after -= np.outer(column, column.conj() @ after)
    return found


def _count(state: PowerSGDState, low: Sequence[Array], rest: Sequence[Array]) -> None:
    """Count the elements that would have been sent, and those that were; log it."""
    rank = state.matrix_approximation_rank
    sizes = [sum(m.shape) * min(*m.shape, rank) for m in low]
    whole = sum(x.size for x in rest)
    state.total_numel_before_compression += whole + sum(m.size for m in low)
    state.total_numel_after_compression += whole + sum(sizes)
    if state.iter >= state.next_stats_report:
        state.next_stats_report = state.iter + state.compression_stats_logging_frequency
        rate, before, after = state.compression_stats()
        logger.info(
            "PowerSGD at step %d: %d elements as %d, %.3g times less",
            state.iter,
            before,
            after,
            rate,
        )
