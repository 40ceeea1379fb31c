"""Calls like the one before: what is kept of it, and where that must not be used."""

import numpy as np
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import Shard, distribute_tensor
from dtensor.debug import cache_info
from dtensor.testing import run_ranks

S0, S1 = Shard(0), Shard(1)
A = np.arange(35.0).reshape(5, 7)


def placed(array, *placements):
    return distribute_tensor(array, line(), placements)


def whole(x):
    return np.asarray(x.full_tensor())


# --- the last call of an operator -----------------------------------------------------


def test_a_call_like_the_last_one_is_told_from_one_that_only_looks_like_it(ranks):
    def body():
        x, cut = placed(A, S0), placed(A, S1)
        for y in (x, x, cut, x):  # layouts
            assert np.array_equal(whole(y + y), A + A)
            assert (y + y).placements == y.placements
        for one in (1, 1.0, True, 1, 1j):  # types of numbers
            assert (x * one).dtype == (A * one).dtype
        rows = slice(1, 3)
        for index in ((rows, 0), (rows, False), (slice(True, 3), 0), (rows, 0)):
            for _ in range(2):  # constants
                assert np.array_equal(whole(x[index]), A[index])
        for axis in (0, 1, None, 0):
            assert np.array_equal(whole(x.sum(axis)), A.sum(axis))
        before = cache_info().operator_hits
        _ = x + x, x + x
        assert cache_info().operator_hits >= before + 2

    ranks(body)


def test_the_last_call_of_an_operator_is_forgotten_with_its_entry():
    def body():
        x, changed, square = placed(A, S0), [], dtensor.ops.square
        _ = dtensor.square(x), dtensor.square(x)
        square.replace_rule(lambda rule, *_: changed.append(rule) or rule)
        try:
            assert np.array_equal(whole(dtensor.square(x)), A * A)
        finally:
            square.replace_rule(None)
        assert changed

    run_ranks(1, body)


def test_a_call_like_the_last_one_is_in_the_dialect_of_its_operands():
    def body():
        x = placed(A, S0)
        y = torch.distributed.tensor.distribute_tensor(
            torch.from_numpy(A.copy()), line(), [S0]
        )
        for operand in (x, y, x, y):
            assert type(operand + operand) is type(operand)

    run_ranks(1, body)
