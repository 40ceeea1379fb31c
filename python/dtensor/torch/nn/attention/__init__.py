"""``torch.nn.attention``: the choice of an attention kernel, and `flex_attention`.

Here there is only one kernel.
"""

import contextlib
import enum
from collections.abc import Iterator

from dtensor.torch.nn.attention import flex_attention as flex_attention

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.Enum):
    """PyTorch's kernels of scaled dot product attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(
    backends: list[SDPBackend] | SDPBackend, set_priority: bool = False
) -> Iterator[dict[str, bool]]:
    """Accept a choice of kernels for a block, and ignore it. Not collective.

    Parameters
    ----------
    backends : SDPBackend or list of SDPBackend
        The kernels that PyTorch may choose from.
    set_priority : bool, default False
        Whether they are in order of priority.

    Raises
    ------
    AssertionError
        If `backends` is anything else. On this rank only.
    """
    if not isinstance(backends, list | SDPBackend):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend "
            f"instances, got {type(backends).__name__}"
        )
    yield {}
