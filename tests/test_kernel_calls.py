"""What an operator gives its kernel, as the C core takes it."""

import sys
from typing import Any

import numpy as np
import pytest
from meshes import line

from dtensor import Replicate, distribute_tensor
from dtensor._C import Call, Operand, Operator, Rule
from dtensor.testing import run_ranks

A = np.arange(6.0).reshape(2, 3)


def test_a_kernel_that_takes_too_many_lists_is_refused_before_it_is_called() -> None:
    called = []

    def kernel(*lists: list[Any]) -> Any:
        called.append(len(lists))
        return lists[0][0]

    def function(x: Operand, y: Operand, count: int) -> Any:
        lists = [[x, y] for _ in range(count)]
        return Rule("AB,AB->AB"), Call(kernel, *lists), x.dtype

    pairs: Any = Operator(function, "pairs")

    def body() -> None:
        x = distribute_tensor(A, line(), [Replicate()])
        assert np.array_equal(pairs(x, x, 4).full_tensor(), A)
        assert set(called) == {4}
        with pytest.raises(TypeError, match="operator pairs gives its kernel 5 lists"):
            pairs(x, x, 5)
        assert set(called) == {4}

    run_ranks(1, body)


def test_verdicts_name_no_operator_as_no_user_can():
    found = {
        value.__name__
        for name, module in sys.modules.items()
        if name.startswith("dtensor")
        for value in vars(module).values()
        if type(value) is Operator
    }
    assert len(found) > 250
    assert not [name for name in found if name.startswith("_") or name.endswith("_")]
