"""Arrays of other libraries, through DLPack."""

from typing import Any

import numpy as np

from dtensor._C import Tensor, as_tensor

__all__ = ["from_dlpack"]


def from_dlpack(x: Any, device: str | None = None, copy: bool | None = None) -> Tensor:
    """Return an array of another library as a Tensor of this rank.

    Not collective. ``DTensor.from_local`` makes the Tensors of all ranks one DTensor.

    Parameters
    ----------
    x : object with ``__dlpack__`` and ``__dlpack_device__``
        A torch.Tensor, JAX or NumPy array, a Tensor, or a DTensor that is whole on
        every rank.
    device : {"cpu"}, optional
        The device of the result.
    copy : bool, optional
        True: always copy. False: never. By default memory is shared if `x` allows it.

    Returns
    -------
    Tensor
        With the shape and dtype of `x`; read-only if `x` is.

    Raises
    ------
    BufferError
        If `x` cannot be exported: a DTensor that is sharded or Partial, memory that is
        not the CPU's, a dtype that DLPack or NumPy lacks, or ``copy=False`` where a
        copy is needed.
    TypeError
        If `x` does not support DLPack.
    ValueError
        If `device` is not "cpu".

    See Also
    --------
    as_tensor : The same for anything that NumPy can convert.

    Examples
    --------
    >>> array = np.arange(3.0)
    >>> t = dtensor.from_dlpack(array)
    >>> array[0] = 7
    >>> t.tolist()
    [7.0, 1.0, 2.0]
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeError(
            f"from_dlpack: expected an object with __dlpack__, not {type(x).__name__}"
        )
    asked = {"device": device, "copy": copy}
    # NumPy 2.0 has neither argument, so those that are None are left out.
    options: dict[str, Any] = {k: v for k, v in asked.items() if v is not None}
    return as_tensor(np.from_dlpack(x, **options))
