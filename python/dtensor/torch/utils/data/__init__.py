"""``torch.utils.data``: `dtensor.utils.data`."""

from dtensor.torch.utils.data import (
    dataset as dataset,
    distributed as distributed,
    sampler as sampler,
)
from dtensor.utils.data import *  # noqa: F403

# isort: split
from dtensor.torch.utils.data._dialect import (
    DataLoader as DataLoader,
    default_collate as default_collate,
    default_convert as default_convert,
)

# isort: split
from dtensor.torch.utils.data import dataloader as dataloader
