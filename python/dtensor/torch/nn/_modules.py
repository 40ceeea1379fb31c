"""Modules that are made under PyTorch's names: their tensors are in its dialect.

Each is a subclass of ours of the same name. ``isinstance(x, torch.nn.Linear)`` also
holds for ours, which a module may have made inside.
"""

import functools
import inspect
from abc import ABCMeta
from typing import Any

from dtensor import _C, nn
from dtensor.ops._make.refusal import translated
from dtensor.torch._edges import lifted

__all__ = ["Buffer", "Module", "Parameter", "modules"]


class _Speaks(ABCMeta):
    """The type of modules whose parameters and buffers are put into the dialect.

    An ABCMeta, so that a user's module may be abstract: ``class Net(nn.Module, ABC)``.
    """

    def __call__(cls, *args: Any, **options: Any) -> Any:
        try:
            module = super().__call__(*args, **options)
        except ValueError as error:
            other = None
            if cls.__module__ == "dtensor.torch.nn":
                other = translated(error, cls.__name__, args, options)
            if other is None:
                raise
            raise other from error.__cause__
        if isinstance(module, nn.Module):
            for tensors in (module.parameters(), module.buffers()):
                for tensor in tensors:
                    _C.into_torch(tensor)
        return module

    @property
    def __signature__(cls) -> inspect.Signature:
        if "_signature" in cls.__dict__:
            given: inspect.Signature = cls.__dict__["_signature"]
            return given
        whole = inspect.signature(cls.__init__)  # type: ignore[misc]
        return whole.replace(parameters=list(whole.parameters.values())[1:])

    @__signature__.setter
    def __signature__(cls, given: inspect.Signature) -> None:
        cls._signature = given

    def __instancecheck__(cls, instance: object) -> bool:
        ours = cls.__dict__.get("_ours")
        return (
            type.__instancecheck__(cls, instance)
            or (ours is not None and isinstance(instance, ours))
            or super().__instancecheck__(instance)
        )


class Module(nn.Module, metaclass=_Speaks):
    """The base of modules: see `dtensor.nn.Module`."""

    _ours = nn.Module

    def cuda(self, device: Any = None) -> Any:
        """Raise AssertionError if there are parameters or buffers: there is no CUDA."""
        return self._apply(lambda tensor: tensor.as_torch().cuda(device))

    def compile(self, *args: Any, **options: Any) -> None:
        """Do nothing: nothing is compiled."""

    def share_memory(self) -> Any:
        """Return this module: ranks that are threads share memory already."""
        return self


LIFTED = ("LogSoftmax", "PReLU", "Softmax", "Softmin")  # take tensors without dims


def _lifted(forward: Any) -> Any:
    @functools.wraps(forward)
    def answer(self: Any, input: Any) -> Any:
        return lifted(functools.partial(forward, self))(input)

    return answer


def _module(ours: Any) -> Any:
    names = {"_ours": ours, "__doc__": ours.__doc__, "__module__": "dtensor.torch.nn"}
    if ours.__name__ in LIFTED:
        names["forward"] = _lifted(ours.forward)
    return _Speaks(ours.__name__, (ours, Module), names)


def modules() -> dict[str, Any]:
    """Return a subclass in PyTorch's dialect for each module of `dtensor.nn`."""
    found = {name: getattr(nn, name) for name in nn.__all__}
    made = {
        name: _module(x)
        for name, x in found.items()
        if isinstance(x, type) and issubclass(x, nn.Module) and x is not nn.Module
    }
    for each in made.values():  # what a lazy module becomes
        if hasattr(each, "cls_to_become"):
            each.cls_to_become = made[each.cls_to_become.__name__]
    return made | {"Module": Module, "Parameter": Parameter, "Buffer": Buffer}


class Parameter(nn.Parameter, _C.TorchTensor):
    """A parameter in PyTorch's dialect: see `dtensor.nn.Parameter`."""

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        return _C.into_torch(nn.Parameter(data, requires_grad))


class Buffer(nn.Buffer, _C.TorchTensor):
    """A buffer in PyTorch's dialect: see `dtensor.nn.Buffer`."""

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        return _C.into_torch(nn.Buffer(data, persistent=persistent))
