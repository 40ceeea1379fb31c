"""Rows of what moves elements: views, joins, splits, casts, and making arrays."""

import copy

import numpy as np
from rows import SHAPE, SUM, Sample, each
from samples_reduce import method

RESHAPE = [
    *each("reshape", np.reshape, "d6,4", [(s,) for s in [24, -1, (4, 6), (2, 3, 4)]]),
    *each("reshape", np.reshape, "d6,4", [((3, -1),), ((6, 2, 2),), ((1, 6, 4, 1),)]),
    *each("reshape", np.reshape, "d12,8", [((-1, 6),), ((3, 4, 8),), ((12, 2, 2, 2),)]),
    *each("reshape", np.reshape, "d5,7", [(35,), ((7, 5),), ((5, 7, 1),), ((1, 35),)]),
    *each(
        "reshape", np.reshape, "d2,3,4", [((6, 4),), ((2, 12),), (24,), ((4, 3, 2),)]
    ),
    *each("reshape", np.reshape, "d4,5,6", [((20, 6),), ((4, 30),), ((2, 2, 5, 6),)]),
    *each("reshape", np.reshape, "d0,3", [(0,), ((3, 0),), ((0, 7),), (-1,)]),
    *each("reshape", np.reshape, "d1 | d", [((),), ((1, 1),), (-1,)]),
    *each("reshape", np.reshape, "d5,7", [(36,), ((5, -1, 2),), ((-1, -1),)]),
    *each("reshape", np.reshape, "d6,4", [{"shape": (4, 6), "order": "F"}]),
    *each("reshape", np.reshape, "d6,4", [((24,), "A"), ((8, 3), "C")]),
    *each("ravel", np.ravel, "d5,7 | d2,3,4 | d | d7 | d0,3 | f6,4"),
    *each("ravel", np.ravel, "d5,7", [{"order": "F"}]),
    *each("x.reshape", method("reshape"), "d6,4", [(4, 6), (-1,), ((2, 12),)]),
    *each("x.flatten", method("flatten"), "d5,7 | d2,3,4"),
    *each("x.ravel", method("ravel"), "d5,7"),
]

AXES = [
    *each("transpose", np.transpose, "d5,7 | d7 | d2,3,4 | d | d0,3"),
    *each(
        "transpose", np.transpose, "d2,3,4", [((1, 2, 0),), ((-1, 0, 1),), ((0, 0, 1),)]
    ),
    *each("permute_dims", np.permute_dims, "d2,3,4", [((2, 0, 1),)]),
    *each("matrix_transpose", np.matrix_transpose, "d5,7 | d2,3,4"),
    *each(
        "moveaxis", np.moveaxis, "d2,3,4", [(0, -1), (2, 0), ([0, 1], [1, 2]), (3, 0)]
    ),
    *each("rollaxis", np.rollaxis, "d2,3,4", [(2,), (0, 3)]),
    *each("swapaxes", np.swapaxes, "d2,3,4 | d5,7", [(0, 1), (-1, 0), (0, 5)]),
    *each("squeeze", np.squeeze, "d1,5,1,7 | d5,7 | d1 | d1,1", [{}, {"axis": 0}]),
    *each("squeeze", np.squeeze, "d1,5,1,7", [{"axis": (0, 2)}, {"axis": 1}]),
    *each(
        "expand_dims", np.expand_dims, "d5,7 | d | d0", [(0,), (-1,), ((0, 2),), (5,)]
    ),
    *each("atleast_1d", np.atleast_1d, "d | d5 | d5,7"),
    *each("atleast_2d", np.atleast_2d, "d | d5 | d5,7"),
    *each("atleast_3d", np.atleast_3d, "d | d5 | d5,7 | d2,3,4"),
    *each("atleast_2d", np.atleast_2d, "d d5"),
    *each(
        "broadcast_to",
        np.broadcast_to,
        "d7 | d1,7 | d5,1 | d",
        [((5, 7),), ((3, 5, 7),)],
    ),
    *each("broadcast_to", np.broadcast_to, "d5,7", [((5, 7),), (7,), ((0, 5, 7),)]),
    *each("broadcast_arrays", np.broadcast_arrays, "d5,1 d7 | d5,7 d | d5 d7"),
    Sample("x.T", lambda x: x.T, "d5,7"),
    Sample("x.T", lambda x: x.T, "d2,3,4"),
    Sample("x.mT", lambda x: x.mT, "d2,3,4"),
    *each("x.transpose", method("transpose"), "d2,3,4", [(), (1, 2, 0), ((1, 0, 2),)]),
    *each("x.swapaxes", method("swapaxes"), "d5,7", [(0, 1)]),
    *each("x.squeeze", method("squeeze"), "d1,5,1", [(), (0,)]),
]

MOVES = [
    *each("repeat", np.repeat, "d5,7 | l5,6", [(2,), (3, 0), (2, 1), (0, 1), (1, 0)]),
    *each("repeat", np.repeat, "d5,7 | d7", [([1, 0, 2, 3, 1], 0), (2, -1), (-1, 0)]),
    Sample("repeat", lambda x, n: np.repeat(x, n, axis=0), "d5,7 l5:0..3"),
    *each(
        "sliding_window_view",
        np.lib.stride_tricks.sliding_window_view,
        "d5,7",
        [((2, 3),), (3, 0)],
    ),
    *each(
        "sliding_window_view", np.lib.stride_tricks.sliding_window_view, "d7", [(3,)]
    ),
    *each("packbits", np.packbits, "B5,19 | ?9,3", [(), (0,), (-1, "little")]),
    *each("unpackbits", np.unpackbits, "B5,3 | B9", [(), (0,), (-1, -3, "little")]),
    *each("tile", np.tile, "d5,7 | d3", [(2,), ((2, 3),), ((2, 1, 3),), (0,), ((),)]),
    *each("flip", np.flip, "d5,7 | l7,5 | d2,3,4", [{}, {"axis": 0}, {"axis": (0, 1)}]),
    *each("flip", np.flip, "d7 | d0,3 | d"),
    *each("flipud", np.flipud, "d5,7"),
    *each("fliplr", np.fliplr, "d5,7 | d5"),
    *each("roll", np.roll, "d5,7 | d7", [(2,), (-3, 0), (9, -1), (0, 0)]),
    *each("roll", np.roll, "d5,7", [((1, 2), (0, 1)), (1, (0, 1)), ((1, 1), (0, 0))]),
    *each("roll", np.roll, "d0,3 | d", [(2,)]),
    *each("rot90", np.rot90, "d5,7 | d2,3,4", [(), (2,), (3,), (-1,), (1, (1, 0))]),
    *each("rot90", np.rot90, "d2,3,4", [(1, (1, 2)), (4,)]),
    *each(
        "pad",
        np.pad,
        "d5,7",
        [(1,), (((1, 2), (0, 3)),), ((2, 1),), (((0, 0), (1, 1)),)],
    ),
    *each("pad", np.pad, "d5,7 | l7", [{"pad_width": 2, "constant_values": 3}]),
    *each(
        "pad",
        np.pad,
        "d5,7",
        [
            {"pad_width": 2, "mode": mode}
            for mode in "edge reflect symmetric wrap maximum empty linear_ramp".split()
            if mode != "empty"
        ],
    ),
    *each("pad", np.pad, "d5,7", [{"pad_width": 2, "mode": "mean"}], SUM),
    *each("diagonal", np.diagonal, "d5,7 | l4,4", [(), (1,), (-2,), (9,)]),
    *each("diagonal", np.diagonal, "d2,3,4", [(), (0, 1, 2), (1, 0, 2)]),
    *each("diag", np.diag, "d5,7 | d7", [(), (1,), {"k": -2}]),
    *each("diagflat", np.diagflat, "d3,2"),
    *each("tril", np.tril, "d5,7 | l4,4 | d2,3,4 | d7", [(), (1,), (-2,)]),
    *each("triu", np.triu, "d5,7 | l4,4 | d2,3,4 | d7", [(), (1,), (-2,)]),
    *each("delete", np.delete, "d5,7", [(2, 0), ([0, 3], 1), (slice(1, 4), 0)]),
    *each("insert", np.insert, "d5,7", [(2, 0.5, 0), ([1, 3], 2.0, 1)]),
    *each("resize", np.resize, "d5,7", [((3, 4),), ((9, 5),)]),
    *each("trim_zeros", np.trim_zeros, "d7:sparse"),
    *each("vander", np.vander, "d5", [(), (3,)]),
]


# --- joins and splits -----------------------------------------------------------------


def of_list(fn, **more):
    """The function that `fn` is of a list of arrays."""
    return lambda *xs, **other: fn(list(xs), **more, **other)


JOIN = [
    *each(
        "concatenate",
        of_list(np.concatenate),
        "d5,7 d5,7 | l5,6 d5,6 | d2,3,4 d2,3,4",
        [{}, {"axis": 1}, {"axis": -1}, {"axis": None}],
    ),
    *each("concatenate", of_list(np.concatenate), "d5,7 d3,7 d1,7 | d5 d0 d7 | d5,7"),
    *each(
        "concatenate", of_list(np.concatenate), "d5,7 d3,7", [{"axis": 1}, {"axis": 2}]
    ),
    *each("concatenate", of_list(np.concatenate), "d5,7 d7 | d d | d7 d7 d7 d7"),
    *each("concatenate", of_list(np.concatenate), "f7 l7", [{"dtype": "d"}]),
    *each("concatenate", of_list(np.concatenate), "d7 d5", [{"dtype": "l"}]),
    *each("concatenate", lambda x, y: np.concatenate((x, y)), "d7 d5"),
    *each("concat", of_list(np.concat), "d5,7 d5,7", [{"axis": 1}]),
    *each(
        "stack",
        of_list(np.stack),
        "d5,7 d5,7 | l7 d7 f7 | d d",
        [{}, {"axis": -1}],
    ),
    *each("stack", of_list(np.stack), "d5,7 d5,7", [{"axis": 1}, {"axis": 3}]),
    *each("stack", of_list(np.stack), "d5,7 d7,5 | d5 | d0,3 d0,3"),
    *each("vstack", of_list(np.vstack), "d7 d7 | d5,7 d3,7 | d d"),
    *each("hstack", of_list(np.hstack), "d7 d5 | d5,7 d5,3 | d d"),
    *each("dstack", of_list(np.dstack), "d7 d7 | d5,7 d5,7"),
    *each("column_stack", of_list(np.column_stack), "d7 d7 | d5,7 d5,3 | d5 d5,2"),
    *each("append", np.append, "d5,7 d5,7", [{}, {"axis": 0}, {"axis": 1}]),
    *each("block", lambda x, y: np.block([[x, y], [y, x]]), "d5,7 d5,7"),
    *each("block", lambda x, y: np.block([x, y]), "d5 d7"),
]

SPLIT = [
    *each("split", np.split, "d6,8 | l6,4", [(2,), (3, 0), (2, 1), (4, -1)]),
    *each(
        "split", np.split, "d7,5", [([2, 5],), ([1, 9], 0), ([3], 1), ([5, 2],), (2,)]
    ),
    *each("array_split", np.array_split, "d7,5", [(3,), (2, 1), ([2, 4],)]),
    *each("vsplit", np.vsplit, "d6,4 | d6", [(2,)]),
    *each("hsplit", np.hsplit, "d6,4 | d6", [(2,)]),
    *each("dsplit", np.dsplit, "d2,3,4", [(2,)]),
    *each("unstack", np.unstack, "d5,7 | d3 | d2,3,4 | d0,3 | d", [{}]),
    *each("unstack", np.unstack, "d5,3 | d2,3,4", [{"axis": 1}, {"axis": -1}]),
    Sample("unpacking", lambda x: [*x], "d5,7"),
    Sample("unpacking", lambda x: [*x], "d3"),
]

# --- casts and copies -----------------------------------------------------------------

CAST = [
    *each(
        "astype",
        np.astype,
        "d5,7 | f7 | l5,6",
        [("f4",), ("d",), ("i4",), (bool,), ("D",)],
    ),
    *each(
        "x.astype",
        method("astype"),
        "d5,7 | l7 | ?5",
        [("f4",), (int,), (float,), ("b",)],
    ),
    *each("x.astype", method("astype"), "d7", [{"dtype": "f4", "casting": "safe"}]),
    *each("x.astype", method("astype"), "d7", [{"dtype": "d", "copy": False}]),
    *each("copy", np.copy, "d5,7 | d | l7"),
    *each("x.copy", method("copy"), "d5,7 | ?7"),
    *each("copy.copy", copy.copy, "d5,7"),
    *each("copy.deepcopy", copy.deepcopy, "d5,7"),
    *each("real", np.real, "D5,7 | d5,7"),
    *each("imag", np.imag, "D5,7 | d5,7"),
    Sample("x.real", lambda x: x.real, "D5,7"),
    Sample("x.imag", lambda x: x.imag, "D5,7"),
    *each("x.conj", method("conj"), "D5,7 | d7"),
    *each("x.conjugate", method("conjugate"), "D5,7"),
    *each("angle", np.angle, "D5,7 | d5,7"),
    *each("nan_to_num", np.nan_to_num, "d5,7:nan | d4,5:inf | l5", [{}, {"nan": 2.0}]),
]

# --- rounding and comparing -----------------------------------------------------------

COMPARE = [
    *each("clip", np.clip, "d5,7 | l5,6 | f7 | d", [(-1, 2), (None, 1), (0, None)]),
    *each("clip", np.clip, "d4,5:inf", [(-1, np.inf), (np.inf, None)]),
    *each("clip", np.clip, "d5,7 d7 d5,1 | d5,7 d d | d4,5:inf d4,5:inf d4,5:inf"),
    *each("clip", np.clip, "d5,7", [{"min": -1.0}, {"max": 1.0}, {}]),
    *each("x.clip", method("clip"), "d5,7", [(-1, 2), {"max": 1}]),
    *each("round", np.round, "d5,7 | d4,5:inf | l7 | f5 | D4 | d", [(), (1,), (-1,)]),
    *each("around", np.around, "d5,7"),
    *each("x.round", method("round"), "d5,7", [(), (1,)]),
    *each("fix", np.fix, "d5,7 | d4,5:inf"),
    *each(
        "isclose",
        np.isclose,
        "d5,7 d7 | d5 d5:nan | l5 l5 | d5,7 d | d4,5:inf d4,5:inf",
        [{}, {"atol": 1.0}],
    ),
    *each("isclose", np.isclose, "d5:nan d5:nan", [{"equal_nan": True}]),
    *each("allclose", np.allclose, "d5,7 d7 | d5 d5", [{}, {"atol": 99.0}]),
    Sample("allclose", lambda x: np.allclose(x, x), "d5,7"),
    *each(
        "array_equal", np.array_equal, "d5,7 d5,7 | d5,7 d7 | d0 d0 | l5:ties l5:ties"
    ),
    Sample("array_equal", lambda x: np.array_equal(x, x), "d5,7"),
    Sample("array_equal", lambda x: np.array_equal(x, x, equal_nan=True), "d5,7:nan"),
    Sample("array_equiv", lambda x: np.array_equiv(x, x), "d5,7"),
    *each("isreal", np.isreal, "d5 | D5"),
    *each("iscomplex", np.iscomplex, "d5 | D5"),
    *each("iscomplexobj", np.iscomplexobj, "d5 | D5"),
    *each("isneginf", np.isneginf, "d5,7:special"),
    *each("isposinf", np.isposinf, "d5,7:special"),
    *each("sinc", np.sinc, "d5,7 | d4,5:inf"),
    *each("i0", np.i0, "d5,7"),
    *each("unwrap", np.unwrap, "d5,7", mode=SUM),
]

# --- making arrays --------------------------------------------------------------------

LIKE = [
    *[
        row
        for fn in (np.zeros_like, np.ones_like)
        for row in each(
            fn.__name__, fn, "d5,7 | l7 | ?5,6 | d | d0,3", [{}, {"dtype": "f4"}]
        )
        + each(fn.__name__, fn, "d5,7", [{"shape": (3, 4)}, {"shape": 5}])
    ],
    *each("full_like", np.full_like, "d5,7 | l7", [(2.5,), (3, "f4")]),
    *each("full_like", np.full_like, "d5,7 d7"),
    *each("empty_like", np.empty_like, "d5,7 | l7", [{}, {"dtype": "f4"}], SHAPE),
    *each("meshgrid", np.meshgrid, "d5 d7 | d5 d7 l3 | d5"),
    *each("meshgrid", np.meshgrid, "d5 d7", [{"indexing": "ij"}, {"sparse": True}]),
    *each("linspace", np.linspace, "d d | d3 d3 | d3 d", [{"num": 5}, {"num": 0}]),
    *each(
        "linspace", np.linspace, "d3 d3", [{"num": 4, "axis": -1}, {"endpoint": False}]
    ),
    *each("linspace", np.linspace, "d d", [{"num": 5, "retstep": True}]),
    *each("logspace", np.logspace, "d d", [{"num": 5}]),
    *each("geomspace", np.geomspace, "d3:pos d3:pos", [{"num": 5}]),
    Sample("arange", lambda x: np.arange(7, like=x), "d5"),
    Sample("arange", lambda x: np.arange(2, 9.0, 1.5, dtype="d", like=x), "d5"),
    Sample("eye", lambda x: np.eye(5, 7, k=1, like=x), "d5"),
    Sample("identity", lambda x: np.identity(5, like=x), "d5"),
    Sample("zeros", lambda x: np.zeros((3, 4), like=x), "d5"),
    Sample("ones", lambda x: np.ones(5, dtype=int, like=x), "d5"),
    Sample("full", lambda x: np.full((3, 4), 2.5, like=x), "d5"),
    Sample("asarray", lambda x: np.asarray([1, 2, 3], like=x), "d5"),
]

ROWS = [*RESHAPE, *AXES, *MOVES, *JOIN, *SPLIT, *CAST, *COMPARE, *LIKE]
