"""``torch.utils``: checkpoints of activations, data, and smaller things."""

from dtensor.torch.utils import (
    _pytree as _pytree,
    checkpoint as checkpoint,
    data as data,
    dlpack as dlpack,
    hooks as hooks,
    model_zoo as model_zoo,
)
