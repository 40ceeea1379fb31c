"""``torch.optim``: `dtensor.optim`."""

from dtensor.optim import *  # noqa: F403

# isort: split
from dtensor.torch import _paths
from dtensor.torch.optim import optimizer as optimizer

FILES = {
    "_adafactor": "Adafactor",
    "_muon": "Muon",
    "adadelta": "Adadelta",
    "adagrad": "Adagrad",
    "adam": "Adam",
    "adamax": "Adamax",
    "adamw": "AdamW",
    "asgd": "ASGD",
    "lbfgs": "LBFGS",
    "nadam": "NAdam",
    "radam": "RAdam",
    "rmsprop": "RMSprop",
    "rprop": "Rprop",
    "sgd": "SGD",
}
globals().update(_paths.add_paths(__name__, globals(), FILES))
