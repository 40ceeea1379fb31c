"""``torch.utils``: checkpoints of activations, data."""

from dtensor.torch.utils import checkpoint as checkpoint, data as data
