"""A reshape is a view, or a copy, as NumPy's of the whole: not as short parts allow."""

import itertools

import numpy as np
import pytest
from meshes import line, square

import dtensor
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.ops._make.parts import parts_of

SHAPES = [(4, 3, 5), (5, 4, 2), (1, 5, 4)]
ORDERS = [*itertools.permutations(range(3))]


def merged(shape):
    """Shapes with the same elements: two dims as one, or all."""
    a, b, c = shape
    return [shape, (a * b, c), (a, b * c), (a * b * c,), (1, a * b, c)]


def tensors(mesh, placements):
    """Arrays and tensors, permuted, and with a gap in a dim that is not cut."""
    for shape, order in itertools.product(SHAPES, ORDERS):
        whole = np.arange(float(np.prod(shape))).reshape(shape)
        cut = {p.dim for p in placements if p.is_shard()}
        for gap in (None, *({0, 1, 2} - cut)):
            key = tuple(slice(1 if d == gap else None, None) for d in range(3))
            base, x = whole.copy(), distribute_tensor(whole, mesh, placements)
            yield base, base[key].transpose(order), x, x[key].transpose(order)


def told(call):
    """What a call gives; None if it had to move something."""
    try:
        with dtensor.strict():
            return call()
    except dtensor.ImplicitRedistributeError:
        return None


CALLS = {
    **{
        f"{name} {order}": (name, order)
        for name in ("reshape", "ravel", "astype")
        for order in "CF"
    },
    "contiguous": ("contiguous", "C"),
}


def called(name, order, x):
    """What NumPy's function gives, for several shapes."""
    match name:
        case "reshape":
            for shape in merged(x.shape):
                yield lambda x, shape=shape: np.reshape(x, shape, order=order)
        case "ravel":
            yield lambda x: np.ravel(x, order)
        case "astype":
            yield lambda x: x.astype(x.dtype, order=order, copy=False)
        case _:
            yield (
                lambda x: (
                    np.ascontiguousarray(x) if type(x) is np.ndarray else x.contiguous()
                )
            )


@pytest.mark.parametrize("name", CALLS)
def test_what_is_written_to_a_view_of_short_parts_is_seen_as_in_numpy(ranks, name):
    def body():
        kinds = [Shard(0), Shard(1), Shard(2), Replicate()]
        cases = [(line(), [p]) for p in kinds[:3]]
        cases += [(square(), [p, q]) for p in kinds[:3] for q in kinds if p != q]
        for mesh, placements in cases:
            for base, whole, x, y in tensors(mesh, placements):
                for call in called(*CALLS[name], whole):
                    shown = told(lambda call=call, y=y: call(y))
                    if shown is None or is_unknown(y):
                        continue
                    shown -= 1
                    expected = call(whole)
                    expected -= 1
                    np.testing.assert_array_equal(shown.full_tensor(), expected)
                    np.testing.assert_array_equal(x.full_tensor(), base)

    ranks(body)


def is_unknown(x):
    """Whether ranks have one slice of two dims, whose order they cannot know."""
    cut = [d for d in range(x.ndim) if x.shape[d] > 1 and x.layout.is_cut(d)]
    parts = [parts_of(x.layout, d) for d in cut]
    return sum(of is None or min(n for _, n in of) < 2 for of in parts) > 1


def test_a_copy_that_must_not_be_is_an_error_on_all_ranks(ranks):
    def body():
        whole = np.arange(60.0).reshape(5, 4, 3)
        x = distribute_tensor(whole, line(), [Shard(1)])
        with pytest.raises(ValueError, match="Unable to avoid creating a copy"):
            np.reshape(x.swapaxes(0, 1), (20, 3), copy=False)
        np.testing.assert_array_equal(x.full_tensor(), whole)

    ranks(body)


def test_whether_a_dtensor_is_contiguous_is_told_alike_on_all_ranks(ranks):
    def body():
        for shape in SHAPES:
            for placement in (Shard(0), Shard(1), Shard(2), Replicate()):
                x = dtensor.zeros(shape, device_mesh=line(), placements=[placement])
                for order in ORDERS:
                    whole = np.zeros(shape).transpose(order)
                    y = x.transpose(order)
                    assert y.is_contiguous() == whole.flags.c_contiguous
                    step = [n // whole.itemsize for n in whole.strides]
                    assert all(
                        a == b or n == 1
                        for a, b, n in zip(y.stride(), step, y.shape, strict=True)
                    )

    ranks(body)
