"""More calls of operators: every ufunc, its methods, linalg, fft and what is made."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["FEW", "MORE"]

la = np.linalg
Row = tuple[np.ndarray, Callable[[Any], object]]

N = 1_000_000
RANDOM = np.random.default_rng(1)
V = RANDOM.normal(size=N)
P = np.abs(V) / 5 + 0.01  # in the domain of most functions
I = RANDOM.integers(1, 60, N)  # noqa: E741
M, ROWS, C = V.reshape(1000, 1000), V.reshape(-1, 10), V[: N // 2] + 1j
S = M[:300, :300] @ M[:300, :300].T / 300 + np.eye(300)  # symmetric and positive
T = V[: 200_000 * 5].reshape(-1, 5)  # tall and narrow
BLOCKS = V[:900_000].reshape(-1, 3, 3)
STARTS = np.arange(0, N, 100)
LABELS = I * 1000

# --- ufuncs ---------------------------------------------------------------------------

GENERAL = {"matmul", "matvec", "vecmat", "vecdot"}
OF_TIMES = {"isnat"}


def _operands(ufunc: np.ufunc) -> np.ndarray:
    """Return an array of a dtype that a ufunc takes, floats if it does."""
    for x in (P, I):
        with np.errstate(all="ignore"):
            try:
                ufunc(*[x[:3]] * ufunc.nin)
            except TypeError:
                continue
        return x
    raise LookupError(ufunc)


def _ufuncs() -> dict[str, Row]:
    found: dict[str, Row] = {}
    known = {f for f in vars(np).values() if isinstance(f, np.ufunc)}
    for f in sorted(known, key=lambda f: f.__name__):
        name = f.__name__
        if name in GENERAL | OF_TIMES:
            continue
        x = _operands(f)
        if f.nin == 1:
            found[f"ufunc {name}"] = x, f
            continue
        found[f"ufunc {name}"] = x, lambda x, f=f: f(x, x)
        number = x[0].item()
        found[f"ufunc {name} of number"] = x, lambda x, f=f, n=number: f(x, n)
    return found


def _at(ufunc: np.ufunc) -> Row:
    return V, lambda x: ufunc.at(x, LABELS, V)


METHODS = [np.add, np.multiply, np.maximum, np.fmin, np.logaddexp, np.subtract]
MORE: dict[str, Row] = {
    **_ufuncs(),
    **{f"{f.__name__}.reduce": (P, f.reduce) for f in METHODS},
    **{
        f"{f.__name__}.reduce of columns": (M, lambda x, f=f: f.reduce(x, 0))
        for f in METHODS
    },
    **{f"{f.__name__}.accumulate": (P, f.accumulate) for f in METHODS},
    **{
        f"{f.__name__}.reduceat": (P, lambda x, f=f: f.reduceat(x, STARTS))
        for f in METHODS
    },
    **{
        f"{f.__name__}.outer": (P[:1000], lambda x, f=f: f.outer(x, x)) for f in METHODS
    },
    "multiply.at": _at(np.multiply),
    "maximum.at": _at(np.maximum),
    "subtract.at": _at(np.subtract),
    "arctan2.accumulate": (V[:100_000], np.arctan2.accumulate),
    "logical_or.reduce": (V > 9, np.logical_or.reduce),
    "bitwise_xor.reduce": (I, np.bitwise_xor.reduce),
    "gcd.reduce": (I, np.gcd.reduce),
    "hypot.reduce": (V, np.hypot.reduce),
    "matvec": (M, lambda x: np.matvec(x, x[0])),
    "vecmat": (M, lambda x: np.vecmat(x[0], x)),
    "vecdot": (M, lambda x: np.vecdot(x, x)),
    # --- linalg
    "cholesky": (S, la.cholesky),
    "cond": (S, la.cond),
    "det": (S, la.det),
    "slogdet": (S, la.slogdet),
    "eig": (S[:150, :150] + np.triu(S[:150, :150]), la.eig),
    "eigvals": (S[:150, :150] + np.triu(S[:150, :150]), la.eigvals),
    "eigh": (S, la.eigh),
    "eigvalsh": (S, la.eigvalsh),
    "inv": (S, la.inv),
    "lstsq": (T, lambda x: la.lstsq(x, x[:, 0])),
    "matrix_power": (S, lambda x: la.matrix_power(x, 5)),
    "matrix_rank": (S, la.matrix_rank),
    "multi_dot": (S, lambda x: la.multi_dot([x, x, x])),
    "pinv": (S[:200, :200], la.pinv),
    "qr": (S, la.qr),
    "solve": (S, lambda x: la.solve(x, x)),
    "svd": (S[:200, :200], la.svd),
    "svdvals": (S, la.svdvals),
    "tensorinv": (S[:256, :256].reshape(16, 16, 256), la.tensorinv),
    "tensorsolve": (
        S[:256, :256].reshape(256, 16, 16),
        lambda x: la.tensorsolve(x, V[:256]),
    ),
    "matrix_norm": (M, la.matrix_norm),
    "vector_norm": (V, la.vector_norm),
    "norm of order 3": (V, lambda x: la.norm(x, 3)),
    "linalg.vecdot": (M, lambda x: la.vecdot(x, x)),
    "linalg.matmul": (S, lambda x: la.matmul(x, x)),
    "tall qr": (T, la.qr),
    "tall svd": (T, lambda x: la.svd(x, False)),
    "inverses": (BLOCKS, la.inv),
    "determinants": (BLOCKS, la.det),
    "products": (BLOCKS, lambda x: x @ x),
    "solutions": (BLOCKS, lambda x: la.solve(x, x)),
    # --- fft
    "fft2": (M[:512, :512], np.fft.fft2),
    "fftn": (V[: 2**18].reshape(64, 64, 64), np.fft.fftn),
    "ifft": (C[: 2**18], np.fft.ifft),
    "ifft2": (C[: 2**18].reshape(512, 512), np.fft.ifft2),
    "ifftn": (C[: 2**18].reshape(64, 64, 64), np.fft.ifftn),
    "rfft": (V, np.fft.rfft),
    "irfft": (C[: 2**18], np.fft.irfft),
    "irfft2": (C[: 2**18].reshape(512, 512), np.fft.irfft2),
    "rfftn": (V[: 2**18].reshape(64, 64, 64), np.fft.rfftn),
    "irfftn": (C[: 2**18].reshape(64, 64, 64), np.fft.irfftn),
    "hfft": (C[: 2**18], np.fft.hfft),
    "ihfft": (V[: 2**18], np.fft.ihfft),
    "ifftshift": (M, np.fft.ifftshift),
    # --- reductions and order
    "amax": (V, np.amax),
    "amin": (V, np.amin),
    "min": (V, np.min),
    "nanmin": (V, np.nanmin),
    "nanargmin": (V, np.nanargmin),
    "nanquantile": (V, lambda x: np.nanquantile(x, 0.3)),
    "nancumprod": (P, np.nancumprod),
    "cumulative_prod": (P, np.cumulative_prod),
    "mean of columns": (M, lambda x: np.mean(x, 0)),
    "sum of columns": (M, lambda x: np.sum(x, 0)),
    "sum of rows": (M, lambda x: np.sum(x, 1)),
    "max of columns": (M, lambda x: np.max(x, 0)),
    "max of rows": (M, lambda x: np.max(x, 1)),
    "median of rows": (M, lambda x: np.median(x, 1)),
    "any of columns": (M > 2, lambda x: np.any(x, 0)),
    "sum where": (V, lambda x: np.sum(x, where=x > 0)),
    "sum of float32": (V.astype("f"), np.sum),
    "mean of float16": (V.astype("e"), np.mean),
    "argpartition": (V, lambda x: np.argpartition(x, 1000)),
    "sort of rows": (M, lambda x: np.sort(x, 1)),
    "sort of columns": (M, lambda x: np.sort(x, 0)),
    "argsort of rows": (M, lambda x: np.argsort(x, 1)),
    "stable argsort": (I, lambda x: np.argsort(x, stable=True)),
    "sort_complex": (V, np.sort_complex),
    "array_equiv": (V, lambda x: np.array_equiv(x, x)),
    "unique_values": (I, np.unique_values),
    "unique_inverse": (I, np.unique_inverse),
    "unique_all": (I, np.unique_all),
    "histogram_bin_edges": (V, lambda x: np.histogram_bin_edges(x, 50)),
    "apply_over_axes": (M, lambda x: np.apply_over_axes(np.sum, x, 0)),
    # --- shapes, indices, new arrays
    "around": (V, lambda x: np.around(x, 1)),
    "fix": (V, np.fix),
    "np.astype": (V, lambda x: np.astype(x, np.float32)),
    "block": (M, lambda x: np.block([[x, x]])),
    "column_stack": (V, lambda x: np.column_stack([x, x])),
    "hstack": (M, lambda x: np.hstack([x, x])),
    "dstack": (M, lambda x: np.dstack([x, x])),
    "diagflat": (V[:1000], np.diagflat),
    "resize": (V, lambda x: np.resize(x, (1500, 1000))),
    "triu": (M, np.triu),
    "tril_indices_from": (M, np.tril_indices_from),
    "triu_indices_from": (M, np.triu_indices_from),
    "put_along_axis": (
        M,
        lambda x: np.put_along_axis(x, I.reshape(1000, 1000), 0.0, 1),
    ),
    "ravel_multi_index": (I, lambda x: np.ravel_multi_index((x, x), (60, 60))),
    "unravel_index": (I, lambda x: np.unravel_index(x, (10, 10))),
    "unpackbits": (I.astype("B"), np.unpackbits),
    "packbits of rows": ((V > 0).reshape(1000, 1000), lambda x: np.packbits(x, 1)),
    "transposed copy": (M, lambda x: np.copy(x.T)),
    "x[a:b] = y": (V, lambda x: x.__setitem__(slice(5, -5), V[10:])),
    "x[:, I]": (M, lambda x: x[:, I[:500]]),
    "x[I, J]": (M, lambda x: x[I, I]),
    "x[::2]": (V, lambda x: np.copy(x[::2])),
    "zeros_like": (V, np.zeros_like),
    "ones_like": (V, np.ones_like),
    "full_like": (V, lambda x: np.full_like(x, 3.0)),
    "linspace": (V[:1000], lambda x: np.linspace(x, x + 1, 1000)),
    "logspace": (P[:1000], lambda x: np.logspace(x, x + 1, 1000)),
    "geomspace": (P[:1000], lambda x: np.geomspace(x, x + 1, 1000)),
    "isreal": (V, np.isreal),
    "iscomplex": (C, np.iscomplex),
    "isposinf": (V, np.isposinf),
    "isneginf": (V, np.isneginf),
    "real_if_close": (C, np.real_if_close),
    "imag": (C, lambda x: np.copy(np.imag(x))),
    "abs of complex": (C, np.abs),
    "exp of complex": (C, np.exp),
    "add of float32": (V.astype("f"), lambda x: x + x),
    "add of float16": (V.astype("e"), lambda x: x + x),
    "add of int8": (I.astype("b"), lambda x: x + x),
    "x += y": (V, lambda x: x.__iadd__(V)),
    "add of rows": (M, lambda x: x + x[0]),
    "add of columns": (M, lambda x: x + x[:, :1]),
    "polyadd": (V, lambda x: np.polyadd(x, x)),
    "polysub": (V, lambda x: np.polysub(x, x)),
    "polymul": (V[:3000], lambda x: np.polymul(x, x)),
    "polyder": (V, np.polyder),
    "polyint": (V, np.polyint),
    "polydiv": (V, lambda x: np.polydiv(x, [1.0, 2])),
    "roots": (V[:100], np.roots),
    "poly": (V[:1000], np.poly),
}

# Their work does not grow with the elements; or it is to write texts or files; or they
# are of times, which tensors do not have.
FEW = set(
    """array2string array_repr array_str atleast_1d atleast_2d atleast_3d
    broadcast_arrays broadcast_to busday_count busday_offset can_cast common_type
    datetime_as_string diag_indices_from dsplit einsum_path empty_like expand_dims
    fliplr flipud hsplit is_busday iscomplexobj isrealobj ix_ matrix_transpose
    may_share_memory min_scalar_type moveaxis ndim permute_dims
    result_type rollaxis save savetxt savez savez_compressed shape shares_memory
    size split squeeze swapaxes unstack vsplit""".split()
)
