"""``torch._inductor``: its settings, which have no effect: nothing is compiled."""

from dtensor.torch._inductor import config as config
