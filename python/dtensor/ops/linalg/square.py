"""Large square matrices in parts: Cholesky, LU and QR factors, block by block.

Each block of columns is factored by the rank that has it and shared; every rank then
changes its own columns. Nobody has more than some parts.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.linalg import LinAlgError

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import as_dtype, settled
from dtensor.ops._make.fallback import on_mesh
from dtensor.ops._make.kernel import inexact
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.parts import inside, local, make, move, spans
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg.adjoint import adjoint
from dtensor.ops.linalg.cyclic import Blocks, Dealt, less_product
from dtensor.ops.linalg.panels import factor, permuted, reflections, unit_lower
from dtensor.ops.linalg.tall_parts import by_rows

__all__ = ["cholesky", "det", "inv", "qr", "slogdet", "solve"]

Array = npt.NDArray[Any]

_QRResult: Any = type(np.linalg.qr(np.eye(1)))
_SlogdetResult: Any = type(np.linalg.slogdet(np.eye(1)))

# --- failing on all ranks -------------------------------------------------------------


@operator(name="linalg", agrees=LinAlgError)
def _verdict(wrong: Operand, sentence: str) -> Answer:
    """Raise if a number is not 0; also on ranks outside the mesh."""
    return rule([[]], [[]]), call(_judge, wrong, sentence), wrong.dtype


def _judge(wrong: Array, sentence: str) -> Array:
    if wrong:
        raise LinAlgError(sentence)
    return wrong


def _raise_if(wrong: bool, like: _C.Layout, sentence: str) -> None:
    _verdict(make(np.array(wrong), like.like((), {}, np.bool_)), sentence)


# --- Cholesky -------------------------------------------------------------------------


def cholesky(x: Any, upper: bool = False) -> Any:
    """Return the lower factor, its rows cut; the upper one, its columns cut."""
    if upper:
        return adjoint(cholesky(adjoint(x)))
    if is_meta(x):
        return _C.without_data(by_rows("cholesky", x).layout)
    n = x.shape[0]
    dealt = Dealt("cholesky", x)
    blocks, array = dealt.blocks, dealt.array
    failed = False
    for block in range(-(-n // blocks.width)):
        start = block * blocks.width
        stop = min(start + blocks.width, n)
        is_mine, columns = blocks.where(block)
        panel = None
        if is_mine:
            panel = _lower(array[start:, columns][:, : stop - start])
            array[:, columns] = 0
            array[start:, columns][:, : stop - start] = panel
        size = (n - start, stop - start)
        panel = blocks.share("cholesky", block, panel, size)
        if inside(blocks.like):
            failed = failed or bool(np.isnan(panel[0, 0]))
            _less_squares(blocks, array, block, panel)
    _raise_if(failed, blocks.like, "Matrix is not positive definite")
    return blocks.gathered("cholesky", array)


def _lower(panel: Array) -> Array:
    """Return the factor of a block of columns, or NaN where there is none."""
    width = panel.shape[1]
    try:
        top = np.linalg.cholesky(panel[:width])
    except LinAlgError:
        return np.full_like(panel, np.nan)
    rest = np.linalg.solve(top, np.conj(panel[width:].T))
    return np.concatenate([top, np.conj(rest.T)])


def _less_squares(blocks: Blocks, array: Array, block: int, panel: Array) -> None:
    """Change the columns after a block, from the diagonal down."""
    n, first = len(array), block * blocks.width
    for k in range(blocks.after(block), blocks.mine):
        start = blocks.start(k)
        stop = min(start + blocks.width, n)
        if start < stop:
            mine = array[start:, k * blocks.width :][:, : stop - start]
            right = panel[start - first : stop - first]
            less_product(mine, panel[start - first :], np.conj(right.T))


# --- LU -------------------------------------------------------------------------------


class _LU:
    """A matrix while it becomes its upper factor; `diagonal` is that one's.

    Parameters
    ----------
    right : array
        This rank's columns of what the lower factor is divided from; overwritten.
    """

    def __init__(self, name: str, x: Any, right: Array) -> None:
        self.name, self.right, self.n = name, right, x.shape[0]
        dealt = Dealt(name, x)
        self.blocks, self.array = dealt.blocks, dealt.array
        self.count = -(-self.n // self.blocks.width)
        self.diagonal = np.ones(self.n, self.array.dtype)
        self.swaps = 0
        for block in range(self.count):
            self._step(block)

    def _range(self, block: int) -> tuple[int, int]:
        start = block * self.blocks.width
        return start, min(start + self.blocks.width, self.n)

    def _step(self, block: int) -> None:
        blocks = self.blocks
        start, stop = self._range(block)
        is_mine, columns = blocks.where(block)
        panel = None
        if is_mine:
            mine = self.array[start:, columns][:, : stop - start]
            found = np.asfortranarray(mine)
            pivots = factor(found)
            mine[:] = found
            panel = np.concatenate([found, pivots[None].astype(found.dtype)])
        size = (self.n - start + 1, stop - start)
        panel = blocks.share(self.name, block, panel, size)
        if not inside(blocks.like):
            return
        pivots, panel = panel[-1].real.astype(int), panel[:-1]
        self.diagonal[start:stop] = np.diagonal(panel)
        self.swaps += int(np.count_nonzero(pivots != np.arange(stop - start)))
        lower = unit_lower(panel[: stop - start])
        after = self.array[start:, blocks.after(block) * blocks.width :]
        for rest in (after, self.right[start:]):
            permuted(rest, pivots)
            top = np.linalg.solve(lower, rest[: stop - start])
            rest[: stop - start] = top
            less_product(rest[stop - start :], panel[stop - start :], top)

    def solve(self) -> None:
        """Divide `right` by the upper factor."""
        is_singular = bool(np.any(self.diagonal == 0))
        _raise_if(is_singular, self.blocks.like, "Singular matrix")
        for block in reversed(range(self.count)):
            start, stop = self._range(block)
            is_mine, columns = self.blocks.where(block)
            panel = None
            if is_mine:
                panel = self.array[:stop, columns][:, : stop - start]
            size = (stop, stop - start)
            panel = self.blocks.share(self.name, block, panel, size)
            if inside(self.blocks.like):
                upper = np.triu(panel[start:])
                found = np.linalg.solve(upper, self.right[start:stop])
                self.right[start:stop] = found
                less_product(self.right[:start], panel[:start], found)


def _by_columns(like: _C.Layout, columns: int) -> _C.Layout:
    """Return the layout of other columns beside a matrix whose rows are cut, cut."""
    cutting = like.cut_by(0)
    placements = [
        _C.Shard(1) if m in cutting else _C.Replicate() for m in range(like.mesh.ndim)
    ]
    return _C.Layout(like.mesh, placements, (like.shape[0], columns), like.dtype)


def solve(a: Any, b: Any) -> Any:
    """Return the solution: of several right sides its columns are cut, of one it is on
    every rank."""
    b = settled("solve", on_mesh(b, a.device_mesh))
    dtype = inexact(a.dtype, b.dtype)
    a, b = by_rows("solve", as_dtype(a, dtype)), as_dtype(b, dtype)
    one = b.ndim == 1
    right: Any = np.reshape(b, (-1, 1)) if one else b
    to = _by_columns(a.layout, right.shape[1])
    right = move("solve", right, to)
    if is_meta(a) or is_meta(right):
        result = _C.without_data(to)
    else:
        result = make(_solved(a, np.array(local(right), order="C")), to)
    if not one:
        return result
    result = move("solve", result, to.with_placements(None))
    return np.reshape(result, (-1,))


def _solved(a: Any, right: Array) -> Array:
    factors = _LU("solve", a, right if right.ndim == 2 else right.reshape(0, 0))
    factors.solve()
    return factors.right


def inv(x: Any) -> Any:
    """Return the inverse, its columns cut."""
    x = by_rows("inv", x)
    to = _by_columns(x.layout, x.shape[0])
    if is_meta(x):
        return _C.without_data(to)
    start, count = next(iter(spans(to, 1)), (0, 0)) if inside(to) else (0, 0)
    right = np.eye(x.shape[0], count, -start, x.dtype)
    return make(_solved(x, right), to)


def slogdet(x: Any) -> Any:
    """Return sign and logarithm on every rank."""
    sign, logarithm = _determinant("slogdet", x)
    like = x.layout.like((), {}, inexact(x.dtype))
    real = like.with_dtype(np.finfo(like.dtype).dtype)
    if is_meta(x):
        return _SlogdetResult(_C.without_data(like), _C.without_data(real))
    return _SlogdetResult(
        make(np.asarray(sign, like.dtype), like),
        make(np.asarray(logarithm, real.dtype), real),
    )


def det(x: Any) -> Any:
    """Return the determinant on every rank."""
    sign, logarithm = _determinant("det", x)
    like = x.layout.like((), {}, inexact(x.dtype))
    if is_meta(x):
        return _C.without_data(like)
    return make(np.asarray(sign * np.exp(logarithm), like.dtype), like)


def _determinant(name: str, x: Any) -> tuple[Any, Any]:
    """Return sign and logarithm, of double precision."""
    x = by_rows(name, x)
    if is_meta(x):
        return 0, 0
    factors = _LU(name, x, np.empty((x.shape[0], 0), x.dtype))
    values = factors.diagonal.astype(np.result_type(x.dtype, np.float64))
    sizes = np.abs(values)
    with np.errstate(divide="ignore"):
        logarithm = np.log(sizes).sum()
    sign = np.prod(values / np.where(sizes == 0, 1, sizes)) * (-1) ** factors.swaps
    return sign, logarithm


# --- QR -------------------------------------------------------------------------------


def qr(x: Any, mode: str = "reduced") -> Any:
    """Return the reduced factors, or r; the rows of both are cut."""
    x = by_rows("qr", x)
    (m, n), k = x.shape, min(x.shape)
    if is_meta(x):
        q, r = (_C.without_data(x.layout.like(s, {0: 0})) for s in ((m, k), (k, n)))
        return r if mode == "r" else _QRResult(q, r)
    dealt = Dealt("qr", x)
    blocks, array = dealt.blocks, dealt.array
    scales = []
    for block in range(-(-k // blocks.width)):
        scales.append(_reflect(blocks, array, block, k))
    if mode != "r":
        q = _product(blocks, array, scales, k)
    for j in range(blocks.mine if inside(blocks.like) else 0):
        mine = slice(j * blocks.width, (j + 1) * blocks.width)
        array[:, mine] = np.triu(array[:, mine], -blocks.start(j))
    r = blocks.gathered("qr", array[:k])
    return r if mode == "r" else _QRResult(q, r)


def _reflect(blocks: Blocks, array: Array, block: int, k: int) -> Array:
    """Factor a block, and change the columns after it; return the factors' scales."""
    start = block * blocks.width
    width = min(blocks.width, k - start)
    is_mine, columns = blocks.where(block)
    packed = None
    if is_mine:
        mine = array[start:, columns]
        raw: Callable[..., Any] = np.linalg.qr
        found, scales = raw(mine[:, :width], "raw")
        packed = np.concatenate([found.T, scales[None]])
        if width < blocks.width:  # columns beyond the last reflection
            v, t = reflections(found.T, scales)
            mine[:, width:] -= v @ (np.conj(t.T) @ (np.conj(v.T) @ mine[:, width:]))
        mine[:, :width] = found.T
    packed = blocks.share("qr", block, packed, (len(array) - start + 1, width))
    if inside(blocks.like):
        v, t = reflections(packed[:-1], packed[-1])
        after = array[start:, blocks.after(block) * blocks.width :]
        less_product(after, v, np.conj(t.T) @ (np.conj(v.T) @ after))
    return np.array(packed[-1:])


def _product(blocks: Blocks, array: Array, scales: list[Array], k: int) -> Any:
    """Return q: the reflections, the last one first, of the first columns of 1."""
    dealt = Blocks(blocks.like, k)
    q = np.zeros((len(array), dealt.mine * dealt.width), array.dtype)
    for j in range(dealt.mine):
        mine = slice(j * dealt.width, (j + 1) * dealt.width)
        q[:, mine] = np.eye(len(q), dealt.width, -dealt.start(j), q.dtype)
    for block in reversed(range(len(scales))):
        start = block * blocks.width
        width = min(blocks.width, k - start)
        is_mine, columns = blocks.where(block)
        packed = array[start:, columns][:, :width] if is_mine else None
        packed = blocks.share("qr", block, packed, (len(array) - start, width))
        if inside(blocks.like):
            v, t = reflections(packed, scales[block][0])
            first = dealt.after(start // dealt.width - 1) * dealt.width
            some = q[start:, first:]  # the others have zeros there
            less_product(some, v, t @ (np.conj(v.T) @ some))
    return dealt.gathered("qr", q)
