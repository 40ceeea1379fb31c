"""``torch.distributed.algorithms.model_averaging``: averages of parameters."""

import sys

from dtensor.torch.distributed.algorithms.model_averaging import (
    averagers as averagers,
    parameters as utils,
)

__all__ = ["averagers", "utils"]

sys.modules[f"{__name__}.utils"] = utils  # as PyTorch's path has it
