"""``torch.autograd``: `dtensor.autograd`."""

from dtensor.autograd import *  # noqa: F403

# isort: split
from dtensor.torch.autograd import (
    forward_ad as forward_ad,
    functional as functional,
    profiler as profiler,
)
from dtensor.torch.autograd.anomaly_mode import (
    detect_anomaly as detect_anomaly,
    set_detect_anomaly as set_detect_anomaly,
    set_multithreading_enabled as set_multithreading_enabled,
)
from dtensor.torch.autograd.gradcheck import (
    gradcheck as gradcheck,
    gradgradcheck as gradgradcheck,
)
from dtensor.torch.autograd.variable import Variable as Variable
