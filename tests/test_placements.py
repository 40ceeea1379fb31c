"""Placements: values that are compared, hashed, printed and copied."""

import copy
import itertools
import pickle

import pytest
from oracle import KINDS, REDUCE, chunk

from dtensor import _C, Partial, Placement, Replicate, Shard
from dtensor.placement_types import _StridedShard

# All that differ, each made anew by calling it.
MAKERS = [
    *(lambda d=d: Shard(d) for d in (-9, -1, 0, 1, 7, 8, 100)),
    Replicate,
    *(lambda op=op: Partial(op) for op in REDUCE),
    *(
        lambda d=d, n=n: _StridedShard(d, split_factor=n)
        for d, n in itertools.product((0, 1), (1, 2, 2**40))
    ),
]


def test_every_reduction_is_compared_with_numpy():
    """The tests' own table has all that the library has, and names the same dtypes."""
    rows = {row.name: row for row in _C.REDUCE_OPS}
    assert list(rows) == list(REDUCE)
    for name, row in rows.items():
        assert row.ufunc in (REDUCE[name].__name__, None)
        assert set(row.kinds) == set(KINDS[name]) - {"V"}
        assert Partial(row.torch) == Partial(name)


def test_placements_are_equal_exactly_if_they_are_made_alike():
    for (i, a), (j, b) in itertools.product(enumerate(MAKERS), repeat=2):
        assert (a() == b()) is (i == j)
        assert (a() != b()) is (i != j)
    assert len({make() for make in MAKERS} | {make() for make in MAKERS}) == len(MAKERS)
    assert Shard(0) != 0


@pytest.mark.parametrize("make", MAKERS)
def test_a_copy_is_equal_and_of_the_same_type(make):
    placement = make()
    copies = [copy.copy(placement), copy.deepcopy(placement)]
    copies += [pickle.loads(pickle.dumps(placement, n)) for n in (2, 4, 5)]
    for other in copies:
        assert other == placement
        assert hash(other) == hash(placement)
        assert type(other) is type(placement)


def test_repr_and_str_are_those_of_torch():
    printed = {
        Shard(0): ("Shard(dim=0)", "S(0)"),
        Shard(dim=-1): ("Shard(dim=-1)", "S(-1)"),
        Replicate(): ("Replicate()", "R"),
        Partial(): ("Partial(sum)", "P(sum)"),
        Partial(reduce_op="max"): ("Partial(max)", "P(max)"),
        _StridedShard(1, split_factor=2): ("_StridedShard(dim=1, sf=2)", "_S(1, 2)"),
    }
    assert {p: (repr(p), str(p)) for p in printed} == printed


def test_a_placement_says_what_it_is():
    assert Shard(1).is_shard() and Shard(1).is_shard(dim=1) and Shard(1).is_shard(None)
    assert not Shard(1).is_shard(0)
    assert Replicate().is_replicate()
    assert Partial("max").is_partial() and Partial("max").is_partial("max")
    assert not Partial("max").is_partial(reduce_op="sum")
    for make in MAKERS:
        asked = [make().is_shard(), make().is_replicate(), make().is_partial()]
        assert sum(asked) == (not isinstance(make(), _StridedShard))
        assert isinstance(make(), Placement)
    assert not issubclass(_StridedShard, Shard)


def test_a_placement_cuts_or_is_whole_or_pending():
    for placement in (make() for make in MAKERS):
        cuts = placement._cut_dim is not None
        assert [cuts, placement._is_whole, placement._is_pending].count(True) == 1
        assert placement._is_whole is placement.is_replicate()
        assert placement._is_pending is placement.is_partial()
        assert placement._pending_op == getattr(placement, "reduce_op", None)


def test_attributes_are_what_it_was_made_of_and_cannot_be_set():
    strided = _StridedShard(3, split_factor=2)
    assert (Shard(-2).dim, strided.dim, strided.split_factor) == (-2, 3, 2)
    assert [Partial(op).reduce_op for op in REDUCE] == list(REDUCE)
    for placement, name in [
        (Shard(0), "dim"),
        (strided, "split_factor"),
        (Partial(), "reduce_op"),
        (Replicate(), "anything"),
    ]:
        with pytest.raises(AttributeError):
            setattr(placement, name, 1)
        with pytest.raises(AttributeError):
            delattr(placement, name)


def test_a_match_statement_takes_them_apart():
    def word(placement):
        match placement:
            case Shard(dim):
                return f"shard {dim}"
            case _StridedShard(dim, split):
                return f"strided {dim} {split}"
            case Partial(op):
                return op
            case Replicate():
                return "whole"

    placements = [
        Shard(2),
        _StridedShard(1, split_factor=4),
        Partial("avg"),
        Replicate(),
    ]
    assert [*map(word, placements)] == ["shard 2", "strided 1 4", "avg", "whole"]


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: Partial("mean"), ValueError, "'mean'.*'sum', 'avg'"),
        (lambda: Partial(None), TypeError, "None"),
        (lambda: Shard(), TypeError, "dim"),
        (lambda: Shard(0.5), TypeError, "float"),
        (lambda: Shard(0, 1), TypeError, "2"),
        (lambda: Shard(2**31), OverflowError, "does not fit in a C int"),
        (lambda: Replicate(0), TypeError, "1"),
        (lambda: _StridedShard(0), TypeError, "split_factor"),
        (lambda: _StridedShard(0, 2), TypeError, "positional"),
        (lambda: _StridedShard(0, split_factor=0), ValueError, "not 0"),
    ],
)
def test_wrong_arguments_are_named(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_a_subclass_is_a_kind_of_its_own():
    class Masked(Partial):
        def __new__(cls, mask):
            self = super().__new__(cls, "sum")
            self.mask = mask
            return self

    class Odd(Placement):
        def __init__(self, how):
            self.how = how

    assert Masked(3).is_partial("sum") and Masked(3).mask == 3
    assert Masked(3) != Partial("sum")
    assert not (Odd(1).is_shard() or Odd(1).is_replicate() or Odd(1).is_partial())
    assert Odd(1) != Odd(1)
    odd = Odd(2)
    assert odd == odd and hash(odd) == hash(odd) and repr(odd) == "Odd()"


def test_local_shard_size_and_offset_is_torch_chunk():
    for length, count in itertools.product(range(12), range(1, 7)):
        for rank, part in enumerate(chunk(range(length), count)):
            offset = part[0] if part else length
            got = Shard.local_shard_size_and_offset(length, count, rank)
            assert got == (len(part), offset)
    for wrong in [(-1, 2, 0), (3, 2, 2), (3, 2, -1), (3, 0, 0)]:
        with pytest.raises(ValueError):
            Shard.local_shard_size_and_offset(*wrong)
