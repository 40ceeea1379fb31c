"""Rows of products of arrays, np.linalg and np.fft."""

import numpy as np
from rows import SUM, Sample, each
from samples_reduce import method


def spelled(text):
    return lambda *xs, **more: np.einsum(text, *xs, **more)


def einsum(text, *arrays):
    """Rows of one einsum."""
    return [Sample(f"einsum, {len(w.split())}", spelled(text), w, SUM) for w in arrays]


EINSUM = [
    *einsum("ij->ji", "d5,7", "l5,7"),
    *einsum("ij->i", "d5,7", "f5,7"),
    *einsum("ij->", "d5,7"),
    *einsum("ij", "d5,7"),
    *einsum("ji", "d5,7"),
    *einsum("ii->i", "d5,5"),
    *einsum("ii", "d5,5"),
    *einsum("iij->j", "d4,4,3"),
    *einsum("...i->...", "d5,7", "d2,3,4"),
    *einsum("ij,jk->ik", "d5,7 d7,6", "f5,7 d7,6", "l5,7 l7,6", "d0,7 d7,6"),
    *einsum("ij,jk", "d5,7 d7,6"),
    *einsum("ij,ij->ij", "d5,7 d5,7"),
    *einsum("ij,ij->", "d5,7 d5,7"),
    *einsum("i,j->ij", "d5 d7"),
    *einsum("i,i", "d7 d7", "D7 D7"),
    *einsum("bij,bjk->bik", "d3,5,7 d3,7,2"),
    *einsum("...ij,...jk->...ik", "d3,5,7 d3,7,2", "d3,5,7 d7,2", "d5,7 d7,2"),
    *einsum("ijk,lk->ijl", "d2,3,7 d5,7"),
    *einsum("ij,j->", "d5,7 d7"),
    *einsum("ij,k->ik", "d5,7 d3"),
    *einsum("ii,ij->j", "d5,5 d5,7"),
    *einsum("i...,i...->...", "d5,7 d5,7"),
    *einsum("ij,jk,kl->il", "d5,7 d7,3 d3,4"),
    *einsum("i,ij,j->", "d5 d5,7 d7"),
    *einsum("ij,ij,ij->i", "d5,7 d5,7 d5,7"),
    *einsum("ij,jk,kl,lm->im", "d3,5 d5,2 d2,4 d4,3"),
    *einsum("ab,ac,ad,ae->bcde", "d3,2 d3,3 d3,4 d3,5"),
    *einsum("ij,jk->ik", "d5,7 d6,5"),
    *einsum("ij->k", "d5,7"),
    Sample("einsum, 2", lambda x, y: np.einsum(x, [0, 1], y, [1, 2]), "d5,7 d7,3", SUM),
    Sample(
        "einsum, 2", lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [2]), "d5,7 d7,3", SUM
    ),
    *each(
        "einsum, 3",
        spelled("ij,jk,kl->il"),
        "d5,7 d7,3 d3,4",
        [{"optimize": True}],
        SUM,
    ),
    *each("einsum, 2", spelled("ij,jk->ik"), "f5,7 f7,3", [{"dtype": "d"}], SUM),
]

PRODUCTS = [
    *each(
        "dot",
        np.dot,
        "d5,7 d7,6 | d7 d7 | d5,7 d7 | d2,5,7 d7 | d d5,7 | d5 d",
        mode=SUM,
    ),
    *each("dot", np.dot, "d2,5,7 d3,7,4 | d7 d3,7,2 | l5,7 l7 | D5,7 D7", mode=SUM),
    *each("dot", np.dot, "d5,7 d5 | d5,7 d6,7"),
    *each("dot", np.dot, "d5,7", [(2.0,)], SUM),
    *each("x.dot", method("dot"), "d5,7 d7,6 | d7 d7", mode=SUM),
    *each("vdot", np.vdot, "d7 d7 | D7 D7 | d5,7 d5,7 | d5,7 d35 | l7 l7", mode=SUM),
    *each("vdot", np.vdot, "d7 d5"),
    *each(
        "inner",
        np.inner,
        "d7 d7 | d5,7 d7 | d5,7 d6,7 | d2,3,7 d5,7 | d d7 | D5 D5",
        mode=SUM,
    ),
    *each("inner", np.inner, "d7 d5"),
    *each("outer", np.outer, "d5 d7 | d5,2 d3 | d d7 | l5 d3 | D5 D3"),
    *each("tensordot", np.tensordot, "d5,7 d7,6 | d2,5,7 d7,3", [(1,)], SUM),
    *each(
        "tensordot", np.tensordot, "d2,5,7 d5,7,3", [{}, (2,), (([1, 2], [0, 1]),)], SUM
    ),
    *each(
        "tensordot", np.tensordot, "d5,7 d5,3", [(([0], [0]),), ((0, 0),), (0,)], SUM
    ),
    *each("tensordot", np.tensordot, "d5,7 d6,3", [(1,)]),
    *each(
        "kron", np.kron, "d5,7 d2,3 | d5 d7 | d2,3 d4 | d d5 | l2,3 l3,2 | d2,3,2 d3,2"
    ),
    *each("cross", np.cross, "d5,3 d5,3 | d3 d3 | d5,3 d3", mode=SUM),
    *each(
        "convolve", np.convolve, "d7 d3", [{}, {"mode": "same"}, {"mode": "valid"}], SUM
    ),
    *each("correlate", np.correlate, "d7 d3 | ?4 ?4 | B4 B3 | d4 f4", mode=SUM),
    *each("polyval", np.polyval, "d3 d7", mode=SUM),
    *each("polyfit", np.polyfit, "d7 d7 | d7 d7,2 | l7 d7", [(2,)], SUM),
    *each("polyfit", np.polyfit, "d7 d7", [{"deg": 1, "cov": True}], SUM),
]

la = np.linalg
SQUARE = "d5,5:well | f5,5:well | d3,4,4:well | d7,7:well"
LINALG = [
    *each("linalg.inv", la.inv, SQUARE, mode=SUM),
    *each("linalg.inv", la.inv, "d5,7 | d5 | l3,3:1..2"),
    *each("linalg.det", la.det, SQUARE + " | d0,0", mode=SUM),
    *each("linalg.slogdet", la.slogdet, SQUARE, mode=SUM),
    *each("linalg.solve", la.solve, "d5,5:well d5 | d5,5:well d5,3", mode=SUM),
    *each("linalg.solve", la.solve, "d3,4,4:well d3,4,2 | f5,5:well d5,3", mode=SUM),
    *each("linalg.solve", la.solve, "d5,5:well d4"),
    *each("linalg.cholesky", la.cholesky, "d5,5:spd | d3,4,4:spd | D4,4:spd", mode=SUM),
    *each("linalg.cholesky", la.cholesky, "d5,5:spd", [{"upper": True}], SUM),
    *each("linalg.qr", la.qr, "d7,5 | d5,7 | d3,4,2", mode=SUM),
    *each("linalg.qr", la.qr, "d7,5", [("complete",), ("r",)], SUM),
    *each("linalg.svd", la.svd, "d5,7 | d3,4,2", [{}, {"full_matrices": False}], SUM),
    *each("linalg.svd", la.svd, "d5,7", [{"compute_uv": False}], SUM),
    *each("linalg.svdvals", la.svdvals, "d5,7 | d3,4,2", mode=SUM),
    *each("linalg.eigh", la.eigh, "d5,5:spd | d3,4,4:spd", mode=SUM),
    *each("linalg.eigvalsh", la.eigvalsh, "d5,5:spd | d3,4,4:spd", mode=SUM),
    *each("linalg.eig", la.eig, "d5,5:spd | d3,3:well", mode=SUM),
    *each("linalg.eigvals", la.eigvals, "d5,5:spd | d3,4,4:spd", mode=SUM),
    *each("linalg.pinv", la.pinv, "d5,5:well | d7,5:well | d3,4,2:well", mode=SUM),
    *each("linalg.lstsq", la.lstsq, "d7,5:well d7 | d7,5:well d7,2", mode=SUM),
    *each("linalg.matrix_rank", la.matrix_rank, "d5,7 | d3,4,4:well"),
    *each("linalg.matrix_power", la.matrix_power, "d5,5:well", [(0,), (1,), (3,)], SUM),
    *each("linalg.matrix_power", la.matrix_power, "d3,4,4:well", [(-2,), (2,)], SUM),
    *each("linalg.multi_dot", lambda *xs: la.multi_dot(xs), "d5,7 d7,3 d3,4", mode=SUM),
    *each("linalg.cond", la.cond, "d5,5:well | d3,4,4:well", [{}, (1,), ("fro",)], SUM),
    *each("linalg.tensorinv", la.tensorinv, "d4,2,2:distinct", [(1,)], SUM),
    *each("linalg.tensorsolve", la.tensorsolve, "d4,4:well d4", mode=SUM),
    *each("linalg.norm", la.norm, "d5,7 | d7 | f7", [{}, {"ord": 1}, {"ord": 2}], SUM),
    *each(
        "linalg.norm", la.norm, "d5,7 | d7", [{"ord": np.inf}, {"ord": -np.inf}], SUM
    ),
    *each(
        "linalg.norm",
        la.norm,
        "d5,7",
        [{"axis": 0}, {"axis": 1, "keepdims": True}],
        SUM,
    ),
    *each(
        "linalg.norm",
        la.norm,
        "d5,7",
        [{"ord": "fro"}, {"ord": "nuc"}, {"ord": -1}],
        SUM,
    ),
    *each(
        "linalg.norm",
        la.norm,
        "d5,7",
        [{"ord": k, "axis": 1} for k in (0, 1, 3, np.inf)],
        SUM,
    ),
    *each("linalg.norm", la.norm, "d2,3,4", [{}, {"axis": (0, 2)}, {"axis": -1}], SUM),
    *each("linalg.norm", la.norm, "D5,7", [{}, {"axis": 0}], SUM),
    *each(
        "linalg.vector_norm",
        la.vector_norm,
        "d5,7 | f2,3,4",
        [
            {},
            {"axis": 0},
            {"ord": 1},
            {"ord": np.inf},
            {"ord": 3, "axis": 1, "keepdims": True},
        ],
        SUM,
    ),
    *each("linalg.matrix_norm", la.matrix_norm, "d5,7 | d2,3,4", [{}, {"ord": 1}], SUM),
    *each("linalg.trace", la.trace, "d5,7 | d2,3,4", [{}, {"offset": 1}], SUM),
    *each("linalg.diagonal", la.diagonal, "d5,7 | d2,3,4", [{}, {"offset": -1}]),
    *each("linalg.matmul", la.matmul, "d5,7 d7,6", mode=SUM),
    *each("linalg.outer", la.outer, "d5 d7", mode=SUM),
    *each("linalg.tensordot", la.tensordot, "d5,7 d7,6", [{"axes": 1}], SUM),
    *each("linalg.vecdot", la.vecdot, "d5,7 d5,7", [{}, {"axis": 0}], SUM),
    *each("linalg.matrix_transpose", la.matrix_transpose, "d5,7"),
    *each("linalg.cross", la.cross, "d5,3 d5,3", mode=SUM),
]

fft = np.fft
ONE = [{}, {"axis": 0}, {"n": 4}, {"n": 9, "axis": 0}, {"norm": "ortho"}]
TWO = [{}, {"axes": (0, 1)}, {"s": (4, 3), "axes": (0, 1)}, {"norm": "forward"}]
FFT = [
    *[
        row
        for fn in (fft.fft, fft.ifft, fft.hfft, fft.irfft)
        for row in each(f"fft.{fn.__name__}", fn, "D5,7 | d5,7", ONE, SUM)
        + each(f"fft.{fn.__name__}", fn, "D7 | F5,6 | d2,3,4", mode=SUM)
    ],
    *[
        row
        for fn in (fft.rfft, fft.ihfft)
        for row in each(f"fft.{fn.__name__}", fn, "d5,7 | f5,6", ONE, SUM)
    ],
    *[
        row
        for fn in (fft.fft2, fft.ifft2, fft.irfft2)
        for row in each(f"fft.{fn.__name__}", fn, "D5,7 | D2,3,4", TWO, SUM)
    ],
    *each("fft.rfft2", fft.rfft2, "d5,7 | d2,3,4", TWO, SUM),
    *[
        row
        for fn in (fft.fftn, fft.ifftn, fft.irfftn)
        for row in each(
            f"fft.{fn.__name__}", fn, "D5,7 | D2,3,4", [*TWO, {"axes": (0,)}], SUM
        )
    ],
    *each("fft.rfftn", fft.rfftn, "d5,7 | d2,3,4", [*TWO, {"axes": (0,)}], SUM),
    *each("fft.fft", fft.fft, "d5,7", [{"axis": 2}, {"n": 0}, {"norm": "x"}]),
    *each("fft.fft", fft.fft, "d0,3 | d | l5,7 | d3,0", mode=SUM),
    *each("fft.fftshift", fft.fftshift, "d5,7 | d6", [{}, {"axes": 0}, {"axes": (0,)}]),
    *each("fft.ifftshift", fft.ifftshift, "d5,7 | d6", [{}, {"axes": 0}]),
]

ROWS = [*EINSUM, *PRODUCTS, *LINALG, *FFT]
