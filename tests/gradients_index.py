"""Gradients of indices and sorts, and of what is written."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gradients_cases import cases, twice

CHOSEN = np.array([3, 0, 3, 1])
MASK = np.array([[True, False, True], [False] * 3, [True] * 3, [False, True, False]])

INDEX = [
    *twice("slice", lambda x: x[1:4, ::2], "d5,6"),
    *cases("slice -1", lambda x: x[::-1, 4:0:-2], "d5,6"),
    *cases("integer", lambda x: x[2], "d5,3", "d4"),
    *cases("integers", lambda x: x[2, -1], "D5,3"),
    *cases("None", lambda x: x[None, 1:, None, ..., 0], "d4,2,3"),
    *cases("nothing", lambda x: x[3:3], "d5,2"),
    *cases("all", lambda x: x[...], "d5,2"),
    *twice("rows", lambda x: x[CHOSEN], "d5,3", "D4"),
    *cases("sorted rows", lambda x: x[np.array([0, 2, 2, 4])], "d5,3"),
    *cases("no rows", lambda x: x[np.array([], int)], "d5,3"),
    *cases("columns", lambda x: x[:, CHOSEN], "d3,5", "d2,4,2"),
    *cases("pairs", lambda x: x[CHOSEN, [0, 1, 0, 2]], "d5,3"),
    *cases("table", lambda x: x[CHOSEN.reshape(2, 2)], "d4,2"),
    *cases("broadcast", lambda x: x[CHOSEN[:, None], [0, 2]], "d5,3"),
    *cases("apart", lambda x: x[CHOSEN, :, [0, 1, 0, 2]], "d5,2,3"),
    *cases("mixed", lambda x: x[1:, None, CHOSEN, ::2], "d3,4,5"),
    *cases("integer and rows", lambda x: x[1, :, CHOSEN], "d3,2,4"),
    *cases("negative rows", lambda x: x[[-1, -1, 0]], "d5,3"),
    *cases("rows given", lambda x, k: x[k], "d5,3 l4:0..5", "d5,2 l2,3:-5..5"),
    *twice("mask", lambda x: x[MASK], "d4,3"),
    *cases("mask of rows", lambda x: x[MASK[:, 0]], "d4,3"),
    *cases("mask of dims", lambda x: x[:, MASK], "d2,4,3"),
    *cases("mask and slice", lambda x: x[MASK[:, 0], 1:], "d4,3"),
    *cases("mask given", lambda x, m: x[m > 0], "d4,3 l4,3:0..2", "d4,3 l4:0..2"),
    *cases("mask and rows", lambda x: x[MASK[:, 0], [2, 0]], "d4,3"),
    *cases("True", lambda x: x[True], "d3"),
    *cases("take", lambda x: np.take(x, CHOSEN, 0), "d5,3"),
    *cases("take flat", lambda x: np.take(x, [[7, 0], [7, 3]]), "d4,3"),
    *cases("take wrap", lambda x: np.take(x, [5, -1, 9], 1, mode="wrap"), "d2,4"),
    *cases("take clip", lambda x: np.take(x, [5, -1, 9], 1, mode="clip"), "d2,4"),
    *cases(
        "take given",
        lambda x, k: np.take(x, k, 1, mode="wrap"),
        "d2,4 l3:-7..9",
        "d2,4 l2,3:-7..9",
    ),
    *cases("take given flat", lambda x, k: np.take(x, k), "d2,4 l3:-8..8"),
    *cases("take none", lambda x: np.take(x, [], 0), "d2,4"),
    *twice(
        "take_along_axis",
        lambda x, k: np.take_along_axis(x, k, 1),
        "d3,4 l3,2:-4..4",
    ),
    *cases(
        "take_along_axis",
        lambda x, k: np.take_along_axis(x, k, 0),
        "d4,3 l5,1:0..4",
        "d4,1 l2,3:0..4",
    ),
    *cases(
        "take_along_axis flat",
        lambda x, k: np.take_along_axis(x, k, None),
        "d3,2 l4:0..6",
    ),
    *cases("gather", lambda x, k: x.gather(1, k), "d3,4 l2,3:0..4"),
    *cases("index_select", lambda x: x.index_select(0, CHOSEN), "d5,3"),
    *cases("compress", lambda x: np.compress([True, False, True], x, 0), "d4,3"),
    *cases(
        "compress given",
        lambda x, m: np.compress(m, x, 1),
        "d2,4 l4:0..2",
        "d3,3 l2:0..2",
    ),
    *cases("extract", lambda x: np.extract(MASK, x), "d4,3"),
]

SORT = [
    *twice("sort", np.sort, "d3,5"),
    *cases("sort axis", lambda x: np.sort(x, 0), "d5,3"),
    *cases("sort flat", lambda x: np.sort(x, None), "d3,4"),
    *cases("partition", lambda x: np.partition(x, 3), "d2,9"),
    *cases("partition flat", lambda x: np.partition(x, 3, None), "d4,5"),
    *cases("sort_complex", np.sort_complex, "d2,5", "D2,5"),
    *twice("topk", lambda x: x.topk(3), "d2,6"),
    *cases("topk least", lambda x: x.topk(2, dim=0, largest=False)[0], "d5,3"),
]


# --- in place -------------------------------------------------------------------------


def into(write: Callable[..., Any]) -> Callable[..., Any]:
    """What a copy of the first operand is after it was written into."""

    def written(x: Any, *values: Any) -> Any:
        x = x * 1
        write(x, *values)
        return x

    return written


def assign(index: Any) -> Callable[..., Any]:
    def write(x: Any, value: Any) -> None:
        x[index] = value

    return into(write)


WRITES = [
    *twice("x[1:3] = v", assign(slice(1, 3)), "d5,3 d2,3"),
    *cases("x[1:3] = v", assign(slice(1, 3)), "d5,3 d3", "d5,3 d2,1", "d5,3 d"),
    *cases("x[1:3] = v", assign(slice(1, 3)), "d5,3 d1,1,2,3"),
    *cases("x[::-1, 0] = v", assign((slice(None, None, -1), 0)), "d4,3 d4"),
    *cases("x[...] = v", assign(...), "d4,3 d3"),
    *cases("x[rows] = v", assign([3, 0]), "d4,3 d2,3", "d4,3 d3"),
    *cases("x[mask] = v", assign(MASK), "d4,3 d6", "d4,3 d"),
    *cases("x[1] += v", into(lambda x, v: x.__setitem__(1, x[1] + v)), "d3,2 d2"),
    *cases("put", into(lambda x, v: np.put(x, [5, 0, 7], v)), "d4,3 d3", "d4,3 d2"),
    *cases("place", into(lambda x, v: np.place(x, MASK, v)), "d4,3 d4", "d4,3 d6"),
    *cases("putmask", into(lambda x, v: np.putmask(x, MASK, v)), "d4,3 d4,3"),
    *cases("putmask", into(lambda x, v: np.putmask(x, MASK, v)), "d4,3 d5", "d4,3 d"),
    *cases("copyto", into(lambda x, v: np.copyto(x, v)), "d4,3 d3"),
    *cases("copyto where", into(lambda x, v: np.copyto(x, v, where=MASK)), "d4,3 d4,1"),
    *cases("fill_diagonal", into(lambda x, v: np.fill_diagonal(x, v)), "d4,3 d2"),
    *cases(
        "put_along_axis",
        into(lambda x, v: np.put_along_axis(x, MASK[:, :1] * 2, v, 1)),
        "d4,3 d4,1",
    ),
    *cases(
        "put_along_axis",
        into(lambda x, k, v: np.put_along_axis(x, k, v, 0)),
        "d4,3 l1,3:0..4 d1,3",
    ),
    *cases("masked_fill_", into(lambda x: x.masked_fill_(MASK, 2.0)), "d4,3"),
    *cases("zero_", into(lambda x: x.zero_()), "d4,3"),
    *cases("copy_", into(lambda x, v: x.copy_(v)), "d4,3 d4,3"),
    *cases("sort in place", into(lambda x: x.sort(0)), "d4,3"),
]

ROWS = [*INDEX, *SORT, *WRITES]
