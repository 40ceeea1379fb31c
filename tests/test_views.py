"""What is written to a view is in the tensor, as in NumPy, or the write raises."""

import itertools

import numpy as np
import pytest
from meshes import square

import dtensor.torch as torch
from dtensor import Partial, Replicate, Shard, distribute_tensor
from dtensor.placement_types import _StridedShard

PLACEMENTS = [Replicate(), Shard(0), Shard(1), *map(Partial, ("sum", "max", "product"))]
STRIDED = _StridedShard(0, split_factor=2)
VIEWS = {
    "row": lambda x: x[1],
    "rows": lambda x: x[1:3],
    "step": lambda x: x[::2, 1:],
    "reversed": lambda x: x[::-1],
    "row of reversed": lambda x: np.flip(x, 0)[1],
    "new": lambda x: x[None],
    "T": lambda x: x.T,
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "expand_dims": lambda x: np.expand_dims(x, 1),
    "squeeze": lambda x: np.squeeze(x[:1]),
    "atleast_3d": np.atleast_3d,
    "flip": np.flip,
    "flip of a row": lambda x: np.flip(x[1]),
    "flip of T": lambda x: np.flip(x, 0).T,
    "rot90": np.rot90,
    "rot180": lambda x: np.rot90(x, 2),
    "split": lambda x: np.split(x, [1, 3])[1],
    "split of T": lambda x: np.split(x.T, [1])[0],
    "row of split": lambda x: np.split(x, [1, 3])[1][0],
    "unstack": lambda x: np.unstack(x, axis=1)[1],
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "einsum": lambda x: np.einsum("ij->ji", x),
    "diagonal": lambda x: np.einsum("ii->i", x[:4, :4]),
    "other dtype": lambda x: x.view(np.uint8 if x.dtype.kind == "f" else float),
}


@pytest.mark.parametrize("dtype", [float, complex])
def test_writes_reach_the_tensor_or_raise(ranks, dtype):
    array = np.arange(1, 31).reshape(6, 5).astype(dtype)
    array += 1j * array[::-1] if dtype is complex else 0

    def attempt(view, x):
        """Return what NumPy would have if the write is carried out."""
        plain = array.copy()
        shown = view(plain)
        written = shown.flags.writeable and np.shares_memory(shown, plain)
        if not written:  # a copy, of which nothing is expected
            return None
        shown[...] = 7
        try:
            view(x)[...] = 7
        except ValueError as error:
            assert "read-only" in str(error)
            return array
        return plain

    def body():
        mesh = square()
        layouts = [*itertools.product(PLACEMENTS, repeat=2), (STRIDED, Shard(0))]
        for layout, (name, view) in itertools.product(layouts, VIEWS.items()):
            x = distribute_tensor(array, mesh, layout)
            expected = attempt(view, x)
            if expected is not None:
                found = np.asarray(x.full_tensor())
                assert np.allclose(found, expected), (name, layout)

    ranks(body)


def test_diagonals_of_the_dialect_are_views(ranks):
    array = np.arange(48.0).reshape(4, 4, 3)

    def body():
        for layout in itertools.product((*PLACEMENTS, Shard(2)), repeat=2):
            for offset, dims in itertools.product((0, 1, -2), ((0, 1), (1, 2), (2, 0))):
                x = distribute_tensor(torch.tensor(array), square(), layout)
                expected = array.copy()
                diagonal = np.diagonal(expected, offset, *dims)
                diagonal.flags.writeable = True
                diagonal += 5
                x.diagonal(offset, *dims).add_(5)
                found = np.asarray(x.full_tensor())
                assert np.array_equal(found, expected), (layout, offset, dims)

    ranks(body)


def test_diagonals_are_read_only_in_numpy_s_dialect():
    x = torch.zeros(3, 3)
    x.diagonal().fill_(2)
    torch.linalg.diagonal(x, offset=1).copy_(torch.ones(2))
    assert x.tolist() == [[2, 1, 0], [0, 2, 1], [0, 0, 2]]
    with pytest.raises(ValueError, match="read-only"):
        np.diagonal(x.as_numpy())[...] = 1
