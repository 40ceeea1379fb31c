"""enable_2d_with_fsdp: PyTorch 2.0's switch for tensor parallelism under FSDP."""

__all__ = ["enable_2d_with_fsdp"]


def enable_2d_with_fsdp() -> bool:
    """Say that FSDP shards parameters that are DTensors already.

    There is nothing to switch on: `FullyShardedDataParallel` and `fully_shard` cut the
    parameters of a parallelized module further, along the data dimension of the mesh.

    Returns
    -------
    bool
        True. PyTorch 2.0 installed extensions, and returned whether that worked.

    Examples
    --------
    >>> enable_2d_with_fsdp()
    True
    """
    return True
