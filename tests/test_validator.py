"""The validator notices what is wrong, and finds what is right."""

import numpy as np
import oracle
import pytest
import samples_ufunc
from cases import DTYPES
from missing_rows import rights
from moves import grid
from mutants import mutants
from rows import Sample, arrays_of
from samples import FAMILIES, SAMPLES
from validator import check
from ways import addends, every_row, number_of_rows, rows_of

from dtensor import _C, DTensor, Partial, Shard


def on_parts(fn):
    """An operator that calls a function on each part, and believes that to be right."""
    return lambda x: DTensor(
        fn(np.asarray(x.to_local())), x.layout, requires_grad=False
    )


WRONG = [
    (np.abs, "d5,7", [Partial("sum")]),
    (np.abs, "d5,7", [Partial("avg")]),
    (np.abs, "d5,7", [Partial("max")]),
    (np.negative, "d5,7", [Partial("max")]),
    (lambda x: np.sort(x, axis=0), "d5,7", [Shard(0)]),
    (lambda x: np.cumsum(x, axis=1), "d5,7", [Shard(1)]),
    (lambda x: np.flip(x, 0), "d5,7", [Shard(0)]),
    (lambda x: x + 1, "d5,7", [Partial("sum")]),
    (lambda x: x + 1, "l5,6", [Partial("sum")]),
    (lambda x: x + np.inf, "d5,7", [Partial("max")]),
    (lambda x: x - np.inf, "f5,7", [Partial("min")]),
    (lambda x: x * 0 + x.shape[0], "d5,7", [Shard(0)]),
    (lambda x: np.exp(np.negative(x)), "d5,7", [Partial("min")]),
]


@pytest.mark.parametrize("fn, words, places", WRONG)
def test_an_operator_that_is_wrong_is_noticed(fn, words, places):
    sample = Sample("wrong", on_parts(fn), words, reference=fn)
    rows = [
        r for r in every_row(sample, grid(3)) if [*r.layouts[0].placements] == places
    ]
    assert rows and all(verdict.why for verdict in check(rows))


def test_an_operator_that_is_right_is_found_to_be_so():
    sample = Sample("right", on_parts(np.negative), "d5,7", reference=np.negative)
    right = {
        str(v.row.layouts[0].placements[0])
        for v in check([*every_row(sample, grid(3))])
        if not v.why
    }
    assert right == {"R", "S(0)", "S(1)", "P(sum)", "P(avg)"}


def test_a_failure_of_one_row_does_not_spoil_the_next():
    def moody(x):
        if x.layout.placements[0].is_shard(0) and x.device_mesh.get_rank() == 1:
            raise KeyError("only here")
        return x.redistribute(placements=[Shard(1)])

    sample = Sample("moody", moody, "d5,7", reference=np.copy)
    verdicts = check([*every_row(sample, grid(2))])
    wrong = [str(v.row.layouts[0].placements[0]) for v in verdicts if v.why]
    assert wrong == ["S(0)"]


def test_an_operand_that_is_written_into_is_noticed():
    def rude(x):
        np.asarray(x.to_local())[...] += 1
        return x

    sample = Sample("rude", rude, "d5,7", reference=lambda x: x + 1)
    (verdict,) = check(rows_of(sample, grid(1), 1, 0, 0))
    assert "written into" in verdict.why


@pytest.mark.parametrize("ulps, right", [(0, True), (1, True), (2, False), (-1, False)])
def test_another_answer_of_numpy_is_right_and_no_third_one(ulps, right):
    def off(x, ulps):
        return 2 * x + ulps * np.spacing(2 * x)

    fn = on_parts(lambda x: off(x, ulps))
    either = {"reference": lambda x: off(x, 0), "also": lambda x: off(x, 1)}
    sample = Sample("either", fn, "f5,7:pos", **either)
    rows = [r for r in every_row(sample, grid(3)) if not r.layouts[0].is_partial]
    assert all((not verdict.why) == right for verdict in check(rows))


def test_the_other_answer_for_a_power_is_that_for_equal_exponents():
    x = np.linspace(0.1, 4, 500, dtype="f4")
    power = samples_ufunc.ALSO["power"]
    for y in np.array([2, 0.5, -1, 3], "f4"):
        mixed = power(np.append(x, x), np.append(np.full(500, y), x))
        assert oracle.same_bits(mixed[:500], np.power(x, y))


# --- placements -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", oracle.REDUCE)
def test_addends_make_the_array_exactly(op, dtype):
    rng = np.random.default_rng(3)
    array = oracle.sample((5, 4), dtype, rng)
    for n in (1, 2, 3, 4):
        if not oracle.reduces(op, dtype):
            continue
        parts = addends(array, op, n, rng)
        got = oracle.REDUCE[op].reduce(np.stack(parts), axis=0, dtype=array.dtype)
        if op == "avg":
            got = (got / np.asarray(n, dtype)).astype(dtype)
        assert got.dtype == dtype and oracle.same(got, array), f"{n} parts"


def test_all_rows_are_tried_where_there_are_few():
    sample = Sample("add", np.add, "d5,7 d7")
    assert number_of_rows(sample, grid(2)) == 7 * 6
    assert len(set(rows_of(sample, grid(2), 42, 0, 0))) == 42
    assert number_of_rows(sample, grid(2, 2)) == 49 * 36
    assert len(rows_of(sample, grid(2, 2), 42, 5, 0)) <= 47


# --- samples --------------------------------------------------------------------------


def test_every_ufunc_of_numpy_has_samples():
    sampled = {sample.name for sample in FAMILIES["ufunc"]}
    assert not [f for f in samples_ufunc.UFUNCS if f.__name__ not in sampled]


def test_a_sample_gives_the_same_arrays_at_each_call():
    for sample in SAMPLES[::17]:
        for a, b in zip(arrays_of(sample), arrays_of(sample), strict=True):
            assert oracle.same_bits(a, b)


@pytest.mark.filterwarnings("ignore")
def test_numpy_refuses_few_samples():
    some = SAMPLES[::5]
    refused = [s for s in some if isinstance(s.expected(arrays_of(s)), Exception)]
    assert len(refused) < len(some) / 5


# --- rows that are right --------------------------------------------------------------

ADD = """S(0) S(0) -> S(0)  S(1) S(1) -> S(1)  P(sum) P(sum) -> P(sum)
P(avg) P(avg) -> P(avg)  P(avg) R -> P(avg)  R P(avg) -> P(avg)"""
MULTIPLY = """S(0) S(0) -> S(0)  S(1) S(1) -> S(1)  P(sum) R -> P(sum)
R P(sum) -> P(sum)  P(avg) R -> P(avg)  R P(avg) -> P(avg)"""
MAXIMUM = """S(0) S(0) -> S(0)  S(1) S(1) -> S(1)  P(max) P(max) -> P(max)
P(max) R -> P(max)  R P(max) -> P(max)  P(min) R -> P(min)  R P(min) -> P(min)"""
MATMUL = """S(0) R -> S(0)  R S(1) -> S(1)  S(1) S(0) -> P(sum)  P(sum) R -> P(sum)
R P(sum) -> P(sum)  P(avg) R -> P(avg)  R P(avg) -> P(avg)"""


@pytest.mark.parametrize(
    "fn, words, truth",
    [
        (np.add, "d5,7 d5,7", ADD),
        (np.multiply, "d5,7 d5,7", MULTIPLY),
        (np.maximum, "d5,7 d5,7", MAXIMUM),
        (np.matmul, "d5,7 d7,6", MATMUL),
        (np.exp, "d5,7", "S(0) -> S(0) S(1) -> S(1) P(max) -> P(max) P(min) -> P(min)"),
    ],
)
@np.errstate(all="ignore")
def test_exactly_the_rows_that_are_right_are_found(fn, words, truth):
    found = rights(Sample(fn.__name__, fn, words))
    told = {" ".join(map(str, (*a, "->", *b))) for a, b in found.items()}
    rows, words = set(), truth.split()
    size = words.index("->") + 2
    for k in range(0, len(words), size):
        rows.add(" ".join(words[k : k + size]))
    assert told == rows


# --- mutants --------------------------------------------------------------------------


def test_a_rule_is_changed_in_every_way():
    told = {mutant.changed for mutant in mutants(("mk,kn->mn", "each", "sum"))}
    for text in ("m*,kn->mn", "mz,kn->mn", "km,kn->mn", "mk,kn->nm", "mk,kn->7n"):
        assert (text, "each", "sum") in told
    assert ("mK,Kn->mn", "each", "sum") in told
    assert ("mk,kn->mn", "all", "sum") in told and ("mk,kn->mn", None, "sum") in told
    assert ("mk,kn->mn", "each", "max") in told
    freed = [m.changed[0] for m in mutants(("aB->aB", "any", "sum"))]
    assert "az->az" in freed
    for text, partial, reduce in told:
        _C.Rule(text, partial, reduce)
