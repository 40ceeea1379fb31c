"""``torch.optim``: each rank updates its own parts of parameters; nothing is sent."""

from dtensor.optim import lr_scheduler, swa_utils
from dtensor.optim.adafactor import Adafactor
from dtensor.optim.adam import Adam, AdamW
from dtensor.optim.adam_variants import Adamax, NAdam, RAdam
from dtensor.optim.adaptive import Adadelta, Adagrad, RMSprop
from dtensor.optim.averaged import ASGD
from dtensor.optim.lbfgs import LBFGS
from dtensor.optim.muon import Muon
from dtensor.optim.optimizer import Optimizer
from dtensor.optim.rprop import Rprop
from dtensor.optim.sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]
