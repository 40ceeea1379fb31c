"""The names of ``torch.amp``."""

from dtensor.amp import (
    GradScaler as GradScaler,
    autocast as autocast,
    custom_bwd as custom_bwd,
    custom_fwd as custom_fwd,
    is_autocast_available as is_autocast_available,
)
from dtensor.torch.amp import (
    autocast_mode as autocast_mode,
    grad_scaler as grad_scaler,
)
