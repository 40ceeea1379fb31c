"""``torch.distributed.optim``: an optimizer whose state is spread over the ranks."""

from dtensor.torch.distributed.optim import (
    zero_redundancy_optimizer as zero_redundancy_optimizer,
)
from dtensor.torch.distributed.optim.zero_redundancy_optimizer import (
    ZeroRedundancyOptimizer as ZeroRedundancyOptimizer,
)
