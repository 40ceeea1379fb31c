"""Gradients of views, of what is joined, split and padded."""

from typing import Any

import numpy as np
from gradients_cases import Case, cases, twice

VIEWS = [
    *twice("reshape", lambda x: np.reshape(x, (3, 8)), "d4,6"),
    *cases("reshape F", lambda x: np.reshape(x, (6, 4), order="F"), "D4,6"),
    *cases("reshape method", lambda x: x.reshape(2, -1, order="F"), "d4,6"),
    *cases("reshape 0", lambda x: x.reshape(0, 2), "d4,0"),
    *cases("ravel", np.ravel, "d3,4", "d"),
    *cases("ravel F", lambda x: np.ravel(x, "F"), "d3,4"),
    *cases("flatten", lambda x: x.flatten("F"), "d3,4"),
    *cases("flatten dims", lambda x: x.flatten(1, 2), "d2,3,4"),
    *cases("unflatten", lambda x: x.unflatten(1, (2, -1)), "d3,6"),
    *cases("view", lambda x: x.view(6, 2), "d4,3"),
    *cases("view as pairs", lambda x: x.view("d"), "D3,2"),
    *cases("view of pairs", lambda x: x.view("D"), "d3,4"),
    *cases("squeeze", np.squeeze, "d1,4,1"),
    *cases("squeeze axis", lambda x: np.squeeze(x, 0), "d1,4,1"),
    *cases("expand_dims", lambda x: np.expand_dims(x, (0, 2)), "d4,3"),
    *twice("transpose", np.transpose, "D2,3,4"),
    *cases("transpose axes", lambda x: np.transpose(x, (1, 2, 0)), "d2,3,4"),
    *cases("permute", lambda x: x.permute(2, 0, 1), "d2,3,4"),
    *cases("mT", lambda x: x.mT, "d2,3,4"),
    *cases("swapaxes", lambda x: np.swapaxes(x, 0, 2), "d2,3,4"),
    *cases("moveaxis", lambda x: np.moveaxis(x, (0, 1), (2, 0)), "d2,3,4"),
    *cases("rollaxis", lambda x: np.rollaxis(x, 2, 1), "d2,3,4"),
    *cases("broadcast_to", lambda x: np.broadcast_to(x, (3, 4, 2)), "d4,1", "d2", "d"),
    *cases("expand", lambda x: x.expand(3, -1, 4), "d2,1"),
    *cases("flip", np.flip, "d4,3"),
    *cases("flip axis", lambda x: np.flip(x, 1), "d4,3"),
    *twice("roll", lambda x: np.roll(x, 2, 0), "d5,3"),
    *cases("roll all", lambda x: np.roll(x, -3), "d4,3"),
    *cases("roll two", lambda x: np.roll(x, (1, -2), (0, 1)), "d5,4"),
    *cases("roll by array", lambda x: np.roll(x, np.array([1, 2]), (0, 1)), "d5,4"),
    *cases("rot90", lambda x: np.rot90(x), "d3,4"),
    *cases("rot90 k", lambda x: np.rot90(x, 3, (1, 2)), "d2,3,4"),
    *cases("repeat", lambda x: np.repeat(x, 3), "d2,3", "d"),
    *cases(
        "windows",
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=1),
        "d2,4",
    ),
    *cases("repeat axis", lambda x: np.repeat(x, 2, axis=1), "d3,4"),
    *cases("repeat each", lambda x: np.repeat(x, [0, 2, 3, 1], axis=0), "d4,3"),
    *cases("repeat none", lambda x: np.repeat(x, 0, axis=0), "d4,3"),
    *cases("tile", lambda x: np.tile(x, (2, 3)), "d2,3", "d3"),
    *cases("tile few", lambda x: np.tile(x, 2), "d2,3", "d"),
    *cases("tile none", lambda x: np.tile(x, (0, 2)), "d2,3"),
    *cases("contiguous", lambda x: x.mT.contiguous(), "d4,3"),
    *cases("meshgrid", lambda x, y: np.meshgrid(x, y), "d3 d4"),
    *cases("meshgrid ij", lambda x, y: np.meshgrid(x, y, indexing="ij"), "d3 d4"),
    *cases("vander", lambda x: np.vander(x, 4), "d3", "D2"),
    *cases("vander up", lambda x: np.vander(x, increasing=True), "d3"),
]

PARTS = [
    *twice("concatenate", lambda x, y: np.concatenate((x, y)), "d4,3 d2,3"),
    *cases("concatenate 1", lambda x, y: np.concatenate((x, y), 1), "d3,5 D3,2"),
    *cases("concatenate flat", lambda x, y: np.concatenate((x, y), None), "d3,2 d4"),
    *cases("concatenate rows", lambda x: np.concatenate(x, 1), "d2,3,4"),
    *cases("concatenate rows 0", lambda x: np.concatenate(x, 0), "d2,3,4"),
    *cases("concatenate list", lambda x: np.concatenate([[1.0, 2.0], x]), "d4"),
    *cases("vstack", lambda x, y: np.vstack((x, y)), "d3 d2,3"),
    *cases("block", lambda x, y: np.block([[x, y], [y, x]]), "d3,2 d3,2"),
    *twice("stack", lambda x, y: np.stack((x, y), 1), "d4,3 D4,3"),
    *cases("stack rows", lambda x: np.stack(x, 1), "d4,3"),
    *cases("stack list", lambda x: np.stack([[1.0, 2.0], x], -1), "d2"),
    *twice("split", lambda x: np.split(x, 3), "d6,2"),
    *cases("split at", lambda x: np.array_split(x, [1, 4], 1)[1:], "d3,6"),
    *cases("split back", lambda x: np.array_split(x, [4, 2]), "d6,2"),
    *cases("chunk", lambda x: x.chunk(3)[:2], "d7,2"),
    *cases("unstack", lambda x: np.unstack(x, axis=1), "d4,3"),
    *cases("unbind", lambda x: x.unbind(0)[1], "d4,3"),
    *cases("tril", lambda x: np.tril(x, -1), "d4,3", "d3"),
    *cases("triu", np.triu, "d2,4,3", "d3"),
    *twice("diagonal", lambda x: np.diagonal(x, 1), "d3,4"),
    *cases("diagonal axes", lambda x: np.diagonal(x, -1, 2, 0), "d3,2,4"),
    *cases("diag", np.diag, "d4", "d4,3"),
    *cases("diag k", lambda x: np.diag(x, -1), "d3", "d4,3"),
    *cases("diagflat", lambda x: np.diagflat(x, 1), "d2,2"),
    *cases("trace", lambda x: np.linalg.trace(x), "d2,3,4"),
]


def padded(mode: str, *widths: Any, **options: Any) -> list[Case]:
    name = " ".join(map(str, ["pad", mode, *options.values()]))
    return [
        *cases(
            name, lambda x: np.pad(x, ((2, 1), (0, 3)), mode=mode, **options), "d5,4"
        ),
        *cases(name, lambda x: np.pad(x, (1, 0), mode=mode, **options), "D3"),
    ]


PAD = [
    *padded("constant"),
    *padded("constant", constant_values=2.5),
    *padded("edge"),
    *padded("wrap"),
    *padded("symmetric"),
    *padded("reflect"),
    *padded("reflect", reflect_type="odd"),
    *padded("symmetric", reflect_type="odd"),
    *padded("linear_ramp", end_values=1.5),
    *padded("mean"),
    *padded("mean", stat_length=2),
    *twice("pad", lambda x: np.pad(x, 2, "reflect"), "d4"),
    *cases("pad far", lambda x: np.pad(x, (7, 5), "wrap"), "d3"),
    *cases("pad far back", lambda x: np.pad(x, (7, 5), "reflect"), "d3"),
    *cases("pad dict", lambda x: np.pad(x, {1: (1, 2)}), "d3,4"),
    *cases("pad by array", lambda x: np.pad(x, np.array([[1, 0], [0, 2]])), "d3,4"),
]

ROWS = [*VIEWS, *PARTS, *PAD]
