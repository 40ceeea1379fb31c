"""Embedding: rows of a table, by index, and sums of them."""

from typing import Any, Self

import numpy.typing as npt

from dtensor._core.device import empty, is_meta
from dtensor.nn import functional as F, init
from dtensor.nn._kind import T
from dtensor.nn.module import Module
from dtensor.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class Embedding(Module):
    """A table of vectors, which are looked up by index.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        The number of vectors, and their length.
    padding_idx : int, optional
        The index of a vector that is initially 0 and gets no gradient.
    max_norm : float, optional
        Vectors with a larger norm are scaled to it, in place, when they are looked up.
    norm_type : float, default 2.0
        The type of that norm.
    scale_grad_by_freq : bool, default False
        Whether gradients are divided by how often an index appears in the input.
    sparse : bool, default False
        Ignored: gradients are dense.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, shape (num_embeddings, embedding_dim)
        Drawn from N(0, 1).

    Raises
    ------
    AssertionError
        If `padding_idx` is out of range.
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx, self.max_norm = padding_idx, max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        shape = (num_embeddings, embedding_dim)
        if _weight is None:
            self.weight = Parameter(empty(shape, dtype, device), not _freeze)
            self.reset_parameters()
        elif tuple(_weight.shape) != shape:
            raise AssertionError(
                "Shape of weight does not match num_embeddings and embedding_dim"
            )
        else:
            self.weight = Parameter(_weight, not _freeze)

    def reset_parameters(self) -> None:
        """Initialize the vectors."""
        init.normal_(self.weight)
        if self.padding_idx is not None and not is_meta(self.weight):
            self.weight.detach()[self.padding_idx] = 0

    def forward(self, input: T) -> T:
        """Return the vectors at the indices; the result has one more dim."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """Return a layer whose weight is an existing tensor.

        Parameters
        ----------
        embeddings : Tensor, DTensor or array_like
            The weight, with two dims; its memory is shared.
        freeze : bool, default True
            Whether the weight is excluded from training.
        padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
            As for the class.

        Raises
        ------
        AssertionError
            If `embeddings` does not have two dims.
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(
            embeddings.shape[0],
            embeddings.shape[1],
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            embeddings,
            freeze,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, default in (
            ("padding_idx", None),
            ("max_norm", None),
            ("norm_type", 2),
            ("scale_grad_by_freq", False),
        ):
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text + (", sparse=True" if self.sparse else "")


class EmbeddingBag(Module):
    """A table of vectors, of which sums, means or maxima are returned.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        The number of vectors, and their length.
    max_norm : float, optional
        Vectors with a larger norm are scaled to it, in place, when they are looked up.
    norm_type : float, default 2.0
        The type of that norm.
    scale_grad_by_freq : bool, default False
        Whether gradients are divided by how often an index appears in the input.
    mode : ``"sum"``, ``"mean"`` or ``"max"``, default "mean"
    sparse : bool, default False
        Ignored: gradients are dense.
    include_last_offset : bool, default False
        Whether the last offset is the end of the last bag.
    padding_idx : int, optional
        The index of a vector that is initially 0 and does not count.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, shape (num_embeddings, embedding_dim)
        Drawn from N(0, 1).

    Raises
    ------
    AssertionError
        If `padding_idx` is out of range.
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self.mode = mode
        self.include_last_offset = include_last_offset
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        shape = (num_embeddings, embedding_dim)
        if _weight is None:
            self.weight = Parameter(empty(shape, dtype, device))
            self.reset_parameters()
        elif tuple(_weight.shape) != shape:
            raise AssertionError(
                "Shape of weight does not match num_embeddings and embedding_dim"
            )
        else:
            self.weight = Parameter(_weight)

    def reset_parameters(self) -> None:
        """Initialize the vectors."""
        init.normal_(self.weight)
        if self.padding_idx is not None and not is_meta(self.weight):
            self.weight.detach()[self.padding_idx] = 0

    def forward(
        self, input: Any, offsets: Any = None, per_sample_weights: Any = None
    ) -> Any:
        """Return a vector for each bag of indices: see `F.embedding_bag`."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """Return a layer whose weight is an existing tensor.

        Parameters
        ----------
        embeddings : Tensor or DTensor
            The weight, with two dims; its memory is shared.
        freeze : bool, default True
            Whether the weight is excluded from training.
        max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset
            As for the class, as is `padding_idx`.

        Raises
        ------
        AssertionError
            If `embeddings` does not have two dims.
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        bag = cls(
            embeddings.shape[0],
            embeddings.shape[1],
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        bag.weight.requires_grad = not freeze
        return bag

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, default in (
            ("max_norm", None),
            ("norm_type", 2),
            ("scale_grad_by_freq", False),
        ):
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)!r}"
        text += f", mode={self.mode!r}"
        padding = self.padding_idx
        return text if padding is None else f"{text}, padding_idx={padding}"
