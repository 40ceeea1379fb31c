"""``torch.distributed.tensor.parallel``: `dtensor.parallel`."""

from dtensor.parallel import *  # noqa: F403
from dtensor.parallel.loss import loss_parallel as loss_parallel

# isort: split
from dtensor.torch.distributed.tensor.parallel import (
    api as api,
    fsdp as fsdp,
    loss as loss,
    multihead_attention_tp as multihead_attention_tp,
    style as style,
)

# isort: split
# Last, so that this name is the function, not the module.
from dtensor.torch.distributed.tensor.parallel.input_reshard import (
    input_reshard as input_reshard,
)
