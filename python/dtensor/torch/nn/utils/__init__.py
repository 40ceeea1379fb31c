"""``torch.nn.utils``: `dtensor.nn.utils`."""

from dtensor.nn.utils import *  # noqa: F403

# isort: split
from dtensor.torch.nn.utils import (
    clip_grad as clip_grad,
    parametrizations as parametrizations,
    parametrize as parametrize,
    rnn as rnn,
)
