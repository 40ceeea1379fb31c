"""Dropout: in training, random elements are set to 0."""

from typing import Any

from dtensor.nn import functional as F
from dtensor.nn.module import Module

__all__ = ["Dropout"]


class Dropout(Module):
    """Set elements to 0 with probability `p`, and divide the others by ``1 - p``.

    Outside training it is the identity. Which elements of a DTensor are dropped does
    not depend on its layout.

    Parameters
    ----------
    p : float, default 0.5
    inplace : bool, default False
        Whether to write the result into the input.

    Raises
    ------
    ValueError
        If `p` is not a probability.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(
                f"dropout probability has to be between 0 and 1, but got {p}"
            )
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        """Return the input with some elements dropped."""
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
