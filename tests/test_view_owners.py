"""Views keep the tensor that they are of: nothing depends on what a rank keeps."""

import numpy as np
import pytest

import dtensor
from dtensor import Shard, distribute_tensor, init_device_mesh
from dtensor.testing import run_ranks

VIEWS = {
    "rows": lambda y: (y[:3], y[1:]),
    "disjoint": lambda y: (y[:2], y[2:]),
    "strided": lambda y: (y[::2], y[1:2]),
    "columns": lambda y: (y[:, :1], y[:, 1:]),
}


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("keeps", ["nothing", "the tensor", "a view of a view"])
@pytest.mark.parametrize("name", VIEWS)
def test_views_outlive_their_tensor_alike_on_all_ranks(name, keeps, count):
    values = np.arange(1.0, 9.0).reshape(4, 2)

    def body():
        mesh = init_device_mesh("cpu", (count,))
        w = distribute_tensor(values, mesh, [Shard(0)]).requires_grad_()
        y = w * 2
        a, b = VIEWS[name](y)
        kept = y if keeps == "the tensor" and mesh.get_rank() == 0 else None
        del y
        if keeps == "a view of a view" and mesh.get_rank() == 0:
            kept = a[0:1]
        b *= 3
        (a * a).sum().backward()
        return np.asarray(w.grad.full_tensor()), kept

    grad = run_ranks(count, body)[0][0]
    factor = np.ones((4, 2))
    VIEWS[name](factor)[1][...] = 3
    taken = np.zeros((4, 2))
    VIEWS[name](taken)[0][...] = 1
    np.testing.assert_allclose(grad, 2 * taken * (2 * factor) ** 2 * values)


def test_a_plain_tensor_takes_what_is_recorded_without_recording_it():
    target, value = dtensor.tensor(np.zeros(3)), dtensor.tensor(np.arange(3.0))
    value.requires_grad_()
    with dtensor.no_grad():
        target[:] = value
        target[[0]] = value[1:2]
    assert target.tolist() == [1, 1, 2] and not target.requires_grad
