"""The names of ``torch.amp.grad_scaler``."""

from dtensor.amp import GradScaler as GradScaler
