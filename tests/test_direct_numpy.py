"""Functions and methods of NumPy's dialect that have an operator in front of them: what
it gives is what they give, and a common call runs no Python."""

import functools

import numpy as np
import pytest
from directly import (
    by_name,
    check_gradients,
    frames,
    fronts,
    in_turn,
    outcome,
    pairs,
    same,
)
from meshes import line

import dtensor
from dtensor import Partial, Replicate, Shard, distribute_tensor
from dtensor.ops._make.operator import METHODS

FUNCTIONS = fronts(vars(dtensor))
METHODS = fronts(METHODS)
ONE = [(), (0,), (1,), (-1,), (2,), ((0, 1),), ((),), ("0",), (None,), (True,)]
TWO = [(x,) for x in ("b", 2.0, 3, True, "zero", "ints", "array", "low", [1, 2, 3, 0])]
PLACES = [
    None,
    Shard(0),
    Shard(1),
    Replicate(),
    Partial(),
    Partial("avg"),
    Partial("max"),
]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int8", "uint8", "bool"]
DTYPES += ["complex64"]

# Arguments after the first one, by kind of function; words stand for tensors.
CALLS = by_name(
    {
        "mean": [
            *ONE,
            (0, "float64"),
            (1, np.int64),
            (0, None, None, True),
            (1, "float16"),
        ],
        "var std": [
            *ONE,
            (0, None, None, 1),
            (1, None, None, 0.5, True),
            (0, None, None, 9),
        ],
        "split": [(2,), (4, 1), (3, -1), ([1, 5],), ((2, 2), 1), (0,), (9,), ([1, 2],)],
        "chunk": [(2,), (3, 1), (4, -1), (0,), (9,), (1,), (2, 5)],
        "unbind": [(), (1,), (-1,), (5,)],
        "cumsum cumprod": [
            (),
            (0,),
            (1,),
            (-1,),
            (5,),
            (None,),
            (0, "float64"),
            (True,),
        ],
        "argmax argmin": [*ONE, (0, None, True)],
        "add sub div": TWO,
        "masked_fill": [("mask", x) for x in ("b", 2.0, 3, True, "zero", 1j)],
        "clip clamp": [
            *((x, y) for x in ("low", 1, 0.5, None, True) for y in ("b", 2, 2.5, None)),
            *[
                (),
                (1,),
                (None,),
                ("zero",),
                (1, None, None),
                (300, -1),
                ([1, 2, 3, 0],),
            ],
        ],
        "power pow": [*TWO, *((n,) for n in (2, 0.5, -1, -1.0, -2, 0, 1.0, 2.0, 1j))],
    }
)


def tensors(dtype, place, shape=(6, 4)):
    """The first argument, and the tensors that words stand for."""
    rng = np.random.default_rng(3)

    def spread(array, place=place):
        if place is None:
            return dtensor.as_tensor(array)
        return distribute_tensor(array, line(), [place])

    whole = None if place is None else Replicate()
    values = rng.integers(0, 4, (2, *shape))
    a, b = (spread(x.astype("f8")).astype(dtype) for x in values)
    words = {
        "b": b,
        "low": spread(values[1, 0].astype("f8"), whole),
        "zero": spread(np.float64(1.5), whole),
        "ints": spread(values[1], whole),
        "array": values[1],
        "mask": spread(values[0] < values[1], whole),
    }
    return a, words


def given(row, first, words):
    """The arguments of a call."""
    return [first, *(words.get(x, x) if isinstance(x, str) else x for x in row)]


def test_each_name_is_tried():
    assert set(FUNCTIONS) | set(METHODS) == set(CALLS)


@pytest.mark.filterwarnings("ignore")
@in_turn
@pytest.mark.parametrize("name", CALLS)
def test_an_operator_gives_what_its_function_gives(name, turn, ranks):
    tables = [table for table in (FUNCTIONS, METHODS) if name in table]

    def body():
        wrong = []
        for place, dtype in pairs(turn, PLACES, DTYPES):
            first, words = tensors(dtype, place)
            for call in {id(t[name]): t[name] for t in tables}.values():
                for row in CALLS[name]:
                    args = given(row, first, words)
                    found = outcome(call, args)
                    expected = outcome(call.otherwise, args)
                    if not same(found, expected):
                        wrong.append((place, dtype, row, found, expected))
        assert wrong == []

    with np.errstate(all="ignore"):
        ranks(body)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_those_of_the_function(name, ranks):
    def made(row, place):
        first, words = tensors("float64", place)
        x = first.detach().requires_grad_()
        b = words["b"] = words["b"].detach().requires_grad_()
        return given(row, x, words), x, [b]

    def body():
        for place in PLACES[1:4]:
            for table in (FUNCTIONS, METHODS):
                for row in CALLS[name] if name in table else ():
                    check_gradients(table[name], functools.partial(made, row, place))

    with np.errstate(all="ignore"):
        ranks(body)


def test_arguments_by_name_go_to_their_places(ranks):
    def body():
        array = np.arange(6.0).reshape(2, 3)
        x = distribute_tensor(array, line(), [Shard(0)])
        rows = [1.0, 4.0]
        assert x.mean(axis=1).tolist() == x.mean(dim=1).tolist() == rows
        assert np.mean(a=x, axis=1).tolist() == dtensor.mean(x, dim=1).tolist() == rows
        assert x.mean(dim=1, keepdim=True).shape == (2, 1)
        assert np.mean(x, axis=1, keepdims=True).shape == (2, 1)
        assert np.mean(x, where=array > 0, axis=0).tolist() == [3.0, 2.5, 3.5]
        out = distribute_tensor(np.empty(2), line(), [Shard(0)])
        calls = (
            lambda: np.mean(x, 1, out=out),
            lambda: x.mean(1, None, out),
            lambda: x.mean(dim=1, out=out),
        )
        for call in calls:
            out.fill(0)
            assert call() is out and out.tolist() == rows
        for wrong in ({"axes": 1}, {"a": x}):
            with pytest.raises(TypeError):
                dtensor.mean(x, **wrong)

    ranks(body)


COMMON = """
    np.mean(a); a.mean(); a.mean(1); a.mean(axis=1, keepdims=True); a.mean(dim=-1)
    i.mean(0); np.argmax(a, 1); a.argmax(axis=1); a.argmin(-1); a ** 2; a ** 0.5
    a ** -1; a.var(1); np.std(a, axis=1); np.var(a, 1, ddof=1, keepdims=True)
    a.split(2, 1); a.chunk(2, 1); a.unbind(1); a.cumsum(1); np.cumsum(a, axis=1)
    a ** 3; 2.0 ** a; a ** b; i ** 2; a.pow(2); np.power(a, 2); np.power(b, i); a.add(b)
    np.clip(a, 0, 1); a.clip(0.5); a.clip(max=2); a.clamp(0, b); i.clip(1, 2); a.div(2)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("text", [text.strip() for text in COMMON if text.strip()])
@pytest.mark.parametrize("place", [None, Shard(0)])
def test_a_common_call_runs_no_python(text, place):
    a, words = tensors("float32", place)
    names = {"a": a, "b": words["b"], "i": words["ints"], "np": np, "dtensor": dtensor}
    assert frames(text, names) == []
