"""Losses: how far an input is from its target."""

from collections.abc import Callable
from typing import Any, ClassVar

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.module import Module
from dtensor.ops.model.number_loss import reduction_of

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "SmoothL1Loss",
]


class Criterion(Module):
    """A function of tensors, of the options that are attributes, and a reduction."""

    _function: ClassVar[Callable[..., Any]]
    _options: ClassVar[tuple[str, ...]] = ("reduction",)

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)

    def _of(self, *tensors: Any) -> Any:
        options = {name: getattr(self, name) for name in self._options}
        return self._function(*tensors, **options)


class _Loss(Criterion):
    def forward(self, input: T, target: Any) -> T:
        """Return the loss."""
        output: T = self._of(input, target)
        return output


class _WeightedLoss(_Loss):
    _options: ClassVar[tuple[str, ...]] = ("weight", "reduction")
    weight: Any

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """The mean of ``|input - target|``.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.l1_loss)


class MSELoss(_Loss):
    """The mean of ``(input - target)^2``.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.mse_loss)


class SmoothL1Loss(_Loss):
    """As `MSELoss` for differences below `beta`, as `L1Loss` for others.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    beta : float, default 1.0
    """

    _function = staticmethod(F.smooth_l1_loss)
    _options = ("reduction", "beta")

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_Loss):
    """`SmoothL1Loss` with `delta` as its `beta`, times `delta`.

    Parameters
    ----------
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    delta : float, default 1.0
    """

    _function = staticmethod(F.huber_loss)
    _options = ("reduction", "delta")

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta


class KLDivLoss(_Loss):
    """The mean of ``target (log(target) - input)``; the input is a log-probability.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"batchmean"``, ``"sum"`` or ``"none"``
    log_target : bool, default False
        Whether the target is a log-probability, too.
    """

    _function = staticmethod(F.kl_div)
    _options = ("reduction", "log_target")

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target


class NLLLoss(_WeightedLoss):
    """The mean of ``-input[class]``, for inputs that are log-probabilities.

    Inputs have the shape (N, C, ...), targets (N, ...).

    Parameters
    ----------
    weight : tensor, shape (C,), optional
        The weight of each class; the mean is weighted, too.
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    ignore_index : int, default -100
        A target to ignore.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.nll_loss)
    _options = ("weight", "ignore_index", "reduction")

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


class CrossEntropyLoss(_WeightedLoss):
    """`NLLLoss` of the `log_softmax` of the input.

    Inputs have the shape (N, C, ...), targets (N, ...) or (N, C, ...).

    Parameters
    ----------
    weight : tensor, shape (C,), optional
        The weight of each class; the mean is weighted, too.
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    ignore_index : int, default -100
        A target to ignore.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    label_smoothing : float, default 0.0
        How much of each target is spread evenly over the classes.
    """

    _function = staticmethod(F.cross_entropy)
    _options = ("weight", "ignore_index", "reduction", "label_smoothing")

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing


class BCELoss(_WeightedLoss):
    """The mean of ``-(t log(x) + (1 - t) log(1 - x))``.

    Parameters
    ----------
    weight : tensor, optional
        The weight of each element.
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """

    _function = staticmethod(F.binary_cross_entropy)


class BCEWithLogitsLoss(_WeightedLoss):
    """`BCELoss` of the sigmoid of the input.

    Parameters
    ----------
    weight : tensor, optional
        The weight of each element.
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    pos_weight : tensor, optional
        A factor for the first term.
    """

    _function = staticmethod(F.binary_cross_entropy_with_logits)
    _options = ("weight", "pos_weight", "reduction")
    pos_weight: Any

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Any = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)


class CTCLoss(Module):
    """The loss of connectionist temporal classification: see `ctc_loss`.

    Parameters
    ----------
    blank : int, default 0
        The class between labels.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    zero_infinity : bool, default False
        Whether impossible labels have the loss 0 and no gradient.
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__()
        self.blank, self.reduction = blank, reduction
        self.zero_infinity = zero_infinity

    def forward(
        self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any
    ) -> Any:
        """Return the loss."""
        options = self.blank, self.reduction, self.zero_infinity
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, *options)
