"""Rows of ufuncs: every one that NumPy has, and what ufuncs can be asked for."""

import functools
import operator

import numpy as np
from rows import BITS, SUM, VALUE, Sample, after, each, itself, with_words

# Where a ufunc's values are numbers; elsewhere NaN, which is a value too.
KIND = {
    **dict.fromkeys(["arccos", "arcsin", "arctanh"], "unit"),
    **dict.fromkeys(["log", "log2", "log10", "sqrt", "reciprocal", "log1p"], "pos"),
    "arccosh": "over1",
}
INTEGER_ONLY = {
    *("bitwise_count", "invert", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("gcd", "lcm", "left_shift", "right_shift"),
}

UFUNCS: list[np.ufunc] = sorted(
    {f for f in vars(np).values() if isinstance(f, np.ufunc)}, key=lambda f: f.__name__
)


def unary(f: np.ufunc) -> list[Sample]:
    kind = KIND.get(f.__name__, "any")
    words = f"d5,7:{kind} | f7:{kind} | e4,3:{kind} | l5,6 | B7 | ?6 | d:{kind}"
    words += f" | d0,3 | D3,4 | d4,6:special | d2,3,4:{kind} | d1,1 | l5,6:wide"
    words += " | d4,6:inf"
    if f.__name__ in INTEGER_ONLY:
        words = "l5,7 | B7 | h2,3,4 | ?6 | l | l0,3 | d5,7"
    return each(f.__name__, f, words)


def binary(f: np.ufunc) -> list[Sample]:
    name = f.__name__
    mode = VALUE if name in ("maximum", "minimum", "fmax", "fmin") else BITS
    words = "d5,7 d5,7 | d5,7 d7 | d5,1 d1,7 | d5,7 d | d d7 | f5,7 d7 | f5,7 f7"
    words += (
        " | l5,6 l5,6 | l7 b7 | ?5,6 ?6 | d0,3 d3 | D3,4 D4 | d2,3,4 d3,1 | d5,7 d6"
    )
    words += " | d4,5:special d4,5:special | d7 l7:0..5 | d1,7 d5,7 | B5 B5"
    words += " | l5,7:wide l5,7:wide | B5,7:wide B5,7:wide"
    words += " | d4,5:inf d4,5:inf | f4,5:inf d5:inf"
    number = 2.5
    if name in INTEGER_ONLY:
        words = "l5,7 l5,7:0..5 | l5,7 l7:0..5 | l5,1 l1,7:1..4 | l5,7 l:2..3 | l7 b7"
        words += " | ?5,6 ?6 | l0,3 l3 | B5,7 B7:0..4 | d5,7 d7 | h2,3,4 h3,1:0..3"
        number = 2
    if name == "ldexp":
        words = "d5,7 l5,7:-3..4 | d5,7 l7:-3..4 | f5,1 l1,7:0..3 | d l7:0..3 | d5 d5"
        words += " | d4,5:inf l4,5:-3..4"
        number = 2
    if name in ("power", "float_power"):
        words += " | d5,7:pos d7:pos | l5,6:0..5 l6:0..4"
    if name == "divide":
        words += " | d5,7 d7:pos | l5,6 l6:1..5"
    alone = "l5,6:1..5 | B7" if name in INTEGER_ONLY else "d5,7:pos | l5,6:1..5 | f7"
    backwards = with_words(lambda x: f(number, x), f"{name}({number}, x)")
    return [
        *each(name, f, words, mode=mode),
        *each(name, f, alone, [(number,), (2,), (True,), (-3,)], mode),
        *(Sample(name, backwards, word.strip(), mode) for word in alone.split("|")),
    ]


MATRIX = [
    *each("matmul", np.matmul, "d5,7 d7,6 | d7 d7 | d5,7 d7 | d7 d7,5", mode=SUM),
    *each(
        "matmul", np.matmul, "d3,5,7 d7,6 | d3,5,7 d3,7,2 | d3,1,5,7 d4,7,2", mode=SUM
    ),
    *each(
        "matmul", np.matmul, "f5,7 d7,6 | l5,7 l7,6 | ?5,7 ?7,6 | D5,7 D7,6", mode=SUM
    ),
    *each(
        "matmul", np.matmul, "d0,7 d7,6 | d5,0 d0,6 | d1,7 d7,1 | e5,7 e7,6", mode=SUM
    ),
    *each("matmul", np.matmul, "d5,7 d6,5 | d5,7 d | d2,5,7 d3,7,5"),
    *each("matmul", operator.matmul, "d5,7 d7,6 | d7 d7 | d3,5,7 d7", mode=SUM),
    *each("vecdot", np.vecdot, "d5,7 d5,7 | d5,7 d7 | D5,7 D7 | l7 l7", mode=SUM),
    *each("vecdot", np.vecdot, "d5,7 d5,7", [{"axis": 0}], SUM),
    *each("matvec", np.matvec, "d5,7 d7 | d3,5,7 d3,7 | l5,7 l7 | D4,3 D3", mode=SUM),
    *each("vecmat", np.vecmat, "d5 d5,7 | d3,5 d3,5,7 | l5 l5,7 | D4 D4,3", mode=SUM),
]

PYTHON = [
    *each("negative", operator.neg, "d5,7 | l7"),
    *each("positive", operator.pos, "d5,7"),
    *each("absolute", abs, "d5,7 | D4 | l7"),
    *each("invert", operator.invert, "l5,7 | ?7"),
    *[
        row
        for act in (
            *(operator.add, operator.sub, operator.mul, operator.truediv),
            *(operator.floordiv, operator.mod, divmod, operator.lt, operator.le),
            *(operator.eq, operator.ne, operator.gt, operator.ge),
        )
        for row in [
            *each(f"x {act.__name__} y", act, "d5,7 d7 | l5,6 l6:1..4 | d5,7 f7"),
            *each(f"x {act.__name__} y", act, "d5,7 | l7 | f7", [(3,), (0.5,)]),
            *each(
                f"x {act.__name__} y",
                with_words(lambda x, act=act: act(3, x), f"3 {act.__name__} x"),
                "d5,7:pos | l7:1..4",
            ),
        ]
    ],
    *each("x pow y", pow, "d5,7:pos | l7:0..4", [(2,), (0.5,), (0,), (3,)]),
    *each("x pow y", pow, "d5,7:pos d7"),
    *[
        row
        for act in (operator.and_, operator.or_, operator.xor)
        for row in each(f"x {act.__name__} y", act, "l5,7 l7 | ?5,7 ?7 | B5 B5")
    ],
    *each("x lshift y", operator.lshift, "l5,7 l7:0..4"),
    *each("x rshift y", operator.rshift, "l5,7 l7:0..4"),
]

# --- in place, out=, where=, dtype= ---------------------------------------------------


def changing(name, fn, arrays, mode=BITS):
    """Rows of a function that writes into an operand."""
    return [Sample(name, fn, w.strip(), mode, None, True) for w in arrays.split("|")]


IN_PLACE = [
    *[
        row
        for act in (operator.iadd, operator.isub, operator.imul, operator.itruediv)
        for row in [
            *changing(
                f"x {act.__name__} y", itself(act), "d5,7 d5,7 | d5,7 d7 | f7 d7"
            ),
            *changing(
                f"x {act.__name__} y", itself(act), "l6 l6 | l6 d6 | d0 d0 | d7 d5,7"
            ),
            *changing(
                f"x {act.__name__} y",
                itself(with_words(lambda x, act=act: act(x, 3), f"{act.__name__} 3")),
                "d5,7 | f7 | l6 | d",
            ),
        ]
    ],
    *[
        row
        for act in (operator.ifloordiv, operator.imod, operator.ipow)
        for row in changing(
            f"x {act.__name__} y", itself(act), "d5,7 d7:pos | l6 l6:1..3"
        )
    ],
    *[
        row
        for act in (operator.iand, operator.ior, operator.ixor)
        for row in changing(
            f"x {act.__name__} y", itself(act), "l5,7 l7 | ?6 ?6 | d5 d5"
        )
    ],
    *changing("x ilshift y", itself(operator.ilshift), "l5,7 l7:0..4"),
    *changing("x irshift y", itself(operator.irshift), "l5,7 l7:0..4"),
    *changing("x imatmul y", itself(operator.imatmul), "d5,7 d7,7 | d4,4 d4,4", SUM),
]

OUT = [
    *changing("out=", itself(lambda x, y, o: np.add(x, y, out=o), 2), "d5,7 d7 d5,7"),
    *changing("out=", itself(lambda x, y, o: np.add(x, y, o), 2), "d5,7 d7 d5,7"),
    *changing("out=", itself(lambda x, y, o: np.add(x, y, out=(o,)), 2), "l7 l7 d7"),
    *changing(
        "out=", itself(lambda x, y, o: np.add(x, y, out=o), 2), "d7 d7 l7 | d7 d7 d5"
    ),
    *changing(
        "out=", itself(lambda x, y, o: np.multiply(x, y, out=o), 2), "f7 f7 f5,7"
    ),
    *changing("out=", itself(lambda x, o: np.exp(x, out=o), 1), "d5,7 d5,7 | f7 d7"),
    *changing("out=", itself(lambda x: np.negative(x, out=x)), "d5,7 | l7"),
    *changing("out=", itself(lambda x, o: np.sum(x, axis=0, out=o), 1), "d5,7 d7", SUM),
    *changing(
        "out=", itself(lambda x, o: np.cumsum(x, axis=0, out=o), 1), "d5,7 d5,7", SUM
    ),
    *changing("out=", itself(lambda x, o: np.max(x, axis=1, out=o), 1), "d5,7 d5"),
    *changing(
        "out=", itself(lambda x, y, o: np.matmul(x, y, out=o), 2), "d5,7 d7,6 d5,6", SUM
    ),
    *changing("out=", itself(lambda x, o: np.clip(x, -1, 1, out=o), 1), "d5,7 d5,7"),
    *changing("out=", itself(lambda x, o: np.round(x, 1, out=o), 1), "d5,7 d5,7"),
    *changing(
        "out=",
        itself(lambda x, i, o: np.take(x, i, 0, out=o, mode="clip"), 2),
        "d5,7 l3:0..5 d3,7",
    ),
    *changing(
        "out=", itself(lambda x, y, o: np.concatenate([x, y], out=o), 2), "d5 d7 d12"
    ),
    *changing("out=", lambda x, a, b: np.modf(x, out=(a, b)), "d5,7 d5,7 d5,7"),
    *changing("out=", lambda x, a, b: np.divmod(x, 2, out=(a, b)), "d5,7 d5,7 d5,7"),
]

WHERE = [
    *changing(
        "where=",
        itself(lambda x, y, w, o: np.add(x, y, where=w, out=o), 3),
        "d5,7 d7 ?5,7 d5,7",
    ),
    *changing(
        "where=", itself(lambda x, w, o: np.exp(x, where=w, out=o), 2), "d5,7 ?7 d5,7"
    ),
    *changing(
        "where=", itself(lambda x, o: np.sqrt(x, where=True, out=o), 1), "d5,7:pos d5,7"
    ),
    Sample("where=", lambda x, w: np.sum(x, axis=0, where=w), "d5,7 ?5,7", SUM),
    Sample("where=", lambda x, w: np.sum(x, where=w), "d5,7 ?7", SUM),
    Sample(
        "where=", lambda x, w: np.sum(x, axis=1, where=w, initial=2), "d5,7 ?5,1", SUM
    ),
    Sample("where=", lambda x, w: np.mean(x, axis=1, where=w), "d5,7 ?7", SUM),
    Sample("where=", lambda x, w: np.max(x, axis=0, where=w, initial=-9), "d5,7 ?5,7"),
    Sample("where=", lambda x, w: np.all(x, axis=0, where=w), "?5,7 ?7"),
    Sample("where=", lambda x, w: np.var(x, axis=0, where=w), "d5,7 ?5,7", SUM),
    Sample("where=", lambda x, w: np.prod(x, axis=0, where=w), "d3,5:pos ?5", SUM),
]

DTYPE = [
    *each("dtype=", np.add, "d5,7 d7 | f7 f7", [{"dtype": "f8"}, {"dtype": "f4"}]),
    *each("dtype=", np.add, "l7 l7", [{"dtype": float}, {"dtype": "i1"}]),
    *each(
        "dtype=",
        np.add,
        "d7 d7",
        [{"dtype": "i4"}, {"dtype": "i4", "casting": "unsafe"}],
    ),
    *each("dtype=", np.sqrt, "l7:0..9", [{"dtype": "f4"}, {"dtype": "f8"}]),
    *each("dtype=", np.multiply, "f5,7 l7", [{"dtype": "D"}, {"dtype": "f8"}]),
    *each("dtype=", np.sum, "l5,7 | f5,7 | ?5,7", [{"axis": 0, "dtype": "f8"}], SUM),
    *each("dtype=", np.mean, "l5,7 | f5,7", [{"axis": 0, "dtype": "f4"}], SUM),
    *each("dtype=", np.equal, "d7 d7", [{"dtype": bool}]),
    *each("order=", np.add, "d5,7 d7", [{"order": "F"}, {"subok": False}]),
    *each("signature=", np.add, "d5,7 d7", [{"signature": "dd->d"}]),
]

# --- methods --------------------------------------------------------------------------

AXES = [
    {},
    {"axis": 1},
    {"axis": -1, "keepdims": True},
    {"axis": None},
    {"axis": (0, 1)},
]
METHODS = [
    *each("add.reduce", np.add.reduce, "d5,7 | l5,7 | f7,1", AXES, SUM),
    *each("multiply.reduce", np.multiply.reduce, "d3,4:pos | l3,4", AXES, SUM),
    *each("maximum.reduce", np.maximum.reduce, "d5,7 | l5,7 | d5,7:nan", AXES),
    *each("minimum.reduce", np.minimum.reduce, "d5,7 | l5,7", AXES),
    *each("fmax.reduce", np.fmax.reduce, "d5,7:nan", AXES),
    *each("logical_and.reduce", np.logical_and.reduce, "?5,7 | d5,7:sparse", AXES),
    *each("logical_or.reduce", np.logical_or.reduce, "?5,7 | d5,7:sparse", AXES),
    *each("logical_xor.reduce", np.logical_xor.reduce, "?5,7", AXES),
    *each("bitwise_and.reduce", np.bitwise_and.reduce, "l5,7 | B5,7", AXES),
    *each("bitwise_or.reduce", np.bitwise_or.reduce, "l5,7:bits | ?5,7:bits", AXES),
    *each("bitwise_or.reduce", np.bitwise_or.reduce, "?5,7 | B5,7:wide", AXES),
    *each("bitwise_or.reduce", np.bitwise_or.reduce, "l5,7 | l0,3", [{"initial": 8}]),
    *each("bitwise_xor.reduce", np.bitwise_xor.reduce, "l5,7", AXES),
    *each("logaddexp.reduce", np.logaddexp.reduce, "d5,7", AXES[:2], SUM),
    *each("hypot.reduce", np.hypot.reduce, "d5,7", AXES[:2], SUM),
    *each("gcd.reduce", np.gcd.reduce, "l5,7", AXES[:2]),
    *each("subtract.reduce", np.subtract.reduce, "d5,7", AXES[:3], SUM),
    *each("divide.reduce", np.divide.reduce, "d3,4:pos", AXES[:2], SUM),
    *each("add.reduce", np.add.reduce, "d5,7 | d0,3", [{"initial": 2.0}], SUM),
    *each("add.reduce", np.add.reduce, "d0,3 | d3,0 | d"),
    *each("maximum.reduce", np.maximum.reduce, "d0,3 | d3,0"),
    *[
        row
        for f in (np.add, np.multiply, np.subtract, np.maximum, np.logical_or)
        for row in each(
            f"{f.__name__}.accumulate",
            f.accumulate,
            "d5,7 | l7,3 | d0,3",
            [{}, {"axis": -1}],
            SUM,
        )
    ],
    *[
        row
        for f in (np.add, np.multiply, np.subtract, np.maximum, np.less, np.power)
        for row in each(
            f"{f.__name__}.outer", f.outer, "d5:pos d7 | d5,2:pos d3 | l5:0..3 l4:0..3"
        )
    ],
    *each("add.outer", np.add.outer, "d5", [(2.0,)]),
    *[
        row
        for f in (np.add, np.multiply, np.maximum)
        for row in each(
            f"{f.__name__}.reduceat",
            f.reduceat,
            "d7,5 | l7,6",
            [([0, 3, 1],), ([0, 4], 1), ([2],)],
            SUM,
        )
    ],
    *each("add.reduceat", np.add.reduceat, "d7,5 l3:0..7", mode=SUM),
]


def at(f, arrays, key=None):
    """``f.at(x, index, values)``: written into `x`."""
    if key is None:
        return changing(f"{f.__name__}.at", after(with_words(f.at, "at")), arrays)
    act = with_words(lambda x, *v: f.at(x, key, *v), f"at {key}")
    return changing(f"{f.__name__}.at", after(act), arrays)


METHODS += [
    *at(np.add, "d7 l5:0..7 d5 | d7,3 l5:0..7 d5,3 | l7 l5:0..7 l5 | d7 l5:0..7 d"),
    *at(np.add, "d7 d4 | d7 d", [0, 2, 2, 5]),
    *at(np.add, "d5,7 d", (slice(None), [0, 0, 3])),
    *at(np.maximum, "d7 l5:0..7 d5"),
    *at(np.multiply, "d7 l5:0..7 d5"),
    *at(np.negative, "d7", [0, 2, 2]),
]

# --- powers ---------------------------------------------------------------------------


def by_exponent(f, x, y):
    """``f(x, y)`` for one exponent after the other.

    NumPy squares, say, where all exponents of a row are 2, as they may be in a part:
    the last bit may be another one than among other exponents.
    """
    x, y = np.broadcast_arrays(x, y)
    result = np.array(f(x, y))
    for exponent in np.unique(y):
        same = y == exponent
        result[same] = f(x[same], exponent)
    return result


def by_exponent_outer(f, x, y):
    """The same for each pair of elements."""
    return by_exponent(f, np.reshape(x, x.shape + (1,) * y.ndim), y)


ALSO = {
    "power": functools.partial(by_exponent, np.power),
    "float_power": functools.partial(by_exponent, np.float_power),
    "x pow y": functools.partial(by_exponent, np.power),
    "x ipow y": functools.partial(by_exponent, np.power),
    "power.outer": functools.partial(by_exponent_outer, np.power),
}


def with_other_answer(row):
    """The row, and what NumPy's other loop of a power gives."""
    pair = len(row.arrays.split()) == 2
    return row._replace(also=ALSO[row.name]) if pair and row.name in ALSO else row


PLAIN = [
    *(row for f in UFUNCS if f.nin == 1 for row in unary(f)),
    *(row for f in UFUNCS if f.nin == 2 and f.signature is None for row in binary(f)),
    *MATRIX,
    *PYTHON,
    *IN_PLACE,
    *OUT,
    *WHERE,
    *DTYPE,
    *METHODS,
]
ROWS = list(map(with_other_answer, PLAIN))
