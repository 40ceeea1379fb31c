"""Layers that normalize each channel over the samples of a batch."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._C import DTensor
from dtensor._core import world
from dtensor._core.device import empty, is_meta
from dtensor.autograd.grad_mode import no_grad
from dtensor.functional_collectives import all_reduce
from dtensor.functional_collectives._group import Group
from dtensor.nn._kind import T
from dtensor.nn.module import Module
from dtensor.nn.norm import Affine
from dtensor.ops.model.batch_norm import Reduce, normalized

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]


class _BatchNorm(Affine):
    """Normalize each channel: ``(x - mean) / sqrt(var + eps) * weight + bias``.

    In training, mean and variance are those of the whole batch. For a DTensor this is
    the global batch, as in torch's ``SyncBatchNorm``; for a Tensor it is this rank's
    samples, and each rank has its own running averages. In evaluation they are the
    running averages.

    Parameters
    ----------
    num_features : int
        The number of channels, in dim 1 of `_dims`.
    eps : float, default 1e-5
    momentum : float or None, default 0.1
        The weight of a new batch in the running averages. None: all batches have the
        same weight.
    affine : bool, default True
        Whether there is a weight.
    track_running_stats : bool, default True
        Whether there are running averages; if not, evaluation uses the batch, too.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.
    bias : bool, default True
        Whether there is a bias too.

    Attributes
    ----------
    weight, bias : Parameter, shape (num_features,), or None
    running_mean, running_var : tensor, shape (num_features,), or None
        Buffers, initially 0 and 1.
    num_batches_tracked : tensor of int64, shape (), or None
        A buffer: the number of batches in the running averages.

    Raises
    ------
    ValueError
        When called, if the input has another number of dims, or in training only one
        value per channel.
    """

    _dims: tuple[int, ...]
    _version = 2  # 1: without num_batches_tracked

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *more: Any
    ) -> None:
        """Load the state; older ones have not counted batches."""
        key = f"{prefix}num_batches_tracked"
        counts = self._buffers.get("num_batches_tracked")
        if (
            local_metadata.get("version", 1) < 2
            and counts is not None
            and key not in state_dict
        ):
            state_dict[key] = np.array(0) if is_meta(counts) else counts
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *more)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, shape, kind in (
            ("running_mean", (num_features,), dtype),
            ("running_var", (num_features,), dtype),
            ("num_batches_tracked", (), np.int64),
        ):
            buffer = empty(shape, kind, device) if track_running_stats else None
            self.register_buffer(name, buffer)
        self._make((num_features,), affine, affine and bias, device, dtype)

    def reset_running_stats(self) -> None:
        """Reset the running averages: mean 0, variance 1, no batches."""
        if self.track_running_stats:
            self.running_mean[...] = 0
            self.running_var[...] = 1
            self.num_batches_tracked[...] = 0

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0, and reset the running averages."""
        self.reset_running_stats()
        super().reset_parameters()

    def forward(self, input: T) -> T:
        """Return the normalized input, of the same shape."""
        self._check(input)
        tracked = not self.training or self.track_running_stats
        output: T = normalized(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            self._weight_of_batch(),
            self.eps,
            self._reduce(input),
        )
        return output

    def _check(self, input: Any) -> None:
        if input.ndim not in self._dims:
            words = " or ".join(f"{dims}D" for dims in self._dims)
            raise ValueError(f"expected {words} input (got {input.ndim}D input)")

    def _reduce(self, input: Any) -> Reduce | None:
        """Return the function that adds the sums of the other ranks' samples."""
        return None

    def _weight_of_batch(self) -> float:
        """Return the weight of a batch in the running averages, and count the batch."""
        counts = self.training and self.track_running_stats
        if counts and self.num_batches_tracked is not None:
            with no_grad():
                self.num_batches_tracked += 1
            if self.momentum is None:
                return 1 / float(self.num_batches_tracked)
        return self.momentum or 0.0

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    __doc__ = (_BatchNorm.__doc__ or "").replace("`_dims`", "two or three")
    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = (_BatchNorm.__doc__ or "").replace("`_dims`", "four")
    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    __doc__ = (_BatchNorm.__doc__ or "").replace("`_dims`", "five")
    _dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Normalize each channel over the samples of all ranks.

    With Tensors, each rank has its own samples. In training, mean and variance are then
    those of all samples in a group, and running averages are equal on its ranks: use it
    with `fully_shard` and `replicate`. With DTensors it does the same as
    `BatchNorm1d` and `BatchNorm2d`. Training is collective.

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats
        See `BatchNorm1d`. The input has two or more dims.
    process_group : DeviceMesh, (DeviceMesh, mesh dim), communicator or list, optional
        The ranks; default: all of them.
    device, dtype, bias
        See `BatchNorm1d`.

    Attributes
    ----------
    weight, bias, running_mean, running_var, num_batches_tracked
        See `BatchNorm1d`.

    Raises
    ------
    ValueError
        When called, if the input has fewer dims, no channels, or in training only one
        value per channel.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Group | None = None,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        own = num_features, eps, momentum, affine, track_running_stats, device, dtype
        super().__init__(*own, bias=bias)
        self.process_group = process_group

    def _check(self, input: Any) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
        if input.shape[1] == 0:
            raise ValueError(
                "SyncBatchNorm number of input channels should be non-zero"
            )

    def _reduce(self, input: Any) -> Reduce | None:
        if not self.training or isinstance(input, DTensor):
            return None
        group = self.process_group
        if group is None:
            group = [*range(world.current().size)]
        return lambda sums: all_reduce(sums, "sum", group)

    @classmethod
    def convert_sync_batchnorm(
        cls, module: Module, process_group: Group | None = None
    ) -> Module:
        """Return a module in which every batch norm is replaced by this class.

        Parameters
        ----------
        module : Module
            Changed in place. If it is a batch norm itself, the result is a new module
            with its parameters and buffers.
        process_group : DeviceMesh or another group, optional
            The ranks, as above.
        """
        found = module
        if isinstance(module, _BatchNorm):
            found = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                device="meta",
            )
            found._parameters.update(module._parameters)
            found._buffers.update(module._buffers)
            found.training = module.training
        for name, child in module.named_children():
            found.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return found
