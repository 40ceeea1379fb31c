"""Generator: random arrays with NumPy's interface, on meshes."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor.ops._make.parts import place
from dtensor.ops.random.reorder import reordered
from dtensor.ops.random.stream import Stream, check, drawn, fill

__all__ = ["DEFAULT_SEED", "Generator"]

DEFAULT_SEED = 67280421310721  # torch's

_Size = int | Sequence[int] | None
_Placements = Sequence[_C.Placement] | None


def _key_of(seed: Any) -> int:
    """Return the key of a seed; negative ones count from 2**64."""
    key = int(seed)
    if not -(2**63) <= key < 2**128:
        raise ValueError(f"a seed is from -2**63 up to 2**128 - 1, not {key}")
    return key + 2**64 if key < 0 else key


class Generator(Stream):
    """Random arrays in NumPy's manner, as Tensors or spread over a mesh.

    Methods have NumPy's names and parameters, and two more: with `device_mesh` (and
    `placements`, by default Replicate) the result is a DTensor, and every rank makes
    its own part; without, a Tensor of this rank with the same numbers. Not
    collective; but ranks that are to get one array must draw alike. Parameters of
    distributions are numbers; `dtensor.torch.distributions` takes arrays, too, and has
    distributions that are not here (Poisson, Gamma, Beta, ...).

    Parameters
    ----------
    seed : int
        From -2**63 up to 2**128 - 1: the key of Philox. Negative ones count from 2**64.
    device : str
        ``"cpu"``.

    Raises
    ------
    ValueError
        For a seed out of range.

    See Also
    --------
    dtensor.random.manual_seed : Seeds the generator of functions that get none.

    Examples
    --------
    >>> rng = Generator(5)
    >>> same = np.random.Generator(np.random.Philox(key=5))
    >>> bool(np.all(rng.random((2, 3)).numpy() == same.random((2, 3))))
    True
    """

    device = "cpu"

    def __init__(self, seed: Any = DEFAULT_SEED, *, device: str = "cpu") -> None:
        super().__init__(_key_of(seed))

    def __repr__(self) -> str:
        return f"Generator(seed={self.initial_seed()}, position={self._state[2]})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(f"'Generator' object has no attribute {name!r}")
        raise AttributeError(
            f"{name!r} of NumPy's generators is not here; dtensor.torch.distributions "
            "has more distributions"
        )

    # --- NumPy's ---

    def _draw(
        self,
        size: _Size,
        dtype: npt.DTypeLike,
        kind: str,
        a: Any,
        b: Any,
        device_mesh: _C.Mesh | None,
        placements: _Placements,
    ) -> Any:
        shape = () if size is None else size
        if device_mesh is None:
            shape = tuple(shape) if isinstance(shape, Iterable) else (shape,)
            return drawn(shape, dtype, self, kind, a, b)
        x = _C.empty(shape, dtype=dtype, device_mesh=device_mesh, placements=placements)
        fill(x, self, kind, a, b, kind)
        return x

    def random(
        self,
        size: _Size = None,
        dtype: npt.DTypeLike = np.float64,
        *,
        device_mesh: _C.Mesh | None = None,
        placements: _Placements = None,
    ) -> Any:
        """Return uniform numbers in [0, 1), NumPy's bit for bit.

        Parameters
        ----------
        size : int or sequence of int, optional
            The global shape; default: one number, without dims.
        dtype : dtype_like, default float64
            Floating or complex. float32 is what NumPy gives for it; smaller ones have
            the leading bits of that; longdouble has float64's numbers.
        device_mesh : DeviceMesh, optional
            Where the result is spread; default: it is a Tensor of this rank.
        placements : sequence of Placement, optional
            How; default: Replicate on all mesh dims.

        Returns
        -------
        Tensor or DTensor

        Raises
        ------
        NotImplementedError
            For a dtype that is no floating or complex one.
        """
        return self._draw(size, dtype, "uniform", 0.0, 1.0, device_mesh, placements)

    def uniform(
        self,
        low: float = 0.0,
        high: float = 1.0,
        size: _Size = None,
        dtype: npt.DTypeLike = np.float64,
        *,
        device_mesh: _C.Mesh | None = None,
        placements: _Placements = None,
    ) -> Any:
        """Return uniform numbers in [low, high); other parameters as of `random`."""
        check("uniform", low, high)
        return self._draw(size, dtype, "uniform", low, high, device_mesh, placements)

    def standard_normal(
        self,
        size: _Size = None,
        dtype: npt.DTypeLike = np.float64,
        *,
        device_mesh: _C.Mesh | None = None,
        placements: _Placements = None,
    ) -> Any:
        """Return normal numbers with mean 0 and variance 1; parameters as of `random`.

        By the method of Box and Muller, computed in double and then rounded: all
        floating dtypes have the same numbers. They are not NumPy's.
        """
        return self._draw(size, dtype, "normal", 0.0, 1.0, device_mesh, placements)

    def normal(
        self,
        loc: float = 0.0,
        scale: float = 1.0,
        size: _Size = None,
        dtype: npt.DTypeLike = np.float64,
        *,
        device_mesh: _C.Mesh | None = None,
        placements: _Placements = None,
    ) -> Any:
        """Return normal numbers with mean `loc` and standard deviation `scale`.

        Of complex numbers `scale` is that of both parts together, and the mean is real.
        Other parameters as of `random`.
        """
        check("normal", loc, scale)
        return self._draw(size, dtype, "normal", loc, scale, device_mesh, placements)

    def exponential(
        self,
        scale: float = 1.0,
        size: _Size = None,
        dtype: npt.DTypeLike = np.float64,
        *,
        device_mesh: _C.Mesh | None = None,
        placements: _Placements = None,
    ) -> Any:
        """Return exponential numbers with mean `scale`; others as of `random`."""
        rate = 1 / scale if np.ndim(scale) or scale else np.inf
        check("exponential", rate, 0)
        return self._draw(
            size, dtype, "exponential", rate, 0.0, device_mesh, placements
        )

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: _Size = None,
        dtype: npt.DTypeLike = np.int64,
        endpoint: bool = False,
        *,
        device_mesh: _C.Mesh | None = None,
        placements: _Placements = None,
    ) -> Any:
        """Return integers from `low` up to `high`, all equally likely.

        Parameters
        ----------
        low, high : int
            With one of them only it is `high`, and `low` is 0.
        endpoint : bool, default False
            Whether `high` is one of them.
        size, dtype, device_mesh, placements
            As of `random`; the default dtype is int64.

        Raises
        ------
        RuntimeError
            If there are no such integers, or none in the dtype.
        """
        low, high = (0, low) if high is None else (low, high)
        if not (np.ndim(low) or np.ndim(high)):
            low, high = int(low), int(high) + bool(endpoint)
        check("integers", low, high, dtype)
        count = high - low
        return self._draw(size, dtype, "integers", low, count, device_mesh, placements)

    def permutation(
        self,
        x: Any,
        axis: int = 0,
        *,
        dtype: npt.DTypeLike = np.int64,
        device_mesh: _C.Mesh | None = None,
        placements: _Placements = None,
    ) -> Any:
        """Return 0 ... x - 1 in random order, or an array with slices in random order.

        Every rank makes the whole order, of 8 bytes for each number. Rows that are cut
        along dim 0 alone are sent once, to where they belong; along other dims they are
        gathered.

        Parameters
        ----------
        x : int or array_like or DTensor
            A count, or what is reordered: collective for a DTensor that is cut along
            `axis`.
        axis : int, default 0
            Along which it is reordered.
        dtype, device_mesh, placements
            As of `random`, for a count.

        Returns
        -------
        Tensor or DTensor
        """
        if np.ndim(x) > 0:
            order = np.asarray(self.permutation(np.shape(x)[axis]))
            return reordered("permutation", x, order, axis)
        count = int(x)
        if count < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {count}: [{count}]"
            )
        state = self.take("integers", np.int64, count)
        order = _C.random_permutation(state, count).astype(dtype, copy=False)
        if device_mesh is None:
            return _C.as_tensor(order)
        return place(order, _C.Layout(device_mesh, placements, (count,), order.dtype))

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Reorder an array in place: see `permutation`."""
        x[...] = self.permutation(x, axis)

    def choice(
        self,
        a: Any,
        size: _Size = None,
        replace: bool = True,
        p: npt.ArrayLike | None = None,
        axis: int = 0,
        *,
        device_mesh: _C.Mesh | None = None,
        placements: _Placements = None,
    ) -> Any:
        """Return elements of an array, or numbers below a count, chosen by chance.

        Parameters
        ----------
        a : int or array_like or DTensor
            A count, or what is chosen from: the same on all ranks. Of a DTensor only
            what is chosen is sent; collective.
        size, device_mesh, placements
            As of `random`.
        replace : bool, default True
            Whether one may be chosen several times.
        p : array_like, optional
            The probability of each; with `replace` only.
        axis : int, default 0
            Along which is chosen.

        Raises
        ------
        ValueError
            If there is nothing to choose from, or not enough without `replace`.
        NotImplementedError
            For probabilities without `replace`.
        """
        counted = np.ndim(a) == 0
        count = int(a) if counted else np.shape(a)[axis]
        shape = () if size is None else size
        options: dict[str, Any] = {"device_mesh": device_mesh, "placements": placements}
        number = int(np.prod(shape))
        if number > 0 and (count <= 0 or (number > count and not replace)):
            raise ValueError(f"cannot choose {number} of {count} elements")
        if not replace:
            if p is not None:
                raise NotImplementedError("choice with p needs replace=True")
            order = np.asarray(self.permutation(count))[:number].reshape(shape)
            index: Any = _C.as_tensor(order)
            if device_mesh is not None:
                layout = _C.Layout(device_mesh, placements, order.shape, order.dtype)
                index = place(order, layout)
        elif p is None:
            index = self.integers(0, max(count, 1), size, **options)
        else:
            index = np.searchsorted(
                _cumulated(p, count), self.random(size, **options), side="right"
            )
        if isinstance(a, _C.DTensor):
            index = np.asarray(index) if device_mesh is None else index
            return np.take(a, index, axis=axis)
        return index if counted else np.take(np.asarray(a), index, axis=axis)

    # --- torch's ---

    def manual_seed(self, seed: Any) -> Self:
        """Begin the stream of another seed, and return this generator."""
        self.restart(_key_of(seed))
        return self

    def seed(self) -> int:
        """Begin the stream of a seed that nobody knows before, and return it.

        Collective over all ranks, which get the one of rank 0.
        """
        new = world.current().share(os.urandom(8), what="Generator.seed")[0]
        self.manual_seed(int.from_bytes(new, "little"))
        return self.initial_seed()

    def initial_seed(self) -> int:
        """Return the seed."""
        return int(self._state[0]) | int(self._state[1]) << 64

    def get_state(self) -> _C.Tensor:
        """Return the seed and the position, as a Tensor of 32 uint8."""
        return _C.as_tensor(self._state.copy().view(np.uint8))

    def set_state(self, new_state: Any) -> None:
        """Go on where `get_state` was called.

        Raises
        ------
        TypeError
            If it is none of 32 uint8.
        """
        state = np.asarray(new_state)
        if state.dtype != np.uint8 or state.shape != (self._state.nbytes,):
            raise TypeError(
                f"RNG state must be a Tensor of {self._state.nbytes} uint8, not "
                f"{state.shape} {state.dtype}"
            )
        self._state = state.copy().view(np.uint64)

    def clone_state(self) -> "Generator":
        """Return another generator at the same place."""
        other = Generator()
        other._state = self._state.copy()
        return other


def _cumulated(p: npt.ArrayLike, count: int) -> npt.NDArray[np.float64]:
    """Return the probabilities of each element and those before it."""
    p = np.asarray(p, np.float64)
    if p.shape != (count,) or not (p >= 0).all() or abs(p.sum() - 1) > 1e-8:
        raise ValueError(f"p must be {count} probabilities that add up to 1")
    total = np.cumsum(p)
    return np.asarray(total / total[-1])
