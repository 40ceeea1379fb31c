"""``torch.utils.dlpack``."""

from dtensor.dlpack import from_dlpack as from_dlpack
from dtensor.torch._settings import to_dlpack as to_dlpack
