"""enable_2d_with_fsdp: PyTorch 2.0's switch for tensor parallelism under FSDP."""

__all__ = ["enable_2d_with_fsdp"]


def enable_2d_with_fsdp() -> bool:
    """Return True: FSDP can shard parameters that are already DTensors.

    There is nothing to switch on. `FullyShardedDataParallel` and `fully_shard` further
    shard the parameters of a parallelized module, along the data dimension of the mesh.

    Returns
    -------
    bool
        Always True. In PyTorch 2.0 this installed extensions, and returned whether it
        had succeeded.

    Examples
    --------
    >>> enable_2d_with_fsdp()
    True
    """
    return True
