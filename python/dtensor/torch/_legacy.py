"""``torch.Tensor(2, 3)``, and its older relatives such as ``torch.FloatTensor``."""

from typing import Any

from dtensor import _C
from dtensor.torch._create import empty, tensor
from dtensor.torch._types import Size, numpy_dtype, torch_dtype

__all__ = ["constructor", "legacy"]


def constructor(*data: Any, dtype: Any = None, device: str | None = None) -> _C.Tensor:
    """Return what ``torch.Tensor(...)`` gives: of a shape in numbers, or with data.

    The dtype is the default one.
    """
    to = _C.get_default_dtype() if dtype is None else numpy_dtype(dtype)
    if not data or isinstance(data[0], int | Size):
        shape = data[0] if data and isinstance(data[0], Size) else data or (0,)
        return empty(*shape, dtype=to, device=device)
    if isinstance(data[0], _C.Tensor) and data[0].dtype == to:
        return data[0].detach().as_torch()
    return tensor(data[0], dtype=to, device=device)


class _Legacy(type):
    of: Any

    @property
    def dtype(cls) -> Any:
        """That of these tensors."""
        return cls.of

    def __call__(cls, *data: Any, device: str | None = None) -> Any:
        return constructor(*data, dtype=cls.of, device=device)

    def __instancecheck__(cls, instance: object) -> bool:
        return bool(_C.is_torch(instance) and getattr(instance, "dtype", 0) == cls.of)


def legacy(dtype: str) -> type:
    """Return ``torch.FloatTensor`` and the like: makes, and recognizes, one dtype."""
    of = torch_dtype(dtype)
    doc = f"Tensors of {of}: made as `torch.Tensor` makes them."
    return _Legacy(f"{of.legacy}Tensor", (), {"of": of, "__doc__": doc})
