"""How learning rates change from step to step: ``torch.optim.lr_scheduler``."""

from dtensor.optim.lr_scheduler._base import LRScheduler
from dtensor.optim.lr_scheduler._cycle import CosineAnnealingWarmRestarts, OneCycleLR
from dtensor.optim.lr_scheduler._cyclic import CyclicLR
from dtensor.optim.lr_scheduler._factor import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from dtensor.optim.lr_scheduler._plateau import ReduceLROnPlateau
from dtensor.optim.lr_scheduler._several import ChainedScheduler, SequentialLR

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
