"""Layers that exchange channels and pixels."""

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.module import Module

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Make images larger, of shape (..., C r r, H, W): (..., C, H r, W r).

    Parameters
    ----------
    upscale_factor : int
        r.
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: T) -> T:
        """Return the larger images, with fewer channels."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Make images smaller, of shape (..., C, H r, W r): (..., C r r, H, W).

    Parameters
    ----------
    downscale_factor : int
        r.
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: T) -> T:
        """Return the smaller images, with more channels."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Take channels, which are dim 1, from each of some groups in turn.

    Parameters
    ----------
    groups : int
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: T) -> T:
        """Return the input with its channels in another order."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
