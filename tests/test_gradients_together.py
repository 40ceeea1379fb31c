"""Small gradients that must be reduced at leaves move together."""

import numpy as np
import pytest

import dtensor
from dtensor import (
    Partial,
    Replicate,
    Shard,
    autograd,
    distribute_tensor,
    init_device_mesh,
)
from dtensor.debug import CommDebugMode
from dtensor.testing import run_ranks

COUNT = 10


def leaves(mesh, count=COUNT, length=5, dtype="f4"):
    return [
        distribute_tensor(
            np.linspace(1, 2 + k, length).astype(dtype), mesh, [Replicate()]
        ).requires_grad_()
        for k in range(count)
    ]


def rows(mesh, length=5, dtype="f4"):
    values = np.sin(np.arange(7 * length)).reshape(7, length).astype(dtype)
    return distribute_tensor(values, mesh, [Shard(0)])


def loss_of(x, weights):
    y = x
    for w in weights:
        y = dtensor.tanh(y * w)
    return y.sum()


def counts(run):
    with CommDebugMode() as mode:
        run()
    return dict(mode.get_comm_counts())


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_ten_gradients_are_one_all_reduce(n):
    def body():
        mesh = init_device_mesh("cpu", (n,))
        weights, x = leaves(mesh), rows(mesh)
        loss = loss_of(x, weights)
        sent = counts(loss.backward)
        assert sent == ({"all_reduce": 1} if n > 1 else {})
        together = [w.grad.full_tensor() for w in weights]
        assert all(w.grad.placements == (Replicate(),) for w in weights)

        alone = leaves(mesh)
        for w in alone:  # where the ranks are told one by one
            (grad,) = autograd.grad(loss_of(x, alone), w)
            whole = grad.redistribute(placements=[Replicate()])
            assert np.array_equal(together.pop(0), whole.full_tensor())

    run_ranks(n, body)


@pytest.mark.parametrize("hooks", ["grad", "accumulated", "removed"])
@pytest.mark.parametrize("n", [1, 3])
def test_hooks_of_one_rank_change_nothing_that_is_sent(n, hooks):
    def body():
        mesh = init_device_mesh("cpu", (n,))
        weights, x, called = leaves(mesh), rows(mesh), []

        def look(tensor):
            called.append(tensor.placements)

        for w in weights if mesh.get_rank() == 0 else ():
            if hooks == "accumulated":
                w.register_post_accumulate_grad_hook(look)
            else:
                handle = w.register_hook(look)
                if hooks == "removed":
                    handle.remove()
        loss = loss_of(x, weights)
        assert counts(loss.backward) == ({"all_reduce": 1} if n > 1 else {})
        for w in weights:
            assert w.grad.placements == (Replicate(),)
        wanted = COUNT if hooks != "removed" and mesh.get_rank() == 0 else 0
        assert len(called) == wanted

    run_ranks(n, body)


def test_a_hook_sees_the_gradient_that_was_added():
    def body():
        mesh = init_device_mesh("cpu", (3,))
        weights, seen = leaves(mesh), []
        for w in weights:
            w.register_post_accumulate_grad_hook(
                lambda p: (
                    (seen.append(p.grad.full_tensor().numpy().copy()), p.grad.zero_())
                    and None
                )
            )
        loss_of(rows(mesh), weights).backward()
        plain = leaves(mesh)
        loss_of(rows(mesh), plain).backward()
        assert len(seen) == COUNT
        for g, w in zip(reversed(seen), plain, strict=True):
            assert np.array_equal(g, w.grad.full_tensor())
        assert not any(np.any(w.grad.full_tensor()) for w in weights)

    run_ranks(3, body)


def test_gradients_are_added_to_those_that_are_there():
    def body():
        mesh = init_device_mesh("cpu", (3,))
        weights, x = leaves(mesh), rows(mesh)
        loss_of(x, weights).backward()
        once = [np.array(w.grad.full_tensor()) for w in weights]
        loss_of(x, weights).backward()
        for g, w in zip(once, weights, strict=True):
            assert np.array_equal(2 * g, w.grad.full_tensor())

    run_ranks(3, body)


def test_each_mesh_and_each_dtype_has_its_own_move():
    def body():
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        total, all_leaves = None, []
        for sub in (mesh["dp"], mesh["tp"]):
            for dtype in ("f4", "f8"):
                weights = leaves(sub, 3, dtype=dtype)
                all_leaves += weights
                part = loss_of(rows(sub, dtype=dtype), weights).full_tensor()
                total = part if total is None else total + part
        sent = counts(total.backward)
        assert sent == {"all_reduce": 4}
        assert all(w.grad is not None for w in all_leaves)

    run_ranks(4, body)


def test_large_gradients_do_not_wait():
    def body():
        mesh = init_device_mesh("cpu", (2,))
        weights = leaves(mesh, 2, length=1 << 19)
        loss = loss_of(rows(mesh, length=1 << 19), weights)
        assert counts(loss.backward) == {"all_reduce": 2}

    run_ranks(2, body)


def test_leaves_that_are_cut_get_their_parts_together():
    def body():
        mesh = init_device_mesh("cpu", (2, 2))
        x = distribute_tensor(np.arange(24.0).reshape(6, 4), mesh, [Shard(0), Shard(1)])
        cut = [
            distribute_tensor(np.full(4, k + 1.0), mesh, placements).requires_grad_()
            for k, placements in enumerate(
                [[Replicate(), Replicate()], [Replicate(), Shard(0)]]
            )
        ]
        (x * cut[0] * cut[1]).sum().backward()
        sums = np.arange(24.0).reshape(6, 4).sum(0)
        assert np.array_equal(cut[0].grad.full_tensor(), 2 * sums)
        assert np.array_equal(cut[1].grad.full_tensor(), sums)
        assert [w.grad.placements for w in cut] == [w.placements for w in cut]

    run_ranks(4, body)


def test_a_partial_leaf_gets_a_replicated_gradient():
    def body():
        mesh = init_device_mesh("cpu", (2,))
        w = dtensor.DTensor.from_local(np.ones(3), mesh, [Partial()]).requires_grad_()
        (w * 2).sum().backward()
        assert w.grad.placements == (Replicate(),)
        assert np.array_equal(w.grad.to_local(), np.full(3, 2.0))

    run_ranks(2, body)


def test_a_backward_that_fails_leaves_no_gradient_behind():
    def body():
        mesh = init_device_mesh("cpu", (2,))
        first, last = leaves(mesh, 2)
        y = rows(mesh) * last

        def fail(grad):
            raise KeyError("no")

        y.register_hook(fail)
        with pytest.raises(KeyError):
            (y * first).sum().backward()
        assert first.grad is None and last.grad is None

    run_ranks(2, body)
