"""``torch.distributed._composable.replicate``: data parallelism."""

from collections.abc import Iterable
from typing import Any

from dtensor import fsdp as _fsdp

__all__ = ["replicate"]


def replicate(
    module: Any, ignored_modules: Iterable[Any] | None = None, **kwargs: Any
) -> Any:
    """Train a module that every rank holds whole: see `dtensor.fsdp.replicate`.

    Parameters
    ----------
    module : Module
    ignored_modules : iterable of Module, optional
        Whose parameters stay as they are.
    **kwargs
        `device_mesh`, or `mesh`: of one dim; `mp_policy`, `ignored_params`. Others are
        those of DistributedDataParallel, and are ignored.
    """
    mesh = kwargs.pop("device_mesh", None)
    kwargs.pop("device_id", None)
    if mesh is not None:
        kwargs["mesh"] = mesh
    if ignored_modules is not None:
        ignored = [p for below in ignored_modules for p in below.parameters()]
        kwargs["ignored_params"] = {*ignored, *(kwargs.get("ignored_params") or ())}
    return _fsdp.replicate(module, **kwargs)
