"""``torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks``."""

from typing import Any

from dtensor.fsdp._bucket import GradBucket
from dtensor.torch.futures import Future

__all__ = ["noop_hook"]


def noop_hook(_: Any, bucket: GradBucket) -> Future[Any]:
    """Return each rank's own gradients: nothing is sent."""
    future: Future[Any] = Future()
    future.set_result(bucket.buffer())
    return future
