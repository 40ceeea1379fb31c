"""``torch.nn.functional``: `dtensor.nn.functional`."""

from dtensor.nn.functional import *  # noqa: F403
from dtensor.torch import _edges, _errors, _layers, _measures
from dtensor.torch._matrix import pdist as pdist

_edges.mend(globals())
_errors.speak(globals(), globals().keys() - {"unfold"})  # Tensor's is another
_soft = {name: globals()[name] for name in ("softmax", "log_softmax")}
_measures.direct(_soft)
globals().update(_soft)
globals().update({f"{name}_": getattr(_layers, f"{name}_") for name in _layers.WRITTEN})
