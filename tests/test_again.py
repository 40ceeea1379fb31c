"""Calls like the one before: what is kept of it, and where that must not be used."""

import numpy as np
import pytest
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.debug import cache_info
from dtensor.ops._make.operator import Operand, Part, Rule, call, operator
from dtensor.testing import run_ranks

R, S0, S1 = Replicate(), Shard(0), Shard(1)
A = np.arange(35.0).reshape(5, 7)


def placed(array, *placements):
    return distribute_tensor(array, line(), placements or [R])


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


# --- what an operator's function has answered -----------------------------------------


def asked(function):
    """Return an operator and the list of calls of its function."""
    calls = []

    def told(x: Operand, constant=None):
        calls.append(constant)
        return Rule("...->..."), function(x)

    return operator(told), calls


SHAPES = [(3, 4), (5, 7), (4, 3), (1, 1), (2, 5)]


def test_a_function_that_looks_at_no_length_is_asked_once():
    def body():
        negated, calls = asked(lambda x: call(np.negative, x))
        for shape in SHAPES:
            for placement in (R, S0, S1):
                x = np.random.default_rng(0).standard_normal(shape)
                assert np.array_equal(whole(negated(placed(x, placement))), -x)
        assert len(calls) == 1
        for more, x in enumerate(
            [A.astype(np.float32), A[0], A[:0], A[:, :0], A.astype(int)], 2
        ):
            assert np.array_equal(whole(negated(placed(x, R))), -x)
            assert len(calls) == more
        for constant in (1, True, 1.0, "one", (1, 2), float, int, (1, 2)):
            negated(placed(A, S0), constant)
        constants = [1, True, 1.0, "one", (1, 2), float, int]
        assert [*map(repr, calls[6:])] == [*map(repr, constants)]

    run_ranks(1, body)


def looks_at_length(x):
    return call(np.multiply, x, x.shape[0])


def looks_at_size(x):
    return call(np.multiply, x, x.size)


def looks_at_layout(x):
    return call(np.multiply, x, x.layout.shape[0])


def times(array, factor):
    return array * (1 if isinstance(factor, Part) else factor)  # it is asked for dtypes


def looks_later(x):
    return call(times, x, Part(lambda *_: x.shape[0]))


def keeps_it(x):
    return call(lambda array: array * x.shape[0], x)


def keeps_it_in_a_list(x):
    both = [x, 1]
    return call(lambda pair: pair[0] * both[0].shape[0], both)


def test_a_function_that_could_look_at_lengths_is_asked_again():
    def body():
        functions = [looks_at_length, looks_at_size, looks_at_layout, looks_later]
        for function in [*functions, keeps_it, keeps_it_in_a_list]:
            scaled, calls = asked(function)
            for shape in SHAPES:
                x = np.ones(shape)
                factor = x.size if function is looks_at_size else shape[0]
                assert np.array_equal(whole(scaled(placed(x, R))), x * factor)
            assert len(calls) == len(SHAPES)

    run_ranks(1, body)


def test_lengths_of_arrays_and_numbers_are_part_of_what_is_known():
    def body():
        added, calls = asked(lambda x: call(np.negative, x))
        for shape in ((3, 4), (5, 7)):
            added(placed(np.ones(shape)))
        assert len(calls) == 1

        def function(x: Operand, y: Operand):
            calls.append(y.shape)
            return Rule("...,...->..."), call(np.add, x, y), x.dtype

        added = operator(function, operands=2)
        for rows in (2, 3, 4):
            x = placed(np.ones((rows, 5)))
            assert np.array_equal(whole(added(x, 2)), np.full((rows, 5), 3.0))
            for y in (np.arange(5.0), np.ones((1, 5)), np.arange(5.0) * 2):
                assert np.array_equal(whole(added(x, y)), np.ones((rows, 5)) + y)
        assert calls[1:] == [(), (5,), (1, 5)]

    run_ranks(1, body)


def test_a_rule_that_is_replaced_is_asked_of_each_layout():
    def body():
        negated, calls = asked(lambda x: call(np.negative, x))
        negated(placed(A, R))
        negated.replace_rule(lambda rule, *_: rule)
        for shape in SHAPES:
            negated(placed(np.ones(shape), R))
        assert len(calls) == 1 + len(SHAPES)

    run_ranks(1, body)


def test_kept_answers_fit_all_lengths(ranks):
    """Elementwise, with broadcasting and numbers; reductions, also of nothing."""

    def body():
        rng = np.random.default_rng(0)
        for rows in (5, 2, 0, 1, 7):
            for columns in (3, 1, 0, 6):
                x, y = rng.standard_normal((2, rows, columns))
                for place in (R, S0, S1):
                    a, b = placed(x, place), placed(y, place)
                    assert np.array_equal(whole(a + b), x + y)
                    assert np.array_equal(whole(a * 2), x * 2)
                    assert np.array_equal(whole(a < placed(y[:1])), x < y[:1])
                    for axis in (0, 1, None):
                        assert np.allclose(whole(a.sum(axis)), x.sum(axis))
                        check_maximum(a, x, axis)

    ranks(body)


def check_maximum(a, x, axis):
    try:
        expected = x.max(axis)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            a.max(axis)
    else:
        assert np.array_equal(whole(a.max(axis)), expected)


def test_numbers_that_do_not_fit_are_refused_each_time():
    def body():
        for rows in (3, 4, 5):
            x = placed(np.ones((rows, 2), np.int8), R)
            assert (x + 100).dtype == np.int8
            with pytest.raises(OverflowError):
                x + 1000

    run_ranks(1, body)
