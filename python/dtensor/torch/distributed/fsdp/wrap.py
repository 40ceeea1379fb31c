"""``torch.distributed.fsdp.wrap``: which submodules are wrapped on their own."""

from dtensor.fsdp.wrap import *  # noqa: F403
