"""Rows of indexing, sorting, searching, counting and sets."""

import operator

import numpy as np
from rows import Sample, after, each, with_words
from samples_reduce import SUM, method, own

all_of = slice(None)


def key_text(key):
    return str(key).replace("slice", "").replace("None", "")


def get(arrays, *keys):
    """Rows of ``x[key]``; what is no array lies in the key itself."""
    return [
        Sample(
            "x[key]", with_words(lambda x, key=key: x[key], f"x[{key_text(key)}]"), w
        )
        for w in arrays.split("|")
        for key in keys
    ]


def with_arrays(arrays, fn):
    """A row of indexing with arrays among the operands."""
    return [Sample("x[key]", fn, w.strip()) for w in arrays.split("|")]


GET = [
    *get("d7,5", 0, -1, 3, (2, 3), (-7, -5), 7, (0, 5), -8, 1.5, "a", (0, 0, 0)),
    *get("d7,5", all_of, slice(2, 5), slice(None, None, 2), slice(None, None, -1)),
    *get(
        "d7,5", slice(5, 1, -2), slice(3, 3), slice(-3, None), slice(2, 99), slice(6, 2)
    ),
    *get(
        "d7,5",
        (all_of, 2),
        (all_of, slice(1, 4)),
        (slice(1, 6, 2), slice(None, None, -2)),
    ),
    *get("d7,5", (slice(1, 6), -1), (..., 0), (..., slice(2)), (0, ...), ..., ()),
    *get(
        "d7,5",
        None,
        (None, all_of),
        (all_of, None),
        (..., None),
        (None, 2, None, all_of),
    ),
    *get("d7,5", [0, 2, 2, 6], [-1], [], (all_of, [1, 1, 0]), ([0, 1], [2, 3]), [7]),
    *get("d7,5", ([[0], [2]], [0, 1, 4]), (slice(2, 6), [0, 4]), ([5, 2], slice(1, 3))),
    *get("d7,5", (2, [0, 1]), ([0, 1], 2), (None, [0, 3]), np.array([[1, 2], [3, 0]])),
    *get("d7,5", np.arange(7) > 3, (all_of, np.arange(5) % 2 == 0), True, False),
    *get("d7,5", np.zeros(7, bool), np.zeros(6, bool), np.ones((7, 5), bool)),
    *get(
        "d4,5,6",
        1,
        (1, 2),
        (all_of, 2),
        (..., 3),
        (all_of, all_of, slice(None, None, 3)),
    ),
    *get("d4,5,6", (all_of, [0, 3]), ([0, 1], all_of, [2, 3]), ([0, 1], 2, [2, 3])),
    *get("d4,5,6", (all_of, [0, 1], [2, 3]), (1, all_of, [2, 3]), (..., [0, 5], None)),
    *get(
        "d7", 0, -1, slice(1, 6, 2), slice(None, None, -3), [0, 6, 3], None, (3,), ...
    ),
    *get("d", (), ..., None, 0),
    *get("d0,3", slice(None), 0, (all_of, 1), [], np.zeros(0, bool)),
    *get("d1,5", 0, slice(0, 1), (0, 2)),
    *get("l7,5 | f7,5", 2, slice(1, 6, 2), [0, 2, 2]),
    *with_arrays("d7,5 l4:0..7 | d7,5 l2,3:-7..7 | l7 l5:0..7", lambda x, i: x[i]),
    *with_arrays("d7,5 l4:0..5", lambda x, i: x[:, i]),
    *with_arrays(
        "d7,5 l4:0..7 l4:0..5 | d7,5 l4,1:0..7 l3:0..5", lambda x, i, j: x[i, j]
    ),
    *with_arrays("d7,5 l:0..7", lambda x, i: x[i]),
    *with_arrays("d7,5 l4:0..5", lambda x, i: x[2, i]),
    *with_arrays("d7,5 ?7,5 | d7,5 ?7 | d7 ?7 | d7,5 ?6", lambda x, m: x[m]),
    *with_arrays("d7,5 ?5", lambda x, m: x[:, m]),
    *with_arrays("d7,5 l4:7..8", lambda x, i: x[i]),
    *with_arrays("d7,5 d4", lambda x, i: x[i]),
    Sample("x[key]", lambda x: x[x > 0], "d7,5"),
]


def put(arrays, *keys):
    """Rows of ``x[key] = value``; a row of one array sets a number."""
    rows = []
    for words in arrays.split("|"):
        for key in keys:
            value = len(words.split()) > 1

            def act(x, *v, key=key, value=value):
                operator.setitem(x, key, v[0] if value else 2)

            told = f"x[{key_text(key)}] = {'v' if value else 2}"
            fn = after(with_words(act, told))
            rows.append(Sample("x[key] = v", fn, words.strip(), changes=True))
    return rows


def set_with(arrays, act):
    """A row of setting with arrays in the key."""
    return [
        Sample("x[key] = v", after(act), w.strip(), changes=True)
        for w in arrays.split("|")
    ]


SET = [
    *put(
        "d7,5", 0, -1, (2, 3), slice(2, 5), slice(None, None, -2), (all_of, 2), ..., ()
    ),
    *put("d7,5", [0, 2, 2], ([0, 1], [2, 3]), np.arange(7) > 3, 7, (0, 5), slice(3, 3)),
    *put("d7,5", (slice(1, 6, 2), slice(None, None, 2)), (None, 3), (..., -1), [], 1.5),
    *put(
        "d7,5 d5 | d7,5 d | d7,5 l5 | l7,5 d5 | d7,5 d4", 0, slice(2, 5), ..., [0, 2, 4]
    ),
    *put("d7,5 d3,5", slice(2, 5), slice(None, None, 3), [1, 0, 4]),
    *put("d7,5 d7,1 | d7,5 d7,5", all_of, ..., slice(None, None, -1)),
    *put("d7,5 d7", (all_of, 2), (slice(None, None, -1), -1)),
    *put("d7 d | d7 d1", 0, slice(1, 6, 2), [0, 6, 3], ..., np.arange(7) > 3),
    *put("d d", (), ...),
    *put("d0,3 d3 | d0,3 d", all_of),
    *set_with(
        "d7,5 l3:0..7 d5 | d7,5 l3:0..7 d", lambda x, i, v: operator.setitem(x, i, v)
    ),
    *set_with("d7,5 ?7,5 d | d7,5 ?7 d5", lambda x, m, v: operator.setitem(x, m, v)),
    *set_with("d7,5", lambda x: operator.setitem(x, x < 0, 0)),
    *set_with("d7,5 d3,5", lambda x, v: operator.iadd(x[2:5], v)),
    *set_with("d7,5", lambda x: operator.setitem(x, 0, x[1])),
    *set_with("d7,5", lambda x: operator.setitem(x, slice(1, None), x[:-1].copy())),
]

TAKE = [
    *each(
        "take", np.take, "d7,5", [([0, 2, 6],), ([0, 2], 1), (3, 0), ([[1], [2]], 0)]
    ),
    *each("take", np.take, "d7,5", [([7], 0), ([9, -9], 0, None, "wrap"), ([], 0)]),
    *each("take", np.take, "d7 l4:0..7 | d7,5 l4:0..35 | d7 l2,3:-7..7"),
    *each("take", np.take, "d7,5 l4:0..5 | d7,5 l2,3:0..5", [{"axis": 1}]),
    *each("take", np.take, "d7,5 l4:-9..12", [{"axis": 0, "mode": "clip"}]),
    *each("x.take", method("take"), "d7,5", [([0, 2], 1), (3,)]),
    *each("take_along_axis", np.take_along_axis, "d7,5 l7,3:0..5", [{"axis": 1}]),
    *each("take_along_axis", np.take_along_axis, "d7,5 l3,5:-7..7", [{"axis": 0}]),
    *each("take_along_axis", np.take_along_axis, "d7,5 l4:0..35", [{"axis": None}]),
    *each("take_along_axis", np.take_along_axis, "d7,5 l1,3:0..5", [{"axis": 1}]),
    *each("compress", lambda c, x: np.compress(c, x, axis=0), "?7 d7,5 | ?5 d7,5"),
    *each("compress", lambda c, x: np.compress(c, x, axis=1), "?5 d7,5"),
    *each("compress", lambda c, x: np.compress(c, x), "?7 d7,5"),
    *each("extract", np.extract, "?7,5 d7,5"),
    *each("where", np.where, "?5,7 d5,7 d5,7 | ?5,7 d7 d5,1 | ?7 d d5,7 | ? d5 d5"),
    *each("where", np.where, "d5,7:sparse l7 d7 | ?7 f7 d7 | ?5 d4,5:inf d4,5:inf"),
    *each("where", np.where, "?5,7 d7", [(0.0,), (2,)]),
    Sample("where", lambda c, y: np.where(c, 1.5, y), "?5,7 f7"),
    *each("where", np.where, "?5,7 | d5,7:sparse | ?7"),
    *each("nonzero", np.nonzero, "?5,7 | d5,7:sparse | l7:ties | d0,3"),
    *each("flatnonzero", np.flatnonzero, "d5,7:sparse"),
    *each("argwhere", np.argwhere, "d5,7:sparse | ?7"),
    *each("select", lambda a, b, x, y: np.select([a, b], [x, y]), "?5,7 ?7 d5,7 d7"),
    *each("select", lambda a, x: np.select([a], [x], default=3), "?5,7 d5,7"),
    *each("choose", lambda i, x, y: np.choose(i, [x, y]), "l5:0..2 d5 d5"),
    *each("choose", lambda i, x: np.choose(i, [x, 2, 3]), "l5:0..3 d5 | l5:0..3 l5"),
    *each(
        "apply_along_axis", lambda x: np.apply_along_axis(np.sort, 1, x), "d5,7 | d7,3"
    ),
    *each(
        "apply_over_axes",
        lambda x: np.apply_over_axes(np.sum, x, [0]),
        "d5,7",
        mode=SUM,
    ),
    *each("piecewise", lambda x: np.piecewise(x, [x < 0, x >= 0], [-1, 1]), "d7"),
    *each("x.nonzero", method("nonzero"), "?5,7"),
    *each("diag_indices_from", np.diag_indices_from, "d5,5"),
    *each("tril_indices_from", np.tril_indices_from, "d5,5"),
]

WRITE = [
    *set_with("d7,5", lambda x: np.put(x, [0, 9, 34], [1.5, 2.5, 3.5])),
    *set_with("d7 l3:0..7 d3", lambda x, i, v: np.put(x, i, v)),
    *set_with("d7,5", lambda x: np.put(x, [99], [1.5])),
    *set_with("d7,5 l7,1:0..5", lambda x, i: np.put_along_axis(x, i, 9.0, axis=1)),
    *set_with("d7,5 ?7,5 d7,5", lambda x, m, v: np.putmask(x, m, v)),
    *set_with("d7,5 d5", lambda x, v: np.copyto(x, v)),
    *set_with("d7,5 d5 ?7,5", lambda x, v, m: np.copyto(x, v, where=m)),
    *set_with("d7,5 ?7,5", lambda x, m: np.place(x, m, [1.0, 2.0])),
    *set_with("d5,5 | d7,5", lambda x: np.fill_diagonal(x, 2.5)),
    *set_with("d7,5 | l7", lambda x: x.fill(3)),
    *set_with("d7,5:distinct", lambda x: x.sort()),
    *set_with("d7,5:distinct", lambda x: x.sort(axis=0)),
]

SORT = [
    *each("sort", np.sort, "d5,7 | l7,5:ties | d5,7:nan | f7", [{}, {"axis": 0}]),
    *each("sort", np.sort, "d4,5:inf", [{}, {"axis": 0}]),
    *each("sort", np.sort, "d5,7", [{"axis": None}, {"axis": 2}, {"stable": True}]),
    *each("sort", np.sort, "d | d0,3 | D5 | ?7"),
    *each("argsort", np.argsort, "d5,7:distinct | l7,5:distinct", [{}, {"axis": 0}]),
    *each("argsort", np.argsort, "d5,7:ties | d5,7:nan", [{"stable": True}]),
    *each("argsort", np.argsort, "d5,7:distinct", [{"axis": None}, {"axis": 2}]),
    *each("x.argsort", method("argsort"), "d5,7:distinct", [{}, {"axis": 0}]),
    *each("lexsort", lambda x, y: np.lexsort((x, y)), "l7:ties l7:ties"),
    *each("sort_complex", np.sort_complex, "D7 | d7"),
    *each("partition", np.partition, "d7:distinct", [(0,), (6,)]),
    Sample("partition", lambda x: np.partition(x, 3)[..., 3], "d5,7:distinct"),
    Sample("argpartition", lambda x: np.argpartition(x, 3)[..., 3], "d5,7:distinct"),
    *each(
        "searchsorted", np.searchsorted, "d7:sorted d5 | d7:sorted d2,3 | d7:sorted d"
    ),
    *each("searchsorted", np.searchsorted, "l7:sorted l5", [{"side": "right"}]),
    *each("searchsorted", np.searchsorted, "d7:sorted", [(0.5,)]),
    *each("searchsorted", np.searchsorted, "d5,7 d5"),
    *each("x.searchsorted", method("searchsorted"), "d7:sorted", [([0.5, 1.0],)]),
    *each("digitize", np.digitize, "d5,7 d4:sorted", [{}, {"right": True}]),
    *each("digitize", np.digitize, "d7", [([-1.0, 0.0, 2.0],)]),
    *each("interp", np.interp, "d5,7 d4:sorted d4", mode=SUM),
]


def topk(x, k, axis=-1, largest=True):
    """The k largest (or smallest) values in order, and where they are."""
    order = np.argsort(-x if largest else x, axis=axis, kind="stable")
    order = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, order, axis=axis), order


SORT += [
    *[
        Sample(
            "topk",
            with_words(lambda x, more=more: tuple(own("topk")(x, **more)), str(more)),
            "d5,7:distinct",
            reference=lambda x, more=more: topk(x, **more),
        )
        for more in [{"k": 3}, {"k": 2, "axis": 0}, {"k": 2, "largest": False}]
    ],
]

COUNT = [
    *each(
        "bincount",
        np.bincount,
        "l7:0..5 | l0 | B7:0..4 | l40:0..5",
        [{}, {"minlength": 8}],
    ),
    *each("bincount", np.bincount, "l7:0..5 d7", mode=SUM),
    *each("bincount", np.bincount, "l5,7:0..5 | d7 | l7:-3..0"),
    *each("histogram", np.histogram, "d5,7 | l7 | f7", [{}, {"bins": 4}], SUM),
    *each("histogram", np.histogram, "d7", [{"bins": 4, "range": (-2, 2)}], SUM),
    *each("histogram", np.histogram, "d7", [{"bins": [-3.0, 0, 1, 4]}], SUM),
    *each("histogram", np.histogram, "d7", [{"bins": 4, "density": True}], SUM),
    Sample("histogram", lambda x, w: np.histogram(x, 4, weights=w), "d7 d7", SUM),
    Sample("histogram", lambda x, e: np.histogram(x, e), "d7 d4:sorted", SUM),
    *each("histogram_bin_edges", np.histogram_bin_edges, "d7", [(4,)], SUM),
    *each("histogram2d", np.histogram2d, "d30 d30", [(3,)], SUM),
]

SETS = [
    *each("unique", np.unique, "d5,7:ties | l7:ties | ?5 | d0 | d5:nan"),
    *each(
        "unique",
        np.unique,
        "l5,7:ties | d7:ties",
        [
            {"return_index": True},
            {"return_inverse": True, "return_counts": True},
            {"axis": 0},
            {"equal_nan": False},
        ],
    ),
    # In any order; ours is ascending.
    *each("unique_values", lambda x: np.sort(np.unique_values(x)), "l5,7:ties"),
    *each("unique_counts", np.unique_counts, "l5,7:ties | d7:ties"),
    *each("unique_inverse", np.unique_inverse, "l5,7:ties | d7:ties"),
    *each("unique_all", np.unique_all, "l5,7:ties | d7:ties"),
    *[
        row
        for fn in (np.intersect1d, np.union1d, np.setdiff1d, np.setxor1d)
        for row in each(fn.__name__, fn, "l7:0..9 l5:0..9 | d5,3:ties d4:ties")
    ],
    *each("intersect1d", np.intersect1d, "l7:0..9 l5:0..9", [(False, True)]),
    *each(
        "isin", np.isin, "l5,7:0..9 l4:0..9 | d7:ties d2:ties", [{}, {"invert": True}]
    ),
    *each("isin", np.isin, "l5,7:0..9", [([1, 3, 5],)]),
]

ROWS = [*GET, *SET, *TAKE, *WRITE, *SORT, *COUNT, *SETS]
