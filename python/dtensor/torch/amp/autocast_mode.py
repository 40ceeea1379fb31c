"""The names of ``torch.amp.autocast_mode``."""

from dtensor.amp import (
    autocast as autocast,
    custom_bwd as custom_bwd,
    custom_fwd as custom_fwd,
    is_autocast_available as is_autocast_available,
)
