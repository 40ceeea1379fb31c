"""``torch.nn.utils.convert_parameters``: `dtensor.nn.utils.convert_parameters`."""

from dtensor.nn.utils.convert_parameters import *  # noqa: F403
