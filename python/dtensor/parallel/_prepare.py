"""PyTorch 2.0's functions that prepare the inputs and outputs of a module.

A style calls them with the inputs, or the output, and the mesh. The current styles name
layouts instead.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from dtensor._C import DTensor, Tensor
from dtensor.device_mesh import DeviceMesh
from dtensor.placement_types import Placement, Replicate, Shard

__all__ = [
    "make_input_replicate_1d",
    "make_input_reshard_replicate",
    "make_input_shard_1d",
    "make_input_shard_1d_last_dim",
    "make_output_replicate_1d",
    "make_output_reshard_tensor",
    "make_output_shard_1d",
    "make_output_tensor",
    "make_sharded_output_tensor",
]

F = TypeVar("F", bound=Callable[..., Any])


# --- what all of them check -----------------------------------------------------------


def _for_input(fn: F) -> F:
    """Pass `fn` the first of several inputs, and the mesh of a DTensor."""

    @functools.wraps(fn)
    def checked(
        input: Any, device_mesh: DeviceMesh | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        if isinstance(input, list | tuple):
            input = input[0]
        if device_mesh is None:
            if not isinstance(input, DTensor):
                raise RuntimeError("device_mesh is not passed nor can be inferred")
            device_mesh = input.device_mesh
        if device_mesh.ndim != 1:
            raise RuntimeError(
                f"device_mesh has dims {device_mesh.ndim} but expected to be 1 for "
                "input."
            )
        if not isinstance(input, Tensor | np.ndarray):
            raise RuntimeError(
                "Tensor parallel module expects torch.Tensor or DTensor input but "
                f"received {type(input)}!"
            )
        return fn(input, device_mesh, *args, **kwargs)

    return checked  # type: ignore[return-value]


def _for_output(fn: F) -> F:
    """Pass `fn` a DTensor and its mesh."""

    @functools.wraps(fn)
    def checked(
        output: Any, device_mesh: DeviceMesh | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        if not isinstance(output, DTensor):
            raise AssertionError(
                "Expect output of Tensor Parallel to be a DTensor, but found "
                f"{type(output)}."
            )
        if device_mesh is None:
            device_mesh = output.device_mesh
        if device_mesh.ndim != 1:
            raise AssertionError(
                f"device_mesh has dims {device_mesh.ndim} but expected to be 1 for "
                "output."
            )
        return fn(output, device_mesh, *args, **kwargs)

    return checked  # type: ignore[return-value]


def _placed(input: Any, device_mesh: DeviceMesh | None, placement: Placement) -> Any:
    """A DTensor moved to `placement`, or made from local parts that have it."""
    if isinstance(input, DTensor):
        return input.redistribute(device_mesh, [placement])
    return DTensor.from_local(input, device_mesh, [placement], run_check=False)


# --- inputs ---------------------------------------------------------------------------


@_for_input
def make_input_shard_1d(
    input: Any, device_mesh: DeviceMesh | None = None, dim: int = 0
) -> DTensor:
    """Return the input as a DTensor that is sharded along one dimension.

    Collective over the mesh.

    Parameters
    ----------
    input : Tensor, DTensor or ndarray, or a list or tuple of which the first is one
        This rank's part, or a DTensor, which is redistributed.
    device_mesh : DeviceMesh, optional
        A mesh of one dimension; default: that of the DTensor.
    dim : int, default 0
        The dimension.

    Returns
    -------
    DTensor
        Its placements are ``(Shard(dim),)``.

    Raises
    ------
    RuntimeError
        If there is no mesh, it has several dimensions, or the input is not a tensor.
    """
    return _placed(input, device_mesh, Shard(dim))  # type: ignore[no-any-return]


@_for_input
def make_input_shard_1d_last_dim(
    input: Any, device_mesh: DeviceMesh | None = None
) -> DTensor:
    """Return the input as a DTensor that is sharded along its last dimension.

    Collective over the mesh. `make_input_shard_1d` with ``dim=-1``.
    """
    return make_input_shard_1d(input, device_mesh, dim=input.ndim - 1)


@_for_input
def make_input_replicate_1d(
    input: Any, device_mesh: DeviceMesh | None = None
) -> DTensor:
    """Return the input as a DTensor that is replicated.

    Collective over the mesh. A plain input must be the same on all ranks.

    Parameters
    ----------
    input : Tensor, DTensor or ndarray, or a list or tuple of which the first is one
        The whole input, or a DTensor, which is redistributed.
    device_mesh : DeviceMesh, optional
        A mesh of one dimension; default: that of the DTensor.

    Returns
    -------
    DTensor
        Its placements are ``(Replicate(),)``.

    Raises
    ------
    RuntimeError
        If there is no mesh, it has several dimensions, or the input is not a tensor.
    """
    return _placed(input, device_mesh, Replicate())  # type: ignore[no-any-return]


@_for_input
def make_input_reshard_replicate(
    input: Any, device_mesh: DeviceMesh | None = None
) -> DTensor:
    """Return the input, whose rows are spread over the ranks, as a replicated DTensor.

    Collective over the mesh: an all_gather along dimension 0.

    Parameters
    ----------
    input : Tensor, DTensor or ndarray, or a list or tuple of which the first is one
        This rank's part along dimension 0, or a DTensor.
    device_mesh : DeviceMesh, optional
        A mesh of one dimension; default: that of the DTensor.

    Returns
    -------
    DTensor
        Its placements are ``(Replicate(),)``.

    Raises
    ------
    RuntimeError
        If there is no mesh, it has several dimensions, or the input is not a tensor.
    """
    if not isinstance(input, DTensor):
        input = make_input_shard_1d(input, device_mesh, dim=0)
    return make_input_replicate_1d(input, device_mesh)


# --- outputs --------------------------------------------------------------------------


@_for_output
def make_output_shard_1d(
    output: DTensor, device_mesh: DeviceMesh | None = None, dim: int = 0
) -> DTensor:
    """Return the output sharded along one dimension.

    Collective over the mesh.

    Parameters
    ----------
    output : DTensor
        What the module returned.
    device_mesh : DeviceMesh, optional
        A mesh of one dimension; default: that of the output.
    dim : int, default 0
        The dimension.

    Returns
    -------
    DTensor
        Its placements are ``(Shard(dim),)``.

    Raises
    ------
    AssertionError
        If the output is not a DTensor, or the mesh has several dimensions.
    """
    return output.redistribute(device_mesh, [Shard(dim)])


@_for_output
def make_output_replicate_1d(
    output: DTensor, device_mesh: DeviceMesh | None = None
) -> DTensor:
    """Return the output replicated.

    Collective over the mesh. Arguments and errors are those of `make_output_shard_1d`.
    """
    return output.redistribute(device_mesh, [Replicate()])


@_for_output
def make_output_tensor(
    output: DTensor, device_mesh: DeviceMesh | None = None
) -> Tensor:
    """Return the whole output as a `Tensor`.

    Collective over the mesh. Arguments and errors are those of `make_output_shard_1d`.
    """
    return make_output_replicate_1d(output, device_mesh).to_local()


@_for_output
def make_output_reshard_tensor(
    output: DTensor, device_mesh: DeviceMesh | None = None
) -> Tensor:
    """Return this rank's rows of the output as a `Tensor`.

    Collective over the mesh. Arguments and errors are those of `make_output_shard_1d`.
    """
    return make_output_shard_1d(output, device_mesh).to_local()


@_for_output
def make_sharded_output_tensor(
    output: DTensor, _device_mesh: DeviceMesh | None = None
) -> Tensor:
    """Return this rank's part of the output, in its present layout, as a `Tensor`.

    Not collective. Arguments and errors are those of `make_output_shard_1d`.
    """
    return output.to_local()
