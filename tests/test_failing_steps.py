"""What fails on one rank, between the steps of a function, fails on all ranks."""

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import Shard, distribute_tensor

S0 = Shard(0)


def placed(array):
    return distribute_tensor(np.asarray(array), line(), [S0])


def whole(x):
    return np.asarray(x.full_tensor())


def written(x):
    x[:] = placed(np.full(6, 1e300)) / x


STEPS = {
    "accumulate": np.divide.accumulate,
    "reduce": np.divide.reduce,
    "at": lambda x: np.divide.at(placed(np.ones(6)), placed(np.arange(6)), x),
    "at, whole": lambda x: np.divide.at(placed(np.ones(6)), np.arange(6), whole(x)),
    "gradient": lambda x: np.gradient(1 / x),
    "apply": lambda x: np.apply_along_axis(lambda v: 1 / v, 1, x[:, None]),
    "piecewise": lambda x: np.piecewise(x, [x > -1], [lambda v: 1 / v]),
    "setitem": written,
}


# Ranks agree on whether the user's function has failed before they go on.
AGREED = ["apply"]


@pytest.mark.parametrize("name", STEPS)
def test_the_failing_rank_is_named_on_all_others(ranks, name):
    def body():
        x = placed([1.0, 1, 1, 0, 1, 1])
        with pytest.raises(FloatingPointError) as caught:
            with np.errstate(all="raise"):
                STEPS[name](x)
            x.full_tensor()
        said = str(caught.value)
        alone = not said.startswith("rank ") and x.device_mesh.size() > 1
        if alone and name not in AGREED:
            with pytest.raises(FloatingPointError, match=r"^rank \d failed in "):
                x.full_tensor()
        dtensor.resync(x)
        assert x.full_tensor().shape == (6,)
        return said

    said = ranks(body)
    assert "divide by zero" in said[0]
    if len(said) > 1:
        assert sum(text.startswith("rank ") for text in said) == len(said) - 1
