"""Calls of a function that nobody wrote down: arrays of all sorts, and other arguments
one by one, guessed from the signature. Those that the function refuses are left out.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

_random = np.random.default_rng(1)
_square = _random.random((12, 12)) + 0.3

# By the letters that OPERANDS are written in. All are positive, so that most functions
# take them, and no two elements of one array of floats are equal.
ARRAYS: dict[str, np.ndarray] = {
    "x": _square @ _square.T + np.eye(12),
    "y": _random.random((12, 12)) + 0.2,
    "z": _random.random((12, 12)) + 0.1,
    "i": _random.integers(0, 4, (12, 12)),
    "b": _random.random((12, 12)) > 0.5,
    "v": _random.random(12) + 0.1,
    "w": _random.random(12) + 0.2,
    "k": _random.integers(0, 4, 12),
    "c": _random.random((2, 4, 6)) + 0.1,
    "C": _random.random((4, 4, 3)) + 0.1,
    "m": _random.random((2, 4, 6, 6)) + 0.1,
    "W": _random.random((4, 4, 3, 3)),
    "V": _random.random((2, 2, 4, 6, 6)),
    "Z": _random.random((12, 12)) + 1j * _random.random((12, 12)),
    "f": (_random.random((12, 12)) + 0.2).astype(np.float32),
    "L": _random.random((40, 12)) + 0.2,
    "U": _random.random((2, 2, 2, 2, 2)),
    "B": _random.random((3, 12, 12)) + 0.1,
    "G": _random.random((2, 3, 3, 2)) - 0.5,
    "T": _random.random((2, 2, 3)),
    "I": np.arange(288).reshape(2, 4, 6, 6) % 36,
}
OPERANDS = """x xy xyz i ii xi xk kx b xb bxy v vw vk kv c cC m mW V Z ZZ f xv xvv xyv
    xvw xw k kk Cc ccc mmm vvv ix xii mvw cvw xvwvw mv cv L""".split()

# What comes after the arrays. A letter in a list stands for that array.
POSITIONAL: list[tuple[Any, ...]] = [
    (),
    *[(number,) for number in (0, 1, 2, -1, 0.5, 2.0, True)],
    *[(pair,) for pair in ((0, 1), (2, 2), (1, 2), (2, 8), ((0,), (1,)))],
    *[(first, second) for first, second in ((0, 1), (1, 0), (1, 2), (0.2, 0.8))],
    *[(0, ["i"]), (1, ["i"]), (0, ["k"]), (0, ["k"], ["x"]), (0, ["i"], ["y"])],
    *[("sum",), ("mean",), (["v"], ["w"])],
]

# What is tried besides, of functions that want more than others.
MORE: dict[str, list[tuple[str, tuple[Any, ...]]]] = {
    "affine_grid": [("T", ((2, 4, 6, 6),)), ("T", ((2, 4, 3, 5),))],
    "astype": [("x", ("f4",)), ("x", ("i4",)), ("i", ("f8",))],
    "baddbmm": [("BBB", ())],
    "addbmm": [("xBB", ())],
    "batch_norm": [("m", (None, None, None, None, True))],
    "bilinear": [("xyB", ()), ("xyB", (["k"],))],
    "bmm": [("BB", ())],
    "broadcast_to": [("v", ((3, 12),)), ("v", ((4, 12),))],
    "conv3d": [("VU", ())],
    "conv_transpose3d": [("VU", ())],
    "fold": [("c", ((3, 4), 2)), ("c", ((4, 3), 2))],
    "grid_sample": [("mG", ())],
    "index_reduce": [
        ("x", (0, ["k"], ["y"], "prod")),
        ("x", (0, ["k"], ["y"], "amax")),
    ],
    "instance_norm": [("m", ())],
    "layer_norm": [("x", ((12,),)), ("x", ((12, 12),))],
    "masked_scatter": [("xby", ())],
    "max_unpool2d": [("mI", (1,))],
    "narrow": [("x", (0, 0, 2)), ("x", (1, 0, 2)), ("x", (0, 1, 2)), ("x", (0, 0, 3))],
    "renorm": [("x", (2, 0, 1.0)), ("x", (2, 1, 1.0)), ("x", (1, 0, 1.0))],
    "rms_norm": [("x", ((12,),)), ("x", ((12, 12),))],
    "scatter_reduce": [("x", (0, ["i"], ["y"], kind)) for kind in ("sum", "amax")],
}

# Text that some function knows.
WORDS = """area bicubic bilinear C circular clip complete constant edge F floor forward
    full hazen higher ij inverted_cdf K L left linear linear_ramp lower max maximum mean
    median midpoint minimum nearest nearest-exact none ortho r raise raw reduced reflect
    replicate right same sum symmetric tanh trunc U unsafe upper valid weibull wrap
    xy""".split()

# Keywords that say where a result is, or which of its elements are not computed.
NOT_GIVEN = {"where", "out", "device", "device_mesh", "generator", "layout", "like"}
NOT_GIVEN |= {"memory_format", "pin_memory", "placements"}

_other: list[Any] = [0, 1, 2, 3, 0.5, 1.5, True, False, (0, 1), (1, 0), (3, 3), (4, 4)]
_other += ["f4", "sum", "floor", "trunc", "mean", np.float32, np.int64, [0.1, 0.5]]
_other += [np.array([0.1, 0.4, 0.6, 0.9]), np.array([1, 2, 1, 2])]


class Call(NamedTuple):
    """Of arrays by their letters, what comes after them, and a keyword or none."""

    operands: str
    positional: tuple[Any, ...] = ()
    keywords: tuple[tuple[str, Any], ...] = ()

    def arguments(self, arrays: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """What a function gets: copies of the arrays, and the rest as it is."""
        args = [[letter] for letter in self.operands] + [*self.positional]
        given = [np.copy(arrays[a[0]]) if isinstance(a, list) else a for a in args]
        return given, dict(self.keywords)

    def __str__(self) -> str:
        words = [*self.operands, *map(repr, self.positional)]
        return ", ".join(words + [f"{key}={value!r}" for key, value in self.keywords])


def values_for(parameter: inspect.Parameter) -> list[Any]:
    """What a parameter may take, judged by its default."""
    default = parameter.default
    if isinstance(default, bool):
        return [False, True]
    if isinstance(default, int):
        return [0, 1, 2, 3, -1, default + 1, (0, 1)]
    if isinstance(default, float):
        return [default, default + 0.25, default * 2 + 0.1, 0.5]
    if isinstance(default, str):
        return [*WORDS]
    if isinstance(default, tuple | list):
        return [0, 1, 2, (1, 1), (0, 1), (1, 0), (-1, 0)]
    if default is inspect.Parameter.empty:
        return [0, 1, 2, -1, 0.5, (0, 1), (2, 2), "sum", "mean", True, False]
    return _other


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some of NumPy's have none
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        p
        for p in signature.parameters.values()
        if p.kind in kinds and p.name not in NOT_GIVEN
    ]


def tried(
    name: str,
    function: Callable[..., Any],
    works: Callable[[Call], bool],
    most: int,
) -> Iterator[Call]:
    """The calls that work. Keywords are tried with the first `most` of those that have
    none; `works` makes a call and says whether it was taken."""
    parameters = parameters_of(function)
    usual = [(operands, more) for operands in OPERANDS for more in POSITIONAL]
    count = 0
    for operands, positional in MORE.get(name.rstrip("_"), []) + usual:
        call = Call(operands, positional)
        if not works(call):
            continue
        yield call
        count += 1
        if count > most and positional:
            continue
        for p in parameters:
            for value in values_for(p):
                call = Call(operands, positional, ((p.name, value),))
                if works(call):
                    yield call
    if count:
        return
    # It wants a keyword, or two.
    for operands in ("x", "xy", "xyz", "c", "m", "v"):
        wanted = [p for p in parameters if p.default is p.empty][len(operands) :]
        if not 1 <= len(wanted) <= 2:
            continue
        for first in values_for(wanted[0]):
            for second in values_for(wanted[1]) if len(wanted) > 1 else [None]:
                given = zip((p.name for p in wanted), (first, second), strict=False)
                call = Call(operands, (), tuple(given))
                if works(call):
                    yield call
