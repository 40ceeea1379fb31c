"""``torch.nn.utils``: `dtensor.nn.utils`."""

from typing import Any

from dtensor._core.caller import warn
from dtensor.nn.utils import *  # noqa: F403

# isort: split
from dtensor.torch.nn.utils import (
    clip_grad as clip_grad,
    convert_parameters as convert_parameters,
    fusion as fusion,
    init as init,
    parametrizations as parametrizations,
    parametrize as parametrize,
    rnn as rnn,
)


def clip_grad_norm(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Clip gradients: an older name of `clip_grad_norm_`, with a FutureWarning."""
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    how = max_norm, norm_type, error_if_nonfinite
    return clip_grad.clip_grad_norm_(parameters, *how)
