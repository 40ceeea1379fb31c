"""``torch.nn.utils.stateless``: an older place of ``torch.func.functional_call``."""

from dtensor.torch.func import functional_call as functional_call

__all__ = ["functional_call"]
