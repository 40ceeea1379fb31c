"""What NumPy would take for an answer is raised so that NumPy does not catch it."""

import numpy as np
import pytest
from meshes import line

from dtensor import Replicate, Shard, distribute_tensor
from dtensor._core.unheard import ListOfDTensorsError

EQUAL = [np.array_equal, np.array_equiv]


@pytest.mark.parametrize("equal", EQUAL)
def test_lists_of_dtensors_are_not_said_to_differ(ranks, equal):
    a = np.arange(6.0).reshape(2, 3)

    def body():
        x = distribute_tensor(a, line(), [Shard(0)])
        whole = distribute_tensor(a, line(), [Replicate()])
        for left, right in (([x], [a]), ((x, a), (a, a)), ([a[0]], [x[0]])):
            if line().size() > 1:
                with pytest.raises(ListOfDTensorsError, match="map"):
                    equal(left, right)
            else:
                assert equal(left, right)
        assert equal([whole], [a]) and not equal([whole], [a + 1])
        assert all(map(equal, (x, a), (a, x)))

    ranks(body)
