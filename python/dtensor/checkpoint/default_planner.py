"""Options of saving and loading, in the words of ``torch.distributed.checkpoint``."""

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner"]


class DefaultSavePlanner:
    """How to save: there is one way, so PyTorch's options are without effect.

    Names are flattened, and of replicas one is written, shared out evenly.
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
        Without effect: they are flattened.
    allow_partial_load : bool, default False
        Whether names that the checkpoint lacks are left as they are.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        allow_partial_load: bool = False,
    ) -> None:
        self.allow_partial_load = allow_partial_load
