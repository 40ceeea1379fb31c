"""``torch.random``: `dtensor.random`, with states in PyTorch's dialect."""

from dtensor import _C, random as _random
from dtensor.random import *  # noqa: F403


def get_rng_state() -> _C.TorchTensor:  # type: ignore[no-redef]
    """Return the state of the default generator, as a tensor of 32 uint8."""
    state: _C.TorchTensor = _C.into_torch(_random.get_rng_state())
    return state
