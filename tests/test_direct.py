"""Functions and methods of `dtensor.torch` that are operators: what they give is what
the functions of Python give that they stand for, and a common call runs no Python."""

import functools
import math

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
from test_torch_places import operators

import dtensor.torch as torch
from dtensor._core.dtype import CASTS
from dtensor.torch import _methods
from dtensor.torch.distributed.tensor import (
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
)

FUNCTIONS = fronts(vars(torch))
METHODS = fronts(_methods.TABLE)
ONE = [(), (0,), (1,), (-1, True), (5,), ([0, 1],), ([],), ("0",), (None, True)]
TWO = ["b", 2.0, 3, True, "zero", "ints"]
PLACES = [Shard(0), Shard(1), Replicate(), Partial()]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool"]

# Arguments after the first one, by kind of function; words stand for tensors.
CALLS = {
    "add sub subtract div divide true_divide": [(x,) for x in TWO],
    "sigmoid rsqrt square tanh erf erfc sign sgn selu": [()],
    "pow": [(x,) for x in (*TWO, 2, 0.5, -1, -1.0, -2, 0, 1.0, 4, 1j)],
    "clamp clip": [
        *((x, y) for x in ("zero", 1, 0.5, None, True) for y in ("b", 2, 2.5, None)),
        *[(), (1,), (None,), ("zero",), (300, -1), ("ints",), (1, None, None)],
    ],
    "clamp_min": [(x,) for x in TWO],
    "masked_fill": [("mask", x) for x in [*"b zero ints".split(), 2.0, 3, True, 1j]]
    + [("b", 1.0), ("mask", -math.inf)],
    "stack": [(), (0,), (1,), (-1,), (3,), (None,)],
    "squeeze": [(), (0,), (1,), (-1,), (5,), ([0, 1],), (0, 1)],
    "var std": [*ONE, (1, False), (0, True, True), (True,), (None, 2), (-1, 0.5)],
    "split": [(2,), (4, 1), (3, -1), ([1, 5],), ((2, 2), 1), (0,), (9,), ([1, 2],)],
    "chunk": [(2,), (3, 1), (4, -1), (0,), (9,), (1,), (2, 5)],
    "unbind": [(), (1,), (-1,), (5,)],
    " ".join(CASTS): [()],
    "to": [(torch.float64,), (torch.int64,), ("cpu",), ("b",), (torch.bfloat16, True)],
    "clone t": [()],
    "cumsum": [(0,), (1,), (-1,), (5,), (None,)],
    "tril triu": [(), (1,), (-1,), (7,), (None,)],
    "prod": [(), (0,), (1,), (-1, True), (5,), ([0, 1],), (None, True)],
    "sum mean amax amin all any argmax argmin": ONE,
    "max min": [*ONE, ("b",), ("zero",)],
    "softmax log_softmax": [(0,), (1,), (-1,), (2,), (None,)],
    "where": [("mask", x) for x in TWO] + [("b", "b"), ("mask",)],
    "cat concat concatenate": [(), (0,), (1,), (-1,), (2,)],
    "flatten": [(), (0, 1), (1,), (1, 0)],
    "view": [(-1,), (3, 8), ((8, 3),), (torch.int16,), (7,), ()],
    "permute": [(1, 0), ((1, 0),), (0, 0), (), (1,)],
    "addcmul addcdiv": [("b", "b"), ("zero", "b")],
    "cummax cummin cumprod": [(0,), (1,), (-1,), (5,)],
    "argwhere nonzero": [()],
    "flip": [((0,),), ([0, 1],), (1,), (5,)],
    "roll": [(1,), (-2, 1), ((1, 2), (0, 1)), (1, 5)],
    "sort": [(), (0,), (1, True), (5,)],
    "topk": [(2,), (3, 0), (2, 1, False), (99,), (0,)],
    "kthvalue": [(1,), (3, 0), (99,), (2, 1, True)],
    "median mode": [(), (0,), (1, True), (5,)],
    "norm": [(), (1,), (2, 0), ("fro", 1, True), (math.inf,)],
    "std_mean var_mean": ONE,
    "gather": [(0, "ints"), (1, "rows"), (5, "ints"), (0, "b")],
    "take": [("ints",)],
    "take_along_dim": [("ints", 0), ("rows", 1), ("ints",)],
    "unfold": [(0, 2, 1), (1, 2, 2), (5, 1, 1)],
}
CALLS = by_name(CALLS)
IN_TURN = "max min sort kthvalue median mode".split()  # functions of two operators


def tensors(dtype, place):
    """The tensors that the words stand for, and the first argument."""
    rng = np.random.default_rng(3)

    def spread(array, place=place):
        array = torch.tensor(array)
        return array if place is None else distribute_tensor(array, line(), [place])

    values = rng.integers(0, 4, (2, 6, 4))
    a, b = (spread(x.astype(float)).to(getattr(torch, dtype)) for x in values)
    whole = None if place is None else Replicate()
    return a, {
        "b": b,
        "zero": spread(np.float64(1.5), whole),
        "ints": spread(values[1]),
        "rows": spread(values[1] % 4),
        "mask": spread(values[0] < values[1], whole and PLACES[2]),
    }


def given(name, row, first, words, method):
    """The arguments of a call."""
    row = [words.get(x, x) if isinstance(x, str) else x for x in row]
    if name in ("cat", "concat", "concatenate", "stack"):
        return [[first, words["b"]], *row]
    if name == "where" and not method:
        return [row[0], first, *row[1:]]
    return [first, *row]


def test_each_name_is_tried():
    elsewhere = {*operators(), "equal"}  # most of these are operators for Tensors alone
    assert (set(FUNCTIONS) | set(METHODS)) - elsewhere == set(CALLS) - elsewhere


@pytest.mark.filterwarnings("ignore")
@in_turn
@pytest.mark.parametrize("name", CALLS)
def test_an_operator_gives_what_its_function_gives(name, turn, ranks):

    def body():
        wrong = []
        for place, dtype in pairs(turn, (None, *PLACES), DTYPES):
            first, words = tensors(dtype, place)
            # Addends are summed by what is cheapest for one operator, or for two.
            layouts = place != Partial() or name not in IN_TURN
            for table in (FUNCTIONS, METHODS):
                if name not in table:
                    continue
                for row in CALLS[name]:
                    args = given(name, row, first, words, table is METHODS)
                    found = outcome(table[name], args, layouts)
                    expected = outcome(table[name].otherwise, args, layouts)
                    if not same(found, expected):
                        wrong.append((place, dtype, row, found, expected))
        assert wrong == []

    with np.errstate(all="ignore"):
        ranks(body)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_those_of_the_function(name, ranks):
    def made(row, place, method):
        first, words = tensors("float64", place)
        x = first.detach().requires_grad_()
        b = words["b"] = words["b"].detach().requires_grad_()
        return given(name, row, x, words, method), x, [b]

    def body():
        for place in PLACES[:3]:
            for table in (FUNCTIONS, METHODS):
                for row in CALLS[name] if name in table else ():
                    args = row, place, table is METHODS
                    check_gradients(table[name], functools.partial(made, *args))

    with np.errstate(all="ignore"):
        ranks(body)


def test_arguments_by_name_go_to_their_places():
    x = torch.arange(6.0).reshape(2, 3)
    assert x.sum(dim=1).tolist() == torch.sum(dim=1, input=x).tolist() == [3, 12]
    assert torch.sum(x, keepdim=True).shape == x.sum(axis=0, keepdims=True)[:, :1].shape
    assert torch.max(dim=1, keepdim=True, input=x).indices.tolist() == [[2], [2]]
    assert torch.add(x, x, alpha=2).tolist() == (3 * x).tolist()
    assert torch.where(x > 2, other=x, input=-x).tolist()[1] == [-3, -4, -5]
    assert torch.sum(x, dtype=torch.int64).dtype == torch.int64
    out = torch.empty(0)
    assert torch.sum(x, 1, out=out) is out and out.tolist() == [3, 12]
    for wrong in ({"dims": 1}, {"input": x}, {"dim": 0, "axis": 0}):
        with pytest.raises(TypeError):
            torch.sum(x, **wrong)
    with pytest.raises(TypeError, match="add.. missing 1 required"):
        torch.add(x)


COMMON = """
    a + b; a.add(b); torch.add(a, b); torch.sub(a, b); a / b; a.div(2.0); a.sum()
    a.sum(1); a.sum(dim=1, keepdim=True); a.mean(); torch.mean(a, 0); a.max(); a.max(1)
    torch.max(a, dim=1); torch.min(a, b); a.argmax(1); a.softmax(1); a.amax((0, 1))
    torch.softmax(a, dim=-1); torch.where(m, a, 0.0); a.where(m, b)
    torch.cat([a, b], 1); a.view(-1); a.permute(1, 0); a.transpose(0, 1); a.flatten()
    a.reshape(8, 3); a[1:]; a ** 2; a.pow(2); a.pow(0.5); torch.pow(a, b); i ** 2
    2 ** a
    a.clamp(0, 1); a.clamp(min=0.5); torch.clamp(a, max=b); a.masked_fill(m, -1.0)
    torch.stack([a, b]); torch.stack((a, b), dim=1); a.squeeze(1); a.unsqueeze(0)
    torch.tanh(a); a.tanh(); torch.erf(a); a.sign(); a.prod(1); torch.prod(a)
    a.var(1); torch.std(a, dim=-1, unbiased=False); a.var(-1, keepdim=True)
    a.split(2, dim=1); torch.split(a, [1, 3], 1); a.chunk(2, -1)
    torch.chunk(a, 2, dim=1)
    a.unbind(1); a.float(); a.half(); m.float(); a.clone(); a.t()
    a.cumsum(1); torch.cumsum(a, dim=-1)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("text", [text.strip() for text in COMMON if text.strip()])
@pytest.mark.parametrize("place", [None, Shard(0)])
def test_a_common_call_runs_no_python(text, place):
    a, words = tensors("float32", place)
    names = {"a": a, "b": words["b"], "m": words["mask"], "torch": torch}
    names["i"] = words["ints"]
    assert frames(text, names) == []


@pytest.mark.parametrize("place", [None, Shard(0)])
def test_what_needs_no_cast_is_the_tensor_itself(place):
    x = tensors("float32", place)[0].requires_grad_()
    for _ in range(3):
        assert x.float() is x and x.to(torch.float32) is x and x.double() is not x
        assert x[0].t().shape == (4,) and x.t().shape == (4, 6)


def test_a_rule_of_the_users_holds_for_both_dialects(ranks):
    seen = []

    def rows(x, dim, half_to_float):
        seen.append(dim)
        return [([Shard(0)], [Shard(0), None, None])]

    def body():
        seen.clear()
        x = distribute_tensor(torch.ones(6, 4), line(), [Shard(0)])
        plain = torch.softmax(x, 1)
        softmax = torch.ops.aten._softmax.default
        torch.ops.register_sharding(softmax)(rows)
        try:
            found = torch.softmax(x, 1)
            assert found.tolist() == plain.tolist() and seen
        finally:
            softmax.operator.replace_rule(None)
        with pytest.raises(TypeError, match="is not an operator"):
            torch.ops.register_sharding(torch.softmax)(rows)

    ranks(body)
