"""``torch.utils.data.dataloader``: `DataLoader`, and how batches are put together."""

from dtensor.torch.utils.data._dialect import (
    DataLoader as DataLoader,
    default_collate as default_collate,
    default_convert as default_convert,
)
from dtensor.utils.data.workers import get_worker_info as get_worker_info
