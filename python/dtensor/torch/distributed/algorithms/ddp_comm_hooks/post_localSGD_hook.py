"""``torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook``: gradients are
averaged by all ranks first, and by a few of them from some step on.

T. Lin, S. U. Stich, K. K. Patel and M. Jaggi, "Don't Use Large Mini-Batches, Use Local
SGD", ICLR 2020.
"""

from typing import Any

from dtensor.fsdp._bucket import GradBucket
from dtensor.torch.distributed._groups import Group
from dtensor.torch.distributed._world import new_subgroups
from dtensor.torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks import (
    noop_hook,
)
from dtensor.torch.distributed.algorithms.ddp_comm_hooks.default_hooks import (
    allreduce_hook,
)
from dtensor.torch.futures import Future

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """Which ranks average gradients, and when.

    Parameters
    ----------
    process_group : process group, optional
        The ranks that do so first; default: all.
    subgroup : process group, optional
        Those that do so later; default: those of a node, whose groups are made here,
        collectively.
    start_localSGD_iter : int
        The step from which on `subgroup` does.
    post_local_gradient_allreduce : bool, default True
        If False, nothing is sent from then on.
    """

    def __init__(
        self,
        process_group: Group,
        subgroup: Group,
        start_localSGD_iter: int,  # noqa: N803
        post_local_gradient_allreduce: bool = True,
    ) -> None:
        self.process_group = process_group
        self.subgroup = new_subgroups()[0] if subgroup is None else subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a step after its last bucket."""
        self.iter += bucket.is_last()


def post_localSGD_hook(  # noqa: N802
    state: PostLocalSGDState, bucket: GradBucket
) -> Future[Any]:
    """Average the gradients of the ranks of the group whose turn it is.

    Parameters are averaged now and then by a `PeriodicModelAverager`. Collective: one
    all_reduce of the bucket, or none.
    """
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return allreduce_hook(state.process_group, bucket)
    if not state.post_local_gradient_allreduce:
        return noop_hook(None, bucket)
    return allreduce_hook(state.subgroup, bucket)
