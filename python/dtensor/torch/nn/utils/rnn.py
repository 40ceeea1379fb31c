"""``torch.nn.utils.rnn``: `dtensor.nn.utils.rnn`."""

from dtensor.nn.utils.rnn import *  # noqa: F403
