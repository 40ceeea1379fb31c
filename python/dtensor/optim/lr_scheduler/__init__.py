"""How learning rates change from step to step: ``torch.optim.lr_scheduler``."""

from dtensor.optim.lr_scheduler._base import LRScheduler, SequentialLR
from dtensor.optim.lr_scheduler._cycle import CosineAnnealingWarmRestarts, OneCycleLR
from dtensor.optim.lr_scheduler._factor import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    StepLR,
)
from dtensor.optim.lr_scheduler._plateau import ReduceLROnPlateau

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
