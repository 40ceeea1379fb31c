"""``torch.distributed._functional_collectives``: `dtensor.functional_collectives`."""

from dtensor.functional_collectives import *  # noqa: F403
from dtensor.functional_collectives import (
    all_gather_into_tensor_coalesced,
    all_gather_tensor,
    all_gather_tensor_autograd,
    reduce_scatter_tensor,
    reduce_scatter_tensor_autograd,
    reduce_scatter_tensor_coalesced,
)

all_gather_single = all_gather_tensor
all_gather_single_autograd = all_gather_tensor_autograd
all_gather_single_coalesced = all_gather_into_tensor_coalesced
reduce_scatter_single = reduce_scatter_tensor
reduce_scatter_single_autograd = reduce_scatter_tensor_autograd
reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced


class AsyncCollectiveTensor:
    """A class without objects: a result that is under way is an ordinary tensor.

    It waits when it is used. Scripts that ask ``isinstance(x, AsyncCollectiveTensor)``
    before they wait get False, and need not wait.
    """

    def __new__(cls, *args: object, **options: object) -> "AsyncCollectiveTensor":
        """Refuse."""
        raise TypeError("AsyncCollectiveTensor: tensors wait when they are used")
