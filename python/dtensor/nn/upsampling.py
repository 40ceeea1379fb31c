"""Layers that resize images."""

from collections.abc import Sequence

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]

Size = int | Sequence[int] | None
Factor = float | Sequence[float] | None


class Upsample(Module):
    """Change the lengths of the dims after the channels: see `F.interpolate`.

    Parameters
    ----------
    size : int or sequence of int, optional
        The new lengths.
    scale_factor : float or sequence of float, optional
        Instead: what they are multiplied with.
    mode : str, default "nearest"
    align_corners, recompute_scale_factor : bool, optional
        As of `F.interpolate`.
    """

    def __init__(
        self,
        size: Size = None,
        scale_factor: Factor = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Factor = tuple(map(float, scale_factor))
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None  # type: ignore[arg-type]
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: T) -> T:
        """Return the resized input."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        which = "size" if self.scale_factor is None else "scale_factor"
        return f"{which}={getattr(self, which)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` with the mode "nearest".

    Parameters
    ----------
    size : int or (int, int), optional
    scale_factor : float or (float, float), optional
    """

    def __init__(self, size: Size = None, scale_factor: Factor = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` with the mode "bilinear" and aligned corners.

    Parameters
    ----------
    size : int or (int, int), optional
    scale_factor : float or (float, float), optional
    """

    def __init__(self, size: Size = None, scale_factor: Factor = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
