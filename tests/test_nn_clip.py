"""The norm of all gradients: NumPy's of all elements, for one all_reduce."""

import itertools
import math

import numpy as np
import pytest
from meshes import line, square

from dtensor import (
    _C,
    DeviceMesh,
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    nn,
    tensor,
)
from dtensor._core import world as _world
from dtensor.debug import CommDebugMode
from dtensor.nn.utils import (
    clip_grad_norm_,
    clip_grad_value_,
    get_total_norm,
    parameters_to_vector,
    vector_to_parameters,
)

R, S0, S1, P = Replicate(), Shard(0), Shard(1), Partial()
A = np.random.default_rng(0).standard_normal((7, 5))
B = A[:4, :3] * 2
C = np.array(2.5)


def norm(arrays, order=2.0):
    return np.linalg.norm(np.concatenate([np.ravel(a) for a in arrays]), order)


def spread(array, mesh, *placements):
    return _C._redistribute_any(distribute_tensor(array, mesh), mesh, placements)


def with_grad(grad):
    p = nn.Parameter(grad * 0)
    p.grad = grad
    return p


def whole(x):
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


@pytest.mark.parametrize("order", [2.0, 1.0, 0.5, math.inf, -math.inf])
def test_the_norm_is_numpys_for_every_layout(ranks, order):
    def body():
        mesh = line()
        for placements in itertools.product((S0, S1, R, P), repeat=2):
            grads = [spread(A, mesh, placements[0]), spread(B, mesh, placements[1])]
            grads.append(spread(C, mesh, R))
            parameters = [nn.Parameter(distribute_tensor(x * 0, mesh)) for x in (A, B)]
            parameters.append(nn.Parameter(distribute_tensor(C * 0, mesh)))
            for p, grad in zip(parameters, grads, strict=True):
                p.grad = grad
            with CommDebugMode() as comm:
                total = clip_grad_norm_(parameters, 0.5, order)
            counts = comm.get_comm_counts()
            assert counts["all_reduce"] == (mesh.size() > 1)
            if P not in placements:
                assert sum(counts.values()) == (mesh.size() > 1)
            want = norm([A, B, C], order)
            assert total.placements == (R,) and total.shape == ()
            assert float(total) == pytest.approx(want, rel=1e-12)
            factor = min(1, 0.5 / (want + 1e-6))
            for p, array in zip(parameters, (A, B, C), strict=True):
                np.testing.assert_allclose(whole(p.grad), array * factor)

    ranks(body)


def test_several_meshes_take_one_all_reduce_if_one_has_all_ranks(ranks):
    def body():
        both = square()
        rows, columns = both["row"], both["column"]
        grads = [
            (A, spread(A, both, S0, S1)),
            (B, spread(B, both, R, S0)),
            (A, spread(A, columns, S0)),
            (B, spread(B, rows, S1)),
            (C, spread(C, columns, R)),
        ]
        for chosen in ([0, 1], [0, 2], [2, 3], [0, 1, 2, 3, 4]):
            for order in (2.0, math.inf):
                with CommDebugMode() as comm:
                    total = get_total_norm([grads[k][1] for k in chosen], order)
                assert sum(comm.get_comm_counts().values()) == (both.size() > 1)
                want = norm([grads[k][0] for k in chosen], order)
                assert float(total) == pytest.approx(want, rel=1e-12)

    ranks(body)


def test_each_rank_adds_up_the_meshes_that_it_is_in(ranks):
    def body():
        both = square()
        stage = both.get_coordinate()[0] + 1  # as if each row trained something else
        grads = [spread(A * stage, both["column"], S0), spread(B, both, S0, R)]
        want = norm([A * stage, B])
        assert float(get_total_norm(grads)) == pytest.approx(want, rel=1e-12)

    ranks(body)


def test_meshes_that_no_mesh_covers_take_an_all_reduce_each(ranks):
    def body():
        size = _world.current().size
        if size == 1:
            return
        meshes = [DeviceMesh("cpu", range(1, size)), DeviceMesh("cpu", [0])]
        grads = [spread(A, mesh, S0) for mesh in meshes]
        total = get_total_norm(grads).to_local()
        if _world.current().rank > 0:  # the first mesh has the answer
            assert float(total) == pytest.approx(norm([A]), rel=1e-12)

    ranks(body)


def test_the_norm_of_tensors_of_this_rank():
    x = tensor(A.astype(np.float32))
    total = get_total_norm([x, tensor(B.astype(np.float32))])
    assert total.dtype == np.float32 and not isinstance(total, DTensor)
    assert float(total) == pytest.approx(norm([A, B]), rel=1e-6)
    half = get_total_norm(tensor(np.full(10**4, 10, np.float16)))
    assert half.dtype == np.float16 and float(half) == 1000
    assert float(get_total_norm([tensor(A + 1j * A)])) == pytest.approx(
        norm([A + 1j * A])
    )
    assert float(clip_grad_norm_([], 1.0)) == 0
    with pytest.warns(UserWarning, match="empty generator"):
        clip_grad_norm_((p for p in []), 1.0)
    with pytest.raises(ValueError, match="must not be 0"):
        get_total_norm([x], 0)


def test_a_norm_that_is_not_finite_raises_on_all_ranks_or_spoils_all(ranks):
    def body():
        bad = A.copy()
        bad[0, 0] = np.nan
        p, q = (with_grad(spread(a, line(), S0)) for a in (bad, B))
        with pytest.raises(
            RuntimeError, match="is non-finite, so it cannot be clipped"
        ):
            clip_grad_norm_([p, q], 1.0, error_if_nonfinite=True)
        assert np.array_equal(whole(q.grad), B)
        assert math.isnan(float(clip_grad_norm_([p, q], 1.0)))
        assert np.isnan(whole(q.grad)).all()

    ranks(body)


def test_ranks_with_other_gradients_get_an_error(ranks):
    def body():
        mesh = line()
        x, y = (distribute_tensor(np.ones(5), mesh, [Shard(0)]) for _ in range(2))
        mine = [x] if mesh.get_rank() else [x, y]
        for bring, kind in ((mine, 2.0), ([x, y], 1.0 + len(mine))):
            if mesh.size() > 1:
                with pytest.raises(RuntimeError, match="ranks are in different calls"):
                    get_total_norm(bring, kind)
        assert float(get_total_norm([x, y]).full_tensor()) == np.sqrt(10)

    ranks(body)


def test_small_gradients_stay_as_they_are_and_values_are_clipped(ranks):
    def body():
        p = with_grad(spread(A, line(), S1))
        clip_grad_norm_(p, 1e6)
        assert np.array_equal(whole(p.grad), A)
        clip_grad_value_([p], 0.3)
        assert np.array_equal(whole(p.grad), A.clip(-0.3, 0.3))

    ranks(body)


def test_parameters_become_a_vector_and_come_back(ranks):
    def body():
        first, second = (nn.Parameter(spread(a, line(), S0)) for a in (A, B))
        vector = parameters_to_vector([first, second])
        assert np.array_equal(whole(vector.detach()), [*A.flat, *B.flat])
        vector_to_parameters(vector * 2, [second, first])
        assert np.array_equal(whole(second.detach()).flat, 2 * A.flat[:12])
        with pytest.raises(TypeError, match="expected torch.Tensor"):
            vector_to_parameters([1, 2], [first])

    ranks(body)
