"""``torch.nn.utils.parametrizations``: those of `dtensor`, and orthogonal matrices."""

from typing import Any

import numpy as np

from dtensor import _C, linalg as _linalg, ops as _ops
from dtensor.autograd import no_grad
from dtensor.nn.module import Module
from dtensor.nn.utils.parametrizations import *  # noqa: F403
from dtensor.nn.utils.parametrize import register_parametrization
from dtensor.torch._alike import randn_like
from dtensor.torch._matrix import matrix_exp
from dtensor.torch._reflected import geqrf, orgqr

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
linalg: Any = _linalg

MAPS = ("matrix_exp", "cayley", "householder")


def _turned(x: Any) -> Any:
    return ops.swapaxes(x, -2, -1)


def _diagonal(x: Any) -> Any:
    return ops.diagonal(x, 0, -2, -1)


def _sign(x: Any) -> Any:
    return _minus_where(ops.less(ops.real(x), 0), ops.real(x))


def _minus_where(condition: Any, x: Any) -> Any:
    """Return -1 and 1 in the dtype of an array."""
    one = ops.ones_like(x)
    return ops.where(condition, -one, one)


def _nearest(x: Any) -> Any:
    """Return a matrix with orthonormal columns: Q of ``x = Q @ R``, R not negative."""
    packed, tau = geqrf(x)
    return orgqr(packed, tau) * ops.expand_dims(_sign(_diagonal(packed)), -2)


class _Orthogonal(Module):
    def __init__(self, kind: str, trivial: bool) -> None:
        super().__init__()
        self.kind = kind
        if trivial:
            self.register_buffer("base", None)

    def forward(self, weight: Any) -> Any:
        wide = weight.shape[-2] < weight.shape[-1]
        x = _turned(weight) if wide else weight
        n, k = x.shape[-2:]
        q = self._mirrored(x) if self.kind == "householder" else self._turning(x, n, k)
        if "base" in self._buffers:
            q = self.base @ q
        return _turned(q) if wide else q

    def _mirrored(self, x: Any) -> Any:
        low = ops.tril(x, -1)
        q = orgqr(low, 2.0 / (1.0 + ops.sum(low * low, axis=-2)))
        return q * ops.expand_dims(ops.trunc(_diagonal(x).detach()), -2)

    def _turning(self, x: Any, n: int, k: int) -> Any:
        x = ops.tril(x)
        if n != k:
            x = ops.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, n - k)])
        a = x - ops.conj(_turned(x))
        one = np.eye(n, dtype=np.dtype(x.dtype))
        if self.kind == "matrix_exp":
            q = matrix_exp(a)
        else:
            q = linalg.solve(one - 0.5 * a, one + 0.5 * a)
        return q[..., :k]

    def right_inverse(self, weight: Any) -> Any:
        wide = weight.shape[-2] < weight.shape[-1]
        q = _turned(weight) if wide else weight
        n, k = q.shape[-2:]
        if "base" not in self._buffers:
            if self.kind != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the "
                    "Cayley parametrizations when use_trivialization=False."
                )
            packed, tau = geqrf(q)
            sign = _sign(_diagonal(packed))
            sign = sign * _minus_where(ops.equal(tau, 0), ops.real(tau))
            one = np.eye(n, k, dtype=np.dtype(q.dtype))
            found = packed * (1 - one) + ops.expand_dims(sign, -2) * one
            return _turned(found) if wide else found
        with no_grad():
            q = q.detach()
            if n != k:
                rest = ops.zeros_like(q, shape=(*q.shape[:-1], n - k))
                rest = rest.as_torch() if isinstance(q, _C.TorchTensor) else rest
                q = ops.concatenate([q, randn_like(rest)], -1)
            one = np.eye(n, dtype=np.dtype(q.dtype))
            off = ops.max(ops.abs(ops.conj(_turned(q)) @ q - one))
            eps = float(np.finfo(np.dtype(q.dtype)).eps)
            self.base = q if float(off) < 10 * n * eps else _nearest(q)
            start = np.eye(*weight.shape[-2:], dtype=np.dtype(weight.dtype))
            return ops.zeros_like(weight.detach()) - start


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Train an orthogonal matrix, or one with orthonormal rows or columns.

    Parameters
    ----------
    module : Module
    name : str, default "weight"
    orthogonal_map : ``"matrix_exp"``, ``"cayley"`` or ``"householder"``, optional
        What makes it of the parameter; default: the first of square and complex
        matrices, else the last.
    use_trivialization : bool, default True
        Whether it is multiplied by what was assigned last: a buffer `base`.

    Returns
    -------
    Module
        `module`, whose parameter is ``parametrizations.weight.original``.

    Raises
    ------
    ValueError
        If there is no such parameter or map, it has less than two dims, or is complex
        with reflections.
    NotImplementedError
        When the parameter is assigned to, without trivialization, by another map than
        "householder": no parameter is known that gives it.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(
            f"Module '{module}' has no parameter or buffer with name '{name}'"
        )
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} "
            "dimensions."
        )
    is_complex = np.dtype(weight.dtype).kind == "c"
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or is_complex else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    if is_complex and orthogonal_map == "householder":
        raise ValueError(
            "The householder parametrization does not support complex tensors."
        )
    made = _Orthogonal(orthogonal_map, use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
