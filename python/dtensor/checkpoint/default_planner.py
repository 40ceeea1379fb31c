"""Options of saving and loading, as in ``torch.distributed.checkpoint``."""

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner"]


class DefaultSavePlanner:
    """How to save. There is only one way, so PyTorch's options are ignored.

    Names are flattened. Replicas are written once, and the ranks share the work evenly.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        dedup_replicated_tensors: bool | None = None,
        dedup_save_to_lowest_rank: bool = False,
        enable_plan_caching: bool = False,
    ) -> None:
        pass


class DefaultLoadPlanner:
    """How to load.

    Parameters
    ----------
    flatten_state_dict, flatten_sharded_tensors : bool, default True
        Ignored: state dicts are always flattened.
    allow_partial_load : bool, default False
        Whether values that the checkpoint lacks are left unchanged.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        allow_partial_load: bool = False,
    ) -> None:
        self.allow_partial_load = allow_partial_load
