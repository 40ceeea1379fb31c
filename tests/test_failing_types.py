"""What fails on one rank is raised on all with its own type."""

import numpy as np
import pytest
from meshes import line

from dtensor import Shard, distribute_tensor
from dtensor.experimental import local_map

S0 = Shard(0)
KINDS = [
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    MemoryError,
    AssertionError,
    NotImplementedError,
    RuntimeError,
    RecursionError,
    ZeroDivisionError,
    OverflowError,
    FloatingPointError,
    np.linalg.LinAlgError,
    np.exceptions.AxisError,
    UnicodeError,
    AttributeError,
    NameError,
    ImportError,
    FileNotFoundError,
    PermissionError,
    OSError,
    StopIteration,
    RuntimeWarning,
    UserWarning,
]


def fail_on_the_last_rank(kind):
    x = distribute_tensor(np.arange(12.0), line(), [S0])

    def part(local):
        if x.device_mesh.get_rank() == x.device_mesh.size() - 1:
            raise kind("not here")
        return local

    return local_map(part, [S0], ([S0],))(x).full_tensor()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_type_of_what_one_rank_raises_is_raised_on_all(ranks, kind):
    def body():
        with pytest.raises(kind, match="not here") as raised:
            fail_on_the_last_rank(kind)
        assert type(raised.value) is kind

    ranks(body)


class Overheated(OSError):
    """No other rank need know it."""


class Unknown(Exception):
    """Has no base that all ranks know."""


def test_a_type_of_the_users_is_told_by_its_base(ranks):
    def body():
        with pytest.raises(OSError, match="not here"):
            fail_on_the_last_rank(Overheated)
        with pytest.raises((Unknown, RuntimeError), match="not here"):
            fail_on_the_last_rank(Unknown)

    ranks(body)


def test_what_errstate_calls_may_raise_anything(ranks):
    def body():
        x = distribute_tensor(np.array([1.0, 1, 1, 0, 1, 1]), line(), [S0])
        raised = []
        with np.errstate(all="call", call=lambda *_: 1 // 0):
            for call in (lambda: 1 / x, lambda: x.detach().full_tensor()):
                try:
                    call()
                except ZeroDivisionError as error:
                    raised.append(str(error))
        assert raised
        assert all("by zero" in each for each in raised)

    ranks(body)


def test_a_function_of_piecewise_that_raises_on_one_rank_raises_on_all(ranks):
    def body():
        x = distribute_tensor(np.arange(12.0), line(), [S0])

        def function(part):
            if x.device_mesh.get_rank() == x.device_mesh.size() - 1:
                raise ValueError("not here")
            return part * 2

        with pytest.raises(ValueError, match="not here"):
            np.piecewise(x, [x < 5], [function, 1.0]).full_tensor()
        if x.device_mesh.get_rank() == x.device_mesh.size() - 1 > 0:
            with pytest.raises(ValueError, match="not here"):
                x.full_tensor()  # this rank is told what the others were
        assert x.sum() == 66

    ranks(body)
