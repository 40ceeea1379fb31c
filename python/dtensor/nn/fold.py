"""Windows as columns, and back."""

from collections.abc import Sequence

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.module import Module

__all__ = ["Fold", "Unfold"]

Lengths = int | Sequence[int]
_STEPS = ("kernel_size", "dilation", "padding", "stride")


class Unfold(Module):
    """What lies under a window at each of its places, as columns: see `unfold`.

    Parameters
    ----------
    kernel_size : int or (int, int)
        The size of the window.
    dilation : int or (int, int), default 1
        How far apart the elements under the window are.
    padding : int or (int, int), default 0
        Zeros around the input.
    stride : int or (int, int), default 1
        How far apart the places are.
    """

    def __init__(
        self,
        kernel_size: Lengths,
        dilation: Lengths = 1,
        padding: Lengths = 0,
        stride: Lengths = 1,
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: T) -> T:
        """Return columns for an input of shape (N, C, height, width)."""
        return F.unfold(
            input, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return self._named(*_STEPS)


class Fold(Module):
    """The sums of columns where they came from: see `fold`.

    Parameters
    ----------
    output_size : int or (int, int)
        The height and width of the result.
    kernel_size, dilation, padding, stride
        Those of `Unfold`.
    """

    def __init__(
        self,
        output_size: Lengths,
        kernel_size: Lengths,
        dilation: Lengths = 1,
        padding: Lengths = 0,
        stride: Lengths = 1,
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: T) -> T:
        """Return sums for an input of shape (N, C * window, places)."""
        steps = (self.kernel_size, self.dilation, self.padding, self.stride)
        return F.fold(input, self.output_size, *steps)

    def extra_repr(self) -> str:
        return self._named("output_size", *_STEPS)
