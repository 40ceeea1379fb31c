"""Writes into views of what is not recorded, and into what views are of: all of them
know of it, in both dialects and every layout."""

import copy

import numpy as np
import pytest

import dtensor
import dtensor.torch as torch
from dtensor import (
    DeviceMesh,
    DTensor,
    Partial,
    Replicate,
    Shard,
    autograd,
    distribute_tensor,
    init_device_mesh,
    no_grad,
)
from dtensor.debug import CommDebugMode
from dtensor.testing import run_ranks

B = np.arange(1.0, 9.0).reshape(4, 2)
PLACES = {"R": Replicate(), "S0": Shard(0), "S1": Shard(1), "P": Partial()}


def scaled(z, b):
    part = z[1:3]
    part += b[1:3]
    part *= 3


def chained(z, b):
    z[1:][:2][..., 1:].copy_(b[1:3, 1:])


def split(z, b):
    part = np.split(z, 2)[1]
    part += b[2:]


def turned(z, b):
    z.T[1] = b[:, 0]


def added(z, b):
    np.add.at(z[1:3], np.array([0, 0, 1]), b[1:4])


def twice(z, b):
    z[1:3].copy_(b[1:3])
    z[1] = z[1] * 1 * b[0]


# What is written, and the gradient by b of the sum of weights * z.
W = np.arange(10.0, 18.0).reshape(4, 2)
INTO_VIEWS = {
    "slice": (lambda z, b: z[1:3].add_(b[1:3]), {(1, 3): W[1:3]}),
    "scaled": (scaled, {(1, 3): 3 * W[1:3]}),
    "copied": (lambda z, b: z[1:3].copy_(b[1:3]), {(1, 3): W[1:3]}),
    "set": (lambda z, b: z[1:3].__setitem__(slice(1), b[1:2]), {(1, 2): W[1:2]}),
    "chained": (chained, {(1, 3): W[1:3] * [0, 1]}),
    "row": (lambda z, b: z[1].add_(b[1]), {(1, 2): W[1:2]}),
    "column": (lambda z, b: z[:, 0].add_(b[:, 1]), {(0, 4): W[:, :1] * [0, 1]}),
    "transposed": (lambda z, b: z.T.copy_(b.T), {(0, 4): W}),
    "turned": (turned, {(0, 4): W[:, 1:] * [1, 0]}),
    "split": (split, {(2, 4): W[2:]}),
    "copyto": (lambda z, b: np.copyto(z[1:3], b[1:3]), {(1, 3): W[1:3]}),
    "at": (added, {(1, 3): W[[1, 1]], (3, 4): W[2:3]}),
    "reshape": (lambda z, b: z.reshape(2, 2, 2).add_(b.reshape(2, 2, 2)), {(0, 4): W}),
    "flat": (lambda z, b: z.reshape(8).add_(b.reshape(8)), {(0, 4): W}),
    "expanded": (lambda z, b: np.expand_dims(z, 0).add_(b), {(0, 4): W}),
    "every other": (lambda z, b: z[::2].add_(b[::2]), {(0, 1): W[:1], (2, 3): W[2:3]}),
    "uneven": (lambda z, b: z[:1].add_(b[:1]), {(0, 1): W[:1]}),
    "twice": (
        twice,
        {(0, 1): W[1:2] * B[1], (1, 2): W[1:2] * B[0], (2, 3): W[2:3]},
    ),
}


def expected(rows):
    found = np.zeros((4, 2))
    for (start, stop), part in rows.items():
        found[start:stop] += part
    return found


def tensors(place, dialect):
    """Return zeros, not recorded, a leaf, and weights."""
    if place is None:
        made = [dtensor.tensor(a) for a in (np.zeros((4, 2)), B, W)]
    else:
        mesh = init_device_mesh("cpu", (2,))
        places = [PLACES[place], Replicate() if place == "P" else PLACES[place]]
        made = [
            distribute_tensor(a, mesh, [p])
            for a, p in zip((np.zeros((4, 2)), B, W), (*places, places[1]), strict=True)
        ]
    if dialect == "torch":
        made = [x.as_torch() for x in made]
    made[1].requires_grad_()
    return made


def whole(x):
    x = x.detach()
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


def everywhere(body, place):
    if place is None:
        body()
    else:
        run_ranks(2, body)


ANYWHERE = pytest.mark.parametrize("place", [None, *PLACES])
DIALECTS = pytest.mark.parametrize("dialect", ["numpy", "torch"])


@DIALECTS
@ANYWHERE
@pytest.mark.parametrize("name", INTO_VIEWS)
def test_a_write_into_a_view_counts_for_the_tensor(name, place, dialect):
    write, rows = INTO_VIEWS[name]

    def body():
        z, b, w = tensors(place, dialect)
        write(z, b)
        plain = dtensor.tensor(np.zeros((4, 2)))
        write(plain, dtensor.tensor(B))
        assert z.requires_grad and not z.is_leaf
        np.testing.assert_array_equal(whole(z), whole(plain))
        (z * w).sum().backward()
        np.testing.assert_array_equal(whole(b.grad), expected(rows))

    everywhere(body, place)


VIEWS = {
    "slice": lambda z: z[1:3],
    "element of a slice": lambda z: z[1:][1:2],
    "row": lambda z: z[1],
    "transposed": lambda z: z.T,
    "split": lambda z: np.split(z, 2)[1],
    "reshape": lambda z: z.reshape(2, 2, 2),
    "expanded": lambda z: np.expand_dims(z, 1),
    "broadcast": lambda z: np.broadcast_to(z, (3, 4, 2)),
    "every other": lambda z: z[::2],
}


@DIALECTS
@ANYWHERE
@pytest.mark.parametrize("name", VIEWS)
def test_a_write_into_a_tensor_counts_for_its_views(name, place, dialect):
    def body():
        z, b, _ = tensors(place, dialect)
        view = VIEWS[name](z)
        z += b
        z *= b
        if name == "row" and place == "S0":  # it had to move: a copy
            assert not view.requires_grad
            return
        assert view.requires_grad and not view.is_leaf
        np.testing.assert_array_equal(whole(view), VIEWS[name](B * B))
        (view * view).sum().backward()
        at = dtensor.tensor(B).requires_grad_()
        (VIEWS[name](at) ** 4).sum().backward()
        np.testing.assert_array_equal(whole(b.grad), whole(at.grad))

    everywhere(body, place)


@ANYWHERE
def test_views_know_of_writes_after_their_tensor_is_gone(place):
    def body():
        z, b, w = tensors(place, "numpy")
        view, (upper, lower) = z[1:3], np.split(z, 2)
        z += b
        del z
        upper *= 2
        lower *= 3
        (view * w[1:3]).sum().backward(retain_graph=True)
        rows = W[1:3] * [[2], [3]]
        np.testing.assert_array_equal(whole(b.grad), expected({(1, 3): rows}))
        b.grad = None
        (upper + lower).sum().backward()
        found = expected({(0, 2): [2, 2], (2, 4): [3, 3]})
        np.testing.assert_array_equal(whole(b.grad), found)

    everywhere(body, place)


@ANYWHERE
def test_views_know_of_writes_into_each_other(place):
    def body():
        z, b, w = tensors(place, "numpy")
        upper, lower, column = z[:3], z[1:], z[:, :1]
        upper += b[:3]
        lower *= b[1:]
        total = (upper * w[:3]).sum() + (column * column).sum()
        total.backward()
        x = dtensor.tensor(B).requires_grad_()
        first, rest = x[:1], x[1:3] * x[1:3]
        y = np.concatenate((first, rest))
        ((y * W[:3]).sum() + (y[:, :1] ** 2).sum()).backward()
        np.testing.assert_array_equal(whole(b.grad), whole(x.grad))

    everywhere(body, place)


@ANYWHERE
def test_what_is_detached_is_a_tensor_with_views_of_its_own(place):
    def body():
        z, b, w = tensors(place, "numpy")
        y, bare = z * 1, z.detach()
        view = bare[1:3]
        view += b[1:3]
        assert bare.requires_grad and not z.requires_grad and not z[1:3].requires_grad
        (bare * w + z).sum().backward()
        np.testing.assert_array_equal(whole(b.grad), expected({(1, 3): W[1:3]}))
        assert not y.requires_grad

    everywhere(body, place)


@ANYWHERE
def test_a_recorded_tensor_keeps_the_rest_of_its_gradient(place):
    def body():
        _, b, w = tensors(place, "numpy")
        y = b * 2
        y[1:3].copy_(b[:2] * 5)
        y.T[0, ...] *= 3
        (y * w).sum().backward()
        found = W * [3, 1]
        rest = expected({(0, 1): 2 * found[:1], (3, 4): 2 * found[3:]})
        rest[:2] += 5 * found[1:3]
        np.testing.assert_array_equal(whole(b.grad), rest)

    everywhere(body, place)


@ANYWHERE
def test_gradients_of_gradients_go_through_writes_into_views(place):
    def body():
        z, b, _ = tensors(place, "numpy")
        view = z[1:3]
        view += b[1:3] ** 3
        (first,) = autograd.grad((z * z).sum(), [b], create_graph=True)
        first.sum().backward()
        np.testing.assert_array_equal(whole(first), expected({(1, 3): 6 * B[1:3] ** 5}))
        second = expected({(1, 3): 30 * B[1:3] ** 4})
        np.testing.assert_array_equal(whole(b.grad), second)

    everywhere(body, place)


@ANYWHERE
def test_a_write_that_no_node_can_know_of_is_an_error(place):
    def body():
        _, b, _ = tensors(place, "numpy")
        z = b * 2
        with no_grad():
            view = z[1:3]
        assert not view.requires_grad
        with pytest.raises(RuntimeError, match="made under no_grad"):
            view += b[1:3]
        z = b.detach() * 1
        view = z[1:3]
        z.requires_grad_()
        with pytest.raises(RuntimeError, match="made under no_grad"):
            view += b[1:3]

    everywhere(body, place)


@ANYWHERE
def test_a_write_under_no_grad_records_nothing(place):
    def body():
        z, b, _ = tensors(place, "numpy")
        view = z[1:3]
        with no_grad():
            view += b[1:3]
            z *= 2
        np.add.at(view, np.array([0]), 1)
        assert not z.requires_grad and not view.requires_grad

    everywhere(body, place)


@pytest.mark.parametrize("place", ["R", "S0", "S1"])
def test_views_that_show_the_memory_send_nothing(place):
    def body():
        z, b, w = tensors(place, "numpy")
        total = np.zeros_like(z * w) + 1
        with CommDebugMode() as comm:
            z[1:3].add_(b[1:3])
            column = z[:, :1]
            column *= 2
            (z * w).backward(total)
        assert comm.get_comm_counts() == {}

    run_ranks(2, body)


def test_a_tensor_without_data_records_the_same():
    def body():
        z, b, w = (dtensor._C.without_data(x.layout) for x in tensors("S0", "numpy"))
        b.requires_grad_()
        view = z.T
        view += b.T
        assert z.requires_grad
        (z * w).sum().backward()
        assert b.grad.layout == b.layout and b.grad.device == "meta"

    run_ranks(2, body)


def test_integers_are_not_recorded():
    b = dtensor.tensor(B).requires_grad_()
    z = torch.zeros(4, 2, dtype=torch.int64)
    view = z[1:3]
    view.copy_(b[1:3].as_torch())
    view[0] = b.detach()[0]
    assert not z.requires_grad and not view.requires_grad
    assert (z * 2.0).sum().item() == 28


def test_views_are_copied_as_what_they_have_become():
    z, b = dtensor.tensor(np.zeros((4, 2))), dtensor.tensor(B).requires_grad_()
    view = z[1:3]
    z += b
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(view)
    with pytest.raises(RuntimeError, match="detach"):
        view.numpy()
    (copy.copy(view) * view).sum().backward()
    np.testing.assert_array_equal(b.grad, expected({(1, 3): 2 * B[1:3]}))


@pytest.mark.parametrize("place", ["R", "S0", "S1"])
def test_a_part_and_its_dtensor_have_views_of_their_own(place):
    def body():
        z, b, w = tensors(place, "numpy")
        part = dtensor.tensor(np.zeros(z.to_local().shape))
        whole_of = DTensor.from_local(part, z.device_mesh, z.placements)
        whole_of[1:3].add_(b[1:3])
        (whole_of * w).sum().backward()
        np.testing.assert_array_equal(whole(b.grad), expected({(1, 3): W[1:3]}))
        with pytest.raises(RuntimeError, match="through a view of it"):
            part * 1
        own, leaf = z.to_local(), dtensor.tensor(np.ones(2)).requires_grad_()
        own[0, :1].add_(leaf[:1])
        own.sum().backward()
        assert leaf.grad.tolist() == [1, 0]
        with pytest.raises(RuntimeError, match="through a view of it"):
            z * 1

    run_ranks(2, body)


@pytest.mark.parametrize("place", ["R", "S0", "S1"])
def test_ranks_outside_the_mesh_record_the_same(place):
    def body(write):
        mesh = DeviceMesh("cpu", [0, 1])
        b = distribute_tensor(B, mesh, [PLACES[place]]).requires_grad_()
        z = distribute_tensor(np.zeros((4, 2)), mesh, [PLACES[place]])
        view = z[1:3]
        write(z, b)
        assert z.requires_grad and view.requires_grad
        (z.sum() + view.sum()).backward()
        assert b.grad is not None

    for write, _ in INTO_VIEWS.values():
        run_ranks(3, body, write)
