"""Gradients of products, decompositions, norms and Fourier transforms."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from gradients_cases import Case, cases, twice


def cross_axes(x: Any, y: Any) -> Any:
    return np.cross(x, y, axisa=0, axisb=1, axisc=0)


def crosses(length: int) -> bool:
    """Return whether NumPy takes vectors of this length."""
    with warnings.catch_warnings(action="ignore"):
        try:
            np.cross(np.ones(length), np.ones(length))
        except ValueError:
            return False
    return True


# NumPy before 2.5 takes vectors of 2 elements.
FLAT = ["d4,2 d3", "d3 d4,2", "D4,2 D4,2"] if crosses(2) else []
FLAT_AXES = ["d2,4 d4,3", "d2,4 d4,2"] if crosses(2) else []

MATMUL = [
    *twice("matmul", np.matmul, "d4,3 d3,5", "D4,3 D3,2", "d2,4,3 d3,5"),
    *cases("matmul", np.matmul, "d3 d3", "D3 D3", "d4,3 d3", "d3 d3,4", "D2,4,3 D3"),
    *cases("matmul", np.matmul, "d3 d2,3,4", "D4,3 D2,3,2", "d2,1,4,3 d3,3,2"),
    *cases("matmul", np.matmul, "d2,3,4,3 d3,2", "f4,3 d3,2", "d2,2,3 d2,3,2"),
    *cases("matmul", np.matmul, "d3 d2,2,3,2", "d2,2,3,4 d4", "d0,3 d3,2"),
    *cases("dot", np.dot, "d4,3 d3,5", "d3 d3", "d d4", "d4 d", "D2,3,4 D2,4,3"),
    *cases("dot", np.dot, "d2,3 d3", "d3 d3,2", "D3 D2,3,4"),
    *cases("dot number", lambda x: np.dot(x, 2.5), "d3,4"),
    *cases("inner", np.inner, "d3 d3", "D2,3 D4,3", "d2,2,3 d3", "d4 d"),
    *cases("outer", np.outer, "d3 d4", "D2,3 D4", "d d3"),
    *cases("vdot", np.vdot, "D4 D4", "d2,3 d2,3", "D2,3 D6"),
    *cases("vecdot", np.vecdot, "d4,3 d4,3", "D4,3 D3", "d3 d3"),
    *cases("vecdot 0", lambda x, y: np.vecdot(x, y, axis=0), "D3,4 D3", "d3,2 d3,2"),
    *cases("matvec", np.matvec, "D2,4,3 D3", "d4,3 d2,3"),
    *cases("vecmat", np.vecmat, "D4 D2,4,3", "d2,4 d4,3"),
    *twice("tensordot", np.tensordot, "D2,3,4 D3,4,2"),
    *cases("tensordot", np.tensordot, "d3,4 d3,4"),
    *cases("tensordot 0", lambda x, y: np.tensordot(x, y, 0), "d3 D2,2"),
    *cases(
        "tensordot lists",
        lambda x, y: np.tensordot(x, y, ([2, 0], [1, 2])),
        "d2,3,4 d5,4,2",
    ),
    *twice("kron", np.kron, "D2,3 D3,2"),
    *cases("kron", np.kron, "d3 d2,2", "d2,2 d3", "d2,1,2 d3", "d d3"),
    *cases("cross", np.cross, "d4,3 d4,3", "D3 D4,3", "d4,3 d3", *FLAT),
    *cases("cross axes", cross_axes, "d3,4 d4,3", *FLAT_AXES),
    *cases("multi_dot", lambda *x: np.linalg.multi_dot(x), "d2,5 d5,3 d3,4"),
]

EINSUM = [
    *twice("einsum", lambda x, y: np.einsum("ij,jk->ik", x, y), "D3,4 D4,2"),
    *twice("einsum ii", lambda x: np.einsum("iij->ji", x), "d3,3,2"),
    *cases("einsum sum", lambda x: np.einsum("ijk->k", x), "d2,3,4"),
    *cases("einsum ij->", lambda x: np.einsum("ij->", x), "D2,3"),
    *cases("einsum trace", lambda x: np.einsum("ii", x), "d4,4"),
    *cases("einsum iii", lambda x: np.einsum("iii->i", x), "d3,3,3"),
    *cases(
        "einsum three",
        lambda x, y, z: np.einsum("ab,bc,cd->ad", x, y, z),
        "d3,2 d2,4 d4,3",
    ),
    *cases(
        "einsum dots",
        lambda x, y: np.einsum("...ij,jk...->ik...", x, y),
        "d2,3,4 d4,2,2",
        "d2,3,4 d4,2,1",
        "d1,3,4 d4,2,3",
    ),
    *cases(
        "einsum diagonals",
        lambda x, y: np.einsum("iij,jkk->ik", x, y),
        "D3,3,2 D2,4,4",
    ),
    *cases("einsum lost", lambda x, y: np.einsum("ij,kl->i", x, y), "d3,2 d2,4"),
    *cases("einsum one", lambda x, y: np.einsum("ij,jk->ik", x, y), "d3,1 d4,2"),
    *cases("einsum i,i", lambda x, y: np.einsum("i,i->", x, y), "d3 d1"),
    *cases(
        "einsum lists", lambda x, y: np.einsum(x, [0, 1], y, [1, 0], [0]), "d3,2 d2,3"
    ),
]


def symmetric(x: Any) -> Any:
    return x + np.conj(x.mT)


def positive(x: Any) -> Any:
    return x @ np.conj(x.mT) + np.eye(x.shape[-1])


def regular(x: Any) -> Any:
    return x + 5 * np.eye(x.shape[-1])


def on_regular(name: str, fn: Callable[..., Any], *words: str) -> list[Case]:
    """Of matrices that are far from singular."""
    return cases(name, lambda x, *more: fn(regular(x), *more), *words)


def phaseless(u: Any, vh: Any) -> list[Any]:
    """What does not change if vectors are turned together."""
    return [np.abs(u), u[..., :1] * vh[..., :1, :]]


SQUARE = [
    *on_regular("inv", np.linalg.inv, "d3,3", "D2,2,2"),
    *twice("inv", lambda x: np.linalg.inv(regular(x)), "D3,3"),
    *twice("det", np.linalg.det, "d3,3", "D2,2,2"),
    *on_regular("slogdet", np.linalg.slogdet, "d3,3", "D2,2,2"),
    *cases("cholesky", lambda x: np.linalg.cholesky(positive(x)), "d3,3", "D2,2,2"),
    *cases(
        "cholesky upper",
        lambda x: np.linalg.cholesky(positive(x), upper=True),
        "d3,3",
        "D3,3",
    ),
    *cases("matrix_power 5", lambda x: np.linalg.matrix_power(x, 5), "d3,3", "D2,2,2"),
    *cases("matrix_power 1", lambda x: np.linalg.matrix_power(x, 1), "d3,3"),
    *cases("matrix_power 0", lambda x: np.linalg.matrix_power(x, 0), "d3,3"),
    *on_regular("matrix_power -2", lambda x: np.linalg.matrix_power(x, -2), "D3,3"),
    *on_regular("solve", np.linalg.solve, "d3,3 d3,2", "D2,3,3 D3", "d3,3 d2,3,2"),
    *twice("solve", lambda x, y: np.linalg.solve(regular(x), y), "d3,3 d3"),
    *cases(
        "tensorinv",
        lambda x: np.linalg.tensorinv(np.reshape(regular(x), (2, 2, 4)), 2),
        "d4,4",
        "D4,4",
    ),
    *cases(
        "tensorsolve",
        lambda x, y: np.linalg.tensorsolve(np.reshape(regular(x), (2, 3, 3, 2)), y),
        "d6,6 D2,3",
    ),
    *cases(
        "tensorsolve axes",
        lambda x, y: np.linalg.tensorsolve(
            np.transpose(np.reshape(regular(x), (2, 3, 6)), (2, 0, 1)), y, (0,)
        ),
        "d6,6 d2,3",
    ),
]

EIGEN = [
    *cases("eigvalsh", lambda x: np.linalg.eigvalsh(symmetric(x)), "d4,4", "D2,3,3"),
    *cases("eigh", lambda x: np.linalg.eigh(symmetric(x)), "d4,4"),
    *cases(
        "eigh complex",
        lambda x: np.abs(np.linalg.eigh(symmetric(x), UPLO="U")[1]),
        "D2,3,3",
    ),
    *twice("eigh values", lambda x: np.linalg.eigh(symmetric(x))[0], "d3,3"),
    *cases("eigvals", lambda x: np.linalg.eigvals(x), "D3,3"),
    *cases("eigvals real", lambda x: np.abs(np.linalg.eigvals(x)) ** 2, "d3,3"),
    *cases("eig", lambda x: np.linalg.eig(x)[0], "D3,3"),
    *cases("eig vectors", lambda x: np.abs(np.linalg.eig(x)[1]), "D3,3", "d2,2,2"),
]

FACTORS = [
    *cases("qr", np.linalg.qr, "d3,3", "d5,3", "d3,5", "D4,2", "D2,2,3"),
    *cases("qr r", lambda x: np.linalg.qr(x, "r"), "d4,3", "D2,3"),
    *cases("qr complete", lambda x: np.linalg.qr(x, "complete"), "d3,4"),
    *cases("svdvals", np.linalg.svdvals, "d4,3", "D2,2,3"),
    *cases("svd S", lambda x: np.linalg.svd(x, compute_uv=False), "d3,4"),
    *cases("svd", lambda x: np.linalg.svd(x, full_matrices=False), "d3,3", "d4,3"),
    *cases("svd wide", lambda x: np.linalg.svd(x, full_matrices=False), "d2,4"),
    *cases("svd whole", lambda x: np.linalg.svd(x)[1:2], "d2,4", "d4,2"),
    *twice("svd U", lambda x: np.linalg.svd(x, full_matrices=False)[0], "d3,2"),
    *cases(
        "svd complex",
        lambda x: phaseless(*np.linalg.svd(x, full_matrices=False)[::2]),
        "D3,3",
        "D4,2",
        "D2,4",
    ),
    *cases("pinv", np.linalg.pinv, "d4,3", "d3,4", "D2,3,2", "D2,2,3"),
    *cases("pinv rank", lambda x: np.linalg.pinv(x[:, None] * x), "d3"),
    *(
        case
        for p in (None, 2, -2, "fro", "nuc", 1, -1, np.inf, -np.inf)
        for case in on_regular(
            f"cond {p}", lambda x, p=p: np.linalg.cond(x, p), "d3,3", "D2,2,2"
        )
    ),
]

NORM = [
    *twice("norm", np.linalg.norm, "D3,4"),
    *cases("norm zero", lambda x: np.linalg.norm(x * 0), "d3"),
    *cases("norm rows", lambda x: np.linalg.norm(x, axis=1, keepdims=True), "d3,4"),
    *(
        case
        for p in (0.5, 1, 2, 3.5, -1, np.inf, -np.inf)
        for case in cases(
            f"norm {p}", lambda x, p=p: np.linalg.norm(x, p, axis=0), "d4,3", "D4"
        )
    ),
    *(
        case
        for p in (1, -1, np.inf, -np.inf, 2, -2, "nuc", "fro")
        for case in cases(
            f"matrix norm {p}", lambda x, p=p: np.linalg.matrix_norm(x, ord=p), "d3,4"
        )
    ),
    *cases("vector_norm", lambda x: np.linalg.vector_norm(x, ord=3), "d3,4"),
]


def transforms(*names: str, words: str, **options: Any) -> list[Case]:
    return [
        Case(
            " ".join([name, words, *map(str, options.items())]),
            lambda x, name=name: getattr(np.fft, name)(x, **options),
            words,
        )
        for name in names
    ]


HALF = ("rfft", "ihfft")
LINES = ("fft", "ifft", "irfft", "hfft")
GRIDS = ("fft2", "ifft2", "irfft2", "fftn", "ifftn", "irfftn")
FFT = [
    *(
        case
        for norm in ("backward", "ortho", "forward")
        for case in [
            *transforms(*LINES, words="D5", norm=norm),
            *transforms(*HALF, words="d6", norm=norm),
            *transforms(*GRIDS, words="D3,4", norm=norm),
            *transforms("rfft2", "rfftn", words="d3,4", norm=norm),
        ]
    ),
    *(
        case
        for n in (1, 2, 3, 6, 7)
        for case in [
            *transforms(*LINES, words="D5,2", n=n, axis=0),
            *transforms(*HALF, words="d5,2", n=n, axis=0),
        ]
    ),
    *transforms("fft", *HALF, words="d2,3", axis=0),
    *transforms("fftn", "irfftn", words="D3,2,4", axes=(2, 0)),
    *transforms("fftn", "ifft2", "irfft2", words="D3,4", s=(4, 3), axes=(0, 1)),
    *transforms("rfftn", "rfft2", words="d3,4", s=(4, 3), axes=(0, 1)),
    *transforms("rfftn", words="d3,4", axes=(1, 0)),
    *transforms("fftshift", "ifftshift", words="d3,4"),
    *transforms("fftshift", "ifftshift", words="d3,5", axes=1),
    *twice("rfft", np.fft.rfft, "d6"),
]

ROWS = [*MATMUL, *EINSUM, *SQUARE, *EIGEN, *FACTORS, *NORM, *FFT]
