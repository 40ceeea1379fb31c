"""``torch.distributed.optim``: optimizers of several ranks."""

from dtensor.torch.distributed.optim import (
    post_localSGD_optimizer as post_localSGD_optimizer,
    zero_redundancy_optimizer as zero_redundancy_optimizer,
)
from dtensor.torch.distributed.optim.post_localSGD_optimizer import (
    PostLocalSGDOptimizer as PostLocalSGDOptimizer,
)
from dtensor.torch.distributed.optim.zero_redundancy_optimizer import (
    ZeroRedundancyOptimizer as ZeroRedundancyOptimizer,
)
