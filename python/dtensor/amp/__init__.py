"""Mixed precision: products in 16-bit floats, all else in float32.

`autocast` is a context in which products compute in bfloat16 or float16 and losses in
float32; `GradScaler` keeps small gradients of float16 from becoming 0. Begin with
`autocast`; which operators it changes is said beside each (`ops/_make/autocast`).
"""

from dtensor.amp.autocast_mode import (
    autocast,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)
from dtensor.amp.grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]
