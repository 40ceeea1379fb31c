"""Losses with margins, and those of distributions."""

from collections.abc import Callable
from typing import Any

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.loss import Criterion, _Loss, _WeightedLoss

__all__ = [
    "CosineEmbeddingLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "PoissonNLLLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class PoissonNLLLoss(Criterion):
    """How unlikely numbers are in Poisson distributions: see `F.poisson_nll_loss`.

    Parameters
    ----------
    log_input : bool, default True
        Whether inputs are the logarithms of the means.
    full : bool, default False
        Whether Stirling's approximation of the constant is added.
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    eps : float, default 1e-8
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.poisson_nll_loss)
    _options = ("log_input", "full", "eps", "reduction")

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: T, target: Any) -> T:
        """Return the loss."""
        output: T = self._of(log_input, target)
        return output


class GaussianNLLLoss(Criterion):
    """How unlikely numbers are in normal distributions: see `F.gaussian_nll_loss`.

    Parameters
    ----------
    full : bool, default False
        Whether the constant is added.
    eps : float, default 1e-6
        What variances are at least.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.gaussian_nll_loss)
    _options = ("full", "eps", "reduction")

    def __init__(
        self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
    ) -> None:
        super().__init__(None, None, reduction)
        self.full, self.eps = full, eps

    def forward(self, input: T, target: Any, var: Any) -> T:
        """Return the loss."""
        output: T = self._of(input, target, var)
        return output


class _MarginLoss(Criterion):
    _options = ("margin", "reduction")

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_MarginLoss):
    """The mean of ``max(0, -target (input1 - input2) + margin)``.

    Parameters
    ----------
    margin : float, default 0.0
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.margin_ranking_loss)

    def forward(self, input1: T, input2: Any, target: Any) -> T:
        """Return the loss; the target is 1 or -1."""
        output: T = self._of(input1, input2, target)
        return output


class CosineEmbeddingLoss(_MarginLoss):
    """``1 - cos`` of an angle for the target 1, ``max(0, cos - margin)`` for -1.

    Parameters
    ----------
    margin : float, default 0.0
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.cosine_embedding_loss)

    def forward(self, input1: T, input2: Any, target: Any) -> T:
        """Return the loss of vectors, shape (N, D) or (D,)."""
        output: T = self._of(input1, input2, target)
        return output


class HingeEmbeddingLoss(_MarginLoss):
    """The input for the target 1, ``max(0, margin - input)`` for -1.

    Parameters
    ----------
    margin : float, default 1.0
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.hinge_embedding_loss)

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: T, target: Any) -> T:
        """Return the loss; the target is 1 or -1."""
        output: T = self._of(input, target)
        return output


class SoftMarginLoss(_Loss):
    """The mean of ``log(1 + exp(-target input))``, for targets 1 and -1.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.soft_margin_loss)


class MultiLabelMarginLoss(_Loss):
    """How near scores of other classes come to those of labels.

    See `F.multilabel_margin_loss`.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.multilabel_margin_loss)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of `BCEWithLogitsLoss`.

    Parameters
    ----------
    weight : tensor, shape (C,), optional
        The weight of each class.
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.multilabel_soft_margin_loss)


class MultiMarginLoss(_WeightedLoss):
    """How near scores of other classes come to that of the right one.

    See `F.multi_margin_loss`.

    Parameters
    ----------
    p : {1, 2}
        The power of each excess.
    margin : float, default 1.0
    weight : tensor, shape (C,), optional
        The weight of each class.
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``

    Raises
    ------
    ValueError
        For another `p`, or a weight of several dims.
    """

    _function = staticmethod(F.multi_margin_loss)
    _options = ("p", "margin", "weight", "reduction")

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.ndim != 1:
            raise ValueError("weight must be one-dimensional")
        self.p, self.margin = p, margin


def _check_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(
            f"{name}: expected margin to be greater than 0, got {margin} instead"
        )


class TripletMarginLoss(Criterion):
    """The mean of ``max(0, margin + d(anchor, positive) - d(anchor, negative))``.

    Parameters
    ----------
    margin : float, default 1.0
    p : float, default 2.0
        The type of the norm that is the distance d.
    eps : float, default 1e-6
        Added to differences.
    swap : bool, default False
        Whether ``d(positive, negative)`` is taken where it is the lesser one.
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``

    Raises
    ------
    ValueError
        If the margin is not positive.
    """

    _function = staticmethod(F.triplet_margin_loss)
    _options = ("margin", "p", "eps", "swap", "reduction")

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        _check_margin("TripletMarginLoss", margin)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: T, positive: Any, negative: Any) -> T:
        """Return the loss."""
        output: T = self._of(anchor, positive, negative)
        return output


class TripletMarginWithDistanceLoss(Criterion):
    """`TripletMarginLoss` with any distance.

    Parameters
    ----------
    distance_function : function of two tensors, optional
        Default: `F.pairwise_distance`.
    margin : float, default 1.0
    swap : bool, default False
        Whether ``d(positive, negative)`` is taken where it is the lesser one.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``

    Raises
    ------
    ValueError
        If the margin is not positive.
    """

    _function = staticmethod(F.triplet_margin_with_distance_loss)
    _options = ("distance_function", "margin", "swap", "reduction")

    def __init__(
        self,
        *,
        distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(None, None, reduction)
        _check_margin("TripletMarginWithDistanceLoss", margin)
        self.distance_function = distance_function or F.pairwise_distance
        self.margin, self.swap = margin, swap

    def forward(self, anchor: T, positive: Any, negative: Any) -> T:
        """Return the loss."""
        output: T = self._of(anchor, positive, negative)
        return output
