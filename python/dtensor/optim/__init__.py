"""``torch.optim``: each rank updates its own parts of parameters; nothing is sent."""

from dtensor.optim import lr_scheduler
from dtensor.optim.adam import Adam, AdamW
from dtensor.optim.optimizer import Optimizer
from dtensor.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]
